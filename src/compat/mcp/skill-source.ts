import type { SkillSource } from '@modelcontextprotocol/server/ext/skills'
import { readCursor, toPage } from '../../http/page.ts'
import type { FileEntry, SkillStore, StoredSkill } from '../../store/skills.ts'
import type { SkillEntries } from './skill-entries.ts'
import { PAGE, skillPage } from './skill-page.ts'
import { readSkillUri, toSkillUri } from './skill-uri.ts'

const NAME_IN_CURSOR = /^.{1,1000}$/u

interface Parts {
  skills: Pick<SkillStore, 'list' | 'catalog' | 'find' | 'readFile'>
  entries: SkillEntries
}

/**
 * What the skills extension serves: every enabled skill in its current version, also those that
 * models may not load themselves, for the client is told of it by their frontmatter.
 */
export function skillSource({ skills, entries }: Parts) {
  async function findServed(name: string) {
    const skill = await skills.find(name)
    if (!skill?.enabled || skill.version === null) return undefined
    return { ...skill, version: skill.version }
  }

  return {
    async list({ cursor }) {
      const { data, next } = await skillPage(skills, 'skills', cursor)
      const listed = await Promise.all(
        data.map(({ name, version, digest }) =>
          version === null ? undefined : entries.of({ name, version, digest }),
        ),
      )
      return { skills: listed.filter((entry) => entry !== undefined), ...next }
    },

    async get(uri) {
      const place = readSkillUri(uri)
      const skill = place?.path === 'SKILL.md' ? await findServed(place.name) : undefined
      const entry = skill && (await entries.of(skill))
      // Another spelling of the name is another URI.
      return entry?.uri === URL.parse(uri)?.href ? entry : undefined
    },

    async read(uri) {
      const place = readSkillUri(uri)
      const skill = place && (await findServed(place.name))
      const file = skill && (await skills.readFile(skill.name, place.path, skill.version))
      if (!file) return undefined
      const text = textOf(file.bytes)
      const mimeType = file.mediaType
      return text === undefined ? { bytes: file.bytes, mimeType } : { text, mimeType }
    },

    async readDirectory(uri, { cursor }) {
      const place = readSkillUri(uri)
      const skill = place && (await findServed(place.name))
      const children = skill && childrenIn(skill, place.path)
      if (!children) return undefined
      const list = `files of ${uri}`
      const after = readCursor(list, cursor, NAME_IN_CURSOR)
      const rest = after === undefined ? children : children.filter(({ name }) => name > after)
      const page = toPage(list, rest, PAGE, ({ name }) => name)
      return {
        resources: page.data,
        ...(page.next_cursor !== null && { nextCursor: page.next_cursor }),
      }
    },

    async listResources() {
      const { entries: all } = await skills.catalog()
      return all
        .filter(({ enabled }) => enabled)
        .map(({ name, description }) => ({
          uri: toSkillUri({ name, path: 'SKILL.md' }),
          name,
          description,
          mimeType: 'text/markdown',
        }))
    },
  } satisfies SkillSource
}

/** Byte for byte, a byte order mark too; undefined for what is no UTF-8. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** What lies directly in a folder, by name; undefined where there is no such folder. */
function childrenIn({ name, files }: Pick<StoredSkill, 'name' | 'files'>, folder: string) {
  const prefix = folder === '' ? '' : `${folder}/`
  const children = new Map<string, ReturnType<typeof toFile> | ReturnType<typeof toFolder>>()
  for (const file of files) {
    if (!file.path.startsWith(prefix)) continue
    const [child = '', ...more] = file.path.slice(prefix.length).split('/')
    const at = toSkillUri({ name, path: prefix + child })
    children.set(child, more.length > 0 ? toFolder(at, child) : toFile(at, child, file))
  }
  if (children.size === 0) return undefined
  return [...children.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

const toFile = (uri: string, name: string, { mediaType, size }: FileEntry) => ({
  uri,
  name,
  mimeType: mediaType,
  size,
})

const toFolder = (uri: string, name: string) => ({ uri, name, mimeType: 'inode/directory' })
