import { NAME_PATTERN } from '../../domain/skill.ts'

/** A file or folder of a skill; the path is empty for the skill's own folder. */
export interface SkillPlace {
  name: string
  path: string
}

const NAME = new RegExp(NAME_PATTERN)

/** What a `skill://` URI says; undefined for whatever else it is, or where it climbs. */
export function readSkillUri(uri: string): SkillPlace | undefined {
  const url = URL.parse(uri)
  // Nothing else may be in it: no user, no query, no fragment.
  if (url?.href !== `skill://${url?.host}${url?.pathname}`) return undefined
  const segments = [url.host, ...url.pathname.split('/').slice(1)].map(decode)
  const [name = '', ...path] = segments
  if (!NAME.test(name) || !path.every(isName)) return undefined
  return { name, path: path.join('/') }
}

/** Spelled as the SDK spells it: what a URL would leave alone stays as it is. */
export const toSkillUri = ({ name, path }: SkillPlace): string =>
  ['skill:/', name, ...(path === '' ? [] : path.split('/').map(encode))].join('/')

const encode = (segment: string): string =>
  segment.replaceAll(/[^\w!$&'()*+,.:;=@[\]|~-]/gu, encodeURIComponent)

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return ''
  }
}

const isName = (segment: string): boolean =>
  segment !== '' && segment !== '.' && segment !== '..' && !/[/\0]/.test(segment)
