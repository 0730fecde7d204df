import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resultText } from '../../../src/agent/mcp/result-text.ts'

const text = (said: string) => ({ type: 'text' as const, text: said })
const base64 = Buffer.alloc(1234).toString('base64')

test('texts are joined, and what is no text is named in a line', () => {
  const content = [
    text('one'),
    { type: 'image' as const, data: base64, mimeType: 'image/png' },
    { type: 'audio' as const, data: base64, mimeType: 'audio/wav\n\u202E' },
    { type: 'resource_link' as const, name: 'notes', uri: 'file:///notes' },
    { type: 'resource' as const, resource: { uri: 'x://blob', blob: base64 } },
    {
      type: 'resource' as const,
      resource: { uri: 'x://text', mimeType: 'text/plain', text: 'its text' },
    },
    text('two'),
  ]
  assert.deepEqual(resultText({ content }).split('\n'), [
    'one',
    '[image image/png, 1234 bytes]',
    '[audio audio/wav, 1234 bytes]',
    '[resource file:///notes]',
    '[resource x://blob, of no stated type, 1234 bytes]',
    '[resource x://text, text/plain]',
    'its text',
    'two',
  ])
})

test('what is structured is given where there is no text', () => {
  const structuredContent = { time: '12:00' }
  assert.equal(resultText({ content: [], structuredContent }), '{"time":"12:00"}')
  assert.equal(resultText({ content: [text('noon')], structuredContent }), 'noon')
  assert.equal(resultText({ content: [] }), '')
})

test('of a text without end the head and the tail are kept', () => {
  const said = resultText({ content: [text(`head${'x'.repeat(20 * 1024 * 1024)}tail`)] })
  assert.ok(said.length <= 10 * 1024 * 1024)
  assert.match(said, /^headx+\n\[… \d+ characters left out …\]\nx+tail$/)
})
