import type { Diagnostics } from '../diagnostics.ts'
import { excerpt } from '../excerpt.ts'
import { lineAt } from '../fence.ts'
import { proseOf } from './prose.ts'
import { warnOfSome } from './some.ts'

const TITLE = String.raw`(?:[ \t]+(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\)))?[ \t]*`
const INLINE = new RegExp(
  String.raw`(?<!\\)\]\([ \t]*(?:<([^<>\n]*)>|((?:[^\s()<>\]\\]|\\[^\s\]]|\([^\s()\]]*\))+))${TITLE}\)`,
  'g',
)
// A word behind a colon is a note; what has a dot or a slash is a path.
const DEFINITION = new RegExp(
  String.raw`^ {0,3}\[[^\]\n^][^\]\n]*\]:[ \t]*(?:<([^<>\n]*)>|([^\s<./]*[./]\S*))${TITLE}$`,
  'gm',
)

/** No path of a bundle is that long. */
const MAX_TARGET = 2000

/** With a scheme, absolute, of a home folder, or to be filled in. */
const ELSEWHERE = /^(?:[a-z][a-z\d+.-]*:|[/\\~]|\.{3}|…)|[{}$*]/i

/**
 * Warns of links and images of the body that lead to none of the bundled files. `paths` are theirs;
 * a folder that holds one of them is there too.
 */
export function lintLinks(
  text: string,
  body: string,
  paths: readonly string[],
  diagnostics: Diagnostics,
): void {
  const broken = findBrokenLinks(body, paths)
  const start = text.length - body.length
  warnOfSome(broken, 'link_broken', diagnostics, ({ target, at }) => [
    `the link to ${excerpt(target)} leads to no file of the bundle: add the file, or correct the link.`,
    { line: lineAt(text, start + at) },
  ])
}

/** The first link to each path that is not there. */
function findBrokenLinks(body: string, paths: readonly string[]): { target: string; at: number }[] {
  const links = linksOf(body)
  if (links.length === 0) return []
  const there = new Set(paths.flatMap(withFolders))
  const broken = new Map<string, { target: string; at: number }>()
  for (const { target, at } of links) {
    const [written = ''] = target.replaceAll(/\\([!-/:-@[-`{-~])/g, '$1').split(/[?#]/, 1)
    if (written === '' || written.length > MAX_TARGET || ELSEWHERE.test(written)) continue
    const path = resolve(decoded(written))
    if (there.has(path) || there.has(resolve(written)) || broken.has(path)) continue
    broken.set(path, { target: written, at })
  }
  return [...broken.values()]
}

/** Every target, and where it stands first. */
function linksOf(body: string): { target: string; at: number }[] {
  if (!body.includes('](') && !body.includes(']:')) return []
  const prose = proseOf(body)
  const first = new Map<string, number>()
  for (const pattern of [INLINE, DEFINITION]) {
    for (const { index, 1: bracketed, 2: plain = '' } of prose.matchAll(pattern)) {
      const target = bracketed ?? plain
      first.set(target, Math.min(index, first.get(target) ?? index))
    }
  }
  return Array.from(first, ([target, at]) => ({ target, at })).sort((a, b) => a.at - b.at)
}

function withFolders(path: string): string[] {
  const parts = path.normalize('NFC').split('/')
  return parts.map((_, index) => parts.slice(0, index).join('/')).concat(parts.join('/'))
}

function decoded(target: string): string {
  try {
    return decodeURIComponent(target)
  } catch {
    return target
  }
}

/** The path in the bundle; it keeps the `..` that leave the bundle. */
function resolve(target: string): string {
  const path: string[] = []
  for (const part of target.normalize('NFC').split(/[/\\]/)) {
    if (part === '..' && path.length > 0 && path.at(-1) !== '..') path.pop()
    else if (part !== '' && part !== '.') path.push(part)
  }
  return path.join('/')
}
