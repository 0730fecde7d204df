import { definitionTag, holds, type Precondition } from '../domain/precondition.ts'
import type { Defined, DefinitionStore, DefinitionWritten } from '../store/definitions.ts'
import type { Recording } from '../store/idempotency.ts'
import { type Agent, DEFAULT_AGENT } from './agent.ts'

const DEFAULT_NAME = 'default'

/** What `default` is until somebody writes it. */
const BUILT_IN: Defined<Agent> = {
  name: DEFAULT_NAME,
  definition: DEFAULT_AGENT,
  revision: 0,
  createdAt: new Date(0).toISOString(),
  updatedAt: new Date(0).toISOString(),
}

/** Whether this is the default as nobody has written it yet: its times say nothing. */
export const isBuiltIn = ({ revision }: Defined<Agent>): boolean => revision === BUILT_IN.revision

/**
 * The stored agents, and `default`, which always exists: where none of that name is stored it is
 * the built-in one, with revision 0. To write it is an update, to remove it takes it back to that.
 */
export function createAgents(definitions: DefinitionStore<Agent>): DefinitionStore<Agent> {
  return {
    async find(name) {
      const found = await definitions.find(name)
      return found ?? (name === DEFAULT_NAME ? BUILT_IN : undefined)
    },

    async list(page) {
      const { after, limit } = page
      const stored = await definitions.list(page)
      const behind = after === undefined || after < DEFAULT_NAME
      return behind ? withDefault(stored).slice(0, limit) : stored
    },

    all: async () => withDefault(await definitions.all()),

    async put(name, definition, options = {}) {
      if (name !== DEFAULT_NAME) return definitions.put(name, definition, options)
      const { precondition, recording } = options
      const stored = await definitions.find(name)
      const inStore = precondition && toStored(precondition, stored)
      if (inStore === 'never') return { outcome: 'conflict', defined: stored ?? BUILT_IN }
      const written = await definitions.put(name, definition, {
        precondition: inStore,
        recording: recording && recordingUpdate(recording),
      })
      return asUpdate(written)
    },

    async remove(name, precondition) {
      if (name !== DEFAULT_NAME) return definitions.remove(name, precondition)
      const stored = await definitions.find(name)
      if (!stored) {
        const met = !precondition || holds(precondition, [definitionTag(BUILT_IN)])
        return { outcome: met ? 'removed' : 'conflict' }
      }
      return (await definitions.remove(name, precondition)) ?? { outcome: 'removed' }
    },
  }
}

/** A full page may end before `default`: the caller cuts off what is too much. */
function withDefault(stored: readonly Defined<Agent>[]): Defined<Agent>[] {
  if (stored.some(({ name }) => name === DEFAULT_NAME)) return [...stored]
  return [...stored, BUILT_IN].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** The same expectation of the stored one, to be looked at in the transaction that writes. */
function toStored(
  precondition: Precondition,
  stored: Defined<Agent> | undefined,
): Precondition | undefined | 'never' {
  if (precondition === 'absent') return 'never'
  if (precondition === 'exists') return undefined
  if (stored) return precondition
  return holds(precondition, [definitionTag(BUILT_IN)]) ? 'absent' : 'never'
}

type Written = Extract<DefinitionWritten<Agent>, { outcome: 'created' | 'updated' | 'unchanged' }>

const recordingUpdate = (recording: Recording<Written>): Recording<Written> => ({
  ...recording,
  answer: (written) => recording.answer(asUpdate(written)),
})

const asUpdate = <Outcome extends DefinitionWritten<Agent>>(written: Outcome): Outcome =>
  written.outcome === 'created' ? { ...written, outcome: 'updated' } : written
