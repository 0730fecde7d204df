import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { killScene, type Part, type Turn } from './kill-scene.ts'

/** The moments at which a turn is killed; `npm run kills` takes all of them. */
const ALL = Array.from({ length: 25 }, (_, index) => index + 1)
const SHORT = [2, 11, 22]
const asked = { message: 'Hi', tools: [{ name: 'mine', input_schema: { type: 'object' } }] }

type Scene = Awaited<ReturnType<typeof killScene>>
type Service = Awaited<ReturnType<Scene['start']>>

for (const point of process.env.KILLS === 'all' ? ALL : SHORT) {
  test(`a turn that is killed at moment ${point} goes on, and nothing runs twice`, async (t) => {
    await killAt(t, point)
  })
}

async function killAt(t: TestContext, point: number): Promise<void> {
  const scene = await killScene(t, point)
  const first = await scene.start()
  await scene.setUp(first)
  const ended = await finish(scene, first, await first.chat(asked).then(toTurn, () => undefined))
  if (!scene.wasKilled()) {
    assert.equal(ended?.status, 'completed')
    assert.fail(`a turn has ${scene.moments()} moments, and ${point} is none of them`)
  }
  await first.ended
  scene.checkDatabase()

  const second = await scene.start()
  const { body } = await second.ask<{ data: { id: string }[] }>('/conversations')
  const id = body.data[0]?.id
  // Killed before the turn was stored, or at the very end of it.
  const turn = id === undefined ? toTurn(await second.chat(asked)) : await goOn(second, id)
  const last = await finish(scene, second, turn)
  assert.deepEqual([last?.status, last?.output], ['completed', 'Done.'])
  await checkConversation(second, last?.conversation_id ?? '')

  const counts = Object.groupBy(scene.hits, (hit) => hit)
  for (const [hit, all = []] of Object.entries(counts)) {
    assert.ok(all.length <= (hit.startsWith('GET') ? 2 : 1), `${hit} ran ${all.length} times`)
  }
  scene.checkDatabase()
}

const toTurn = ({ status, body }: { status: number; body: Turn }): Turn => {
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

/** Answers what waits, until nothing does; undefined when the service is killed meanwhile. */
async function finish(scene: Scene, service: Service, begun: Turn | undefined) {
  let turn = begun
  while (turn?.status === 'requires_action') {
    const { conversation_id, pending } = turn
    scene.pass()
    const of = (wanted: string) => pending.filter(({ kind }) => kind === wanted)
    const approvals = of('approval').map(({ call_id }) => ({ call_id, decision: 'approve' }))
    const results = of('client').map(({ call_id }) => ({ call_id, output: 'mine' }))
    const answers = {
      ...(approvals.length > 0 && { approvals }),
      ...(results.length > 0 && { tool_results: results }),
    }
    turn = await service.chat({ conversation_id, ...answers }).then(toTurn, () => undefined)
  }
  return turn
}

/** Lets the turn go on that was running; one that waits, or has ended, stands as it is. */
async function goOn(service: Service, id: string): Promise<Turn> {
  const { body } = await service.ask<{ data: Turn[] }>(`/conversations/${id}/turns`)
  const turn = body.data.at(-1)
  assert.ok(turn, 'the conversation has a turn')
  assert.ok(['interrupted', 'requires_action', 'completed'].includes(turn.status), turn.status)
  if (turn.status !== 'interrupted') return turn
  return toTurn(await service.chat({ conversation_id: id }))
}

async function checkConversation(service: Service, id: string): Promise<void> {
  const { body } = await service.ask<{ messages: { content: Part[] }[] }>(`/conversations/${id}`)
  const parts = body.messages.flatMap(({ content }) => content)
  const idsOf = (kind: string) => parts.filter(({ type }) => type === kind).map((p) => p.call_id)
  assert.deepEqual(idsOf('tool_result'), idsOf('tool_call'))
  assert.equal(new Set(idsOf('tool_call')).size, idsOf('tool_call').length)
}
