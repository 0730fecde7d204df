import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import type { BundleFile } from '../domain/skill.ts'
import { type ArchiveFormat, formatOf, type Packed } from '../registry/archives/archive.ts'
import { type Form, readFileForm, readForm } from './multipart.ts'

const ARCHIVE_TYPES: Record<string, ArchiveFormat> = {
  'application/zip': 'zip',
  'application/x-zip-compressed': 'zip',
  'application/gzip': 'tgz',
  'application/x-gzip': 'tgz',
  'application/x-tar+gzip': 'tgz',
  'application/tar+gzip': 'tgz',
  'application/x-gtar': 'tgz',
}

/** What came as an archive, or as the files of a form. */
export class BundleBody {
  readonly content: Packed | readonly BundleFile[]

  constructor(content: Packed | readonly BundleFile[]) {
    this.content = content
  }

  /** Tells bodies apart for an idempotency key, without their bytes and the boundary of a form. */
  toJSON() {
    const { content } = this
    if ('format' in content) return [content.format, sha256(content.bytes)]
    return content.map(({ path, bytes }) => [path, sha256(bytes)])
  }
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Lets the routes of this plugin take archives and forms. */
export function takeBundles(app: FastifyInstance): void {
  for (const [type, format] of Object.entries(ARCHIVE_TYPES)) {
    app.addContentTypeParser(
      type,
      { parseAs: 'buffer' },
      async (_: unknown, bytes: Buffer) => new BundleBody({ format, bytes }),
    )
  }
  app.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'buffer' },
    async ({ headers }: { headers: { 'content-type'?: string } }, bytes: Buffer) => {
      const files = await readFileForm(bytes, headers['content-type'] ?? '')
      return new BundleBody(packedIn(files) ?? files)
    },
  )
}

/** A form whose fields count, too. */
export class FormBody {
  readonly bundle: BundleBody
  readonly fields: Form['fields']

  constructor({ files, fields }: Form) {
    this.bundle = new BundleBody(packedIn(files) ?? files)
    this.fields = fields
  }
}

/** Lets the routes of this plugin take forms with fields, and no other bundle. */
export function takeForms(app: FastifyInstance): void {
  app.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'buffer' },
    async ({ headers }: { headers: { 'content-type'?: string } }, bytes: Buffer) =>
      new FormBody(await readForm(bytes, headers['content-type'] ?? '')),
  )
}

/** A single file that is an archive, whatever its name, is meant as one. */
function packedIn([only, ...others]: BundleFile[]): Packed | undefined {
  if (!only || others.length > 0) return undefined
  const bytes = Buffer.from(only.bytes.buffer, only.bytes.byteOffset, only.bytes.byteLength)
  const format = formatOf(bytes)
  return format && { format, bytes }
}

// Without types: the bodies are read before they are checked.
const form = Type.Unsafe<BundleBody>({
  description:
    'The files of a skill, in parts of any names; file names may carry folders. An archive alone works too.',
})
const archive = Type.Unsafe<BundleBody>({
  description: 'SKILL.md and its files, at the root or in one top folder',
  format: 'binary',
})
const formExample =
  '--x\r\ncontent-disposition: form-data; name="files"; filename="greet/SKILL.md"\r\n\r\n---\nname: greet\ndescription: Greets people. Use when somebody says hello.\n---\nSay hello.\n\r\n--x--\r\n'

/** How these bodies are described; each needs an example, which bytes have none of. */
export const bundleContent = {
  'multipart/form-data': { schema: { ...form, examples: [formExample] } },
  ...Object.fromEntries(
    Object.entries(ARCHIVE_TYPES).map(([type, format]) => [
      type,
      { schema: { ...archive, examples: [`(the bytes of a ${format})`] } },
    ]),
  ),
}
