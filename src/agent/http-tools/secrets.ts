import { Config } from '../../config.ts'
import { ToolError } from '../tool.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The service's own: a tool that could send them would give the service away. */
const OWN = new Set([...Object.keys(Config.properties), 'HOOK_SECRET', 'PGPASSWORD'])
const MASK = '[secret]'
/** What is shorter stands in every text by chance. */
const LEAST_LENGTH = 4

export const isOwnSetting = (name: string): boolean => OWN.has(name.toUpperCase())

/** The secrets of one call: those that were read are kept out of what comes back. */
export function openSecrets(env: Environment) {
  const read = new Set<string>()
  return {
    /** Throws a ToolError that names the variable when it is not set. */
    read(name: string): string {
      const set = !isOwnSetting(name) && Object.hasOwn(env, name) ? env[name] : undefined
      // What was read from a file ends with a line break, which no header could carry.
      const value = set?.trim()
      if (!value) {
        throw new ToolError(`The environment variable ${name}, which the tool needs, is not set.`)
      }
      read.add(value)
      return value
    },

    mask(text: string): string {
      const forms = [...read]
        .filter((value) => value.length >= LEAST_LENGTH)
        .flatMap((value) => [
          value,
          JSON.stringify(value).slice(1, -1),
          encodeURIComponent(value.toWellFormed()),
        ])
        .toSorted((a, b) => b.length - a.length)
      return forms.reduce((masked, form) => masked.replaceAll(form, MASK), text)
    },
  }
}
