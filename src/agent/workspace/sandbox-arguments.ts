import { chmod, lstat, mkdir, readlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Owner } from './folders.ts'

const MIB = 1024 * 1024
const TEMPORARY_BYTES = 256 * MIB
const SHARED_MEMORY_BYTES = 64 * MIB
const BESIDE_USR = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']
/** Programs are found through some of these; nothing in them is secret. */
const OF_ETC = ['/etc/alternatives', '/etc/ld.so.cache', '/etc/fonts']
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const INSIDE = { uid: 1000, gid: 1000 }

export interface Mounts {
  /** The folder that is `/workspace`. */
  workspace: string
  /** The folders that are `/skills/NAME`, by name. */
  skills: ReadonlyMap<string, string>
}

interface Surroundings {
  /** Where made-up files for `/etc` may be kept. */
  etc: string
  /** Folders that no command may see, though they lie below a folder that it sees. */
  hidden: readonly string[]
  /**
   * Who runs the commands, when the service runs as root. The limit on processes does not bind
   * root, not even root that is called otherwise in a user namespace: it has to be somebody else.
   */
  owner: Owner | undefined
}

/**
 * What bwrap is given in front of the command. It is bwrap that sees the host's folders, so that
 * with an `owner` it stays root until everything is in place, and `setpriv` gives that up.
 */
export async function readArguments({ etc, hidden, owner }: Surroundings) {
  const system = ['--ro-bind', '/usr', '/usr', ...covers(hidden), ...(await besideUsr())]
  const accounts = await writeAccounts(etc, owner ?? INSIDE)

  return ({ workspace, skills }: Mounts): string[] => [
    ...(owner ? AS_ROOT : AS_USER),
    ...['--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts'],
    ...['--unshare-cgroup-try', '--hostname', 'sandbox', '--die-with-parent', '--new-session'],
    ...['--clearenv', '--setenv', 'PATH', PATH, '--setenv', 'HOME', '/tmp'],
    ...['--setenv', 'LANG', 'C.UTF-8', '--setenv', 'TERM', 'dumb'],
    ...system,
    ...['/etc', '/skills'].flatMap((path) => ['--perms', '0755', '--dir', path]),
    ...accounts,
    ...OF_ETC.flatMap((path) => ['--ro-bind-try', path, path]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...inMemory('/dev/shm', SHARED_MEMORY_BYTES),
    ...['--remount-ro', '/dev'],
    ...inMemory('/tmp', TEMPORARY_BYTES),
    ...[...skills].flatMap(([name, folder]) => ['--ro-bind', folder, `/skills/${name}`]),
    ...['--bind', workspace, '/workspace', '--remount-ro', '/', '--'],
    ...(owner ? becoming(owner) : []),
  ]
}

const AS_USER = [
  ...['--unshare-user', '--disable-userns', '--cap-drop', 'ALL'],
  ...['--uid', String(INSIDE.uid), '--gid', String(INSIDE.gid)],
]
const AS_ROOT = ['ALL', 'CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP'].flatMap((capability) => [
  capability === 'ALL' ? '--cap-drop' : '--cap-add',
  capability,
])

const becoming = ({ uid, gid }: Owner): string[] => [
  ...['setpriv', '--reuid', String(uid), '--regid', String(gid), '--clear-groups'],
  ...['--bounding-set=-all', '--inh-caps=-all', '--'],
]

const inMemory = (path: string, size: number): string[] => [
  ...['--perms', '1777', '--size', String(size), '--tmpfs', path],
]

const covers = (hidden: readonly string[]): string[] =>
  [...new Set(hidden)]
    .filter((path) => path.startsWith('/usr/'))
    .filter((path) => !hidden.some((other) => path.startsWith(`${other}/`)))
    .flatMap((path) => ['--tmpfs', path, '--remount-ro', path])

async function besideUsr(): Promise<string[]> {
  const found = await Promise.all(
    BESIDE_USR.map(async (path) => {
      const entry = await lstat(path).catch(() => undefined)
      if (entry?.isSymbolicLink()) return ['--symlink', await readlink(path), path]
      return entry ? ['--ro-bind', path, path] : []
    }),
  )
  return found.flat()
}

/** The host's own users are nobody's business. */
async function writeAccounts(folder: string, { uid, gid }: Owner): Promise<string[]> {
  await mkdir(folder, { recursive: true })
  const files = {
    passwd: `agent:x:${uid}:${gid}::/tmp:/bin/bash\n`,
    group: `root:x:0:\nagent:x:${gid}:\n`,
  }
  const written = Object.entries(files).map(async ([name, text]) => {
    await writeFile(join(folder, name), text)
    await chmod(join(folder, name), 0o644)
    return ['--ro-bind', join(folder, name), `/etc/${name}`]
  })
  return (await Promise.all(written)).flat()
}
