import type { BundleFile } from '../domain/skill.ts'
import { AppError } from '../errors.ts'
import { FormBody } from '../http/bundle-body.ts'
import { notAFile } from '../http/multipart.ts'
import type { Packed } from '../registry/archives/archive.ts'

const FILES = new Set(['files', 'files[]', 'file'])

export interface SkillForm {
  files: readonly BundleFile[] | Packed
  /** The text of a field; undefined where there is none. Throws when it is there twice. */
  field(name: string): string | undefined
}

/** An upload of a skill, which always comes as a form; fields that nobody asks for are ignored. */
export function readSkillForm(body: unknown): SkillForm {
  if (!(body instanceof FormBody)) {
    throw new AppError('media_type', 'Send the files of a skill as multipart/form-data.')
  }
  const { bundle, fields } = body
  const text = fields.find(({ name }) => FILES.has(name))
  if (text) throw notAFile(text.name)
  return {
    files: bundle.content,
    field(name) {
      const [first, second] = fields.filter((field) => field.name === name)
      if (second) throw badField(name, `The form has the field "${name}" twice.`)
      return first?.value
    },
  }
}

export const badField = (field: string, message: string): AppError =>
  new AppError('body_invalid', message, { errors: [{ code: 'body_invalid', message, field }] })
