import { type Tool, ToolError } from '../tool.ts'
import { writeBytes } from './file-bytes.ts'
import { inParent } from './in-parent.ts'
import { isFull, MAX_FOLDER_BYTES, type Workspaces } from './workspaces.ts'

export const writeFile = ({ enter, owner }: Workspaces): Tool => ({
  name: 'write_file',
  description:
    'Write a text file of the workspace, with the folders on its way. It replaces a file of that path.',
  inputSchema: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'The path of the file in the workspace' },
      content: { type: 'string', description: 'The whole text of the file' },
    },
    required: ['path', 'content'],
    additionalProperties: false,
  },
  idempotent: true,

  async run(input, context) {
    const path = String(input.path)
    const bytes = Buffer.from(String(input.content))
    await enter(context, async (workspace) => {
      await checkRoom(workspace)
      await inParent(path, { workspace, make: { owner } }, (entry) =>
        writeBytes(entry, bytes, owner),
      )
    })
    return { text: `Wrote ${bytes.length} bytes to ${path}.` }
  },
})

export async function checkRoom(workspace: string): Promise<void> {
  if (!(await isFull(workspace))) return
  throw new ToolError(
    `The workspace holds more than ${MAX_FOLDER_BYTES} bytes: nothing more is written. Remove files first.`,
  )
}
