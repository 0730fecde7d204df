import { slugOf } from './name.ts'
import { renderSkillMd } from './render-skill-md.ts'
import { MAX_DESCRIPTION } from './skill.ts'

/** A tool as an MCP server lists it. */
export interface McpTool {
  name: string
  description: string
  /** A JSON Schema. */
  inputSchema: Record<string, unknown>
}

export interface ConvertedTool {
  skillMd: string
  files: { path: string; content: string }[]
}

const SCHEMA_PATH = 'references/input-schema.json'

/** A skill that says how to call a tool; its schema is kept whole, as a bundled file. */
export function convertMcpTool({ name, description, inputSchema }: McpTool): ConvertedTool {
  const skillMd = renderSkillMd({
    // A name of which no slug remains is refused where names are, in its own words.
    name: toKebab(name) || name,
    description: shorten(description),
    allowed_tools: [name],
    metadata: { mcp_tool: name },
    body: renderBody(name, description, inputSchema),
  })
  const content = `${JSON.stringify(inputSchema, null, 2)}\n`
  return { skillMd, files: [{ path: SCHEMA_PATH, content }] }
}

const toKebab = (name: string): string =>
  slugOf(
    name
      .replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1-$2')
      .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1-$2'),
  )

function shorten(description: string): string {
  const points = Array.from(description.trim())
  if (points.length <= MAX_DESCRIPTION) return description
  return `${points.slice(0, MAX_DESCRIPTION - 1).join('')}…`
}

function renderBody(name: string, description: string, schema: Schema): string {
  const { rows, whole } = readRows(schema)
  const table = [
    '| parameter | type | required | default | description |',
    '|---|---|---|---|---|',
    ...rows.map((row) => `| ${row.map(toCell).join(' | ')} |`),
  ]
  return [
    `# ${toCell(name)}`,
    ...(description.trim() === '' ? [] : ['', description.trim()]),
    '',
    '## Parameters',
    '',
    ...(rows.length > 0 ? table : ['It takes no parameters.']),
    '',
    ...(whole ? [] : ['There are more than fit in here.']),
    `The whole schema is in [${SCHEMA_PATH}](${SCHEMA_PATH}).`,
    '',
  ].join('\n')
}

type Schema = Record<string, unknown>
type Row = [path: string, type: string, required: string, standard: string, description: string]

const MAX_ROWS = 200
const MAX_VISITS = 1000
const MAX_VARIANTS = 8

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/**
 * A row for each property, those of nested objects and of list items behind the one that holds
 * them. Schemas may refer to themselves: what is visited is counted, not only what is found.
 */
function readRows(root: Schema): { rows: Row[]; whole: boolean } {
  const rows: Row[] = []
  let visits = 0
  let whole = true
  visit(root, '', ['#'])
  return { rows, whole }

  function visit(given: Schema, above: string, references: readonly unknown[]): void {
    visits += 1
    if (visits > MAX_VISITS) whole = false
    // One that stands within itself was told of where it began.
    if (!whole || references.includes(given.$ref)) return
    const within = [...references, ...(given.$ref === undefined ? [] : [given.$ref])]
    const schema = resolve(given, root)
    const required = listOf(schema.required)
    const properties = isSchema(schema.properties) ? schema.properties : {}
    for (const [key, value] of Object.entries(properties)) {
      const property = isSchema(value) ? resolve(value, root) : {}
      const path = above === '' ? key : `${above}.${key}`
      if (rows.length === MAX_ROWS) whole = false
      if (!whole) return
      rows.push([
        path,
        typeOf(property, root),
        required.includes(key) ? 'yes' : 'no',
        'default' in property ? JSON.stringify(property.default) : '',
        typeof property.description === 'string' ? property.description : '',
      ])
      if (isSchema(value)) visit(value, path, within)
    }
    if (isSchema(schema.items)) visit(schema.items, `${above}[]`, within)
    for (const variant of variantsOf(schema)) visit(variant, above, within)
  }
}

const variantsOf = ({ allOf, anyOf, oneOf }: Schema): Schema[] =>
  [...listOf(allOf), ...listOf(anyOf), ...listOf(oneOf)].filter(isSchema)

/** What a reference within the schema points to, with what stands beside the reference. */
function resolve(schema: Schema, root: Schema): Schema {
  const { $ref: reference, ...rest } = schema
  if (typeof reference !== 'string' || !/^#(?:\/|$)/.test(reference)) return schema
  let target: unknown = root
  for (const part of reference.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    target = isSchema(target) && Object.hasOwn(target, key) ? target[key] : undefined
  }
  return isSchema(target) ? { ...target, ...rest } : rest
}

function typeOf(schema: Schema, root: Schema, depth = 0): string {
  const inner = (other: Schema) =>
    depth < 2 ? typeOf(resolve(other, root), root, depth + 1) : 'any'
  const values = 'const' in schema ? [schema.const] : listOf(schema.enum)
  if (values.length > 0) return values.map((value) => JSON.stringify(value)).join(' or ')
  if (schema.type === 'array' && isSchema(schema.items)) return `array of ${inner(schema.items)}`
  const types = [schema.type].flat().filter((type) => typeof type === 'string')
  if (types.length > 0) return types.join(' or ')
  if (isSchema(schema.properties)) return 'object'
  const variants = variantsOf(schema).slice(0, MAX_VARIANTS)
  return variants.length > 0 ? [...new Set(variants.map(inner))].join(' or ') : 'any'
}

/** On one line, with nothing that would end a cell. */
const toCell = (text: string): string => text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').trim()
