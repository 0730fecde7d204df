import { NetFault } from '../net/net-fault.ts'
import { readBytes } from '../net/read-bytes.ts'
import { ToolError, type ToolInput, type ToolOutput } from '../tool.ts'
import type { HttpTool } from './http-tool.ts'
import { renderRequest } from './render-request.ts'
import { type Environment, openSecrets } from './secrets.ts'

const MAX_BYTES = 10 * 1024 * 1024
const MAX_EXCERPT = 2000

export interface HttpToolParts {
  /** That of a GuardedFetch. */
  fetch: typeof globalThis.fetch
  env: Environment
}

/** Makes the request and answers with its body. Throws a ToolError for all that goes wrong outside. */
export async function runHttpTool(
  { request, timeoutMs }: HttpTool,
  input: ToolInput,
  signal: AbortSignal,
  { fetch, env }: HttpToolParts,
): Promise<ToolOutput> {
  const secrets = openSecrets(env)
  const { url, ...rendered } = renderRequest(request, { input, secret: secrets.read })
  const deadline = AbortSignal.timeout(timeoutMs)
  const both = AbortSignal.any([signal, deadline])
  try {
    const response = await fetch(url, { ...rendered, signal: both })
    const { bytes, cut } = await readBytes(response, MAX_BYTES, both)
    const text = secrets.mask(show(response, bytes, cut))
    if (response.ok) return { text }
    throw new ToolError(
      `HTTP ${response.status}: ${text.slice(0, MAX_EXCERPT) || 'without a body'}`,
    )
  } catch (error) {
    signal.throwIfAborted()
    if (deadline.aborted) throw new ToolError(`The answer took longer than ${timeoutMs} ms.`)
    if (error instanceof NetFault) throw new ToolError(secrets.mask(error.message))
    throw error
  }
}

function show(response: Response, bytes: Buffer, cut: boolean): string {
  if (bytes.length === 0) return response.ok ? `HTTP ${response.status}, without a body.` : ''
  const text = decode(bytes, cut)
  const more = cut ? `, the first of more` : ''
  if (text === undefined) {
    const type = response.headers.get('content-type') ?? 'an unknown media type'
    return `The answer is no text, but ${bytes.length} bytes of ${type.slice(0, 100)}${more}.`
  }
  return cut ? `${text}\n[These are the first ${bytes.length} bytes: the rest was not read.]` : text
}

/** Undefined for what is no text; at a cut, half of a character is left out. */
function decode(bytes: Buffer, cut: boolean): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: cut })
  } catch {
    return undefined
  }
}
