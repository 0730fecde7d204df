const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

// Before anything else is loaded: the database driver crashes an older process without a word.
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `loadskill needs Node 22.19 or newer, and this is ${process.versions.node}.\n`,
  )
  process.exit(1)
}
