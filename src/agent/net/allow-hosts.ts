/** Whether a host was named, with this port or with none, by whoever runs the service. */
export type AllowHosts = (hostname: string, port: number) => boolean

/**
 * Reads a list as TOOLS_ALLOW_HOSTS has it: `host` or `host:port`, by commas, names or addresses.
 * Throws one line that names the entry which is neither.
 */
export function readAllowHosts(list: string): AllowHosts {
  const entries = list.split(',').map((entry) => entry.trim())
  const allowed = new Set(entries.filter((entry) => entry !== '').map(readEntry))
  return (hostname, port) => {
    const host = withoutDot(hostname)
    return allowed.has(host) || allowed.has(`${host} ${port}`)
  }
}

function readEntry(entry: string): string {
  const [, bracketed, plain, port] = /^(?:(\[[^\]]*\])|([^:]*))(?::(\d{1,5}))?$/.exec(entry) ?? []
  const host = bracketed ?? plain ?? `[${entry}]`
  const url = /[\s/?#@\\]/.test(host) ? null : URL.parse(`http://${host}`)
  if (!url) throw new Error(`"${entry}" is neither a host nor host:port`)
  const name = withoutDot(url.hostname)
  return port === undefined ? name : `${name} ${Number(port)}`
}

const withoutDot = (hostname: string): string => hostname.replace(/\.$/, '')
