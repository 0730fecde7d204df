import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ConnectionError } from 'fastify'
import { AppError } from '../errors.ts'
import { describe } from './problem.ts'

const FAULTS: Record<string, [status: number, detail: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'The address and headers of the request are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive.'],
}

export const newRequestId = (): string => `req_${randomUUID()}`

/** Answers what is not yet a request, for it cannot be read as one. */
export function answerClientError({ code }: ConnectionError, socket: Socket): void {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, detail] = FAULTS[code] ?? [400, 'What was sent is not HTTP.']
  const id = newRequestId()
  const body = JSON.stringify(describe(new AppError('request_invalid', detail, { status }), id))
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/problem+json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${id}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
