import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKeyStore } from '../../src/store/key-store.ts'
import { onEachDatabase } from './databases.ts'

const key = {
  name: 'robot',
  scopes: ['skills:read', 'chat'] as ('skills:read' | 'chat')[],
  expiresAt: null,
  budget: 1000,
  hash: 'ab'.repeat(32),
  prefix: 'lsk_abcd',
}

onEachDatabase('the key store', (open) => {
  test('finds a key by its hash', async (t) => {
    const keys = createKeyStore(await open(t))
    assert.equal(await keys.isEmpty(), true)
    const inserted = await keys.insert(key)
    assert.equal(await keys.isEmpty(), false)
    assert.match(inserted.id, /^key_[0-9a-z]{8}$/)
    const { name, scopes, expiresAt, budget } = key
    assert.deepEqual(inserted, { id: inserted.id, name, scopes, expiresAt, budget })
    assert.deepEqual(await keys.findByHash(key.hash), inserted)
    assert.equal(await keys.findByHash('cd'), undefined)
    await assert.rejects(keys.insert(key))
  })

  test('does not find a key that was revoked', async (t) => {
    const db = await open(t)
    const keys = createKeyStore(db)
    await keys.insert(key)
    await db.updateTable('api_keys').set({ revoked_at: '2026-01-01T00:00:00.000Z' }).execute()
    assert.equal(await keys.findByHash(key.hash), undefined)
    assert.equal(await keys.isEmpty(), false)
  })
})
