import { Ajv, type ValidateFunction } from 'ajv'
import { AppError } from '../errors.ts'
import { withinTime } from './time-limit.ts'

const MAX_COMPILED = 1000
// A schema is the caller's, and can be made to take for ever: to compile, and by these words to check.
const COMPILE_MS = 2000
const CHECK_MS = 1000
const SLOW_WORDS = /"(pattern(Properties)?|\$\w*ref|uniqueItems)":/i

const OPTIONS = { strict: false, validateFormats: false, allErrors: false, logger: false } as const
const draft = new Ajv(OPTIONS)

interface Check {
  validate: ValidateFunction
  slow: boolean
}
const compiled = new Map<string, Check>()

/**
 * The check of a tool's arguments. Compiled once for each schema. Throws `tool_schema_invalid` for
 * what is no JSON Schema of an object, refers to another document, or takes too long to read.
 */
function compile(name: string, schema: object): Check {
  const text = JSON.stringify(schema)
  const known = compiled.get(text)
  if (known) return known
  if (!('type' in schema) || schema.type !== 'object') {
    throw refuse(name, 'its "type" must be "object"')
  }
  try {
    const validate = withinTime(COMPILE_MS, () => compileAlone(JSON.parse(text)))
    const check = { validate, slow: SLOW_WORDS.test(text) }
    if (compiled.size >= MAX_COMPILED) compiled.clear()
    compiled.set(text, check)
    return check
  } catch (error) {
    throw refuse(name, error instanceof Error ? error.message : 'it cannot be read')
  }
}

/** In an Ajv of its own, for one remembers every `$id` that it has met. */
function compileAlone({ $id, $schema, $async, ...schema }: Record<string, unknown>) {
  if (!draft.validateSchema(schema)) throw new Error(draft.errorsText(draft.errors))
  const code = { optimize: false }
  return new Ajv({ ...OPTIONS, meta: false, validateSchema: false, code }).compile(schema)
}

const refuse = (name: string, why: string) =>
  new AppError('tool_schema_invalid', `The input_schema of "${name}" cannot be used: ${why}.`)

export const checkSchema = (name: string, schema: object): void => void compile(name, schema)

/** The first thing wrong with a call's arguments, in a sentence; undefined when they fit. */
export function misfit(name: string, schema: object, input: unknown): string | undefined {
  const { validate, slow } = compile(name, schema)
  try {
    const fits = slow ? withinTime(CHECK_MS, () => validate(input)) : validate(input)
    if (fits) return undefined
  } catch {
    // Out of time, or of stack where a schema refers to itself.
    return 'they cannot be checked against the schema within the time there is.'
  }
  const [error] = validate.errors ?? []
  const extra = error?.params.additionalProperty
  return `${error?.instancePath || 'The arguments'} ${error?.message}${extra ? ` ("${extra}")` : ''}.`
}
