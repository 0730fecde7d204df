import { oneLine } from './catalog-line.ts'
import type { Skill } from './skill.ts'

/**
 * What load_skill answers: a body in a tag that neither the body nor a path can close, and below
 * it the bundled files.
 */
export function wrapSkill(
  { name, version, body }: Pick<Skill, 'name' | 'body'> & { version: number },
  files: readonly string[] = [],
): string {
  const list = files.length > 0 ? `\n\n${listFiles(name, files)}` : ''
  const tag = freeTag(body + list)
  return `<${tag} name="${name}" version="${version}">\n${body.trimEnd()}\n</${tag}>${list}`
}

/** The answer to a load of what is in the context already. */
export const repeatLine = (name: string, version: number): string =>
  `The skill "${name}" (version ${version}) is already loaded above; follow it from there.`

const MAX_LISTED = 50

function listFiles(skill: string, paths: readonly string[]): string {
  const lines = paths.slice(0, MAX_LISTED).map((path) => `- ${oneLine(path)}`)
  const more = paths.length - lines.length
  const call = `read_skill_file {"skill": "${skill}", "path": "…"}`
  return [
    `Files of this skill, to be read with ${call} when needed:`,
    ...lines,
    ...(more > 0 ? [`(and ${more} more)`] : []),
  ].join('\n')
}

const CLOSING = /<\s*\/\s*(skill(?:-\d+)?)(?![\w-])/g

/** A tag whose closing form the text does not hold, nor anything a model may take for it. */
function freeTag(text: string): string {
  const plain = text
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .toLowerCase()
  const taken = new Set(Array.from(plain.matchAll(CLOSING), (match) => match[1]))
  let tag = 'skill'
  for (let suffix = 2; taken.has(tag); suffix++) tag = `skill-${suffix}`
  return tag
}
