import { readCursor, toPage } from '../../http/page.ts'
import type { SkillStore } from '../../store/skills.ts'

export const PAGE = 50

/** A page of the enabled skills by name, drafts among them; `list` names whose cursors these are. */
export async function skillPage(
  skills: Pick<SkillStore, 'list'>,
  list: string,
  cursor: string | undefined,
) {
  const after = readCursor(list, cursor)
  const found = await skills.list({
    enabled: true,
    sort: 'name',
    ...(after !== undefined && { after }),
    limit: PAGE + 1,
  })
  const { data, next_cursor } = toPage(list, found, PAGE, ({ name }) => name)
  return { data, next: next_cursor === null ? {} : { nextCursor: next_cursor } }
}
