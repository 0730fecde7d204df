import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildTestApp, type TestApp } from './build-app.ts'

interface Response {
  $ref?: string
  description?: string
  headers?: Record<string, { schema: object; description?: string }>
  content?: Record<string, { schema?: object }>
}

interface Operation {
  operationId?: string
  summary?: string
  tags?: string[]
  security?: object[]
  parameters?: { name: string; in: string; description?: string; schema: object }[]
  requestBody?: { content: Record<string, { schema: object; example?: unknown }> }
  responses: Record<string, Response>
}

interface Contract {
  openapi: string
  paths: Record<string, Record<string, Operation>>
  components: { responses: Record<string, Response> }
}

const read = async (app: TestApp): Promise<Contract> => (await app.inject('/openapi.json')).json()

const operationsOf = ({ paths }: Contract) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      place: `${method.toUpperCase()} ${path}`,
      ...operation,
    })),
  )

test('openapi.yaml says what the service says', async (t) => {
  const app = await buildTestApp(t)
  const { body } = await app.inject('/openapi.yaml')
  const file = join(import.meta.dirname, '../openapi.yaml')
  t.assert.fileSnapshot(body, file, { serializers: [String] })
})

/** `METHOD path` of every route that the service has, read off Fastify's own tree. */
function routesOf(app: TestApp): string[] {
  const parts: string[] = []
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', part = '', methods = ''] =
        /^([│ ]*)[├└]── (.*) \((.*)\)$/.exec(line) ?? []
      parts.splice(indent.length / 4, parts.length, part)
      const path = parts
        .join('')
        .replace('*', '/:path')
        .replaceAll(/:(\w+)/g, '{$1}')
      return methods.split(', ').map((method) => `${method} ${path.replace('//', '/')}`)
    })
}

test('every route below /api/v1 is described', async (t) => {
  const app = await buildTestApp(t)
  const described = operationsOf(await read(app)).map(({ place }) => place)
  const ours = (place: string) => /^(?!HEAD).* \/api\/v1\//.test(place)
  assert.deepEqual(routesOf(app).filter(ours).toSorted(), described.filter(ours).toSorted())
  assert.ok(described.length > 20)
})

test('every operation has a name of its own, a summary, a known tag and described answers', async (t) => {
  const contract = await read(await buildTestApp(t))
  assert.equal(contract.openapi, '3.1.0')
  const operations = operationsOf(contract)
  const names = operations.map(({ operationId }) => operationId)
  assert.equal(new Set(names).size, operations.length)
  for (const { place, operationId, summary, tags, responses } of operations) {
    assert.match(operationId ?? '', /^[a-z]+([A-Z][a-z]+)*$/, place)
    assert.ok(summary, place)
    assert.equal(tags?.length, 1, place)
    const statuses = Object.keys(responses)
    assert.ok(
      statuses.some((status) => status.startsWith('2')),
      place,
    )
    if (place.includes('/api/v1/')) {
      assert.deepEqual(
        [responses['4XX']?.$ref, responses['5XX']?.$ref],
        ['#/components/responses/CallerProblem', '#/components/responses/ServiceProblem'],
      )
    }
    for (const [status, response] of Object.entries(responses)) {
      if (response.$ref) continue
      assert.ok(response.description, `${place} ${status}`)
      assert.ok(response.headers?.['x-request-id'], `${place} ${status}`)
      if (['204', '304'].includes(status)) continue
      const schemas = Object.values(response.content ?? {}).map(({ schema }) => schema)
      assert.ok(schemas.length > 0 && schemas.every(Boolean), `${place} ${status}`)
    }
  }
})

test('problems are described once, with a schema', async (t) => {
  const { components } = await read(await buildTestApp(t))
  for (const name of ['CallerProblem', 'ServiceProblem']) {
    const response = components.responses[name]
    assert.ok(response?.content?.['application/problem+json']?.schema, name)
  }
})

test('every body of a request has an example', async (t) => {
  for (const { place, requestBody } of operationsOf(await read(await buildTestApp(t)))) {
    for (const [type, { example }] of Object.entries(requestBody?.content ?? {})) {
      assert.ok(example, `${place} ${type}`)
    }
  }
})

test('parameters of skills and catalog are described', async (t) => {
  const operations = operationsOf(await read(await buildTestApp(t)))
  for (const { place, parameters = [] } of operations) {
    if (!/\/(skills|catalog)/.test(place)) continue
    for (const { name, description } of parameters) assert.ok(description, `${place} ${name}`)
  }
})

test('tags, preconditions and idempotency keys stand where they are taken', async (t) => {
  const operations = operationsOf(await read(await buildTestApp(t)))
  const headersOf = (name: string) =>
    operations
      .find(({ operationId }) => operationId === name)
      ?.parameters?.filter((parameter) => parameter.in === 'header')
      .map(({ name }) => name)
  for (const name of ['createSkill', 'putSkill', 'patchSkill']) {
    assert.deepEqual(headersOf(name), ['if-match', 'if-none-match', 'idempotency-key'])
  }
  assert.deepEqual(headersOf('deleteSkill'), ['if-match', 'if-none-match'])
  for (const { place, responses } of operations) {
    if (!place.startsWith('GET')) continue
    assert.ok(responses['200']?.headers?.etag, place)
    assert.ok(responses['304'], place)
  }
  const created = operations.find(({ operationId }) => operationId === 'createSkill')?.responses[
    '201'
  ]
  assert.deepEqual(Object.keys(created?.headers ?? {}).sort(), ['etag', 'location', 'x-request-id'])
})

test('only health and readiness need no key', async (t) => {
  const open = operationsOf(await read(await buildTestApp(t))).filter(({ security }) => security)
  assert.deepEqual(
    open.map(({ place }) => place),
    ['GET /health', 'GET /ready'],
  )
})
