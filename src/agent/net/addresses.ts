import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')
/** Public by its number, but what answers there is the cloud's own control plane. */
const METADATA = new Set(['168.63.129.16'])

/**
 * Whether an address belongs to a host of the public internet. Nothing else does: not what is
 * reserved for a purpose (RFC 6890), and not what carries an IPv4 address within.
 */
export function isPublic(address: string): boolean {
  if (isIP(address) === 0 || METADATA.has(address)) return false
  const parsed = ipaddr.parse(address)
  if (parsed.range() !== 'unicast') return false
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST)
}
