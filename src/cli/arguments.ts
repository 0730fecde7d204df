import { InvalidArgumentError } from 'commander'

/** A number of a version, as an argument. */
export function readVersionNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It is no number of a version.')
}
