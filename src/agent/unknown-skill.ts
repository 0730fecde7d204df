import { nearestNames } from '../domain/nearest-names.ts'
import type { Snapshot } from '../registry/snapshot.ts'
import { ToolError } from './tool.ts'

/** What a model is told that asks for a skill that is not on offer: the nearest names, never all. */
export function unknownSkill(name: string, offer: Snapshot): ToolError {
  const nearest = nearestNames(name, offer.names())
  const hint = nearest.length > 0 ? ` The nearest names: ${nearest.join(', ')}.` : ''
  return new ToolError(`There is no skill named "${name.slice(0, 64)}".${hint}`)
}
