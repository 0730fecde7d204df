/** A text in a tag that it cannot close: what stands in it is data. */
export function inTag(name: 'summary' | 'transcript', text: string): string {
  const tag = freeTag(name, text)
  return `<${tag}>\n${text}\n</${tag}>`
}

const CLOSING = /<\s*\/\s*((?:summary|transcript)(?:-\d+)?)(?![\w-])/g

/** A tag whose closing form the text does not hold, nor anything a model may take for it. */
function freeTag(name: string, text: string): string {
  const plain = text
    .normalize('NFKC')
    .replaceAll(/\p{Cf}/gu, '')
    .toLowerCase()
  const taken = new Set(Array.from(plain.matchAll(CLOSING), (match) => match[1]))
  let tag = name
  for (let suffix = 2; taken.has(tag); suffix++) tag = `${name}-${suffix}`
  return tag
}
