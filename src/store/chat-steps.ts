import { createHash } from 'node:crypto'
import type { Insertable, Transaction } from 'kysely'
import { FORMAT } from './chat-rows.ts'
import type { Step } from './chats.ts'
import { chunks } from './chunks.ts'
import { prepared } from './prepared.ts'
import type { SkillUse } from './skill-uses.ts'
import type { Tables } from './tables.ts'
import { now } from './transaction.ts'

export interface Place {
  conversation: number
  /** The API key whose conversation it is. */
  owner: string | null
  turn: number
}

const insertMessage = prepared<{ conversation: number; turn: number; message: string }, unknown>(
  (db, parameter) =>
    db.insertInto('messages').values({
      conversation: parameter('conversation'),
      turn: parameter('turn'),
      format: FORMAT,
      message: parameter('message'),
    }),
)

export async function insertMessages<Message>(
  trx: Transaction<Tables>,
  { conversation, turn }: Place,
  messages: readonly Message[],
): Promise<void> {
  for (const message of messages) {
    await insertMessage(trx, { conversation, turn, message: JSON.stringify(message) })
  }
}

const insertText = prepared<{ sha256: string; text: string }, unknown>((db, parameter) =>
  db
    .insertInto('texts')
    .values({ sha256: parameter('sha256'), text: parameter('text') })
    .onConflict((conflict) => conflict.doNothing()),
)

const insertStepRow = prepared<Tables['turn_steps'], unknown>((db, parameter) =>
  db.insertInto('turn_steps').values({
    turn: parameter('turn'),
    step: parameter('step'),
    revision: parameter('revision'),
    system: parameter('system'),
    tools: parameter('tools'),
    offered: parameter('offered'),
    catalog_tokens: parameter('catalog_tokens'),
    body_tokens: parameter('body_tokens'),
    inlined_tokens: parameter('inlined_tokens'),
  }),
)

export async function insertStep(
  trx: Transaction<Tables>,
  turn: number,
  { step, revision, tokens, ...sent }: Step,
): Promise<void> {
  const texts = [sent.system, sent.tools, sent.offered].map(toText)
  // In one order, so that two steps that send the same texts do not wait for each other.
  for (const text of texts.toSorted((a, b) => (a.sha256 < b.sha256 ? -1 : 1))) {
    await insertText(trx, text)
  }
  const [system = '', tools = '', offered = ''] = texts.map(({ sha256 }) => sha256)
  await insertStepRow(trx, {
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

const insertUse = prepared<Insertable<Tables['skill_uses']>, unknown>((db, parameter) =>
  db.insertInto('skill_uses').values({
    conversation: parameter('conversation'),
    turn: parameter('turn'),
    step: parameter('step'),
    owner: parameter('owner'),
    skill: parameter('skill'),
    version: parameter('version'),
    kind: parameter('kind'),
    tokens: parameter('tokens'),
    used_at: parameter('used_at'),
  }),
)

export async function insertUses(
  trx: Transaction<Tables>,
  place: Place,
  uses: SkillUse[],
): Promise<void> {
  for (const use of uses) await insertUse(trx, { ...place, ...use, used_at: now() })
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
