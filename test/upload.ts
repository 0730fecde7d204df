import { zipSync } from 'fflate'
import { makeTgz } from './registry/archives/make-tgz.ts'

/** A part of a form; without a file name it is a field. */
export interface Part {
  name?: string
  fileName?: string
  data: string | Buffer
  /** More headers, or the disposition as it is written. */
  disposition?: string
}

const BOUNDARY = 'x-boundary'
export const formType = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }

export function makeForm(parts: Part[]): Buffer {
  const chunks = parts.flatMap(({ name = 'files[]', fileName, data, disposition }) => {
    const file = fileName === undefined ? '' : `; filename="${fileName}"`
    const line = disposition ?? `form-data; name="${name}"${file}`
    return [
      `--${BOUNDARY}\r\ncontent-disposition: ${line}\r\ncontent-type: text/plain\r\n\r\n`,
      data,
      '\r\n',
    ]
  })
  return Buffer.concat([...chunks, `--${BOUNDARY}--\r\n`].map((chunk) => Buffer.from(chunk)))
}

export type Files = Record<string, string | Buffer>

/** The same files on every way they may come. */
export const waysOf = (files: Files) => {
  const entries = Object.entries(files).map(([name, data]) => ({ name, data: Buffer.from(data) }))
  const zip = Buffer.from(
    zipSync(Object.fromEntries(entries.map(({ name, data }) => [name, new Uint8Array(data)]))),
  )
  const tgz = makeTgz(entries)
  const form = makeForm(entries.map(({ name, data }) => ({ fileName: name, data })))
  const alone = (data: Buffer) => makeForm([{ fileName: 'bundle', name: 'any', data }])
  const typed = (type: string) => ({ 'content-type': type })
  return {
    zip: { payload: zip, headers: typed('application/zip') },
    'zip of Windows': { payload: zip, headers: typed('application/x-zip-compressed') },
    tgz: { payload: tgz, headers: typed('application/gzip') },
    'x-gzip': { payload: tgz, headers: typed('application/x-gzip') },
    'x-tar+gzip': { payload: tgz, headers: typed('application/x-tar+gzip') },
    form: { payload: form, headers: formType },
    'form with a zip': { payload: alone(zip), headers: formType },
    'form with a tgz': { payload: alone(tgz), headers: formType },
  }
}
