import type { CallToolResult } from '@modelcontextprotocol/client'
import { cleanLine } from './clean-text.ts'

/** In characters: of more, the head and the tail are kept. */
const MAX_TEXT = 10 * 1024 * 1024

type Content = CallToolResult['content'][number]

/** What a call gave, as the text of a result. */
export function resultText({ content, structuredContent }: CallToolResult): string {
  const texts = content.map(partText)
  if (structuredContent !== undefined && !content.some(isText)) {
    texts.push(JSON.stringify(structuredContent))
  }
  return bounded(texts.join('\n'))
}

const isText = (part: Content): boolean => part.type === 'text' && part.text !== ''

function partText(part: Content): string {
  switch (part.type) {
    case 'text':
      return part.text
    case 'image':
    case 'audio':
      return `[${part.type} ${label(part.mimeType)}, ${bytesOf(part.data)} bytes]`
    case 'resource_link':
      return `[resource ${label(part.uri)}]`
    case 'resource': {
      const { resource } = part
      const type = label(resource.mimeType ?? 'of no stated type')
      const what = `resource ${label(resource.uri)}, ${type}`
      if ('text' in resource) return `[${what}]\n${resource.text}`
      return `[${what}, ${bytesOf(resource.blob)} bytes]`
    }
  }
}

const label = (text: string): string => cleanLine(text, 200)

const bytesOf = (base64: string): number => Buffer.byteLength(base64, 'base64')

function bounded(text: string): string {
  if (text.length <= MAX_TEXT) return text
  const half = MAX_TEXT / 2 - 100
  const left = text.length - 2 * half
  const [head, tail] = [text.slice(0, half), text.slice(-half)]
  return `${head.toWellFormed()}\n[… ${left} characters left out …]\n${tail.toWellFormed()}`
}
