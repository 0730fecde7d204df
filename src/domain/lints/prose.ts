const OPENING = /^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:(`{3,})[^`]*|(~{3,}).*)$/
const CLOSING = /^[ \t>]*(`{3,}|~{3,})[ \t]*$/

/** Where a paragraph ends, and with it any code span: a list item, a heading, a row of a table. */
const BLOCK = /^[ \t]*(?:$|[-*+#>|]|\d{1,9}[.)])/

/** Markdown with blanks in place of code and comments; every other character keeps its place. */
export function proseOf(markdown: string): string {
  const done: string[] = []
  let paragraph: string[] = []
  let fence: string | undefined
  const endParagraph = () => {
    if (paragraph.length > 0) done.push(withoutSpans(paragraph.join('\n')))
    paragraph = []
  }
  for (const line of markdown.split('\n')) {
    if (fence !== undefined) {
      done.push(blank(line))
      const [, closing = ''] = CLOSING.exec(line) ?? []
      if (closing.startsWith(fence)) fence = undefined
      continue
    }
    const [opens, backticks, tildes] = OPENING.exec(line) ?? []
    if (opens !== undefined || BLOCK.test(line)) endParagraph()
    if (opens === undefined) paragraph.push(line)
    else {
      fence = backticks ?? tildes
      done.push(blank(line))
    }
  }
  endParagraph()
  return withoutComments(done.join('\n'))
}

function blank(text: string): string {
  if (!text.includes('\n')) return ' '.repeat(text.length)
  return text
    .split('\n')
    .map((line) => ' '.repeat(line.length))
    .join('\n')
}

/** A code span ends at the next run of as many backticks as it began with. */
function withoutSpans(paragraph: string): string {
  const runs = Array.from(paragraph.matchAll(/`+/g), ({ 0: { length }, index }) => ({
    start: index,
    end: index + length,
  }))
  const closers = closersOf(runs.map(({ start, end }) => end - start))
  const parts: string[] = []
  let from = 0
  for (let at = 0; at < runs.length; at++) {
    const open = runs[at]
    const closer = closers[at]
    const close = closer === undefined ? undefined : runs[closer]
    if (!open || !close || closer === undefined || paragraph[open.start - 1] === '\\') continue
    parts.push(paragraph.slice(from, open.start), blank(paragraph.slice(open.start, close.end)))
    from = close.end
    at = closer
  }
  return parts.join('') + paragraph.slice(from)
}

/** For each length the place of the next that equals it. */
function closersOf(lengths: readonly number[]): (number | undefined)[] {
  const next = new Map<number, number>()
  const closers = new Array<number | undefined>(lengths.length)
  for (let at = lengths.length - 1; at >= 0; at--) {
    const length = lengths[at] ?? 0
    closers[at] = next.get(length)
    next.set(length, at)
  }
  return closers
}

function withoutComments(text: string): string {
  const parts: string[] = []
  let from = 0
  for (let start = text.indexOf('<!--'); start >= 0; start = text.indexOf('<!--', from)) {
    const end = text.indexOf('-->', start)
    if (end < 0) break
    parts.push(text.slice(from, start), blank(text.slice(start, end)))
    from = end
  }
  return parts.join('') + text.slice(from)
}
