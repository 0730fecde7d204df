import type { Diagnostics } from './diagnostics.ts'
import { excerpt } from './excerpt.ts'
import type { Frontmatter } from './frontmatter.ts'
import { findValue, kindOf, type YamlNode } from './yaml-node.ts'

const KEY = 'allowed-tools'

/** Read where `allowed-tools` is missing, and only suspected of meaning it. */
const ALIAS = 'allowed_tools'
const SUSPECTS = ['tools', 'allowedTools']

/** The key that says which tools are allowed, if any does. */
export const allowedToolsKey = ({ root }: Frontmatter): string | undefined =>
  [KEY, ALIAS].find((key) => findValue(root, key))

/** Null when the file does not say, empty when it allows none. */
export function readAllowedTools(frontmatter: Frontmatter, diagnostics: Diagnostics) {
  const { root, yaml, placeOf } = frontmatter
  const key = allowedToolsKey(frontmatter)
  if (key !== KEY) {
    const found = key ?? SUSPECTS.find((suspect) => findValue(root, suspect))
    if (found !== undefined) {
      const end = found === ALIAS ? 'was read as "allowed-tools"' : 'is not read as "allowed-tools"'
      const what = `"${found}" ${end}: write "allowed-tools" when the tools of the skill are meant.`
      diagnostics.warn('key_alias', what, placeOf(found))
    }
  }
  const value = key === undefined ? undefined : findValue(root, key)
  if (key === undefined || !value) return null

  const items = value.kind === 'list' ? value.items : isEmpty(value) ? [] : [value]
  const tools = new Set<string>()
  for (const item of items) {
    const text = item.kind === 'scalar' && typeof item.value === 'string' ? item.value : undefined
    if (text === undefined) {
      const what = `an entry of "${key}" is ${kindOf(item)}, not text: quote it, or remove it.`
      diagnostics.rescue('allowed_tools_item', what, placeOf(key))
    }
    const { entries, balanced } = splitTools(text ?? yaml.slice(item.start, item.end).trim())
    if (text !== undefined && !balanced) {
      const what = `a parenthesis of ${excerpt(text)} is not closed, or closes nothing.`
      diagnostics.rescue(
        'allowed_tools_syntax',
        `${what} Write it as in Bash(git:*).`,
        placeOf(key),
      )
    }
    for (const entry of entries) tools.add(entry)
  }
  return [...tools]
}

const isEmpty = (node: YamlNode): boolean => node.kind === 'scalar' && node.value === null

/** Commas and blanks separate, but not inside parentheses, which may nest. */
function splitTools(text: string): { entries: string[]; balanced: boolean } {
  const entries: string[] = []
  let depth = 0
  let balanced = true
  let start = 0
  for (let at = 0; at <= text.length; at++) {
    const character = text.charAt(at)
    if (character === '(') depth++
    if (character === ')' && depth === 0) balanced = false
    else if (character === ')') depth--
    if (at < text.length && (depth > 0 || !/[\s,]/.test(character))) continue
    const entry = text.slice(start, at).trim()
    if (entry !== '') entries.push(entry)
    start = at + 1
  }
  return { entries, balanced: balanced && depth === 0 }
}
