import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { inspect } from 'node:util'
import { isTooLong } from '../../../src/agent/models/failure.ts'
import { AppError } from '../../../src/errors.ts'
import { anthropic, ask, openAi } from '../ask-model.ts'
import { type Answer, fakeProvider, refuse, stream } from '../fake-provider.ts'
import { messageStart } from '../wire.ts'

const json =
  (status: number, body: object): Answer =>
  (response) =>
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify(body).replace('CANARY', 'CANARY sk-12345'))

const anthropicError = (type: string, message: string) => ({
  type: 'error',
  error: { type, message: `${message} CANARY` },
})

const openAiError = (message: string, code: string | number | null = null) => ({
  error: { message: `${message} CANARY`, type: 'invalid_request_error', param: 'messages', code },
})

const TOO_LONG = 'prompt is too long: 215000 tokens > 200000 maximum'
const OPENAI = "This model's maximum context length is 128000 tokens. However, you sent 130000."

async function failure(
  t: Parameters<typeof fakeProvider>[0],
  model: typeof anthropic,
  answer: Answer,
) {
  const { url, requests } = await fakeProvider(t, answer, answer, answer)
  const error = await ask(model(t, url)).then(
    () => assert.fail('It answered.'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof AppError, inspect(error))
  assert.doesNotMatch(inspect(error, { depth: 9 }), /CANARY|sk-1|215000|128000/)
  return { error, calls: requests.length }
}

suite('a prompt that is too long is known by what the provider says', () => {
  for (const [what, model, answer] of [
    ['Anthropic', anthropic, json(400, anthropicError('invalid_request_error', TOO_LONG))],
    ['Anthropic, by bytes', anthropic, json(413, anthropicError('request_too_large', 'Too big.'))],
    ['413 without a word', openAi, refuse(413)],
    [
      'Anthropic, with the answer to come',
      anthropic,
      json(
        400,
        anthropicError(
          'invalid_request_error',
          'input length and `max_tokens` exceed context limit: 197202 + 21333 > 200000',
        ),
      ),
    ],
    [
      'Anthropic, in the stream',
      anthropic,
      stream([messageStart, anthropicError('invalid_request_error', TOO_LONG)]),
    ],
    ['OpenAI', openAi, json(400, openAiError('Too long.', 'context_length_exceeded'))],
    ['vLLM', openAi, json(400, openAiError(OPENAI, 400))],
    [
      'OpenAI, in the stream',
      openAi,
      stream([openAiError('Too long.', 'context_length_exceeded')]),
    ],
    [
      'llama.cpp',
      openAi,
      json(400, openAiError('the request exceeds the available context size, try increasing it')),
    ],
    ['Ollama', openAi, json(400, openAiError('the input length exceeds the context length'))],
  ] as const)
    test(what, async (t) => {
      const { error, calls } = await failure(t, model, answer)
      assert.equal(isTooLong(error), true)
      assert.equal(isTooLong(error.about({ turn_id: 'turn_1' })), true)
      assert.deepEqual([error.code, error.status, calls], ['model_error', 502, 1])
      assert.equal(error.message, 'The conversation is too long for the model.')
    })
})

suite('other refusals are none', () => {
  for (const [what, model, answer] of [
    ['400', anthropic, json(400, anthropicError('invalid_request_error', 'max_tokens: too large'))],
    ['401', openAi, json(401, openAiError(OPENAI))],
    ['429', anthropic, json(429, anthropicError('rate_limit_error', TOO_LONG))],
    ['an error in the stream', openAi, stream([openAiError('It broke.')])],
  ] as const)
    test(what, async (t) => {
      const { error } = await failure(t, model, answer)
      assert.equal(isTooLong(error), false)
    })
})

test('what is no failure of a model is none', () => {
  for (const error of [undefined, 'prompt is too long', new Error('prompt is too long')])
    assert.equal(isTooLong(error), false)
})
