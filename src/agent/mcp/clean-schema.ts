import { cleanText } from './clean-text.ts'

const MAX_BYTES = 64 * 1024
const MAX_DEPTH = 64
/** What the providers refuse at the top of a tool's schema, and with it the whole request. */
const NOT_AT_THE_TOP = ['oneOf', 'anyOf', 'allOf', 'not', 'enum']
const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/
const WORDS = new Set(['description', 'title', '$comment'])

/** JSON with its keys in order; undefined for what is nested too deeply. */
export function canonicalJson(value: unknown): string | undefined {
  return isTooDeep(value) ? undefined : JSON.stringify(value, inOrder)
}

const inOrder = (_: string, value: unknown): unknown =>
  isRecord(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** A schema of an object, its words free of what cannot be seen; undefined when it is none at all. */
export function cleanSchema(schema: unknown): object | undefined {
  if (!isRecord(schema) || isTooDeep(schema)) return undefined
  const cleaned = JSON.parse(JSON.stringify(schema), (key, value) =>
    WORDS.has(key) && typeof value === 'string' ? cleanText(value) : value,
  )
  return 'type' in cleaned ? cleaned : { type: 'object', ...cleaned }
}

/** Why no provider could be sent it, in a few words. What it means is checked elsewhere. */
export function schemaFault(schema: object): string | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(schema))
  if (bytes > MAX_BYTES) return `its inputSchema has ${bytes} bytes, of ${MAX_BYTES} allowed`
  const word = NOT_AT_THE_TOP.find((name) => Object.hasOwn(schema, name))
  if (word) return `its inputSchema has "${word}" at the top, which no model's provider takes`
  const { properties } = { properties: {}, ...schema }
  if (!isRecord(properties)) return 'its "properties" are not an object'
  const odd = Object.keys(properties).find((name) => !PROPERTY_NAME.test(name))
  return odd === undefined
    ? undefined
    : 'the name of a parameter has characters that are not allowed'
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isTooDeep(value: unknown): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true
    level = level.flatMap((one) =>
      typeof one === 'object' && one !== null ? Object.values(one) : [],
    )
  }
  return false
}
