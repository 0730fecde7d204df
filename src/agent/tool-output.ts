/** What a model is shown of one output; the whole is stored (prior-art TL-01). */
const SHOWN = 50_000
const TAIL = 10_000

/** An output as the model sees it: where it is long, its beginning and its end. */
export function shownOutput(output: string, callId: string): string {
  if (output.length <= SHOWN) return output
  const head = whole(output.slice(0, SHOWN - TAIL))
  const tail = whole(output.slice(-TAIL))
  const left = output.length - head.length - tail.length
  return `${head}\n… (${left} of ${output.length} characters left out; all of them are stored as tool result ${callId}) …\n${tail}`
}

/** Without the half of a character that a cut may leave at either end. */
const whole = (text: string): string => {
  if (text.isWellFormed()) return text
  const first = /^[\uDC00-\uDFFF]/.test(text) ? 1 : 0
  const last = /[\uD800-\uDBFF]$/.test(text) ? text.length - 1 : text.length
  return text.slice(first, last)
}
