import { createHash } from 'node:crypto'
import { breathe } from '../../breathe.ts'
import { checkSchema } from '../input-schema.ts'
import { canonicalJson, cleanSchema, schemaFault } from './clean-schema.ts'
import { cleanLine, cleanText, shortened } from './clean-text.ts'
import { safeName } from './tool-name.ts'

const MAX_TOOLS = 128
const MAX_DESCRIPTION = 1000
const MAX_LEFT_OUT = 100
/** A list of schemas that take long to read must not keep the service from everything else. */
const MAX_CHECK_MS = 4000

export interface ListedTool {
  /** As the server calls it. */
  tool: string
  /** As the model calls it. */
  name: string
  description: string
  inputSchema: object
}

/** What a server offers, as far as it can be used. */
export interface ToolList {
  tools: ListedTool[]
  leftOut: { name: string; reason: string }[]
  /** Of all that the server says of its tools: `sha256:…`. */
  hash: string
}

interface RawTool {
  name: string
  description: string
  inputSchema: unknown
  canonical: string | undefined
}

/** Reads what a server lists, of whatever shape. A tool that cannot be used hides no other. */
export async function readToolList(server: string, listed: readonly unknown[]): Promise<ToolList> {
  const raw = listed.map(readTool).sort(byName)
  const list: ToolList = { tools: [], leftOut: [], hash: hashOf(raw) }
  const seen = new Set<string>()
  const taken = new Set<string>()
  let spent = 0
  for (const tool of raw) {
    await breathe()
    const began = performance.now()
    const inputSchema = cleanSchema(tool.inputSchema)
    const fault = seen.has(tool.name)
      ? 'a tool of this name is listed twice'
      : list.tools.length >= MAX_TOOLS
        ? `it is beyond the ${MAX_TOOLS} tools that a server may have`
        : spent > MAX_CHECK_MS
          ? 'the schemas before it took too long to check'
          : faultOf(tool, inputSchema)
    spent += performance.now() - began
    if (fault !== undefined || inputSchema === undefined) {
      if (list.leftOut.length < MAX_LEFT_OUT) {
        list.leftOut.push({ name: cleanLine(tool.name, 64), reason: fault ?? NOT_AN_OBJECT })
      }
      continue
    }
    const name = safeName(server, tool.name, taken)
    seen.add(tool.name)
    taken.add(name)
    const description = tool.description || `A tool of the MCP server "${server}".`
    list.tools.push({ tool: tool.name, name, description, inputSchema })
  }
  return list
}

const NOT_AN_OBJECT = 'its inputSchema is not an object'

function readTool(value: unknown): RawTool {
  const { name, description, inputSchema } = Object(value)
  return {
    name: typeof name === 'string' ? name : '',
    description:
      typeof description === 'string'
        ? shortened(cleanText(description).trim(), MAX_DESCRIPTION)
        : '',
    inputSchema,
    canonical: canonicalJson([name, description, inputSchema]),
  }
}

function faultOf({ name, canonical }: RawTool, schema: object | undefined): string | undefined {
  if (name === '') return 'it has no name'
  if (canonical === undefined) return 'it is nested too deeply'
  if (schema === undefined) return NOT_AN_OBJECT
  const fault = schemaFault(schema)
  if (fault !== undefined) return fault
  try {
    checkSchema(cleanLine(name, 64), schema)
    return undefined
  } catch (error) {
    return cleanLine(error instanceof Error ? error.message : 'its schema cannot be read', 300)
  }
}

const byName = (a: RawTool, b: RawTool): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)

function hashOf(raw: readonly RawTool[]): string {
  const hash = createHash('sha256')
  for (const { canonical, name } of raw) hash.update(`${canonical ?? JSON.stringify(name)}\n`)
  return `sha256:${hash.digest('hex')}`
}
