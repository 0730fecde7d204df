import { createHash } from 'node:crypto'
import type { NewFile, Publication } from '../../src/store/skills.ts'

const hash = (text: string) => createHash('sha256').update(text).digest('hex')

export function newFile(path: string, text: string): NewFile {
  const bytes = Buffer.from(text)
  return { path, bytes, sha256: hash(text), size: bytes.length, mediaType: 'text/plain' }
}

/** What the registry would hand to `publish` for a SKILL.md of this body. */
export function publication(
  name: string,
  { body = 'Say hello.', files = [], ...rest }: Partial<Publication> = {},
): Publication {
  const all = [newFile('SKILL.md', body), ...files]
  return {
    name,
    title: null,
    description: 'Says hello.',
    declaredVersion: null,
    tags: [],
    allowedTools: null,
    license: null,
    compatibility: null,
    metadata: {},
    extra: {},
    hidden: false,
    body,
    digest: `sha256:${hash(all.map(({ path, sha256 }) => `${path} ${sha256}`).join('\n'))}`,
    files: all,
    tokens: { catalog: 10, body: 20 },
    warnings: [],
    source: { type: 'api' },
    note: null,
    by: null,
    createOnly: false,
    activate: true,
    unchangedIf: 'current',
    ...rest,
  }
}
