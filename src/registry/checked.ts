import { AppError, type Fault } from '../errors.ts'
import type { ReadSkill } from './read-upload.ts'

/** What is wrong with an upload, as a value. */
export interface Checked {
  valid: boolean
  errors: Fault[]
  warnings: Fault[]
  skill: ReadSkill | null
}

export const toSound = (skill: ReadSkill): Checked => ({
  valid: true,
  errors: [],
  warnings: skill.warnings,
  skill,
})

/** Anything but a refusal is thrown on. */
export function toInvalid(error: unknown, warnings: Fault[] = []): Checked {
  if (!(error instanceof AppError) || error.status >= 500) throw error
  const errors = error.errors ?? [{ code: error.code, message: error.message }]
  return { valid: false, errors, warnings, skill: null }
}
