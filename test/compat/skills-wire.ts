import assert from 'node:assert/strict'
import { skillMd, type TestApp } from '../build-app.ts'
import { formType, makeForm, type Part } from '../upload.ts'

export const GA = { 'anthropic-version': '2026-10-21' }
export const BETA = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'x, skills-2025-10-02' }
export const OPENAI = { authorization: 'Bearer any' }

type Headers = Record<string, string>
type Response = Awaited<ReturnType<typeof ask>>

export const ask = (
  app: TestApp,
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  headers: Headers,
  payload?: object | string | Buffer,
) =>
  app.inject({
    method,
    url: `/v1${path}`,
    headers,
    ...(payload !== undefined && { payload }),
  })

export const upload = (app: TestApp, path: string, headers: Headers, parts: Part[]) =>
  ask(app, 'POST', path, { ...headers, ...formType }, makeForm(parts))

export const fileOf = (name: string, body?: string, folder = name): Part => ({
  fileName: `${folder}/SKILL.md`,
  data: skillMd(name, body),
})

export const field = (name: string, data: string): Part => ({ name, data })

/** The answer, which has to be 200. */
export async function ok(response: Promise<Response> | Response) {
  const answer = await response
  assert.equal(answer.statusCode, 200, answer.body)
  assert.equal(answer.headers['request-id'], answer.headers['x-request-id'])
  return answer.json()
}

export const create = (app: TestApp, headers: Headers, name: string, ...more: Part[]) =>
  ok(upload(app, '/skills', headers, [fileOf(name), ...more]))

export const addVersion = (
  app: TestApp,
  headers: Headers,
  { id, name, body }: { id: string; name: string; body?: string },
  ...more: Part[]
) => ok(upload(app, `/skills/${id}/versions`, headers, [fileOf(name, body), ...more]))

/** A refusal has the whole shape of its family; returns its error for more questions. */
export function assertRefused(
  response: Response,
  family: 'anthropic' | 'openai',
  [status, type, code]: [status: number, type: string, code: string],
) {
  const body = response.json()
  assert.equal(response.statusCode, status, response.body)
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8')
  const id = response.headers['request-id']
  assert.match(String(id), /^req_/)
  assert.equal(id, response.headers['x-request-id'])
  const { message, param = null } = body.error
  assert.ok(typeof message === 'string' && message.length > 0)
  const retry = status === 409 && code !== 'idempotency_in_flight' ? 'false' : undefined
  assert.equal(response.headers['x-should-retry'], retry)
  const shape =
    family === 'anthropic'
      ? {
          type: 'error',
          error: { type, message, details: { error_code: code } },
          request_id: id,
        }
      : { error: { message, type, param, code } }
  assert.deepEqual(body, shape)
  return body.error as { message: string; param: string | null }
}
