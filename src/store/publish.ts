import type { Kysely, Transaction } from 'kysely'
import { meets } from '../domain/precondition.ts'
import { storeFiles } from './blobs.ts'
import type { Recording } from './idempotency.ts'
import { record, refuseRecorded } from './idempotency-store.ts'
import { toId, toSeq } from './ids.ts'
import { findShell, readNewest } from './record-reads.ts'
import { lockRegistry, nextEpoch, raiseRevision } from './registry-row.ts'
import { readSkill } from './skill-reads.ts'
import { sourceColumns } from './skill-rows.ts'
import { findState, refusalOf, type State, updateShown } from './skill-state.ts'
import type { Publication, Published, WriteRefusal } from './skills.ts'
import type { ShellTable, Tables } from './tables.ts'
import { inTransaction, now } from './transaction.ts'

export function publish(
  db: Kysely<Tables>,
  publication: Publication,
  recording?: Recording<Published>,
): Promise<Published | WriteRefusal> {
  return inTransaction(db, async (trx) => {
    const revision = await lockRegistry(trx)
    if (recording) await refuseRecorded(trx, recording)

    const state = await findState(trx, publication.name)
    const { precondition, createOnly, into } = publication
    if (precondition && !meets(precondition, state)) return refusalOf(state)
    if (state && createOnly) return { outcome: 'exists' }
    const other = into !== undefined && into !== (state && toId('skill', state.seq))
    const shell = other ? await findShell(trx, into) : undefined
    if (other && !shell) return { outcome: 'gone' }
    if (shell && state) return { outcome: 'exists' }

    const outcome = await write(trx, publication, state, revision + 1, shell)
    const skill = await readSkill(trx, publication.name)
    if (!skill) throw new Error('a skill that was just written is not there')
    const newest = await readNewest(trx, toSeq('skill', skill.id))
    const published = { outcome, skill, newest }
    if (recording) await record(trx, recording, published)
    return published
  })
}

async function write(
  trx: Transaction<Tables>,
  publication: Publication,
  state: State | undefined,
  revision: number,
  shell: ShellTable | undefined,
): Promise<Published['outcome']> {
  const same = state && (await findSame(trx, publication, state))
  const { enabled, source } = publication
  const draft = state?.currentVersion === null && publication.activate
  const switches = enabled !== undefined && enabled !== state?.enabled
  if (same !== undefined && !draft && !switches) return 'unchanged'

  const before = state?.latestVersion ?? shell?.latest_version ?? 0
  const version = same === undefined ? before + 1 : null
  const at = now()
  const columns = {
    // A write over REST does not take a skill out of its folder.
    ...(source.type !== 'api' && sourceColumns(source)),
    ...(enabled !== undefined && { enabled: flag(enabled) }),
    ...(version !== null && { latest_version: version }),
    ...(version !== null && publication.activate && { current_version: version }),
    ...(draft && same !== undefined && { current_version: same }),
    revision,
    updated_at: at,
  }
  const seq = state?.seq ?? (await insertSkill(trx, publication, revision, at, shell))
  await trx.updateTable('skills').set(columns).where('seq', '=', seq).execute()
  if (version !== null) await insertVersion(trx, publication, { skill: seq, version, at })
  await updateShown(trx, seq)
  await raiseRevision(trx, revision)
  return state ? 'updated' : 'created'
}

/** The version that holds the same files, where the publication says that this is enough. */
async function findSame(
  trx: Transaction<Tables>,
  { digest, unchangedIf, activate }: Publication,
  { seq, currentVersion }: State,
): Promise<number | undefined> {
  if (unchangedIf === 'never') return undefined
  let query = trx
    .selectFrom('skill_versions')
    .select(['version', 'digest'])
    .where('skill', '=', seq)
    .orderBy('version', 'desc')
    .limit(1)
  if (unchangedIf === 'stored') query = query.where('digest', '=', digest)
  else if (activate && currentVersion !== null) {
    query = query.where('version', '=', currentVersion)
  }
  const found = await query.executeTakeFirst()
  return found?.digest === digest ? found.version : undefined
}

async function insertSkill(
  trx: Transaction<Tables>,
  { name, source, displayName = null }: Publication,
  revision: number,
  at: string,
  shell: ShellTable | undefined,
): Promise<number> {
  const versions = { current_version: null, latest_version: 0, shown: null }
  const { seq } = await trx
    .insertInto('skills')
    .values({
      name,
      ...(shell && { seq: shell.seq }),
      ...sourceColumns(source),
      ...versions,
      enabled: shell?.enabled ?? 1,
      display_name: shell ? shell.display_name : displayName,
      revision,
      created_at: shell?.created_at ?? at,
      updated_at: at,
    })
    .returning('seq')
    .executeTakeFirstOrThrow()
  if (shell) await trx.deleteFrom('skill_shells').where('seq', '=', seq).execute()
  return seq
}

async function insertVersion(
  trx: Transaction<Tables>,
  publication: Publication,
  { skill, version, at }: { skill: number; version: number; at: string },
): Promise<void> {
  const { files, tags, allowedTools, metadata, extra, tokens, warnings } = publication
  const { seq } = await trx
    .insertInto('skill_versions')
    .values({
      skill,
      version,
      epoch: await nextEpoch(trx),
      digest: publication.digest,
      title: publication.title,
      description: publication.description,
      declared_version: publication.declaredVersion,
      tags: JSON.stringify(tags),
      allowed_tools: allowedTools && JSON.stringify(allowedTools),
      license: publication.license,
      compatibility: publication.compatibility,
      metadata: JSON.stringify(metadata),
      extra: JSON.stringify(extra),
      hidden: flag(publication.hidden),
      body: publication.body,
      size: files.reduce((sum, file) => sum + file.size, 0),
      catalog_tokens: tokens.catalog,
      body_tokens: tokens.body,
      warnings: JSON.stringify(warnings),
      note: publication.note,
      written_by: publication.by,
      written_at: at,
    })
    .returning('seq')
    .executeTakeFirstOrThrow()

  await storeFiles(trx, seq, files)
  const tagRows = [...new Set(tags.map((tag) => tag.toLowerCase()))]
  for (const tag of tagRows)
    await trx.insertInto('skill_tags').values({ version: seq, tag }).execute()
  for (const tool of new Set(allowedTools)) {
    await trx.insertInto('skill_tools').values({ version: seq, tool }).execute()
  }
}

const flag = (value: boolean): 0 | 1 => (value ? 1 : 0)
