import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server'

interface Ringing {
  /** Called when a call of `wait` has begun, and when it was cancelled. */
  onWait?(what: 'begun' | 'cancelled'): void
}

const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] })
const nothing = fromJsonSchema<object>({ type: 'object' })

/** An MCP server that knows the time, fails when it is asked to, and waits until it is cancelled. */
export function clock({ onWait }: Ringing = {}, alarm = false): McpServer {
  const server = new McpServer({ name: 'clock', version: '1' })
  server.registerTool(
    'get_current_time',
    {
      description: 'Tells the time in a time zone.',
      inputSchema: fromJsonSchema<{ timezone: string }>({
        type: 'object',
        properties: { timezone: { type: 'string' } },
        required: ['timezone'],
      }),
    },
    ({ timezone }) => text(`12:00 in ${timezone}`),
  )
  server.registerTool('fail', { inputSchema: nothing }, () => ({
    ...text(`the clock has stopped, and ${process.env.CLOCK_KEY} is known`),
    isError: true,
  }))
  server.registerTool('environment', { inputSchema: nothing }, () =>
    text(JSON.stringify(Object.keys(process.env).sort())),
  )
  server.registerTool('wait', { inputSchema: nothing }, async (_, { mcpReq }) => {
    onWait?.('begun')
    await new Promise<void>((resolve) => {
      mcpReq.signal.addEventListener('abort', () => resolve())
    })
    onWait?.('cancelled')
    return text('cancelled')
  })
  server.registerTool('grow', { inputSchema: nothing }, () => {
    addAlarm(server)
    return text('has an alarm now')
  })
  if (alarm) addAlarm(server)
  return server
}

const addAlarm = (server: McpServer) =>
  server.registerTool('set_alarm', { inputSchema: nothing }, () => text('rings at noon'))
