import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { BundleLimits } from '../domain/bundle.ts'
import type { Fault } from '../errors.ts'
import type { Client } from './client.ts'
import { EXIT } from './failure.ts'
import type { Place } from './find-skills.ts'
import { nameConflicts } from './name-conflicts.ts'
import { checkSkill, type LocalSkill, readSkill } from './read-skill.ts'
import { Refusal } from './refusal.ts'
import type { Result } from './results.ts'
import { type Manner, uploadArchive, uploadSkill } from './upload.ts'

interface Pushing {
  client: Client
  manner: Manner
  limits: BundleLimits
}

/** Sends places again and again, and each time only what is not as it was sent before. */
export type Push = (places: readonly Place[]) => AsyncGenerator<Result[]>

/** What became of each place, one after the other: none of what was sent before as it is. */
export function createPush({ client, manner, limits }: Pushing): Push {
  const sent = new Map<string, string>()

  return async function* push(places) {
    const conflictOf = nameConflicts()
    for (const place of places) {
      if (place.kind === 'archive') {
        const packed = { format: place.format, bytes: await readFile(place.path) }
        const { results } = await uploadArchive(client, place.path, packed, manner)
        yield results
        continue
      }
      const local = await readSkill(place, limits)
      const name = checkSkill(local, manner.mode, limits).skill?.name
      const conflict = name === undefined ? undefined : conflictOf(name, place)
      const faults = conflict ? [...local.faults, conflict] : local.faults
      const digest = digestOf(local, faults)
      if (sent.get(place.skillMd) === digest) {
        yield []
        continue
      }
      yield faults.length > 0 ? [failed(local, faults)] : await upload(local)
      sent.set(place.skillMd, digest)
    }
  }

  /** What is refused as a whole stops no other skill either; a key or a fault of the service does. */
  async function upload(local: LocalSkill): Promise<Result[]> {
    try {
      return await uploadSkill(client, local, manner)
    } catch (error) {
      const problem = error instanceof Refusal ? error.problem : undefined
      if (!(error instanceof Refusal) || error.exitCode === EXIT.key) throw error
      if (!problem || problem.status >= 500) throw error
      const { code, detail, title, errors } = problem
      return [failed(local, errors ?? [{ code, message: detail ?? title }])]
    }
  }
}

const failed = ({ place }: LocalSkill, errors: Fault[]): Result => ({
  path: place.skillMd,
  name: null,
  status: 'failed',
  errors: errors.map((fault) => ({ ...fault, file: fault.file ?? place.skillMd })),
  warnings: [],
})

function digestOf({ files }: LocalSkill, faults: readonly Fault[]): string {
  const hash = createHash('sha256').update(JSON.stringify(faults))
  for (const { path, bytes } of files) hash.update(`\0${path}\0${bytes.length}\0`).update(bytes)
  return hash.digest('hex')
}
