const BLOCK = 512

/** What stands in a tar, header by header, as it is written. */
export function readTar(tar: Buffer) {
  const entries: { path: string; type: string; time: number; bytes: Buffer }[] = []
  for (let at = 0; tar[at] !== 0 && at < tar.length; ) {
    const field = (from: number, length: number) =>
      tar
        .toString('utf8', at + from, at + from + length)
        .replace(/\0.*$/s, '')
        .trim()
    const size = Number.parseInt(field(124, 12), 8)
    const bytes = tar.subarray(at + BLOCK, at + BLOCK + size)
    const path = [field(345, 155), field(0, 100)].filter((part) => part !== '').join('/')
    entries.push({ path, type: field(156, 1), time: Number.parseInt(field(136, 12), 8), bytes })
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK
  }
  return entries
}
