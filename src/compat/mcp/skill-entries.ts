import {
  SKILL_LIMITS,
  SkillCatalogError,
  type Skill as SkillEntry,
  skillEntry,
} from '@modelcontextprotocol/server/ext/skills'
import type { FastifyBaseLogger } from 'fastify'
import { createRecent } from '../../registry/embeddings/recent.ts'
import type { SkillStore } from '../../store/skills.ts'
import { readSkillUri } from './skill-uri.ts'

/** How many entries are kept; the largest hold 512 files. */
const MAX_KEPT = 1000

/** A skill at a version, whose number another skill of that name may have had before. */
export interface Current {
  name: string
  version: number
  digest: string
}

/** Skills as the extension lists them: a version's entry never changes. */
export interface SkillEntries {
  /** Undefined for a skill that clients of the extension would not take; logged once. */
  of(skill: Current): Promise<SkillEntry | undefined>
}

interface Parts {
  skills: Pick<SkillStore, 'findVersion' | 'readFile'>
  log: Pick<FastifyBaseLogger, 'warn'>
}

export function createSkillEntries({ skills, log }: Parts): SkillEntries {
  const kept = createRecent<{ entry: SkillEntry | undefined }>(MAX_KEPT)

  return {
    async of({ name, version, digest }) {
      const key = `${name} ${version} ${digest}`
      const known = kept.get(key)
      if (known) return known.entry
      const found = await skills.findVersion(name, version)
      const skillMd = await skills.readFile(name, 'SKILL.md', version)
      if (!found || !skillMd) return undefined
      const { entry, reason } = await toEntry(name, found, skillMd.bytes)
      if (reason) log.warn({ skill: name, version, reason }, 'skill left out of skills/list')
      kept.set(key, { entry })
      return entry
    },
  }
}

type Found = Exclude<Awaited<ReturnType<SkillStore['findVersion']>>, undefined>

async function toEntry(
  name: string,
  { files, size }: Found,
  skillMd: Uint8Array,
): Promise<{ entry?: SkillEntry; reason?: string }> {
  if (files.length > SKILL_LIMITS.files || size > SKILL_LIMITS.bytes) {
    return { reason: `It has ${files.length} files of ${size} bytes.` }
  }
  // Of the other files only the paths are looked at: digests and sizes are known.
  const contents = Object.fromEntries(files.map(({ path }) => [path, '']))
  try {
    const entry = await skillEntry(name, { ...contents, 'SKILL.md': skillMd })
    const byPath = new Map(files.map((file) => [file.path, file]))
    const listed = entry.resources === 'dynamic' ? [] : entry.resources
    const resources = listed.flatMap(({ uri }) => {
      const file = byPath.get(readSkillUri(uri)?.path ?? '')
      return file ? [{ uri, digest: `sha256:${file.sha256}`, size: file.size }] : []
    })
    if (resources.length < files.length) return { reason: 'A path cannot be part of a URI.' }
    return { entry: { ...entry, resources } }
  } catch (error) {
    if (error instanceof SkillCatalogError || error instanceof URIError) {
      return { reason: error.message }
    }
    throw error
  }
}
