import fastJsonStringify from 'fast-json-stringify'
import type { FastifySchema } from 'fastify'
import type { FastifySerializerCompiler } from 'fastify/types/schema.js'

const compiled = new WeakMap<object, (answer: unknown) => string>()

/**
 * Fastify's own way to write answers, compiled once for each schema: many routes share one, and
 * each route of GET is there for HEAD as well.
 */
export const serializer: FastifySerializerCompiler<FastifySchema> = ({ schema }) => {
  const known = compiled.get(schema)
  if (known) return known
  const write = fastJsonStringify(schema)
  compiled.set(schema, write)
  return write
}
