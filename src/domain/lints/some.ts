import type { Diagnostics, Place, WarningCode } from '../diagnostics.ts'

const MOST = 50

/** Warns of many things of one kind: of the first ones each, of the others by their number. */
export function warnOfSome<Thing>(
  things: readonly Thing[],
  code: WarningCode,
  diagnostics: Diagnostics,
  tell: (thing: Thing) => [what: string, place: Place],
): void {
  for (const thing of things.slice(0, MOST)) diagnostics.warn(code, ...tell(thing))
  const others = things.length - MOST
  if (others > 0) diagnostics.warn(code, `there are ${others} more of this kind.`)
}
