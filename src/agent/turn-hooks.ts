import type { Hooks } from './hooks/open-hooks.ts'
import type { ToolCall } from './model.ts'
import type { OpenTurn } from './opened-turn.ts'

/** The hooks of one turn. None of them ever rejects (api.md 4, rule 10). */
export interface TurnHooks {
  /** What the user said; only told of. */
  prompted(prompt: string): Promise<void>
  /** Undefined when no hook has anything to say. */
  beforeCall(
    call: ToolCall,
    step: number,
  ): Promise<{ decision: 'refuse' | 'ask'; reason: string } | undefined>
  /** Only told of. `output` is the whole of it. */
  afterCall(
    call: ToolCall,
    step: number,
    outcome: { output: string; isError: boolean },
  ): Promise<void>
  /** A message with which the loop goes on; undefined lets it end. */
  beforeEnd(output: string, step: number): Promise<string | undefined>
}

export function openTurnHooks(
  hooks: Hooks,
  { conversation, turn }: Pick<OpenTurn, 'conversation' | 'turn'>,
): TurnHooks {
  const place = { conversationId: conversation.id, turnId: turn.id, agent: conversation.agent }
  const told = ({ toolName: tool, toolCallId: callId, input }: ToolCall, step: number) => ({
    ...place,
    step,
    tool,
    callId,
    input,
  })
  return {
    prompted: (prompt) => hooks.userPromptSubmit({ ...place, prompt }),
    beforeCall: (call, step) => hooks.preToolUse(told(call, step)),
    afterCall: (call, step, outcome) => hooks.postToolUse({ ...told(call, step), ...outcome }),
    beforeEnd: async (output, step) => (await hooks.stop({ ...place, step, output }))?.message,
  }
}
