import type { Diagnostics } from './diagnostics.ts'
import { excerpt } from './excerpt.ts'
import type { Frontmatter } from './frontmatter.ts'
import { readRequiredText } from './required-text.ts'
import { NAME_PATTERN } from './skill.ts'

const MAX_LENGTH = 64
const VALID = new RegExp(NAME_PATTERN)
const OF_ROUTES = /^(?:validate|import)$/
const OF_WINDOWS = /^(?:con|prn|aux|nul|(?:com|lpt)[1-9])$/

/** What else tells a skill's name. */
export interface NameSources {
  /** Of `?name=`. */
  name?: string | undefined
  /** The folder that the file lies in. */
  folder?: string | undefined
  fileName?: string | undefined
  /** Of the path of a request, which the file must not contradict. */
  expectedName?: string | undefined
}

const isSkillName = (text: string): boolean => text.length <= MAX_LENGTH && VALID.test(text)

/** A text as a name: empty when no letter or digit remains. */
export function slugOf(text: string): string {
  const slug = text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
  const end = slug.length > MAX_LENGTH ? slug.lastIndexOf('-', MAX_LENGTH) : slug.length
  return slug.slice(0, end > 0 ? end : MAX_LENGTH).replace(/-$/, '')
}

/** The name, and the title where the name is only made from it. */
export function readName(
  frontmatter: Frontmatter,
  sources: NameSources,
  diagnostics: Diagnostics,
): { name: string; title: string | null } {
  const errors = diagnostics.errors.length
  const fromSources = () => nameFrom(sources)
  const written = readRequiredText('name', frontmatter, diagnostics, fromSources)
  if (written === undefined) return { name: '', title: null }

  const name = isSkillName(written) ? written : slugOf(written)
  const place = frontmatter.placeOf('name')
  if (name !== written) {
    const length =
      written.length > MAX_LENGTH ? `has ${written.length} characters of 64 allowed` : ''
    const form = `is not lower-case letters, digits and single hyphens`
    const advice = name === '' ? 'write it with a-z, 0-9 and "-"' : `write name: ${name}`
    const what = `${excerpt(written)} ${length || form}: ${advice}.`
    if (name === '') diagnostics.refuse('name_invalid', what, place)
    else diagnostics.rescue('name_invalid', what, place)
  }
  if (OF_ROUTES.test(name) || OF_WINDOWS.test(name)) {
    const owner = OF_ROUTES.test(name) ? 'a route of this service' : 'a Windows device'
    diagnostics.refuse('name_reserved', `"${name}" is the name of ${owner}: choose another.`, place)
  }
  if (diagnostics.errors.length === errors) compare(name, sources, frontmatter, diagnostics)
  return { name, title: name === written ? null : written }
}

function compare(
  name: string,
  { name: asked, folder, expectedName }: NameSources,
  { placeOf }: Frontmatter,
  diagnostics: Diagnostics,
): void {
  const place = placeOf('name')
  if (expectedName !== undefined && expectedName !== name) {
    const what = `the name is "${name}", but the path says ${excerpt(expectedName)}: make them equal.`
    diagnostics.refuse('name_mismatch', what, place)
  } else if (asked !== undefined && slugOf(asked) !== name) {
    const what = `the name is "${name}", but ?name= says ${excerpt(asked)}: make them equal.`
    diagnostics.rescue('name_mismatch', what, place)
  }
  if (folder !== undefined && slugOf(folder) !== name) {
    const what = `the name is "${name}", but the folder is ${excerpt(folder)}: rename the folder.`
    diagnostics.warn('name_folder', what, place)
  }
}

function nameFrom({ expectedName, name, folder, fileName = '' }: NameSources): string | undefined {
  const stem = fileName.replace(/\.[^.]*$/, '')
  const texts = [expectedName, name, folder, /^skill$/i.test(stem) ? '' : stem]
  return texts.map((text) => slugOf(text ?? '')).find((slug) => slug !== '')
}
