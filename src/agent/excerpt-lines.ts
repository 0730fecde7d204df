import { ToolError } from './tool.ts'

const MAX_CHARACTERS = 50_000
const DEFAULT_LINES = 2000

/** Which lines are asked for: `offset` is the first one, from 1. */
export const lineRange = {
  offset: { type: 'integer', minimum: 1, description: 'The first line, from 1' },
  limit: { type: 'integer', minimum: 1, description: 'How many lines' },
} as const

/** Some lines of a text file, and how many are left behind them. */
export function excerptLines(
  text: string,
  { offset, limit }: { offset?: unknown; limit?: unknown },
): string {
  const lines = text.split('\n')
  const start = Number(offset ?? 1) - 1
  const shown: string[] = []
  let size = 0
  for (const line of lines.slice(start, start + Number(limit ?? DEFAULT_LINES))) {
    size += line.length + 1
    if (size > MAX_CHARACTERS && shown.length > 0) break
    shown.push(line.slice(0, MAX_CHARACTERS))
  }
  const left = lines.length - start - shown.length
  return left > 0 ? `${shown.join('\n')}\n… (${left} more lines)` : shown.join('\n')
}

export function decodeText(bytes: Uint8Array, path: string, { keepMark = false } = {}): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: keepMark }).decode(bytes)
  } catch {
    throw new ToolError(`"${path}" is not a text file (${bytes.length} bytes).`)
  }
}
