import { Type } from 'typebox'

/** What paths name: a skill, one of its versions, a file in it. */
export const SkillParam = Type.String({ description: 'The name of the skill' })
export const VersionParam = Type.Integer({
  minimum: 1,
  maximum: 2 ** 31 - 1,
  description: 'The number of the version',
})
export const FileParam = Type.String({ description: 'The path of the file in the bundle' })
