import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { Type } from 'typebox'
import type { Precondition } from '../domain/precondition.ts'
import { AppError } from '../errors.ts'

/**
 * A strong ETag on every answer to a GET, by its bytes where the route gives none; 304 when
 * `If-None-Match` names it (RFC 9110, 13.1.2: by weak comparison).
 */
export const etags = fp(async (app) => {
  app.addHook('onSend', async ({ method, headers }, reply, payload) => {
    if ((method !== 'GET' && method !== 'HEAD') || reply.statusCode !== 200) return payload
    if (!reply.hasHeader('etag')) {
      if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
      reply.header(
        'etag',
        quote(createHash('sha256').update(payload).digest('base64url').slice(0, 27)),
      )
    }
    const wanted = headers['if-none-match']
    const etag = String(reply.getHeader('etag'))
    if (wanted === undefined || !(wanted.trim() === '*' || readTags(wanted)?.includes(etag))) {
      return payload
    }
    reply.code(304).removeHeader('content-length').removeHeader('content-type')
    // For HEAD Fastify measures the payload, and leaves it out itself.
    return method === 'HEAD' ? payload : null
  })
})

/** For the description of a write. */
export const preconditionHeaders = {
  'if-match': Type.Optional(Type.String({ description: 'Entity tags, or "*": else 412' })),
  'if-none-match': Type.Optional(Type.String({ description: '"*": 412 when the skill exists' })),
}
export const etagHeader = { etag: Type.String({ description: 'Of what is there now' }) }

export const quote = (tag: string): string => `"${tag}"`

const LIST =
  /^\s*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"(?:\s*,\s*(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*")*\s*$/

/** The tags of a list, with their quotes and without the mark of weakness; undefined: no list. */
const readTags = (header: string): string[] | undefined =>
  LIST.test(header) ? (header.match(/"[^"]*"/g) ?? []) : undefined

/**
 * What a write expects: `If-Match` with `*` or tags (a weak one never matches), `If-None-Match: *`.
 * Throws `header_invalid` for anything else.
 */
export function readPrecondition({ headers }: FastifyRequest): Precondition | undefined {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers
  if (noneMatch !== undefined) {
    if (noneMatch.trim() === '*' && match === undefined) return 'absent'
    throw new AppError(
      'header_invalid',
      'On a write, If-None-Match takes only "*", and not beside If-Match.',
    )
  }
  if (match === undefined) return undefined
  if (match.trim() === '*') return 'exists'
  if (!readTags(match)) {
    throw new AppError('header_invalid', 'If-Match takes "*" or entity tags in double quotes.')
  }
  const tags: string[] = []
  for (const [, weak, tag = ''] of match.matchAll(/(W\/)?"([^"]*)"/g)) if (!weak) tags.push(tag)
  return { tags }
}
