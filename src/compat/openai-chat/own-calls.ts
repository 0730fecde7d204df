import { randomUUID } from 'node:crypto'
import type { Model, ModelRequest, Models } from '../../agent/model.ts'

/**
 * The same models, whose calls get ids of ours, for a later request is told by them whose calls it
 * answers. `choice` holds for the first answer with tools on offer.
 */
export function withOwnCalls(models: Models, choice: ModelRequest['toolChoice']): Models {
  let next = choice
  const own = (model: Model): Model =>
    async function* ask(request) {
      const toolChoice = next !== undefined && isOnOffer(next, request) ? next : undefined
      const reply = yield* model({ ...request, toolChoice })
      if (request.tools.length > 0) next = undefined
      const content = reply.message.content.map((part) =>
        part.type === 'tool-call' ? { ...part, toolCallId: newCallId() } : part,
      )
      return { ...reply, message: { ...reply.message, content } }
    }
  return { ...models, open: (name) => own(models.open(name)) }
}

const newCallId = () => `call_${randomUUID().replaceAll('-', '')}`

const isOnOffer = (
  choice: Exclude<ModelRequest['toolChoice'], undefined>,
  request: ModelRequest,
) =>
  choice === 'required'
    ? request.tools.length > 0
    : request.tools.some(({ name }) => name === choice.name)
