import type { Precondition } from '../domain/precondition.ts'
import type { Recording } from './idempotency.ts'

/** What is set up by name: an agent, a tool, an MCP server. */
export interface Defined<Definition> {
  name: string
  definition: Definition
  /** Rises with every change to it: its ETag. */
  revision: number
  createdAt: string
  updatedAt: string
}

export type DefinitionWritten<Definition> =
  | { outcome: 'created' | 'updated' | 'unchanged'; defined: Defined<Definition> }
  /** The precondition does not hold; what is there, if anything. */
  | { outcome: 'conflict'; defined: Defined<Definition> | undefined }

/** One method is one transaction. `Definition` is kept as JSON. */
export interface DefinitionStore<Definition> {
  find(name: string): Promise<Defined<Definition> | undefined>
  /** By name, in code-point order, behind `after`. */
  list(page: { after?: string; limit: number }): Promise<Defined<Definition>[]>
  /** By name, all of them. */
  all(): Promise<Defined<Definition>[]>
  put(
    name: string,
    definition: Definition,
    options?: {
      precondition?: Precondition | undefined
      recording?:
        | Recording<{ outcome: 'created' | 'updated' | 'unchanged'; defined: Defined<Definition> }>
        | undefined
    },
  ): Promise<DefinitionWritten<Definition>>
  /** Undefined when there is none such. */
  remove(
    name: string,
    precondition?: Precondition,
  ): Promise<{ outcome: 'removed' | 'conflict' } | undefined>
}
