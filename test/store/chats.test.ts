import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyReceipt } from '../../src/domain/receipt.ts'
import { beginTurn, call, create, openChats, says, settings, state, step } from './chat-fixtures.ts'
import { onEachDatabase } from './databases.ts'

onEachDatabase('the chat store', (open) => {
  test('a conversation exists for its owner, and for who sees all', async (t) => {
    const { chats } = await openChats(t, open)
    const { conversation: made } = await chats.begin(
      { agent: 'default', owner: 'key_1', settings },
      { messages: [], state: state('running') },
    )
    assert.match(made.id, /^conv_[0-9a-z]{8}$/)
    assert.deepEqual(await chats.find(made.id, 'key_1'), made)
    assert.deepEqual(await chats.find(made.id), made)
    assert.equal(await chats.find(made.id, 'key_2'), undefined)
    assert.equal(await chats.find(made.id, null), undefined)
    const ownerless = await create(chats)
    assert.equal((await chats.find(ownerless, null))?.id, ownerless)
    for (const id of ['conv_', 'conv_zzzzzzzz', 'turn_00000001', '1', `${made.id}\0`]) {
      assert.equal(await chats.find(id), undefined)
      assert.deepEqual(await chats.messages(id), [])
      assert.equal(await chats.remove(id), false)
    }
  })

  test('lists conversations newest first, a page at a time', async (t) => {
    const { chats } = await openChats(t, open)
    const ids: string[] = []
    for (const owner of ['a', 'b', 'a', 'a', null]) ids.unshift(await create(chats, owner))
    const list = async (owner: string | null | undefined, before?: string) =>
      (await chats.list(owner, { limit: 2, ...(before && { before }) })).map(({ id }) => id)
    assert.deepEqual(await list(undefined), ids.slice(0, 2))
    assert.deepEqual(await list(undefined, ids[1]), ids.slice(2, 4))
    assert.deepEqual(await list('a', ids[2]), [ids[4]])
    assert.deepEqual(await list(null), [ids[0]])
    await assert.rejects(list('a', 'greet'), { code: 'cursor_invalid' })
  })

  test('stores a turn with its messages, steps and calls', async (t) => {
    const { chats } = await openChats(t, open)
    const id = await create(chats)
    const turn = await beginTurn(chats, id)
    assert.equal(turn.status, 'running')
    assert.equal(turn.conversationId, id)

    const running = state('running', { steps: 1 })
    await chats.saveStep(
      turn.id,
      {
        step: step(1),
        messages: [says('I call')],
        calls: [call('z'), call('a', 'client')],
        tokens: 0,
      },
      running,
    )
    const calls = await chats.lastCalls(id)
    const common = { turnId: turn.id, step: 1, result: null }
    assert.deepEqual(calls, [
      { callId: 'z', name: 'name of z', kind: 'tool', ...common },
      { callId: 'a', name: 'name of a', kind: 'client', ...common },
    ])

    await chats.saveResults(turn.id, [{ callId: 'z', result: 'Z' }], undefined, running)
    assert.equal((await chats.messages(id)).length, 2)
    const results = { role: 'tool', text: 'Z A \0 \ud800' }
    await chats.saveResults(turn.id, [{ callId: 'a', result: 'A\0' }], results, running)
    assert.equal((await chats.findCall(id, 'a'))?.result, 'A\0')
    assert.equal(await chats.findCall(id, 'b\0'), undefined)

    await chats.saveMessages(turn.id, [says('more'), says('and more')])
    const receipt = {
      ...emptyReceipt(),
      denied: [{ tool: 'x', skill: 'y', by: 'skill' as const, step: 1 }],
    }
    const error = { code: 'model_error', detail: 'It failed.' } as const
    const end = state('failed', { stopReason: 'error', steps: 2, receipt, error })
    await chats.saveStep(
      turn.id,
      { step: step(2), messages: [says('bye')], calls: [], tokens: 0 },
      end,
    )

    const texts = (await chats.messages(id)).map(({ turnId, message }) => {
      assert.equal(turnId, turn.id)
      return message.text
    })
    assert.deepEqual(texts, ['Hello', 'I call', 'Z A \0 \ud800', 'more', 'and more', 'bye'])
    assert.partialDeepStrictEqual(await chats.findTurn(id, turn.id), end)
    assert.deepEqual(
      (await chats.lastCalls(id)).map(({ result }) => result),
      ['Z', 'A\0'],
    )
  })

  test('stores equal texts once, and sweeps them with the last that sent them', async (t) => {
    const { db, chats } = await openChats(t, open)
    const count = async () => (await db.selectFrom('texts').select('sha256').execute()).length
    const ids = [await create(chats), await create(chats)]
    const odd = { system: 'odd \0 \ud800 "quoted"', offered: '[{"name":"greet"}]' }
    const sent = [step(1), step(2), step(3, odd)]
    for (const id of ids) {
      const turn = await beginTurn(chats, id)
      for (const each of id === ids[0] ? sent : sent.slice(0, 1)) {
        await chats.saveStep(
          turn.id,
          { step: each, messages: [says('')], calls: [], tokens: 0 },
          state('running'),
        )
      }
      if (id === ids[0]) assert.deepEqual(await chats.steps(turn.id), sent)
    }
    assert.equal(await count(), 5)
    assert.equal(await chats.remove(ids[0] ?? ''), true)
    assert.equal(await count(), 3)
    await chats.remove(ids[1] ?? '')
    assert.equal(await count(), 0)
  })

  test('removing a conversation removes all of it, also from under a running turn', async (t) => {
    const { db, chats } = await openChats(t, open)
    const id = await create(chats)
    const turn = await beginTurn(chats, id)
    const record = { step: step(1), messages: [says('')], calls: [call('a')], tokens: 0 }
    await chats.saveStep(turn.id, record, state('running'))
    assert.equal(await chats.remove(id), true)
    assert.equal(await chats.remove(id), false)
    assert.equal(await chats.find(id), undefined)
    for (const table of ['turns', 'messages', 'turn_steps', 'tool_calls'] as const) {
      assert.deepEqual(await db.selectFrom(table).selectAll().execute(), [])
    }
    const gone = { code: 'turn_not_found' }
    await assert.rejects(chats.saveStep(turn.id, record, state('running')), gone)
    await assert.rejects(chats.saveState(turn.id, state('completed')), gone)
    await assert.rejects(chats.saveMessages(turn.id, []), gone)
    await assert.rejects(chats.saveResults(turn.id, [], undefined, state('completed')), gone)
  })

  test('conversations that come and go with the same texts do not trip over each other', async (t) => {
    const { db, chats } = await openChats(t, open)
    const live = async () => {
      for (let round = 0; round < 10; round++) {
        const id = await create(chats)
        const turn = await beginTurn(chats, id)
        for (const number of [1, 2]) {
          const record = { step: step(number), messages: [says('')], calls: [], tokens: 0 }
          await chats.saveStep(turn.id, record, state('running'))
        }
        await chats.remove(id)
      }
    }
    await Promise.all(Array.from({ length: 6 }, live))
    assert.deepEqual(await db.selectFrom('texts').selectAll().execute(), [])
  })
})
