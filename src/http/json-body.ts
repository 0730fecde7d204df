import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { AppError } from '../errors.ts'

const MAX_DEPTH = 100

/** Takes JSON, and nothing else, as bodies; text in other clothes is for the routes that want it. */
export const jsonBody = fp(async (app) => {
  app.removeAllContentTypeParsers()
  takeJson(app, 'application/json')
})

/**
 * Reads JSON strictly: bytes that are not UTF-8, half characters and endless nesting are refused
 * here, so that nothing behind it has to fear them. An empty body is none.
 */
export function takeJson(app: FastifyInstance, type: string): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser(type, { parseAs: 'buffer' }, (request, bytes: Buffer, done) => {
    if (bytes.length === 0) return done(null, undefined)
    const text = decode(bytes)
    if (text === undefined) return done(new AppError('body_invalid', 'The body is not UTF-8.'))
    parse(request, text, (error, value) => {
      if (error) return done(refuse(text))
      done(faultOf(value), value)
    })
  })
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** JSON.parse says where; but it also quotes what was sent. */
function refuse(text: string): AppError {
  try {
    JSON.parse(text)
    return new AppError('body_invalid', 'The body holds a property such as "__proto__".')
  } catch (error) {
    const place = /at position \d+( \(line \d+ column \d+\))?/.exec(String(error))?.[0]
    return new AppError('body_invalid', `The body is not valid JSON${place ? ` ${place}` : ''}.`)
  }
}

function faultOf(value: unknown): AppError | null {
  const stack: { value: unknown; pointer: string; depth: number }[] = [
    { value, pointer: '', depth: 0 },
  ]
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { value: current, pointer, depth } = next
    if (typeof current === 'string' && !current.isWellFormed()) return halfCharacter(pointer)
    if (typeof current !== 'object' || current === null) continue
    if (depth >= MAX_DEPTH) {
      return new AppError('body_invalid', `The body is nested more than ${MAX_DEPTH} levels deep.`)
    }
    for (const [key, child] of Object.entries(current)) {
      if (!key.isWellFormed()) return halfCharacter(pointer)
      const name = key.replaceAll('~', '~0').replaceAll('/', '~1')
      stack.push({ value: child, pointer: `${pointer}/${name}`, depth: depth + 1 })
    }
  }
  return null
}

function halfCharacter(field: string): AppError {
  const message = `${field || '/'} holds half of a surrogate pair: send whole characters.`
  return new AppError('lone_surrogate', message, {
    errors: [{ code: 'lone_surrogate', message, field }],
  })
}
