/** A skill made for measuring: filler with the size of a real one, the same in every run. */
export interface MadeSkill {
  name: string
  description: string
  tags: string[]
  version: number
  digest: string
  body: string
}

type Count = (text: string) => number

export interface Sizes {
  skills: number
  /** Tokens of a catalog line, and of a body: met within one percent by bodies, not passed by lines. */
  line: number
  body: number
}

/** The sizes hold by `count`. */
export function makeSkills({ skills, line, body }: Sizes, count: Count): MadeSkill[] {
  const words = wordSource(20_260_101)
  // A thousand different bodies would show nothing that twenty do not.
  const bodies = Array.from({ length: Math.min(skills, 20) }, () => makeText(body, count, words))
  return Array.from({ length: skills }, (_, index) => {
    const name = `${words()}-${words()}${index < 10 ? '' : `-${index}`}`
    return {
      name,
      description: makeDescription(line - count(`- ${name}: `), words, count),
      tags: [],
      version: 1,
      digest: `sha256:${index}`,
      body: bodies[index % bodies.length] ?? '',
    }
  })
}

/** Paragraphs, headings and lists of so many tokens, within one percent. */
export function makeText(tokens: number, count: Count, words = wordSource(7)): string {
  const parts = [`# ${sentence(words)}`]
  let length = 0
  while (length < tokens - 12) {
    const lead = parts.length % 9 === 0 ? '\n\n## ' : parts.length % 3 === 0 ? '\n- ' : ' '
    parts.push(lead + sentence(words))
    length = count(parts.join(''))
  }
  return parts.join('')
}

function makeDescription(tokens: number, words: () => string, count: Count): string {
  let text = `${capital(`${words()} ${words()}`)} for the ${words()}.`
  for (;;) {
    const sentence = ` Use when the ${words()} asks for a ${words()} of the ${words()}.`
    const clause = ` or the ${words()}.`
    const longer = [text + sentence, text.slice(0, -1) + clause].find(
      (candidate) => count(candidate) <= tokens,
    )
    if (longer === undefined) return text
    text = longer
  }
}

const sentence = (words: () => string): string =>
  `${capital(words())} the ${words()} before the ${words()} and ${words()} with the ${words()}.`

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Words by a small generator with a seed (mulberry32). */
function wordSource(seed: number): () => string {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return WORDS[((mixed ^ (mixed >>> 14)) >>> 0) % WORDS.length] ?? 'word'
  }
}

const WORDS = `account address agenda answer archive article balance batch booking branch budget
  calendar change chapter chart check client column comment company contract copy customer delivery
  design detail document draft editor email entry error estimate event example expense export
  feature field figure file filter folder form guest guide header heading image import index
  invoice issue item label language layout letter library license list manual map margin meeting
  member message method model module month name note notice number offer office order outline owner
  package page paragraph partner payment period person picture plan point policy price printer
  product profile project proposal question quote reader reason receipt record region release
  reminder reply report request result review route rule sample schedule section sender server
  session setting sheet shipment signature size source spelling step story style summary supplier
  survey table target task team template test ticket title topic total translation travel update
  user value vendor version visit visitor warning week window word worker`.split(/\s+/)
