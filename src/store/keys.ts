export const SCOPES = ['skills:read', 'skills:write', 'chat', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

export interface ApiKey {
  /** `key_…` */
  id: string
  name: string
  scopes: Scope[]
  expiresAt: string | null
  /** Tokens that its model calls may cost in a day; null is no limit. */
  budget: number | null
}

export interface KeyStore {
  /** By the hexadecimal SHA-256 of the whole key. */
  findByHash(hash: string): Promise<ApiKey | undefined>
  isEmpty(): Promise<boolean>
  /** `prefix` are the first characters of the key, for people to tell keys apart. */
  insert(key: Omit<ApiKey, 'id'> & { hash: string; prefix: string }): Promise<ApiKey>
}
