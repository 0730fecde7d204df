import type { Message } from './model.ts'

/** A message of a hook: the model takes it for the user's, and nobody else does. */
export const byHook = (text: string): Message => ({
  role: 'user',
  content: [{ type: 'text', text }],
  providerOptions: { loadskill: { hook: true } },
})

/** Whether the user said it. */
export const isByUser = ({ role, providerOptions }: Message): boolean =>
  role === 'user' && providerOptions?.loadskill?.hook !== true
