import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { talk } from '../agent/talk.ts'
import { send } from '../requests.ts'
import { call, type Said, say } from '../scripted-model.ts'
import { tempFolder } from '../temp-folder.ts'
import { waysOf } from '../upload.ts'
import { SKILLS, toolResults } from './ticket-shop.ts'

export const SIX = ['bash', 'read_file', 'write_file', 'edit_file', 'glob', 'load_skill']
export const bash = (command: string, id?: string) => call('bash', { command }, id)
export const write = (path: string, content: string) => call('write_file', { path, content })

/** An agent that has the workspace tools and no others, and the skills of the project. */
export async function coder(t: TestContext, script: Said[], skills = SKILLS) {
  const workspaces = join(await tempFolder(t), 'workspaces')
  const env = { WORKSPACE_DIR: workspaces, SKILLS_DIR: skills }
  const talking = await talk(t, [...script, say('Bye.')], { env })
  const { app } = talking
  const tools = SIX.slice(0, -1)
  const made = await send(app, 'PUT', '/agents/coder', { payload: { tools } })
  assert.equal(made.statusCode, 201, made.body)
  return {
    ...talking,
    workspaces,
    folder: (id: string) => join(workspaces, id),
    ask: (body: object) => talking.ask({ agent: 'coder', ...body }),
    async upload(files: Record<string, string>) {
      const response = await send(app, 'POST', '/skills', waysOf(files).zip)
      assert.equal(response.statusCode, 201, response.body)
    },
  }
}

/** A coder whose commands really run; none, with the reason, where there is no sandbox. */
export async function coderWithBash(t: TestContext, script: Said[], skills?: string) {
  const opened = await coder(t, script, skills)
  const { detail } = (await opened.app.inject('/ready')).json().parts.workspace
  if (detail === 'bash and file tools') return opened
  if (process.env.CI) throw new Error(detail)
  t.skip(`no sandbox: ${detail}`)
  return undefined
}

export const outputsOf = (turn: { messages: Parameters<typeof toolResults>[0] }) =>
  toolResults(turn.messages).map(({ output = '' }) => output)
