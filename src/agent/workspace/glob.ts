import type { Dirent } from 'node:fs'
import { join } from 'node:path'
import picomatch from 'picomatch'
import { withinTime } from '../time-limit.ts'
import { type Tool, ToolError } from '../tool.ts'
import { checkPath } from './check-path.ts'
import { entriesOf } from './folder-size.ts'
import type { Workspaces } from './workspaces.ts'

const MAX_SHOWN = 200
const MAX_PATTERN_LENGTH = 500
const MAX_ENTRIES = 50_000
const MATCH_MS = 500

export const glob = ({ enter }: Workspaces): Tool => ({
  name: 'glob',
  description:
    'List the paths in the workspace that fit a pattern: * and ? within a name, ** for folders of any depth, {a,b} for alternatives.',
  inputSchema: {
    type: 'object',
    properties: {
      pattern: { type: 'string', minLength: 1, description: 'A pattern, like "**/*.py"' },
    },
    required: ['pattern'],
    additionalProperties: false,
  },
  idempotent: true,

  async run(input, context) {
    const pattern = checkPath(String(input.pattern)).join('/')
    const { paths, whole } = await enter(context, (folder) => listPaths(folder, context.signal))
    const found = matching(pattern, paths).sort()
    const shown = found.slice(0, MAX_SHOWN)
    const omitted = found.length - shown.length
    return {
      text: [
        ...(found.length > 0 ? shown : ['(no matches)']),
        ...(omitted > 0 ? [`… (${omitted} more omitted)`] : []),
        ...(whole ? [] : [`(only the first ${MAX_ENTRIES} files and folders were looked at)`]),
      ].join('\n'),
    }
  },
})

/** A pattern that takes for ever is stopped: nobody can tell it from its looks. */
function matching(pattern: string, paths: string[]): string[] {
  if (pattern.length > MAX_PATTERN_LENGTH) throw new ToolError('The pattern is too long.')
  try {
    return withinTime(MATCH_MS, () => {
      const fits = picomatch(pattern)
      return paths.filter((path) => fits(path))
    })
  } catch {
    throw new ToolError('The pattern is not valid, or takes too long. Try a simpler one.')
  }
}

/** The nearest first; what a link leads to is outside. */
async function listPaths(workspace: string, signal: AbortSignal) {
  const paths: string[] = []
  const folders = ['']
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    for await (const entry of entriesOf(join(workspace, folder))) {
      signal.throwIfAborted()
      if (!isOurs(entry)) continue
      if (paths.length === MAX_ENTRIES) return { paths, whole: false }
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      paths.push(path)
      if (entry.isDirectory()) folders.push(path)
    }
  }
  return { paths, whole: true }
}

const isOurs = (entry: Dirent): boolean => entry.isDirectory() || entry.isFile()
