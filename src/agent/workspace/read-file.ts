import { decodeText, excerptLines, lineRange } from '../excerpt-lines.ts'
import type { Tool } from '../tool.ts'
import { readBytes } from './file-bytes.ts'
import { inParent } from './in-parent.ts'
import type { Workspaces } from './workspaces.ts'

export const readFile = ({ enter }: Workspaces): Tool => ({
  name: 'read_file',
  description: 'Read a text file of the workspace.',
  inputSchema: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'The path of the file in the workspace' },
      ...lineRange,
    },
    required: ['path'],
    additionalProperties: false,
  },
  idempotent: true,

  async run(input, context) {
    const path = String(input.path)
    const bytes = await enter(context, (workspace) => inParent(path, { workspace }, readBytes))
    return { text: excerptLines(decodeText(bytes, path), input) }
  },
})
