import { skillTag } from '../domain/precondition.ts'
import type { BundleFile } from '../domain/skill.ts'
import { AppError } from '../errors.ts'
import type { SkillStore, StoredSkill } from '../store/skills.ts'
import type { Upload } from './read-upload.ts'

/** A new version made of the current one. */
export interface Rewriting<Stored> {
  /** Throws when the change may not be made to the skill that is there. */
  allow(skill: StoredSkill): void
  change(files: readonly BundleFile[]): BundleFile[]
  /** Whether the files, unchanged, are taken strictly. */
  isSound(upload: Upload): boolean
  /** Stores it, unless the skill has moved on from `tags`. */
  store(upload: Upload, activate: boolean, unmoved: { tags: string[] }): Promise<Stored>
}

/** Against others that write elsewhere, for here they come one after another. */
const MAX_TRIES = 5

/** The last rewriting of each skill that is under way. */
const underWay = new WeakMap<SkillStore, Map<string, Promise<unknown>>>()

/** Resolves to undefined when there is no such skill. A draft stays a draft. */
export async function rewrite<Stored>(
  skills: SkillStore,
  name: string,
  rewriting: Rewriting<Stored>,
): Promise<Stored | undefined> {
  const last = underWay.get(skills) ?? new Map<string, Promise<unknown>>()
  underWay.set(skills, last)
  const before = last.get(name)
  const own = (async () => {
    await before?.catch(() => {})
    return rewriteNow(skills, name, rewriting)
  })()
  last.set(name, own)
  try {
    return await own
  } finally {
    if (last.get(name) === own) last.delete(name)
  }
}

async function rewriteNow<Stored>(
  skills: SkillStore,
  name: string,
  { allow, change, isSound, store }: Rewriting<Stored>,
): Promise<Stored | undefined> {
  for (let tries = 1; ; tries++) {
    const skill = await skills.find(name)
    if (!skill) return undefined
    allow(skill)
    const before: Upload = {
      files: await readFiles(skills, skill),
      mode: 'strict',
      expectedName: name,
    }
    // What was taken leniently stays so; what was sound has to stay sound.
    const mode = isSound(before) ? 'strict' : 'lenient'
    try {
      const upload: Upload = { ...before, mode, files: change(before.files) }
      return await store(upload, skill.version !== null, { tags: [skillTag(skill)] })
    } catch (error) {
      // Somebody else wrote between our reading and our writing: change what is there now.
      const moved = error instanceof AppError && error.code === 'version_conflict'
      if (!moved || tries === MAX_TRIES) throw error
    }
  }
}

async function readFiles(skills: SkillStore, { name, files }: StoredSkill): Promise<BundleFile[]> {
  const read: BundleFile[] = []
  for (const { path } of files) {
    const file = await skills.readFile(name, path)
    if (file) read.push({ path, bytes: file.bytes })
  }
  return read
}
