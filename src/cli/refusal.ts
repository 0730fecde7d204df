import type { Problem } from '../http/problem.ts'
import { EXIT, type ExitCode, Failure } from './failure.ts'
import { toLine } from './placed-fault.ts'
import { oneLine } from './terminal.ts'

/** What a service said no with; without a `problem` where that was none of loadskill. */
export class Refusal extends Failure {
  readonly problem: Problem | undefined

  constructor(exitCode: ExitCode, message: string, problem?: Problem) {
    super(exitCode, message)
    this.problem = problem
  }
}

export async function readRefusal(response: Response, hasKey: boolean): Promise<Refusal> {
  const { status } = response
  const problem = await readProblem(response)
  const exitCode = exitCodeOf(status, problem)
  if (!problem) {
    const what = `The service answered ${status} ${response.statusText}`.trimEnd()
    return new Refusal(exitCode, `${what}, which is no answer of loadskill.`)
  }
  return new Refusal(exitCode, describeProblem(problem, hasKey), problem)
}

/** Whether the key was refused, or what was asked for. */
const exitCodeOf = (status: number, problem: Problem | undefined): ExitCode =>
  status === 401 || problem?.code === 'insufficient_scope' ? EXIT.key : EXIT.refused

async function readProblem(response: Response): Promise<Problem | undefined> {
  const isJson = /^application\/(?:problem\+)?json\b/.test(
    response.headers.get('content-type') ?? '',
  )
  const text = await response.text().catch(() => '')
  if (!isJson) return undefined
  try {
    const body: Partial<Problem> | null = JSON.parse(text)
    return isProblem(body) ? body : undefined
  } catch {
    // A proxy that says JSON and sends something else.
    return undefined
  }
}

const isProblem = (body: Partial<Problem> | null): body is Problem =>
  Boolean(body?.code && body.status && body.title)

/** A problem as people read it: what it is, where, and what to do. */
export function describeProblem(problem: Problem, hasKey: boolean): string {
  const { code, status, detail, title, errors = [], suggestions = [], request_id } = problem
  const lines = [`${oneLine(detail ?? title)} (${code}, ${status})`]
  const told = errors.filter(({ message, line }) => line !== undefined || message !== detail)
  for (const fault of told) lines.push(`  ${toLine(fault)}`)
  if (suggestions.length > 0) lines.push(`Did you mean ${oneLine(suggestions.join(', '))}?`)
  if (status === 401) {
    lines.push(
      hasKey ? 'Check LOADSKILL_KEY: it may be wrong, deleted or expired.' : 'Set LOADSKILL_KEY.',
    )
  }
  if (status >= 500) lines.push(`In its log this is ${request_id}.`)
  return lines.join('\n')
}
