import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { AppError } from '../errors.ts'
import type { ApiKey, KeyStore, Scope } from '../store/keys.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; null where keys are not asked for. */
    key: Pick<ApiKey, 'id' | 'scopes' | 'budget'> | null
  }
  interface FastifyContextConfig {
    /** What a key needs for this route, or one of which; absent: no key at all. */
    scope?: Scope | readonly Scope[]
  }
}

const ADMIN: Scope[] = ['admin']

export interface AuthOptions {
  mode: 'open' | 'keys'
  keys: Pick<KeyStore, 'findByHash'>
  adminKey: string | undefined
}

/** Who may ask for what (api.md 0). Every refusal of a key has the same body. */
export const auth = fp<AuthOptions>(async (app, { mode, keys, adminKey }) => {
  app.decorateRequest('key', null)
  app.addHook('onRequest', async (request) => {
    const { scope } = request.routeOptions.config
    if (mode === 'open') return refuseForeign(request)
    if (scope === undefined) return
    const key = await findKey(request)
    if (!key) {
      throw new AppError(
        'unauthenticated',
        'Send a valid key as "Authorization: Bearer …" or "x-api-key".',
      )
    }
    const enough: readonly Scope[] = [scope, 'admin' as const].flat()
    if (!key.scopes.some((one) => enough.includes(one))) {
      const wanted = [scope].flat().map((one) => `"${one}"`)
      throw new AppError('insufficient_scope', `The key lacks the scope ${wanted.join(' or ')}.`)
    }
    request.key = key
  })

  async function findKey({ headers }: FastifyRequest) {
    const sent = readKey(headers.authorization) ?? headers['x-api-key']
    if (typeof sent !== 'string' || !/^[\x21-\x7e]{1,256}$/.test(sent)) return undefined
    const hash = sha256(sent)
    if (adminKey !== undefined && timingSafeEqual(hash, sha256(adminKey))) {
      return { id: 'key_admin', scopes: ADMIN, budget: null }
    }
    const key = await keys.findByHash(hash.toString('hex'))
    const expired = key?.expiresAt && Date.parse(key.expiresAt) <= Date.now()
    return expired ? undefined : key
  }
})

const readKey = (header: string | undefined): string | undefined =>
  header === undefined ? undefined : (/^Bearer +(\S+)$/i.exec(header)?.[1] ?? '')

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * A web page must not reach a developer's service: neither from its own origin, nor by a name of
 * its own that leads to a loopback address. Names without a dot are no web page's.
 */
function refuseForeign({ headers }: FastifyRequest): void {
  const { origin, host = '' } = headers
  if (!isLocalName(nameOf(host))) {
    const what = 'With AUTH=open only requests to a loopback name are answered: set AUTH=keys.'
    throw new AppError('origin_forbidden', what)
  }
  if (origin !== undefined && !isLoopback(nameOf(origin.replace(/^https?:\/\//, '')))) {
    const what = 'With AUTH=open no request from another origin is answered: set AUTH=keys.'
    throw new AppError('origin_forbidden', what)
  }
}

const nameOf = (authority: string): string => authority.replace(/:\d+$/, '').toLowerCase()

const isLocalName = (name: string): boolean => isLoopback(name) || /^[a-z0-9-]*$/.test(name)

export const isLoopback = (name: string): boolean =>
  name === 'localhost' ||
  name.endsWith('.localhost') ||
  name === '[::1]' ||
  name === '::1' ||
  /^127(\.\d{1,3}){3}$/.test(name)
