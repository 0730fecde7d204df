import { sep } from 'node:path'
import { watch } from 'chokidar'
import type { BundleLimits } from '../domain/bundle.ts'
import { AppError } from '../errors.ts'
import type { SkillStore } from '../store/skills.ts'
import { listFolders, readFolder, type SkippedPath } from './read-folder.ts'
import type { Registry } from './registry.ts'
import { settling } from './settling.ts'

interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: unknown, message: string): void
}

interface DirectoryOptions {
  /** The folder that holds a folder for each skill. */
  path: string
  registry: Registry
  skills: SkillStore
  limits: BundleLimits
  log: Log
}

/** A watched folder of skills. */
export interface SkillsDirectory {
  /** Resolves once every folder has been read for the first time. */
  readonly read: Promise<void>
  isRead(): boolean
  /** What was left out, by its path in the directory, and why. */
  skipped(): SkippedPath[]
  close(): Promise<void>
}

/**
 * Reads every skill of a directory, leniently, and again whenever its folder changes. One bad
 * skill never hides another, and a broken edit keeps the last good version. What equals a stored
 * version is not published again, so that an update or a rollback over REST outlives a restart.
 */
export function openSkillsDirectory(options: DirectoryOptions): SkillsDirectory {
  const { path: root, registry, skills, limits, log } = options
  const skipped = new Map<string, SkippedPath[]>()
  /** Which skill each folder holds, and the digest of what was last read of it. */
  const held = new Map<string, { name: string; digest?: string }>()

  async function refresh(folder: string): Promise<void> {
    const { state, files, skipped: passed } = await readFolder(root, folder, limits)
    note(folder, passed)
    if (state === 'absent') return withdraw(folder)
    if (state === 'unreadable') return
    try {
      await publish(folder, files)
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error
      const fault = { path: `${folder}/SKILL.md`, code: error.code, reason: error.message }
      note(folder, [...passed, fault])
    }
  }

  async function publish(folder: string, files: Parameters<Registry['publish']>[0]['files']) {
    const upload = { files, mode: 'lenient', folder } as const
    const { name, digest } = registry.read(upload)
    const holder = [...held].find(([other, held]) => held.name === name && other !== folder)?.[0]
    if (holder !== undefined) {
      const what = `The folder "${holder}" holds a skill named "${name}" too.`
      throw new AppError('name_conflict', what)
    }
    const before = held.get(folder)
    if (before?.digest === digest) return
    const source = { type: 'directory', folder } as const
    // What was stored before is old news at the start, and an edit when it comes while we watch.
    const unchangedIf = before?.digest === undefined ? 'stored' : 'current'
    const stored = (await skills.find(name))?.source
    const back = stored?.type === 'directory' && stored.withdrawn
    const manner = { source, by: null, unchangedIf, ...(back && { enabled: true }) } as const
    const { skill, outcome } = await registry.publish(upload, manner)
    if (back && outcome === 'unchanged') await registry.change(name, { source })
    if (before !== undefined && before.name !== skill.name) await withdraw(folder)
    held.set(folder, { name, digest })
    if (outcome === 'unchanged') return
    const version = skill.latestVersion
    log.info(
      { skill: skill.name, version, folder, warnings: skill.warnings.length },
      `skill ${outcome}`,
    )
  }

  /** Its folder has vanished, or holds another one: the skill is disabled, with its history. */
  async function withdraw(folder: string): Promise<void> {
    const before = held.get(folder)
    held.delete(folder)
    const skill = before && (await skills.find(before.name))
    if (skill?.source.type !== 'directory' || skill.source.folder !== folder || !skill.enabled)
      return
    const source = { type: 'directory', folder, withdrawn: true } as const
    await registry.change(skill.name, { enabled: false, source })
    log.info({ skill: skill.name, folder }, 'skill withdrawn')
    for (const [other, paths] of skipped) {
      if (paths.some(({ code }) => code === 'name_conflict')) queue.touch(other)
    }
  }

  function note(folder: string, paths: SkippedPath[]): void {
    for (const one of paths) log.warn(one, 'path in the skills directory skipped')
    if (paths.length > 0) skipped.set(folder, paths)
    else skipped.delete(folder)
  }

  async function readAll(): Promise<void> {
    for await (const { name, source } of storedSkills(skills)) {
      if (source.type === 'directory' && !source.withdrawn) held.set(source.folder, { name })
    }
    const folders = await listFolders(root)
    // Those that have vanished first: one of them may be here under another name.
    const vanished = [...held.keys()].filter((folder) => !folders.includes(folder))
    for (const folder of [...vanished, ...folders]) await attempt(folder)
    log.info({ folders: folders.length, skipped: skipped.size }, 'skills directory read')
  }

  async function attempt(folder: string): Promise<void> {
    try {
      await refresh(folder)
    } catch (error) {
      log.error(error, 'folder of the skills directory not read')
      note(folder, [
        { path: folder, code: 'internal', reason: 'it could not be read or stored: see the log' },
      ])
    }
  }

  let over = false
  const queue = settling(attempt)
  const watcher = watch(root, { ignoreInitial: true, followSymlinks: false, cwd: root })
  watcher.on('all', (_, path) => {
    const [folder = ''] = path.split(sep)
    if (folder !== '' && !folder.startsWith('.')) queue.touch(folder)
  })
  watcher.on('error', (error) => log.error(error, 'skills directory not watched'))
  const read = queue.first(readAll).then(() => {
    over = true
  })

  return {
    read,
    isRead: () => over,
    skipped: () => [...skipped.values()].flat(),
    async close() {
      await watcher.close()
      await queue.close()
    },
  }
}

async function* storedSkills(skills: SkillStore) {
  const limit = 100
  for (let after: string | undefined; ; ) {
    const page = await skills.list({
      source: 'directory',
      sort: 'name',
      limit,
      ...(after !== undefined && { after }),
    })
    yield* page
    after = page.at(-1)?.name
    if (page.length < limit) return
  }
}
