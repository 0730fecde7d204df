import type { Static } from 'typebox'
import type { Problem } from '../http/problem.ts'
import type { PromptResource } from '../http/prompt-resource.ts'
import type { WrittenSkill } from '../http/skill-resource.ts'
import type { TurnResource } from '../http/turn-resource.ts'
import { type Call, json, markdown } from './client.ts'
import { print, printBar, printQuote, printResult, printRow, printStep, printText } from './page.ts'

const SKILL = `---
name: commit-message
description: Writes a commit message. Use when someone asks for one or is about to commit.
---
Write one subject line in the imperative, at most 60 characters, then say why in the body.
`
const BROKEN_SKILL = `---
name: release-notes
description: Writes release notes: one line for each change that a user can see.
---
Group the changes by kind.
`
const QUESTION = 'Write a commit message: the cart now rounds half a cent up, as invoices do.'

export async function uploadSkill(call: Call): Promise<void> {
  printStep('Upload a skill', 'POST /api/v1/skills')
  printQuote(SKILL.trimEnd().split('\n'))
  const skill = await call<Static<typeof WrittenSkill>>('/api/v1/skills', 201, markdown(SKILL))
  const { catalog, body } = skill.tokens
  printResult(
    201,
    `${skill.name}, version ${skill.version}: ${catalog} tokens for its line, ${body} for its text.`,
  )
}

export async function refuseBrokenSkill(call: Call): Promise<void> {
  printStep('A broken one is refused', 'POST /api/v1/skills')
  const problem = await call<Problem>('/api/v1/skills', 422, markdown(BROKEN_SKILL))
  const { line = 0 } = problem.errors?.[0] ?? {}
  printQuote(
    BROKEN_SKILL.trimEnd()
      .split('\n')
      .map((text, index) => `${index + 1}  ${text}`),
    (text) => (text.startsWith(`${line} `) ? 'red' : undefined),
  )
  printResult(422, problem.detail ?? problem.title)
}

export async function askQuestion(call: Call): Promise<TurnResource> {
  printStep('Ask for something that fits', 'POST /api/v1/chat')
  printText(`“${QUESTION}”`)
  const turn = await call<TurnResource>('/api/v1/chat', 200, json({ message: QUESTION }))
  const path = `/conversations/${turn.conversation_id}/turns/${turn.id}/prompt`
  const { system } = await call<Static<typeof PromptResource>>(`/api/v1${path}`, 200)

  printStep(
    `The model saw a line for each skill: ${turn.receipt.catalog.tokens} tokens`,
    `GET …/turns/${turn.id}/prompt`,
  )
  const catalog = system.slice(system.lastIndexOf('\n\n') + 2)
  const loaded = turn.receipt.loaded.map(({ name }) => `- ${name}:`)
  printQuote(catalog.split('\n'), (line) =>
    loaded.some((start) => line.startsWith(start)) ? 'green' : undefined,
  )

  printStep('It loaded what it needed, and answered', `${turn.steps} model calls`)
  for (const { name, version, tokens, step } of turn.receipt.loaded) {
    printText(`step ${step}  load_skill ${name}  →  version ${version}, ${tokens} tokens`, 'green')
  }
  printText(turn.output)
  return turn
}

export function showReceipt({ id, receipt }: TurnResource): void {
  printStep('The receipt says what that cost', `receipt of ${id}`)
  const { catalog, loaded, tokens } = receipt
  const offered = `${catalog.offered} skills on offer, ${catalog.omitted} left out`
  printRow('catalog', offered, `${tokens.catalog} tokens`)
  for (const { name, version, digest, tokens: cost } of loaded) {
    printRow('loaded', `${name}, version ${version}, ${digest.slice(0, 19)}…`, `${cost} tokens`)
  }
  print()
  printBar('this turn', tokens.catalog + tokens.skills, tokens.all_inlined, 'green')
  printBar('every text in the prompt', tokens.all_inlined, tokens.all_inlined, 'yellow')
}
