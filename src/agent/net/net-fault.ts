/** Why a request was not made or not finished, in a sentence for whoever asked for it. */
export class NetFault extends Error {
  override readonly name = 'NetFault'
}

const CODES: [RegExp, string][] = [
  [/^(ENOTFOUND|EAI_AGAIN|ENODATA)$/, 'The name of the host cannot be resolved.'],
  [/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH)$/, 'The host refuses connections.'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'The host closed the connection.'],
  [/^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/, 'The host did not answer in time.'],
  [/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/, 'The host has no certificate that can be trusted.'],
  [/^(HPE_|UND_ERR_|HTTPParserError)/, 'The answer of the host is not valid HTTP.'],
  [/^Z_|^ERR_.*(BROTLI|ZSTD|ZLIB)/, 'The answer of the host is not compressed as it says.'],
]

/** The fault that a failed request tells of, however deep `fetch` has wrapped it. */
export function toNetFault(error: unknown): NetFault {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof NetFault) return cause
    const code = 'code' in cause && cause.code !== undefined ? String(cause.code) : cause.name
    const known = CODES.find(([pattern]) => pattern.test(code))
    if (known) return new NetFault(known[1], { cause: error })
  }
  return new NetFault('The request failed.', { cause: error })
}
