import { HOW_TO_USE_SKILLS } from '../../agent/prompt.ts'
import { renderCatalog } from '../../domain/catalog.ts'
import type { Registry } from '../../registry/registry.ts'
import type { Snapshot } from '../../registry/snapshot.ts'

export interface InstructionParts {
  registry: Pick<Registry, 'snapshot'>
  catalogMaxTokens: number | null
  catalogTags: boolean
}

/** What a client tells its model: the catalog of now, rendered once for each revision. */
export function createInstructions({ registry, catalogMaxTokens, catalogTags }: InstructionParts) {
  const rendered = new WeakMap<Snapshot, string>()
  return async (): Promise<string> => {
    const snapshot = await registry.snapshot()
    const known = rendered.get(snapshot)
    if (known !== undefined) return known
    const options = { format: 'list', tags: catalogTags, maxTokens: catalogMaxTokens } as const
    const { text } = renderCatalog(snapshot.entries, options)
    const none = snapshot.entries.length === 0
    const instructions = none ? '' : `${HOW_TO_USE_SKILLS}\n\n${text}`
    rendered.set(snapshot, instructions)
    return instructions
  }
}
