import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  begin,
  beginTurn,
  call,
  create,
  openChats,
  says,
  settings,
  state,
  step,
} from './chat-fixtures.ts'
import { onEachDatabase } from './databases.ts'

onEachDatabase('a turn in the chat store', (open) => {
  test('a call is answered once', async (t) => {
    const { chats } = await openChats(t, open)
    const id = await create(chats)
    const turn = await beginTurn(chats, id)
    await chats.saveStep(
      turn.id,
      { step: step(1), messages: [says('')], calls: [call('a')], tokens: 0 },
      state('running'),
    )
    const answer = (callId: string, result: string) =>
      chats.saveResults(turn.id, [{ callId, result }], says('done'), state('requires_action'))
    await assert.rejects(answer('b', 'B'), { code: 'call_not_pending' })
    await answer('a', 'first')
    await assert.rejects(answer('a', 'second'), { code: 'call_not_pending' })
    assert.equal((await chats.findCall(id, 'a'))?.result, 'first')
    assert.equal((await chats.messages(id)).length, 3)
  })

  test('finds the conversation of an owner in which a call waits for its caller', async (t) => {
    const { chats } = await openChats(t, open)
    const waitsIn = async (owner: string | null, calls: ReturnType<typeof call>[]) => {
      const id = await create(chats, owner)
      const turn = await beginTurn(chats, id)
      const record = { step: step(1), messages: [says('')], calls, tokens: 0 }
      await chats.saveStep(turn.id, record, state('running'))
      return { id, turn }
    }
    const mine = await waitsIn('key_a', [call('one', 'client'), call('two', 'approval')])
    const free = await waitsIn(null, [call('three', 'client'), call('four')])
    assert.equal(await chats.findWaiting(['no\0ne', 'one'], 'key_a'), mine.id)
    assert.equal(await chats.findWaiting(['three'], null), free.id)
    assert.equal(await chats.findWaiting(['one'], null), undefined)
    assert.equal(await chats.findWaiting(['three'], 'key_a'), undefined)
    assert.equal(await chats.findWaiting(['two', 'four'], 'key_a'), undefined)
    assert.equal(await chats.findWaiting([], 'key_a'), undefined)
    const answered = [{ callId: 'one', result: 'Done' }]
    await chats.saveResults(mine.turn.id, answered, undefined, state('running'))
    assert.equal(await chats.findWaiting(['one'], 'key_a'), undefined)
  })

  test('gives the calls of the newest step that had any', async (t) => {
    const { chats } = await openChats(t, open)
    const id = await create(chats)
    assert.deepEqual(await chats.lastCalls(id), [])
    const other = await beginTurn(chats, await create(chats))
    const turn = await beginTurn(chats, id)
    const save = (turnId: string, number: number, ids: string[]) =>
      chats.saveStep(
        turnId,
        {
          step: step(number),
          messages: [says('')],
          calls: ids.map((callId) => call(callId)),
          tokens: 0,
        },
        state('running'),
      )
    await save(turn.id, 1, ['1a', '1b'])
    await save(other.id, 1, ['1a'])
    await save(turn.id, 2, ['2b', '2a'])
    await save(turn.id, 3, [])
    assert.deepEqual(
      (await chats.lastCalls(id)).map(({ callId }) => callId),
      ['2b', '2a'],
    )
    await chats.saveState(turn.id, state('completed'))
    await beginTurn(chats, id, turn.id)
    assert.deepEqual(
      (await chats.lastCalls(id)).map(({ callId }) => callId),
      ['2b', '2a'],
    )
  })

  test('a call id comes once in a conversation', async (t) => {
    const { chats } = await openChats(t, open)
    const turn = await beginTurn(chats, await create(chats))
    const record = { step: step(1), messages: [says('')], calls: [call('a'), call('a')], tokens: 0 }
    await assert.rejects(chats.saveStep(turn.id, record, state('running')))
    assert.deepEqual(await chats.steps(turn.id), [])
  })

  test('one turn of a conversation runs at a time', async (t) => {
    const { chats } = await openChats(t, open)
    const id = await create(chats)
    const attempt = (after: string | null, model = 'offline') =>
      chats.beginTurn(id, { ...begin, after, settings: { model }, state: state('running') })
    const begun = await Promise.all(Array.from({ length: 6 }, () => attempt(null)))
    const [turn, ...none] = begun.filter((each) => each !== undefined)
    assert.ok(turn)
    assert.deepEqual(none, [])
    assert.equal((await chats.messages(id)).length, 1)

    assert.equal(await attempt(turn.id, 'other'), undefined)
    assert.deepEqual((await chats.find(id))?.settings, settings)
    await chats.saveState(turn.id, state('completed', { stopReason: 'answered' }))
    assert.equal(await attempt(null), undefined)
    assert.equal(await attempt('turn_zzzzzzzz'), undefined)
    const next = await attempt(turn.id, 'other')
    assert.ok(next && next.id > turn.id)
    assert.deepEqual((await chats.find(id))?.settings, { model: 'other' })
    assert.ok(await chats.beginTurn(await create(chats), { ...begin, state: state('running') }))
    await assert.rejects(chats.beginTurn('conv_zzzzzzzz', { ...begin, state: state('running') }), {
      code: 'conversation_not_found',
    })
  })

  test('the newest turn runs again, once', async (t) => {
    const { chats } = await openChats(t, open)
    const id = await create(chats)
    const first = await beginTurn(chats, id)
    assert.equal(await chats.resumeTurn(first.id, settings), undefined)
    const error = { code: 'internal', detail: '' } as const
    await chats.saveState(first.id, state('failed', { stopReason: 'error', steps: 3, error }))

    const resumed = await Promise.all(
      Array.from({ length: 6 }, () => chats.resumeTurn(first.id, { model: 'new' })),
    )
    const [turn, ...none] = resumed.filter((each) => each !== undefined)
    assert.deepEqual(none, [])
    const again = { id: first.id, status: 'running', stopReason: null, error: null, steps: 3 }
    assert.partialDeepStrictEqual(turn, again)
    assert.deepEqual((await chats.find(id))?.settings, { model: 'new' })

    await chats.saveState(first.id, state('completed'))
    const second = await beginTurn(chats, id, first.id)
    await chats.saveState(second.id, state('completed'))
    assert.equal(await chats.resumeTurn(first.id, settings), undefined)
    assert.equal(await chats.resumeTurn('turn_zzzzzzzz', settings), undefined)
    assert.ok(await chats.resumeTurn(second.id, settings))
  })

  test('lists the turns of a conversation, oldest first', async (t) => {
    const { chats } = await openChats(t, open)
    const id = await create(chats)
    assert.equal(await chats.lastTurn(id), undefined)
    const ids: string[] = []
    for (let count = 0; count < 3; count++) {
      const turn = await beginTurn(chats, id, ids.at(-1) ?? null)
      await chats.saveState(turn.id, state('completed'))
      ids.push(turn.id)
    }
    const list = async (page: { after?: string; limit: number }) =>
      (await chats.turns(id, page)).map((turn) => turn.id)
    assert.deepEqual(await list({ limit: 2 }), ids.slice(0, 2))
    assert.deepEqual(await list({ limit: 2, after: ids[1] ?? '' }), ids.slice(2))
    await assert.rejects(list({ limit: 2, after: 'conv_00000001' }), { code: 'cursor_invalid' })
    assert.equal((await chats.lastTurn(id))?.id, ids[2])
    assert.equal(await chats.findTurn(await create(chats), ids[0] ?? ''), undefined)
    assert.equal(await chats.findTurn(id, 'turn_1'), undefined)
  })

  test('turns that ran when the process died are interrupted', async (t) => {
    const { chats } = await openChats(t, open)
    const ids = [await create(chats), await create(chats), await create(chats)]
    const turns = await Promise.all(ids.map((id) => beginTurn(chats, id)))
    await chats.saveState(turns[0]?.id ?? '', state('completed'))
    assert.equal(await chats.interruptRunning(), 2)
    assert.equal(await chats.interruptRunning(), 0)
    const statuses = await Promise.all(ids.map(async (id) => (await chats.lastTurn(id))?.status))
    assert.deepEqual(statuses, ['completed', 'interrupted', 'interrupted'])
    await beginTurn(chats, ids[1] ?? '', turns[1]?.id ?? '')
  })
})
