import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import type { Static } from 'typebox'
import type { Mode } from '../domain/diagnostics.ts'
import type { BundleFile } from '../domain/skill.ts'
import type { Fault } from '../errors.ts'
import type { ImportLine } from '../http/import-resource.ts'
import type { Problem } from '../http/problem.ts'
import type { Packed } from '../registry/archives/archive.ts'
import { writeArchive } from '../registry/archives/write-archive.ts'
import { type Client, withQuery } from './client.ts'
import { placeIn } from './placed-fault.ts'
import { folderOf, type LocalSkill, pathOf } from './read-skill.ts'
import type { Result } from './results.ts'

const MEDIA_TYPES = { zip: 'application/zip', tgz: 'application/gzip' }

/** How skills are to be stored. */
export interface Manner {
  mode: Mode
  dryRun: boolean
  note: string | undefined
}

interface Uploaded {
  results: Result[]
  /** The files that belong to no skill. */
  skipped: string[]
}

/**
 * Sends one skill. It goes through the import, which alone says whether it was stored, changed
 * something, or was refused, and why.
 */
export async function uploadSkill(
  client: Client,
  { place, files }: LocalSkill,
  manner: Manner,
): Promise<Result[]> {
  const bytes = await pack(files, folderOf(place, manner.mode))
  const { results } = await send(client, { format: 'tgz', bytes }, manner)
  return results.map((result) => inFiles(result, place.skillMd, (file) => pathOf(place, file)))
}

/** Sends an archive as it is; files in it are told as if it were a folder. */
export async function uploadArchive(
  client: Client,
  path: string,
  packed: Packed,
  manner: Manner,
): Promise<Uploaded> {
  const { results, skipped } = await send(client, packed, manner)
  return {
    results: results.map((result) => {
      const folder = join(path, dirname(result.path))
      return inFiles(result, join(path, result.path), (file = 'SKILL.md') => join(folder, file))
    }),
    skipped,
  }
}

function inFiles(result: Result, path: string, whereIs: (file?: string) => string): Result {
  const placed = (fault: Fault) => placeIn(whereIs(fault.file), fault)
  return {
    ...result,
    path,
    errors: result.errors.map(placed),
    warnings: result.warnings.map(placed),
  }
}

type Line = Static<typeof ImportLine> | Problem

/** Asks for lines, which begin to come at once, however long the whole takes. */
async function send(
  client: Client,
  { format, bytes }: Packed,
  { mode, note, dryRun }: Manner,
): Promise<Uploaded> {
  const query = { mode, note, dry_run: dryRun || undefined }
  const answer = await client.bytes(withQuery('/skills/import', query), {
    method: 'POST',
    headers: { 'content-type': MEDIA_TYPES[format], accept: 'application/x-ndjson' },
    body: new Uint8Array(bytes),
  })
  const uploaded: Uploaded = { results: [], skipped: [] }
  for (const text of answer.toString().split('\n').filter(Boolean)) {
    const line: Line = JSON.parse(text)
    if ('skipped' in line) uploaded.skipped = line.skipped
    else uploaded.results.push('title' in line ? brokenOff(line) : line)
  }
  return uploaded
}

/** What stands for the skills that an import did not come to. */
const brokenOff = ({ code, detail, title }: Problem): Result => ({
  path: '',
  name: null,
  status: 'failed',
  errors: [{ code, message: detail ?? title }],
  warnings: [],
})

function pack(files: readonly BundleFile[], folder: string | undefined): Promise<Buffer> {
  const inFolder = files.map(({ path, bytes }) => ({
    path: folder === undefined ? path : `${folder}/${path}`,
    bytes,
  }))
  return buffer(writeArchive('tgz', inFolder))
}
