import assert from 'node:assert/strict'
import { Diagnostics, type Mode } from '../../src/domain/diagnostics.ts'
import { parseSkillMd, type Surroundings } from '../../src/domain/skill-md.ts'
import { AppError } from '../../src/errors.ts'

/** What a file is read as: the skill, or undefined with the errors. */
export function readSkill(
  file: string | Uint8Array,
  mode: Mode = 'strict',
  surroundings?: Surroundings,
) {
  const diagnostics = new Diagnostics('SKILL.md', mode)
  const bytes = typeof file === 'string' ? new TextEncoder().encode(file) : file
  const { errors, warnings } = diagnostics
  try {
    return {
      skill: parseSkillMd(bytes, diagnostics, surroundings),
      error: undefined,
      errors,
      warnings,
    }
  } catch (error) {
    assert.ok(error instanceof AppError, `not a refusal: ${error}`)
    assert.deepEqual(error.errors, errors)
    return { skill: undefined, error, errors, warnings }
  }
}

export const codes = (faults: readonly { code: string }[]): string[] =>
  faults.map(({ code }) => code)

const LINTS = ['description_no_trigger', 'description_short', 'body_empty']

/** Without the warnings that nearly every short example earns. */
export const faults = (warnings: readonly { code: string }[]): string[] =>
  codes(warnings).filter((code) => !LINTS.includes(code))

/** A file with these lines as its frontmatter. */
export const file = (frontmatter: string, body = '\n# Steps\n\nLook in the drawer.\n'): string =>
  `---\n${frontmatter}\n---\n${body}`
