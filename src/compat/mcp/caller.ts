import type { AuthInfo } from '@modelcontextprotocol/server'
import type { FastifyRequest } from 'fastify'

/** Who sends a message. */
export interface Caller {
  /** The id of the key; null where keys are not asked for. */
  owner: string | null
  mayWrite: boolean
}

/** What the protocol's side is told of a request's key. */
export const authInfoOf = ({ key }: Pick<FastifyRequest, 'key'>): AuthInfo | undefined =>
  key === null ? undefined : { token: '', clientId: key.id, scopes: [...key.scopes] }

export function callerOf(info: AuthInfo | undefined): Caller {
  if (!info) return { owner: null, mayWrite: true }
  const mayWrite = info.scopes.some((scope) => scope === 'skills:write' || scope === 'admin')
  return { owner: info.clientId, mayWrite }
}
