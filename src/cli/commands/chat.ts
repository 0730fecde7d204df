import { text } from 'node:stream/consumers'
import { type Command, Option } from 'commander'
import type { TurnResource } from '../../http/turn-resource.ts'
import { type Ask, createAsk } from '../ask.ts'
import { streamTurn } from '../chat-events.ts'
import { EXIT, Failure, usageFailure } from '../failure.ts'
import { openSession, type Session, type World } from '../session.ts'
import { showTurn, toCallLine } from '../show-turn.ts'
import { count, oneLine } from '../terminal.ts'

interface Options {
  agent?: string
  model?: string
  conversation?: string
  preload?: string[]
}

export function addChat(program: Command, world: World): void {
  program
    .command('chat')
    .description('talk to the agent; without a message, in a terminal, line by line')
    .argument('[message...]', 'what to say; standard input by default')
    .addOption(new Option('--agent <name>', 'instead of the default one').conflicts('conversation'))
    .option('--model <model>', 'anthropic/ID, openai/ID or offline')
    .option('--conversation <id>', 'go on with a conversation')
    .addOption(
      new Option('--preload <skill...>', 'load these skills first').conflicts('conversation'),
    )
    .addHelpText(
      'after',
      `
What the agent says goes to standard output, and what it does to standard error; with --json
every event of the turn is a line. A call that waits for an approval is asked for in a terminal.`,
    )
    .action(async (words: string[], options: Options, command: Command) => {
      const session = openSession(world, command)
      const { terminal } = session
      const ask = terminal.interactive ? createAsk(terminal) : undefined
      const talk = createTalk(session, options, ask)
      const ended = words.length > 0 || !ask ? await sayOnce() : await sayLines(ask)
      world.found = ended !== undefined && ended.status !== 'completed'

      async function sayOnce(): Promise<TurnResource> {
        const message = words.join(' ') || (await text(terminal.input))
        if (message.trim() === '') throw usageFailure('There is no message.')
        return talk.say(message)
      }

      async function sayLines(ask: Ask): Promise<undefined> {
        await talk.resume()
        for (;;) {
          const line = await ask(terminal.paint('bold', '› '))
          if (line === undefined) {
            terminal.print()
            return undefined
          }
          if (line.trim() !== '') await talk.say(line)
        }
      }
    })
}

interface Talk {
  /** Resolves to the turn once it ended, or waits for what cannot be asked here. */
  say(message: string): Promise<TurnResource>
  /** Asks for the approvals that a conversation was left with. */
  resume(): Promise<void>
}

/** One conversation, whose turns follow each other. */
function createTalk(session: Session, options: Options, ask: Ask | undefined): Talk {
  const { client, terminal, json } = session
  const { agent, model, preload } = options
  let conversation = options.conversation

  async function run(body: object): Promise<TurnResource> {
    const events = streamTurn(client, { ...body, conversation_id: conversation, model })
    const turn = json ? await printEvents() : await showTurn(terminal, events)
    if (!turn) throw new Failure(EXIT.refused, 'The turn ended without its end.')
    conversation = turn.conversation_id
    return turn

    async function printEvents(): Promise<TurnResource | undefined> {
      for await (const event of events) {
        terminal.print(JSON.stringify(event))
        if (event.type === 'turn.finished') return event
      }
      return undefined
    }
  }

  /** Goes on as long as there is somebody to approve. */
  async function settle(first: TurnResource): Promise<TurnResource> {
    let turn = first
    while (turn.status === 'requires_action' && ask && !json) {
      const approvals = await askApprovals(turn, ask)
      if (!approvals) break
      turn = await run({ approvals })
    }
    if (!json) terminal.note(terminal.paintNote('dim', toEndLine(turn)))
    return turn
  }

  return {
    async say(message) {
      const begins = conversation === undefined
      const first = begins && { agent, ...(preload && { skills: { preload } }) }
      return settle(await run({ message, ...first }))
    },
    async resume() {
      if (conversation === undefined) return
      const path = `/conversations/${encodeURIComponent(conversation)}/turns`
      const turns = await client.list<TurnResource>(path)
      const last = turns.at(-1)
      if (last?.status === 'requires_action') await settle(last)
    },
  }
}

/** Undefined when one of the calls waits for something else, or nobody answers. */
async function askApprovals({ pending }: TurnResource, ask: Ask) {
  const approvals = []
  for (const { call_id, name, input, kind } of pending) {
    if (kind !== 'approval') return undefined
    const answer = await ask(`Run ${toCallLine({ name, input }, true)}? (y/N) `)
    if (answer === undefined) return undefined
    const decision = /^y(?:es)?$/i.test(answer.trim()) ? 'approve' : 'deny'
    approvals.push({ call_id, decision })
  }
  return approvals.length > 0 ? approvals : undefined
}

function toEndLine(turn: TurnResource): string {
  const { conversation_id, status, stop_reason, error, pending, steps } = turn
  const why = error ? `: ${oneLine(error.detail)} (${error.code})` : ''
  const how = status === 'completed' ? '' : `, ${status} (${stop_reason ?? 'no reason'})${why}`
  const waiting = pending.map((call) => toCallLine(call)).join(', ')
  const onward = `, waits for ${waiting}: loadskill chat --conversation ${conversation_id} asks`
  return `${conversation_id}, ${count(steps, 'step')}${how}${pending.length > 0 ? onward : ''}`
}
