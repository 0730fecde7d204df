import { Busboy } from '@fastify/busboy'
import type { BundleFile } from '../domain/skill.ts'
import { AppError } from '../errors.ts'

const MAX_PARTS = 20_000

export interface Form {
  files: BundleFile[]
  fields: { name: string; value: string }[]
}

/** The files of a form. A part that is no file is refused. */
export async function readFileForm(body: Buffer, contentType: string): Promise<BundleFile[]> {
  const { files, fields } = await readForm(body, contentType)
  const [field] = fields
  if (field) throw notAFile(field.name)
  return files
}

/**
 * A form (RFC 7578): its files by the names their parts give them, folders and all. Whatever ends
 * too early is refused: what is here is what was sent.
 */
export async function readForm(body: Buffer, contentType: string): Promise<Form> {
  const boundary = readBoundary(contentType)
  const files: { path: string; chunks: Buffer[] }[] = []
  const fields: Form['fields'] = []
  const { promise: read, resolve, reject } = Promise.withResolvers<void>()
  const form = openForm(contentType)
  form.on('file', (field, content, path) => {
    const chunks: Buffer[] = []
    content.on('data', (chunk: Buffer) => chunks.push(chunk))
    content.on('error', () => reject(cut()))
    if (!path) reject(notAFile(field))
    files.push({ path: readFileName(path ?? ''), chunks })
  })
  form.on('field', (name, value, _, valueIsCut) => {
    if (valueIsCut) reject(invalid('A field of the form is too long.'))
    fields.push({ name, value })
  })
  form.on('partsLimit', () => reject(tooMany()))
  form.on('error', () => reject(cut()))
  form.on('finish', resolve)
  form.end(body)
  await read

  // The parser passes over a part that says no name, without a word.
  if (files.length + fields.length !== countParts(body, boundary)) {
    throw invalid('A part of the form has no content-disposition with a name.')
  }
  if (files.length === 0) {
    const [field] = fields
    throw field ? notAFile(field.name) : invalid('The form is empty: send the files of a skill.')
  }
  if (files.some(({ path }) => path.includes('\ufffd'))) {
    throw invalid('The name of a file in the form is not UTF-8.')
  }
  const whole = files.map(({ path, chunks }) => ({ path, bytes: Buffer.concat(chunks) }))
  return { files: whole, fields }
}

function readBoundary(contentType: string): string {
  const [, quoted, token] = /;\s*boundary=(?:"([^"]+)"|([^\s;"]+))/i.exec(contentType) ?? []
  const boundary = quoted ?? token
  if (boundary !== undefined && boundary.length <= 200) return boundary
  throw invalid('The content-type has no boundary.')
}

function openForm(contentType: string) {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      preservePath: true,
      isPartAFile: (_, __, fileName) => fileName !== undefined,
      limits: { parts: MAX_PARTS },
    })
  } catch {
    throw invalid('The content-type has no boundary.')
  }
}

/** Every boundary begins a part, except the last one. */
function countParts(body: Buffer, boundary: string): number {
  const first = Buffer.from(`--${boundary}`, 'latin1')
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  let count = body.subarray(0, first.length).equals(first) ? 1 : 0
  for (let at = body.indexOf(delimiter); at >= 0; at = body.indexOf(delimiter, at + 1)) count += 1
  return count - 1
}

/** As FormData writes what would end the name (WHATWG HTML, multipart/form-data encoding). */
const readFileName = (name: string): string =>
  name.replaceAll(/%22/g, '"').replaceAll(/%0D/gi, '\r').replaceAll(/%0A/gi, '\n')

const cut = () => invalid('The form ends too early, or is damaged.')

const invalid = (message: string) => new AppError('body_invalid', message)

const tooMany = () =>
  new AppError('archive_too_large', `The form has more than ${MAX_PARTS} files.`)

export function notAFile(field: string): AppError {
  const shown = field.slice(0, 64).replaceAll(/\p{C}/gu, '\ufffd')
  const message = `The part "${shown}" is no file: a part with a file has a file name.`
  return new AppError('body_invalid', message, {
    errors: [{ code: 'body_invalid', message, field: shown }],
  })
}
