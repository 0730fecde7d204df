import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { TestApp } from '../build-app.ts'
import { send } from '../requests.ts'
import { startServer } from './net/local-server.ts'

const object = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }

const answerTo = (url: string) => `answer to ${url}`

/** A server with HTTP tools for it; counts what it is asked for, and does not answer the first `silent` requests. */
export async function toolShop(t: TestContext, { silent = 0, answer = answerTo } = {}) {
  const hits: string[] = []
  const { url, port } = await startServer(t, (request, response) => {
    hits.push(`${request.method} ${request.url}`)
    if (hits.length > silent) response.end(answer(`${request.url}`))
  })
  return {
    hits,
    env: { TOOLS_ALLOW_HOSTS: `127.0.0.1:${port}` },
    /** Sets a tool up that asks for `/NAME/ID`. */
    async add(
      app: TestApp,
      name: string,
      more: { method?: string; [member: string]: unknown } = {},
    ) {
      const { method = 'POST', ...rest } = more
      const request = { method, url: `${url}/${name}/{{input.id}}` }
      const tool = { description: `The tool ${name}.`, input_schema: object, request, ...rest }
      const response = await send(app, 'PUT', `/tools/${name}`, { payload: tool })
      assert.ok(response.statusCode < 300, response.body)
    },
  }
}

export const putAgent = async (app: TestApp, name: string, agent: object) => {
  const response = await send(app, 'PUT', `/agents/${name}`, { payload: agent })
  assert.ok(response.statusCode < 300, response.body)
}
