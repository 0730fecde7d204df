import { type Static, Type } from 'typebox'
import { Fault } from '../errors.ts'
import type { Import, ImportedSkill } from '../registry/import.ts'

const ImportedResource = Type.Object({
  path: Type.String({ description: 'Of its SKILL.md in the archive' }),
  name: Type.Union([Type.String(), Type.Null()]),
  status: Type.Enum(['created', 'updated', 'unchanged', 'failed']),
  errors: Type.Array(Fault),
  warnings: Type.Array(Fault),
})

const summary = {
  created: Type.Integer(),
  updated: Type.Integer(),
  unchanged: Type.Integer(),
  failed: Type.Integer(),
  skipped: Type.Array(Type.String(), { description: 'Files that belong to no skill' }),
}
const ImportSummary = Type.Object(summary)

export const ImportResource = Type.Object({ results: Type.Array(ImportedResource), ...summary })
export const ImportLine = Type.Union([ImportedResource, ImportSummary])

type Line = Static<typeof ImportLine>

/** A line for each skill as it is stored, then one with the counts. */
export async function* toImportLines({ results, skipped }: Import): AsyncGenerator<Line> {
  const counts = { created: 0, updated: 0, unchanged: 0, failed: 0 }
  for await (const result of results()) {
    counts[result.status] += 1
    yield result
  }
  yield { ...counts, skipped }
}

/** The same in one piece. */
export async function toImportResource(done: Import): Promise<Static<typeof ImportResource>> {
  const results: ImportedSkill[] = []
  for await (const line of toImportLines(done)) {
    if (!('created' in line)) results.push(line)
    else return { results, ...line }
  }
  throw new Error('The import ended without its counts.')
}

/** The lines of what is told in one piece. */
export const toText = ({ results, ...counts }: Static<typeof ImportResource>): string =>
  [...results, counts].map((line) => `${JSON.stringify(line)}\n`).join('')
