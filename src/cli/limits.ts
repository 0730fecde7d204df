import { bundleLimitsOf, readConfig } from '../config.ts'
import type { BundleLimits } from '../domain/bundle.ts'

/** The limits of a service with the same settings. Throws when one of those is wrong. */
export function readLimits(env: NodeJS.ProcessEnv): BundleLimits {
  const set = Object.entries(env).filter(([name]) => name.startsWith('MAX_'))
  return bundleLimitsOf(readConfig(Object.fromEntries(set)))
}
