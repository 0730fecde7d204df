import { resolve } from 'node:path'

/** The paths of `HOOKS`, separated by commas, from the folder in which the service was started. */
export const readHookPaths = (setting = ''): string[] => split(setting).map((path) => resolve(path))

/** The URLs of `HOOK_URLS`, separated by commas. */
export const readHookUrls = (setting = ''): string[] => split(setting)

const split = (setting: string): string[] =>
  setting
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
