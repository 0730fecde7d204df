import OpenAI, { toFile } from 'openai'
import OpenAI7, { toFile as toFile7 } from 'openai-7'

interface OpenaiVersion {
  version: string
  Client: typeof OpenAI
  toUpload: typeof toFile
  /** Whether it sends the base names of files alone. */
  flattens: boolean
}

/** Both are used in the same way, and have types of their own: one is taken for the other. */
export const openais: readonly OpenaiVersion[] = [
  { version: '6', Client: OpenAI, toUpload: toFile, flattens: true },
  { version: '7', Client: Object(OpenAI7), toUpload: Object(toFile7), flattens: false },
]

export const openaiFor = ({ Client }: OpenaiVersion, { url }: { url: string }) =>
  new Client({ apiKey: 'any', baseURL: `${url}/v1` })
