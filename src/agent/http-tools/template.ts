import { excerpt } from '../../domain/excerpt.ts'
import { AppError } from '../../errors.ts'
import type { ToolInput } from '../tool.ts'

/** What stands in a text: plain text, a place in the input, or the name of a secret. */
export type Part = string | { input: string[] } | { env: string }

export interface Values {
  input: ToolInput
  /** The value of an environment variable; throws when it is not set. */
  secret(name: string): string
}

const TEMPLATE = /\{\{([^{}]*)\}\}/g
const INPUT = /^input((?:\.[^.\s]+)+)$/
const ENV = /^env\.([A-Za-z_][A-Za-z0-9_]*)$/

/** Throws `body_invalid` for a template that is neither of the two. */
export function parseTemplate(text: string): Part[] {
  const parts: Part[] = []
  let end = 0
  for (const { 0: whole, 1: inner = '', index } of text.matchAll(TEMPLATE)) {
    if (index > end) parts.push(text.slice(end, index))
    parts.push(readPart(inner.trim(), whole))
    end = index + whole.length
  }
  if (end < text.length) parts.push(text.slice(end))
  return parts
}

function readPart(inner: string, whole: string): Part {
  const path = INPUT.exec(inner)?.[1]
  if (path !== undefined) return { input: path.slice(1).split('.') }
  const env = ENV.exec(inner)?.[1]
  if (env !== undefined) return { env }
  const what = `${excerpt(whole)} is neither {{input.NAME}} nor {{env.NAME}}.`
  throw new AppError('body_invalid', what)
}

/** A text that is one template and nothing else is the value itself, undefined where there is none. */
export function evaluate(text: string, values: Values): unknown {
  const [first, ...others] = parseTemplate(text)
  if (first !== undefined && typeof first !== 'string' && others.length === 0) {
    return partValue(first, values)
  }
  return renderText(text, values)
}

/** What has no value is left empty; `encode` is for what is put in, not for the text around it. */
export const renderText = (
  text: string,
  values: Values,
  encode: (text: string) => string = (plain) => plain,
): string =>
  parseTemplate(text)
    .map((part) => (typeof part === 'string' ? part : encode(toText(partValue(part, values)))))
    .join('')

function partValue(part: Exclude<Part, string>, { input, secret }: Values): unknown {
  if ('env' in part) return secret(part.env)
  let value: unknown = input
  for (const key of part.input) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = Reflect.get(value, key)
  }
  return value
}

export function toText(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
