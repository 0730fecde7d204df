import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import { HOOK_NAMES, type Hook, type HookModule } from './hook.ts'
import { withinLimit } from './within-limit.ts'

/** Imports a module of hooks. Throws one line that names it when it cannot be used. */
export async function loadModule(path: string, limitMs: number): Promise<Hook> {
  const refuse = (why: string, cause?: unknown) =>
    new Error(`HOOKS: the module ${path} ${why}`, { cause })
  let exported: Record<string, unknown>
  try {
    exported = await withinLimit(limitMs, () => import(pathToFileURL(path).href))
  } catch (error) {
    const [why = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
    throw refuse(`cannot be loaded: ${why}`, error)
  }
  const names = HOOK_NAMES.filter((name) => exported[name] !== undefined)
  if (names.length === 0) throw refuse(`exports none of ${HOOK_NAMES.join(', ')}.`)
  const wrong = names.find((name) => typeof exported[name] !== 'function')
  if (wrong) throw refuse(`exports ${wrong}, but not as a function.`)
  return fromModule(basename(path), exported)
}

/** Each function is given a copy of the event: what it changes in it changes nothing. */
export const fromModule = (label: string, module: HookModule): Hook => ({
  label,
  hears: (name) => module[name] !== undefined,
  async call(name, json) {
    const handle: ((event: never) => unknown) | undefined = module[name]
    return handle?.(JSON.parse(json) as never)
  },
})
