import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createKeyStore } from '../../src/store/key-store.ts'
import type { Scope } from '../../src/store/keys.ts'
import { openDatabase } from '../../src/store/open.ts'
import { buildTestApp } from '../build-app.ts'
import { tempFolder } from '../temp-folder.ts'

/** The service with stored keys, and for each the header that sends it. */
export async function withKeys<Name extends string>(
  t: TestContext,
  scopes: Record<Name, Scope[]>,
  expiresAt: string | null = null,
) {
  const folder = await tempFolder(t)
  const url = `sqlite:${join(folder, 'skills.db')}`
  const db = await openDatabase(url)
  const keys = {} as Record<Name, { 'x-api-key': string }>
  for (const name of Object.keys(scopes) as Name[]) {
    const key = `lsk_key-of-${name}`
    const hash = createHash('sha256').update(key).digest('hex')
    const owned = { scopes: scopes[name], expiresAt, budget: null }
    const record = { name, ...owned, hash, prefix: key.slice(0, 8) }
    await createKeyStore(db).insert(record)
    keys[name] = { 'x-api-key': key }
  }
  await db.destroy()
  const app = await buildTestApp(t, { env: { DATABASE_URL: url, AUTH: 'keys' } })
  return { app, keys, folder }
}
