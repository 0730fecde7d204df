import { createHash, randomBytes } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { KeyStore } from './store/keys.ts'

const FILE_NAME = 'admin-key'

/**
 * On the first start with keys: makes an admin key, and writes it to `admin-key` beside the SQLite
 * file, else under `data/`. Returns the path; undefined when there is a key already.
 */
export async function makeAdminKey(
  keys: KeyStore,
  databaseUrl: string,
): Promise<string | undefined> {
  if (!(await keys.isEmpty())) return undefined
  const key = `lsk_${randomBytes(24).toString('base64url')}`
  const sqlite = /^sqlite:(?!:memory:)(.+)$/.exec(databaseUrl)?.[1]
  const path = resolve(sqlite === undefined ? 'data' : dirname(sqlite), FILE_NAME)
  await mkdir(dirname(path), { recursive: true })
  await rm(path, { force: true })
  await writeFile(path, `${key}\n`, { mode: 0o600 })
  await keys.insert({
    name: 'admin',
    scopes: ['admin'],
    expiresAt: null,
    budget: null,
    prefix: key.slice(0, 8),
    hash: createHash('sha256').update(key).digest('hex'),
  })
  return path
}
