import assert from 'node:assert/strict'
import type { TestApp } from './build-app.ts'

type Headers = Record<string, string>
export type Response = Awaited<ReturnType<typeof send>>

export const send = (
  app: TestApp,
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS',
  path: string,
  { payload, headers = {} }: { payload?: string | Buffer | object; headers?: Headers } = {},
) =>
  app.inject({ method, url: `/api/v1${path}`, headers, ...(payload !== undefined && { payload }) })

export const post = (app: TestApp, path: string, payload: object, headers: Headers = {}) =>
  send(app, 'POST', path, { payload, headers })

export const patch = (app: TestApp, path: string, payload: object, headers: Headers = {}) =>
  send(app, 'PATCH', `/skills/${path}`, { payload, headers })

export const remove = (app: TestApp, path: string, headers: Headers = {}) =>
  send(app, 'DELETE', `/skills/${path}`, { headers })

/** A refusal has the shape of RFC 9457, whatever was refused; returns it for more questions. */
export function assertProblem(response: Response, status: number, code: string) {
  const problem = response.json()
  assert.deepEqual([response.statusCode, problem.code], [status, code], response.body)
  assert.equal(response.headers['content-type'], 'application/problem+json; charset=utf-8')
  assert.equal(problem.type, `/problems/${code}`)
  assert.equal(problem.status, status)
  assert.equal(typeof problem.title, 'string')
  assert.equal(problem.request_id, response.headers['x-request-id'])
  assert.match(problem.request_id, /^req_/)
  if (problem.errors) assert.equal(problem.errors[0].code, code)
  return problem
}

/** The fields that a problem finds wrong. */
export const fieldsOf = (problem: { errors?: { field?: string }[] }) =>
  problem.errors?.map(({ field }) => field)

export const namesOf = (response: Response): string[] =>
  response.json().data.map(({ name }: { name: string }) => name)
