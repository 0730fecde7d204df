import type { Skill } from './skill.ts'

/** What a skill is found by in meaning: the same as in words. */
export const embeddedText = ({
  name,
  description,
  tags,
}: Pick<Skill, 'name' | 'description' | 'tags'>): string =>
  [`${name.replaceAll('-', ' ')}: ${description}`, ...(tags.length > 0 ? [tags.join(', ')] : [])]
    .join('\n')
    .toWellFormed()

/** As much of a query as tells what it is about; models take a few hundred tokens at the least. */
const MAX_LENGTH = 2000

export const embeddedQuery = (query: string): string =>
  query.slice(0, MAX_LENGTH).toWellFormed().trim()
