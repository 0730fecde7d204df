import { isIP } from 'node:net'
import { isPublic } from './addresses.ts'
import type { AllowHosts } from './allow-hosts.ts'

/** Names that lead to this machine or into its own network wherever they are asked for. */
const PRIVATE_NAME = /(^|\.)(localhost|internal|local|home\.arpa)$/

/** What forbids a request to a URL, by what is written in it; a sentence, or undefined. */
export function urlFault(text: string, allows: AllowHosts): string | undefined {
  const url = URL.parse(text)
  if (!url) return 'The URL cannot be read.'
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return 'The URL has to begin with http:// or https://.'
  }
  if (url.username !== '' || url.password !== '') {
    return 'The URL must not hold a user name or password.'
  }
  return hostFault(url.hostname, portOf(url), allows)
}

/** What forbids a connection to a host, as the URL parser writes it. */
export function hostFault(hostname: string, port: number, allows: AllowHosts): string | undefined {
  if (allows(hostname, port)) return undefined
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  const forbidden = isIP(host) === 0 ? PRIVATE_NAME.test(host) : !isPublic(host)
  return forbidden ? notPublic(`The host ${hostname} is`) : undefined
}

export const notPublic = (what: string): string =>
  `${what} not on the public internet: requests to it are not allowed, unless TOOLS_ALLOW_HOSTS names it.`

const portOf = ({ port, protocol }: { port: string; protocol: string }): number =>
  port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
