import { createContext, Script } from 'node:vm'

const context = createContext({})
const script = new Script('work()')

/** Runs `work` to its end, or throws when it takes longer: nothing else can stop a regular expression. */
export function withinTime<Result>(milliseconds: number, work: () => Result): Result {
  context.work = work
  return script.runInContext(context, { timeout: milliseconds })
}
