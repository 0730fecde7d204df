/**
 * Where a string first holds half of a character, which no UTF-8 can store; -1 when it is whole.
 * Only JSON and YAML escapes (`\ud800`) can make one.
 */
export const findLoneSurrogate = (text: string): number =>
  text.isWellFormed() ? -1 : text.search(/\p{Surrogate}/u)
