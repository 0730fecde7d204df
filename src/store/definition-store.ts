import type { Kysely, Selectable, Transaction } from 'kysely'
import { definitionTag, holds, type Precondition } from '../domain/precondition.ts'
import type { DefinitionTable } from './definition-tables.ts'
import type { Defined, DefinitionStore } from './definitions.ts'
import { record, refuseRecorded } from './idempotency-store.ts'
import { prepared } from './prepared.ts'
import { tellingFaults } from './storage-fault.ts'
import type { Tables } from './tables.ts'
import { comparable, inTransaction, now } from './transaction.ts'

export function createDefinitionStore<Definition>(
  db: Kysely<Tables>,
  table: 'agents' | 'tools' | 'mcp_servers',
): DefinitionStore<Definition> {
  const selectAll = prepared<object, Selectable<DefinitionTable>>((reader) =>
    reader.selectFrom(table).selectAll().orderBy('name'),
  )
  const selectNamed = prepared<{ name: string }, Selectable<DefinitionTable>>((reader, parameter) =>
    reader.selectFrom(table).selectAll().where('name', '=', parameter('name')),
  )
  return tellingFaults<DefinitionStore<Definition>>({
    find: (name) => find(db, name),

    async list({ after, limit }) {
      let query = db.selectFrom(table).selectAll().orderBy('name').limit(limit)
      if (after !== undefined) query = query.where('name', '>', comparable(after))
      return (await query.execute()).map(fromRow)
    },

    async all() {
      return (await selectAll(db, {})).rows.map(fromRow)
    },

    put: (name, definition, { precondition, recording } = {}) =>
      inTransaction(db, async (trx) => {
        const revision = (await lockRevision(trx)) + 1
        if (recording) await refuseRecorded(trx, recording)
        const before = await find(trx, name)
        if (!meets(precondition, before)) return { outcome: 'conflict', defined: before }

        const text = JSON.stringify(definition)
        if (before && JSON.stringify(before.definition) === text) {
          const unchanged = { outcome: 'unchanged', defined: before } as const
          if (recording) await record(trx, recording, unchanged)
          return unchanged
        }
        const at = now()
        const values = { definition: text, revision, updated_at: at }
        await trx
          .insertInto(table)
          .values({ ...values, name, created_at: at })
          .onConflict((conflict) => conflict.column('name').doUpdateSet(values))
          .execute()
        await trx.updateTable('definition_revisions').set({ revision }).execute()
        const defined = await find(trx, name)
        if (!defined) throw new Error('a definition that was just written is not there')
        const outcome = before ? ('updated' as const) : ('created' as const)
        if (recording) await record(trx, recording, { outcome, defined })
        return { outcome, defined }
      }),

    remove: (name, precondition) =>
      inTransaction(db, async (trx) => {
        await lockRevision(trx)
        const before = await find(trx, name)
        if (!before) return undefined
        if (!meets(precondition, before)) return { outcome: 'conflict' }
        await trx.deleteFrom(table).where('name', '=', name).execute()
        return { outcome: 'removed' }
      }),
  })

  async function find(reader: Kysely<Tables>, name: string) {
    const [row] = (await selectNamed(reader, { name: comparable(name) })).rows
    return row && fromRow(row)
  }

  function fromRow(row: Selectable<DefinitionTable>): Defined<Definition> {
    const { name, definition, revision, created_at: createdAt, updated_at: updatedAt } = row
    return { name, definition: JSON.parse(definition), revision, createdAt, updatedAt }
  }
}

/** The newest revision. Until the transaction ends no other one writes definitions. */
async function lockRevision(trx: Transaction<Tables>): Promise<number> {
  const { revision } = await trx
    .updateTable('definition_revisions')
    .set(({ ref }) => ({ revision: ref('revision') }))
    .returning('revision')
    .executeTakeFirstOrThrow()
  return revision
}

const meets = (
  precondition: Precondition | undefined,
  defined: { revision: number } | undefined,
): boolean => precondition === undefined || holds(precondition, defined && [definitionTag(defined)])
