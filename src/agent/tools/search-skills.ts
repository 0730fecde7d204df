import { catalogLine } from '../../domain/catalog.ts'
import { type Finders, rankOffered } from '../../registry/rank-offered.ts'
import type { Snapshot, SnapshotFilter } from '../../registry/snapshot.ts'
import type { Tool } from '../tool.ts'

const DEFAULT_LIMIT = 5
const MAX_LIMIT = 20

interface Surroundings extends Finders {
  /** The skills that are on offer in this step, and what narrowed them to these. */
  offer: Snapshot
  filter: SnapshotFilter
}

/** For the skills whose lines the catalog had no room for: what it finds can be loaded. */
export const searchSkills = ({ offer, filter, ...finders }: Surroundings): Tool => ({
  name: 'search_skills',
  idempotent: true,
  description:
    'Find skills that the list of skills does not show in full, by words of their names and descriptions. Then load the one that fits with load_skill.',
  inputSchema: {
    type: 'object',
    properties: {
      query: { type: 'string', description: 'What the skill should be about' },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: MAX_LIMIT,
        description: `How many to show; ${DEFAULT_LIMIT} if left out`,
      },
    },
    required: ['query'],
    additionalProperties: false,
  },

  async run(input) {
    const limit = Number(input.limit ?? DEFAULT_LIMIT)
    const ranking = await rankOffered(finders, String(input.query), filter, { limit })
    const places = new Map(ranking.map((name, place) => [name, place]))
    const found = offer.entries
      .filter(({ name }) => places.has(name))
      .toSorted((a, b) => (places.get(a.name) ?? 0) - (places.get(b.name) ?? 0))
    if (found.length === 0) return { text: 'No skill matches. Try other words.' }
    return { text: found.map(catalogLine).join('\n') }
  },
})
