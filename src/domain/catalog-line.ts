/** How a catalog is laid out: what stands around the skills, and how one of them is shown. */
export interface CatalogLayout {
  opening: string[]
  closing: string[]
  /** What the catalog says when there is no skill. */
  empty: string
  /** Whether tags have a place in it. */
  tags: boolean
  /** What parts a description from the text before it. */
  gap: string
  escape(text: string): string
  full(name: string, description: string): string
  bare(name: string): string
}

export const listLayout: CatalogLayout = {
  opening: [],
  closing: [],
  empty: '(no skills available)',
  tags: true,
  gap: ' ',
  escape: escapeMarkup,
  full: (name, description) => `- ${name}: ${description}`,
  bare: (name) => `- ${name}`,
}

/** The block of Agent Skills, byte for byte as skills-ref prints it. */
export const xmlLayout: CatalogLayout = {
  opening: ['<available_skills>'],
  closing: ['</available_skills>'],
  empty: '<available_skills>\n</available_skills>',
  tags: false,
  gap: '',
  escape: (text) => escapeMarkup(text).replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
  full: (name, description) =>
    `<skill>\n<name>\n${name}\n</name>\n<description>\n${description}\n</description>\n</skill>`,
  bare: (name) => `<skill>\n<name>\n${name}\n</name>\n</skill>`,
}

export const tagSuffix = (layout: CatalogLayout, tags: readonly string[] = []): string =>
  tags.length > 0 ? ` [${layout.escape(oneLine(tags.join(', ')))}]` : ''

/** Whitespace of every kind and control characters become single blanks. */
export function oneLine(text: string): string {
  return FOLDS.test(text) ? text.replaceAll(FOLDED, ' ').trim() : text.trim()
}

const FOLDS = /[^\S ]|\p{Cc}| {2}/u
const FOLDED = /[\s\p{Cc}]+/gu

function escapeMarkup(text: string): string {
  if (!/[&<>]/.test(text)) return text
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
