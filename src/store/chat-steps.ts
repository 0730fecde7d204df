import { createHash } from 'node:crypto'
import type { Transaction } from 'kysely'
import { FORMAT } from './chat-rows.ts'
import type { Step } from './chats.ts'
import { chunks } from './chunks.ts'
import type { SkillUse } from './skill-uses.ts'
import type { Tables } from './tables.ts'
import { now } from './transaction.ts'

export interface Place {
  conversation: number
  /** The API key whose conversation it is. */
  owner: string | null
  turn: number
}

export async function insertMessages<Message>(
  trx: Transaction<Tables>,
  { conversation, turn }: Place,
  messages: Message[],
): Promise<void> {
  for (const chunk of chunks(messages)) {
    const rows = chunk.map((message) => ({
      conversation,
      turn,
      format: FORMAT,
      message: JSON.stringify(message),
    }))
    await trx.insertInto('messages').values(rows).execute()
  }
}

export async function insertStep(
  trx: Transaction<Tables>,
  turn: number,
  { step, revision, tokens, ...sent }: Step,
): Promise<void> {
  const texts = [sent.system, sent.tools, sent.offered].map(toText)
  // In one order, so that two steps that send the same texts do not wait for each other.
  for (const text of texts.toSorted((a, b) => (a.sha256 < b.sha256 ? -1 : 1))) {
    await trx
      .insertInto('texts')
      .values(text)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
  const [system = '', tools = '', offered = ''] = texts.map(({ sha256 }) => sha256)
  await trx
    .insertInto('turn_steps')
    .values({
      turn,
      step,
      revision,
      system,
      tools,
      offered,
      catalog_tokens: tokens.catalog,
      body_tokens: tokens.bodies,
      inlined_tokens: tokens.inlined,
    })
    .execute()
}

/** As a JSON string, since PostgreSQL takes neither NUL nor half a character. */
function toText(sent: string): { sha256: string; text: string } {
  const text = JSON.stringify(sent)
  return { sha256: createHash('sha256').update(text).digest('hex'), text }
}

/** The hashes of what the steps of a conversation sent. */
export async function textsOf(trx: Transaction<Tables>, conversation: number): Promise<string[]> {
  const rows = await trx
    .selectFrom('turn_steps')
    .innerJoin('turns', 'turns.seq', 'turn_steps.turn')
    .select(['system', 'tools', 'offered'])
    .distinct()
    .where('conversation', '=', conversation)
    .execute()
  return [...new Set(rows.flatMap(({ system, tools, offered }) => [system, tools, offered]))]
}

/** Removes those that no step refers to any more. */
export async function sweepTexts(trx: Transaction<Tables>, candidates: string[]): Promise<void> {
  for (const chunk of chunks(candidates.toSorted())) {
    await trx
      .deleteFrom('texts')
      .where('sha256', 'in', chunk)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('turn_steps')
              .select('turn')
              .where(({ or, eb, ref }) =>
                or([
                  eb('system', '=', ref('texts.sha256')),
                  eb('tools', '=', ref('texts.sha256')),
                  eb('offered', '=', ref('texts.sha256')),
                ]),
              ),
          ),
        ),
      )
      .execute()
  }
}

export async function insertUses(
  trx: Transaction<Tables>,
  place: Place,
  uses: SkillUse[],
): Promise<void> {
  for (const chunk of chunks(uses)) {
    const rows = chunk.map((use) => ({ ...place, ...use, used_at: now() }))
    await trx.insertInto('skill_uses').values(rows).execute()
  }
}

/** Counts tokens as spent today by whose conversation it is. */
export async function spend(
  trx: Transaction<Tables>,
  { owner }: Place,
  tokens: number,
): Promise<void> {
  if (owner === null || tokens === 0) return
  await trx
    .insertInto('token_spending')
    .values({ owner, day: now().slice(0, 10), tokens })
    .onConflict((conflict) =>
      conflict
        .columns(['owner', 'day'])
        .doUpdateSet(({ eb }) => ({ tokens: eb('token_spending.tokens', '+', tokens) })),
    )
    .execute()
}
