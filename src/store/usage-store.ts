import { type Kysely, sql } from 'kysely'
import { insertUses } from './chat-steps.ts'
import { tellingFaults } from './storage-fault.ts'
import type { Tables } from './tables.ts'
import { inSnapshot, inTransaction } from './transaction.ts'
import type { UsageStore, UseCounts } from './usage.ts'

export function createUsageStore(db: Kysely<Tables>): UsageStore {
  return tellingFaults<UsageStore>({
    async ofSkill(name) {
      const rows = await db
        .selectFrom('skill_uses')
        .select(['version', ...counts])
        .where('skill', '=', name)
        .groupBy('version')
        .execute()
      const versions = rows
        .map(({ version, ...row }) => ({ version, ...toCounts(row) }))
        .sort((a, b) => (b.version ?? 0) - (a.version ?? 0))
      return { ...versions.reduce<UseCounts>(add, NONE), versions }
    },

    total: () =>
      inSnapshot(db, async (trx) => {
        const uses = await trx.selectFrom('skill_uses').select(counts).executeTakeFirstOrThrow()
        const { rows } = await sql<Record<keyof typeof TOTALS, number | null>>`
          select
            (select count(*) from conversations) as conversations,
            (select count(*) from turns) as turns,
            count(*) as calls,
            sum(catalog_tokens) as catalog,
            sum(body_tokens) as bodies,
            sum(inlined_tokens) as inlined,
            (select sum(catalog) from (${FRESH}) as fresh) as fresh_catalog,
            (select sum(tokens) from skill_uses where kind = 'load'
              and conversation in (select seq from conversations)) as fresh_bodies,
            (select sum(inlined) from (${FRESH}) as fresh) as fresh_inlined
          from turn_steps`.execute(trx)
        const row = { ...TOTALS, ...rows[0] }
        const number = (key: keyof typeof TOTALS) => Number(row[key] ?? 0)
        return {
          ...toCounts(uses),
          conversations: number('conversations'),
          turns: number('turns'),
          modelCalls: number('calls'),
          sent: {
            catalog: number('catalog'),
            bodies: number('bodies'),
            inlined: number('inlined'),
          },
          fresh: {
            catalog: number('fresh_catalog'),
            bodies: number('fresh_bodies'),
            inlined: number('fresh_inlined'),
          },
        }
      }),

    record: (use, owner) =>
      inTransaction(db, (trx) => insertUses(trx, { ...NO_CONVERSATION, owner }, [use])),
  })
}

/** Sequences begin with 1. */
const NO_CONVERSATION = { conversation: 0, turn: 0 }

const TOTALS = {
  conversations: 0,
  turns: 0,
  calls: 0,
  catalog: 0,
  bodies: 0,
  inlined: 0,
  fresh_catalog: 0,
  fresh_bodies: 0,
  fresh_inlined: 0,
}

/** The prompt of a conversation changes with the revision, and with nothing else. */
const FRESH = sql`
  select max(catalog_tokens) as catalog, max(inlined_tokens) as inlined
  from turn_steps inner join turns on turns.seq = turn_steps.turn
  group by turns.conversation, turn_steps.revision`

const NONE: UseCounts = {
  loads: 0,
  repeats: 0,
  denials: 0,
  reads: 0,
  tokens: 0,
  lastUsedAt: null,
}

const of = (kind: string) =>
  sql<number>`coalesce(sum(case when kind = ${kind} then 1 else 0 end), 0)`
const counts = [
  of('load').as('loads'),
  of('repeat').as('repeats'),
  of('denied').as('denials'),
  of('read').as('reads'),
  sql<number>`coalesce(sum(tokens), 0)`.as('tokens'),
  sql<string | null>`max(used_at)`.as('last_used_at'),
] as const

type Row = Record<'loads' | 'repeats' | 'denials' | 'reads' | 'tokens', number> & {
  last_used_at: string | null
}

/** PostgreSQL gives sums as text. */
const toCounts = ({ loads, repeats, denials, reads, tokens, last_used_at }: Row): UseCounts => ({
  loads: Number(loads),
  repeats: Number(repeats),
  denials: Number(denials),
  reads: Number(reads),
  tokens: Number(tokens),
  lastUsedAt: last_used_at,
})

const add = (sum: UseCounts, more: UseCounts): UseCounts => ({
  loads: sum.loads + more.loads,
  repeats: sum.repeats + more.repeats,
  denials: sum.denials + more.denials,
  reads: sum.reads + more.reads,
  tokens: sum.tokens + more.tokens,
  lastUsedAt:
    [sum.lastUsedAt, more.lastUsedAt]
      .filter((at) => at !== null)
      .sort()
      .at(-1) ?? null,
})
