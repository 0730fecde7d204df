import { HOW_TO_USE_SKILLS } from '../prompt.ts'

export interface Candidate {
  name: string
  description: string
}

const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>' }

/** The skills in the catalog of a system prompt: lines `- name: description`. */
export function readCatalog(system: string): Candidate[] {
  const line = /^- ([\p{L}\p{N}_-]+)(?:: (.*))?$/gmu
  const isList = (block: string) => block.search(line) >= 0
  // What a caller has to say stands behind the catalog, and may hold a list too.
  const behind = system.split(HOW_TO_USE_SKILLS)[1]?.split(/\n{2,}/)
  const catalog = behind ? behind.find(isList) : system.split(/\n{2,}/).findLast(isList)
  return [...(catalog ?? '').matchAll(line)].map(([, name = '', description = '']) => ({
    name,
    description: description.replaceAll(/&(amp|lt|gt);/g, (entity) => ENTITIES[entity] ?? entity),
  }))
}

const NAMED = 100
/** What a request is about stands at its beginning, or is pasted text. */
const MAX_READ = 20_000
const GOOD = 2

/** The skill that fits what was said, if one does well enough. */
export function matchSkill(request: string, catalog: readonly Candidate[]): Candidate | undefined {
  const said = request.slice(0, MAX_READ)
  const asked = termsOf(said)
  const indexed = catalog.map((candidate) => ({
    candidate,
    name: termsOf(candidate.name),
    all: termsOf(`${candidate.name} ${candidate.description}`),
  }))
  const spread = (term: string) => indexed.filter(({ all }) => all.has(term)).length

  let best: { candidate: Candidate; score: number } | undefined
  for (const { candidate, name, all } of indexed) {
    const shared = [...asked].filter((term) => all.has(term))
    // One word in common is little, unless little was said.
    let score = shared.length > 0 && shared.length * 2 >= asked.size ? 1 : 0
    for (const term of shared) {
      if (name.has(term)) score += 2
      else score += isLatin(term) || spread(term) > 1 ? 1 : 2
    }
    if (mentions(said, candidate.name)) score += NAMED + candidate.name.length
    if (score >= GOOD && score > (best?.score ?? 0)) best = { candidate, score }
  }
  return best?.candidate
}

/** Whether a skill is called by its whole name, as `code-review` or "code review". */
export function mentions(said: string, name: string): boolean {
  const plain = (text: string) => ` ${wordsOf(text).join(' ')} `
  return plain(said).includes(plain(name))
}

const CHINESE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+/gu

const STOP_WORDS = new Set(
  `a about all also am an and any are as at be been but by can could did do does for from get give
  had has have help hello hey hi how i if in into is it its just let like make me my need new no not
  of on one or our out please should skill so some tell than thank thanks that the their them then
  there these they this to up us use used user using want was we were what when where which who why
  will with work would you your`
    .split(/\s+/)
    .map(stem),
)
const STOP_PAIRS = new Set(
  `请帮 帮我 帮助 我们 你们 他们 什么 怎么 怎样 如何 为什 这个 那个 这些 一个 一些 一下 一份 可以 能够 需要
  使用 用于 时候 用户 技能 应该 没有 不是 就是 还是 已经 今天 现在 你好 您好 谢谢 或者 以及 并且 进行 时使
  当用 户需 要时 我想 想要 请问 ください して する します した です ます こと これ それ ため とき 場合 使用 使う
  この その から まで など には では とは`.split(/\s+/),
)

/** What a text is about: stems of its words and, where no blanks part words, pairs of characters. */
function termsOf(text: string): Set<string> {
  const terms = new Set<string>()
  for (const word of wordsOf(text.replaceAll(CHINESE, ' '))) {
    const term = stem(word)
    if (term.length > 1 && !STOP_WORDS.has(term)) terms.add(term)
  }
  for (const [run] of text.matchAll(CHINESE)) {
    const characters = [...run]
    for (const [index, character] of characters.entries()) {
      const pair = character + (characters[index + 1] ?? '')
      if ([...pair].length === 2 && !STOP_PAIRS.has(pair)) terms.add(pair)
    }
  }
  return terms
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

const isLatin = (term: string) => term.search(CHINESE) < 0

function stem(word: string): string {
  if (word.length < 4) return word
  return word
    .replace(/ies$/, 'y')
    .replace(/(?<=\w{3})(ing|ed|es|(?<![su])s|er|or)$/, '')
    .replace(/(?<=\w{3})e$/, '')
    .replace(/(\w)\1$/, '$1')
}
