import type { Diagnostics, Place } from '../diagnostics.ts'
import { findHidden } from './hidden-unicode.ts'

const MIN_WIDTH = 20
const TAG = /<\/?[a-z][^<>]*>/i

// What says when: whole words in scripts that part words, else verbs and conjunctions.
const TRIGGERS = [
  /(?<!\p{L})(?:when|whenever|if|before|after|while|during|asks?|asked|use|used|using)(?!\p{L})/iu,
  /(?<!\p{L})(?:trigger|invoke|activate)/iu,
  /(?<!\p{L})(?:cuando|usar|usa|quando|quand|lorsque?|wenn|sobald|verwenden|als|когда|если|khi)(?!\p{L})/iu,
  /[当當时時]|用于|用於|适用|適用|场景|場景|场合|場合|如果|触发|觸發|需要|想要|要求|とき|使う|使い|たい|際に|때|경우|사용/,
]

/** Warns of a description that a model cannot choose the skill by. */
export function lintDescription(description: string, diagnostics: Diagnostics, place: Place): void {
  if (description === '') return
  if (widthOf(description) < MIN_WIDTH) {
    const what = 'the description is very short: say what the skill does and when to use it.'
    diagnostics.warn('description_short', what, place)
  }
  if (!TRIGGERS.some((trigger) => trigger.test(description))) {
    const what = 'the description does not say when to use the skill: add "Use when …".'
    diagnostics.warn('description_no_trigger', what, place)
  }
  if (TAG.test(description)) {
    const what = 'the description holds a tag such as "<name>": write plain text.'
    diagnostics.warn('description_markup', what, place)
  }
  // An escape in YAML puts it there unseen by whoever searches the file.
  const known = diagnostics.warnings.some(({ code }) => code === 'hidden_unicode')
  const hidden = known ? undefined : findHidden(description)
  if (hidden) {
    const what = `the description holds ${hidden.name}, which cannot be seen: remove it.`
    diagnostics.warn('hidden_unicode', what, place)
  }
}

/** A wide character says about as much as two narrow ones. */
function widthOf(text: string): number {
  let width = 0
  for (const character of text) width += character > '\u2E80' ? 2 : 1
  return width
}
