import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import { isPublic } from './addresses.ts'
import type { AllowHosts } from './allow-hosts.ts'
import { NetFault } from './net-fault.ts'
import { hostFault, notPublic } from './url-fault.ts'

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<LookupAddress[]>

const CONNECT_MS = 30_000

/**
 * Connects to public addresses and to hosts that are allowed. A name is resolved once for each
 * connection, and the connection goes to what was checked: a second answer has no say.
 */
export function guardedConnect(allows: AllowHosts, resolve: Resolve): buildConnector.connector {
  const options = { timeout: CONNECT_MS, allowH2: false }
  const free = buildConnector({ ...options, lookup: toLookup(resolve) })
  const guarded = buildConnector({
    ...options,
    lookup: toLookup(async (hostname) => {
      const addresses = await resolve(hostname)
      if (addresses.every(({ address }) => isPublic(address))) return addresses
      throw new NetFault(notPublic(`The host ${hostname} has an address that is`))
    }),
  })

  return (target, callback) => {
    const { hostname, protocol } = target
    const port = Number(target.port || (protocol === 'https:' ? 443 : 80))
    if (allows(isIP(hostname) === 6 ? `[${hostname}]` : hostname, port)) {
      return free(target, callback)
    }
    const fault = hostFault(hostname, port, allows)
    if (fault !== undefined) return callback(new NetFault(fault), null)
    return guarded(target, callback)
  }
}

const toLookup =
  (resolve: Resolve): LookupFunction =>
  (hostname, { all }, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses
        if (!first) callback(new NetFault('The name of the host has no address.'), '')
        else if (all) callback(null, addresses)
        else callback(null, first.address, first.family)
      },
      (error) => callback(error, ''),
    )
  }
