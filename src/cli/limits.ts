import { readConfig } from '../config.ts'
import type { BundleLimits } from '../domain/bundle.ts'

/** The limits of a service with the same settings. Throws when one of those is wrong. */
export function readLimits(env: NodeJS.ProcessEnv): BundleLimits {
  const set = Object.entries(env).filter(([name]) => name.startsWith('MAX_'))
  const config = readConfig(Object.fromEntries(set))
  return {
    skillBytes: config.MAX_SKILL_BYTES,
    fileBytes: config.MAX_FILE_BYTES,
    bundleBytes: config.MAX_BUNDLE_BYTES,
    files: config.MAX_BUNDLE_FILES,
  }
}
