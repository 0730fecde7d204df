import type { FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { readText } from '../schema.ts'

/** Checks with TypeBox. A body is taken as it is, only text from the URL is read as a scalar. */
export const validator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const compiled = Compile(schema)
  return (value) => {
    const read = httpPart !== 'body' && Type.IsObject(schema) ? readText(schema, value) : value
    if (compiled.Check(read)) return { value: read }
    const errors = compiled.Errors(read).filter(telling)
    return { error: errors.slice(0, 20).flatMap(naming) }
  }
}

/** Not what a fault brings with it: that a union has no other fit, that it might have been null. */
const telling = ({ keyword, params }: FastifySchemaValidationError): boolean =>
  keyword !== 'boolean' && keyword !== 'anyOf' && !(keyword === 'type' && params.type === 'null')

/** An unknown property is named by its own pointer, not by that of the object that holds it. */
function naming(error: FastifySchemaValidationError): FastifySchemaValidationError[] {
  const { additionalProperties, requiredProperties } = error.params
  const at = (names: unknown, message: string) =>
    [names].flat().map((name) => {
      const key = String(name).replaceAll('~', '~0').replaceAll('/', '~1')
      return { ...error, instancePath: `${error.instancePath}/${key}`, message }
    })
  if (additionalProperties) return at(additionalProperties, 'is not known here')
  if (requiredProperties) return at(requiredProperties, 'is missing')
  return [error]
}
