import { type Static, Type } from 'typebox'
import type { SkillUsage, TokenSums, TotalUsage, UseCounts } from '../store/usage.ts'

const counts = {
  loads: Type.Integer({ description: 'That brought the body' }),
  repeats: Type.Integer({ description: 'That found the body in the context' }),
  denials: Type.Integer({ description: 'Calls that its allowed-tools refused' }),
  reads: Type.Integer({ description: 'Of its bundled files' }),
  tokens: Type.Integer({ description: 'That these put into contexts' }),
  last_used_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
}

export const SkillStatsResource = Type.Object({
  name: Type.String(),
  ...counts,
  versions: Type.Array(
    Type.Object({
      version: Type.Union([Type.Integer(), Type.Null()], {
        description: 'Null where it is not known, as of denials',
      }),
      ...counts,
    }),
    { description: 'Newest first' },
  ),
})

const Comparison = Type.Object({
  inlined: Type.Integer({ description: 'With all bodies on offer in every prompt' }),
  catalog: Type.Integer(),
  bodies: Type.Integer({ description: 'Of loaded skills' }),
  saved: Type.Number({ description: 'The share of inlined that was not needed' }),
})

export const StatsResource = Type.Object({
  ...counts,
  conversations: Type.Integer(),
  turns: Type.Integer(),
  model_calls: Type.Integer(),
  savings: Type.Object({
    sent: Type.Object(Comparison.properties, {
      description: 'Tokens of skills over all model calls, counted in each call',
    }),
    fresh: Type.Object(Comparison.properties, {
      description: 'Each counted once, in the call of a conversation that sent it first',
    }),
    billed: Type.Object(Comparison.properties, {
      description: 'In full where fresh, else as a tenth, as providers bill what they have cached',
    }),
  }),
})

const toCounts = ({ lastUsedAt, loads, repeats, denials, reads, tokens }: UseCounts) => ({
  loads,
  repeats,
  denials,
  reads,
  tokens,
  last_used_at: lastUsedAt,
})

export const toSkillStats = (
  name: string,
  { versions, ...total }: SkillUsage,
): Static<typeof SkillStatsResource> => ({
  name,
  ...toCounts(total),
  versions: versions.map(({ version, ...one }) => ({ version, ...toCounts(one) })),
})

/** What a token costs that is read from a cache, beside one that is not (prior-art N6). */
const CACHED = 0.1

export const toStats = (total: TotalUsage): Static<typeof StatsResource> => ({
  ...toCounts(total),
  conversations: total.conversations,
  turns: total.turns,
  model_calls: total.modelCalls,
  savings: {
    sent: compare(total.sent),
    fresh: compare(total.fresh),
    billed: compare({
      catalog: billed(total, 'catalog'),
      bodies: billed(total, 'bodies'),
      inlined: billed(total, 'inlined'),
    }),
  },
})

const billed = ({ sent, fresh }: TotalUsage, part: keyof TokenSums): number =>
  Math.round(fresh[part] + CACHED * Math.max(0, sent[part] - fresh[part]))

const compare = ({ inlined, catalog, bodies }: TokenSums) => ({
  inlined,
  catalog,
  bodies,
  saved: inlined === 0 ? 0 : Math.round((1 - (catalog + bodies) / inlined) * 1000) / 1000,
})
