import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import type { ToolInput } from '../../../src/agent/tool.ts'
import { ToolError } from '../../../src/agent/tool.ts'
import { openWorkspace } from '../../../src/agent/workspace/open-workspace.ts'
import { openDatabase } from '../../../src/store/open.ts'
import { createSkillStore } from '../../../src/store/skill-store.ts'
import type { NewFile } from '../../../src/store/skills.ts'
import { publication } from '../../store/publication.ts'
import { tempFolder } from '../../temp-folder.ts'

interface Options {
  bashTimeoutMs?: number
  hidden?: string[]
  /** Skills to store and load, with the files that they bundle. */
  skills?: Record<string, NewFile[]>
}

interface Call {
  conversationId?: string
  signal?: AbortSignal
}

export const CONVERSATION = 'conv_00000001'

/** Workspaces in a folder of their own, over a real store. */
export async function openTestWorkspace(
  t: TestContext,
  { bashTimeoutMs = 60_000, hidden = [], skills: bundles = {} }: Options = {},
) {
  const directory = join(await tempFolder(t), 'workspaces')
  const db = await openDatabase('sqlite::memory:')
  t.after(() => db.destroy())
  const skills = createSkillStore(db)
  const loads = new Map()
  for (const [name, files] of Object.entries(bundles)) {
    const published = await skills.publish(publication(name, { files }))
    if (!('skill' in published)) throw new Error(`${name} was not published`)
    const { version, digest } = published.skill
    loads.set(name, { name, version, digest, tokens: 0, repeat: false, allowedTools: null })
  }
  const log = { warn() {} }
  const workspace = await openWorkspace({ directory, bashTimeoutMs, hidden, skills, log })
  t.after(() => workspace.close())

  async function call(name: string, input: ToolInput, more: Call = {}): Promise<string> {
    const { conversationId = CONVERSATION, signal = new AbortController().signal } = more
    const offered = await workspace.tools.tools({ conversationId, loads })
    const tool = offered.find((one) => one.name === name)
    if (!tool) throw new Error(`${name} is not offered`)
    return (await tool.run(input, { conversationId, callId: 'call_1', signal })).text
  }

  return {
    workspace,
    directory,
    /** The folder of the conversation. */
    folder: join(directory, CONVERSATION),
    skills,
    call,
    bash: (command: string, more?: Call) => call('bash', { command }, more),
    /** What the model is told is wrong. */
    async fault(name: string, input: ToolInput): Promise<string> {
      const text = await call(name, input).catch((error) => {
        if (error instanceof ToolError) return error
        throw error
      })
      if (typeof text === 'string') throw new Error(`${name} went well: ${text.slice(0, 500)}`)
      return text.message
    },
  }
}

/** A suite for a machine that can run commands in a sandbox, as every CI has to. */
export function inSandbox(title: string, tests: () => void): void {
  suite(title, { concurrency: 2 }, () => {
    test('there is a sandbox', async (t) => {
      const { workspace } = await openTestWorkspace(t)
      if (workspace.problem === undefined) return
      if (process.env.CI) throw new Error(workspace.problem)
      t.skip(`no sandbox: ${workspace.problem}`)
    })
    tests()
  })
}

/** Skips a test, with the reason, where commands cannot be run. */
export async function openWithSandbox(t: TestContext, options?: Options) {
  const opened = await openTestWorkspace(t, options)
  const problem = options?.hidden ? undefined : opened.workspace.problem
  if (problem !== undefined) t.skip(`no sandbox: ${problem}`)
  return problem === undefined ? opened : undefined
}

/** How many processes of this machine have a text in their command line. */
export async function countProcesses(text: string): Promise<number> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => ''))
  return (await Promise.all(lines)).filter((line) => line.replaceAll('\0', ' ').includes(text))
    .length
}
