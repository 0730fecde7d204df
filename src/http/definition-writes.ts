import type { FastifyReply, FastifyRequest } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { nearestNames } from '../domain/nearest-names.ts'
import { definitionTag } from '../domain/precondition.ts'
import { AppError, type ErrorCode } from '../errors.ts'
import type { Defined, DefinitionStore, DefinitionWritten } from '../store/definitions.ts'
import { etagHeader, preconditionHeaders, quote, readPrecondition } from './etag.ts'
import { type Idempotency, idempotencyHeader, jsonAnswer } from './idempotency.ts'
import { problemResponses } from './problem.ts'

/** The headers that a PUT and a DELETE of a definition take. */
export const putHeaders = Type.Object({ ...preconditionHeaders, ...idempotencyHeader })
export const removeHeaders = Type.Object(preconditionHeaders)

export const readResponses = (Resource: TSchema) => ({
  200: {
    description: 'As it is now',
    headers: etagHeader,
    content: { 'application/json': { schema: Resource } },
  },
  ...problemResponses,
})

export const putResponses = (Resource: TSchema) => ({
  ...readResponses(Resource),
  201: {
    description: 'The new one',
    headers: { ...etagHeader, location: Type.String({ description: 'Its path' }) },
    content: { 'application/json': { schema: Resource } },
  },
})

export const removeResponses = {
  204: Type.Null({ description: 'Deleted' }),
  ...problemResponses,
}

interface Options<Definition> {
  /** What one is called in a sentence: "agent". */
  noun: string
  /** Of what is not there. */
  code: Extract<ErrorCode, 'agent_not_found' | 'tool_not_found' | 'mcp_server_not_found'>
  definitions: DefinitionStore<Definition>
  idempotency: Idempotency
  /** What is answered for one, in the words of the wire. */
  toResource(defined: Defined<Definition>): object
}

type Named = FastifyRequest<{ Params: { name: string } }>
type Written<Definition> = Extract<
  DefinitionWritten<Definition>,
  { outcome: 'created' | 'updated' | 'unchanged' }
>

/** What `GET`, `PUT` and `DELETE` of a definition by its name do, whatever it defines. */
export function definitionAnswers<Definition>(options: Options<Definition>) {
  const { noun, code, definitions, idempotency, toResource } = options

  async function notFound(name: string): Promise<AppError> {
    const names = (await definitions.all()).map((defined) => defined.name)
    const suggestions = nearestNames(name, names)
    const members = suggestions.length > 0 ? { members: { suggestions } } : {}
    return new AppError(code, `No ${noun} is named "${name.slice(0, 64)}".`, members)
  }

  const conflict = (defined?: Defined<Definition>) =>
    new AppError(
      'version_conflict',
      defined
        ? `The ${noun} is at revision ${defined.revision}: read it again before you write.`
        : `There is no such ${noun}, or it has changed: read it again before you write.`,
    )

  return {
    notFound,

    async read({ params: { name } }: Named, reply: FastifyReply) {
      const defined = await definitions.find(name)
      if (!defined) throw await notFound(name)
      return reply.header('etag', quote(definitionTag(defined))).send(toResource(defined))
    },

    /** `toDefinition` throws what is wrong with the body; that is kept for an Idempotency-Key, too. */
    async put(
      request: Named,
      reply: FastifyReply,
      toDefinition: () => Definition | Promise<Definition>,
    ) {
      const precondition = readPrecondition(request)
      const location = request.url.replace(/\?.*$/, '')
      return idempotency.run<Written<Definition>>(
        request,
        reply,
        async (recording) => {
          const definition = await toDefinition()
          const { name } = request.params
          const written = await definitions.put(name, definition, { precondition, recording })
          if (written.outcome === 'conflict') throw conflict(written.defined)
          return written
        },
        ({ outcome, defined }) => {
          const etag = quote(definitionTag(defined))
          return outcome === 'created'
            ? jsonAnswer(201, toResource(defined), { etag, location })
            : jsonAnswer(200, toResource(defined), { etag })
        },
      )
    },

    async remove(request: Named, reply: FastifyReply) {
      const { name } = request.params
      const removed = await definitions.remove(name, readPrecondition(request))
      if (!removed) throw await notFound(name)
      if (removed.outcome === 'conflict') throw conflict()
      return reply.code(204).send(null)
    },
  }
}
