import assert from 'node:assert/strict'
import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from './run-service.ts'

export const readPage = (path: string) => readFile(join(ROOT, path), 'utf8')

interface Example {
  language: string
  code: string
  /** What stands in a block of text right behind it. */
  answer: string | undefined
}

/** The blocks of code of a page that are in one of the languages. */
export const examplesIn = (page: string, languages: readonly string[]): Example[] =>
  [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$(?:\n```text\n([\s\S]*?)^```$)?/gm)]
    .map(([, language = '', code = '', answer]) => ({ language, code, answer }))
    .filter(({ language }) => languages.includes(language))

export const shellExamples = (page: string) =>
  examplesIn(page, ['sh']).map(({ code, answer }) => ({ commands: code, answer }))

/** An example for the service that runs, in place of the one that the pages speak of. */
export const at = (url: string, example: string) =>
  example.replaceAll('localhost:3000', new URL(url).host)

/** The parts between the `…` stand in the answer one after the other; counts may differ. */
export function assertShown(answer: string, shown: string): void {
  const actual = normalized(answer)
  let rest = actual
  const parts = normalized(shown).split('…')
  for (const [index, part] of parts.entries()) {
    const found = index === parts.length - 1 ? rest.lastIndexOf(part) : rest.indexOf(part)
    assert.ok(
      found === 0 || (found > 0 && index > 0),
      `"${part}" is not where it is shown in ${actual}`,
    )
    rest = rest.slice(found + part.length)
  }
  assert.equal(rest, '', 'the answer ends as it is shown')
}

const COUNTS = /"(size|tokens|catalog|body|skills|all_inlined|revision|offered)":\d+/g
const normalized = (text: string) => text.replace(/\s+/g, '').replace(COUNTS, '"$1":#')

/** Every link of a page leads to a file, and to a headline of it where it says so. */
export async function assertLinks(folder: string, page: string): Promise<void> {
  for (const [, link = ''] of page.matchAll(/\]\((?!http)([^)]+)\)/g)) {
    const [path = '', headline] = link.split('#')
    await access(join(ROOT, folder, path))
    if (headline === undefined) continue
    assert.ok(headlinesOf(await readPage(join(folder, path))).includes(headline), link)
  }
}

const headlinesOf = (page: string) =>
  [...page.matchAll(/^#+ (.+)$/gm)].map(([, headline = '']) =>
    headline
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )
