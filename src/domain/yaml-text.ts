import { AppError } from '../errors.ts'

const MAX_LEVELS = 32

// Words that one YAML or another reads as something else than text.
const WORD = /^(?:true|false|null|yes|no|on|off|y|n)$/i
const PLAIN = /^\p{L}[\p{L}\p{N} _.()/+;!?'-]*$/u
const NOT_PRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g

/** A value on one line, as YAML that reads back as exactly this value. */
export function toYaml(value: unknown, level = 0): string {
  if (level > MAX_LEVELS) {
    throw new AppError('frontmatter_too_large', 'The values are nested too deeply.')
  }
  if (typeof value === 'string') return textToYaml(value)
  if (Array.isArray(value)) {
    return `[${value.map((item) => toYaml(item, level + 1)).join(', ')}]`
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).map(
    ([key, item]) => `${textToYaml(key)}: ${toYaml(item, level + 1)}`,
  )
  return `{${entries.join(', ')}}`
}

/** Plain where no YAML would read it as anything else, else between double quotes. */
export const textToYaml = (text: string): string =>
  PLAIN.test(text) && !text.endsWith(' ') && !WORD.test(text) ? text : quote(text)

export const quote = (text: string): string =>
  JSON.stringify(text).replaceAll(NOT_PRINTABLE, toEscape)

const toEscape = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
