const LENGTH = 60

/** A text between quotes, short enough for a message. */
export function excerpt(text: string): string {
  const points = Array.from(text.slice(0, 2 * LENGTH))
  const start = points.slice(0, LENGTH).join('')
  return `"${start}${start.length < text.length ? '…' : ''}"`
}
