import { decodeText } from '../excerpt-lines.ts'
import { type Tool, ToolError } from '../tool.ts'
import { readBytes, writeBytes } from './file-bytes.ts'
import { inParent } from './in-parent.ts'
import type { Workspaces } from './workspaces.ts'
import { checkRoom } from './write-file.ts'

const MAX_LINES_NAMED = 10

export const editFile = ({ enter, owner }: Workspaces): Tool => ({
  name: 'edit_file',
  description:
    'Replace a piece of text in a file of the workspace. The piece has to occur exactly once.',
  inputSchema: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'The path of the file in the workspace' },
      old_text: { type: 'string', minLength: 1, description: 'The text as it stands in the file' },
      new_text: { type: 'string', description: 'What stands there afterwards' },
    },
    required: ['path', 'old_text', 'new_text'],
    additionalProperties: false,
  },

  async run(input, context) {
    const [path, before, after] = [input.path, input.old_text, input.new_text].map(String)
    if (path === undefined || !before || after === undefined) {
      throw new ToolError('old_text is empty: it has to say which text is replaced.')
    }
    const line = await enter(context, async (workspace) => {
      await checkRoom(workspace)
      return await inParent(path, { workspace }, async (entry) => {
        const text = decodeText(await readBytes(entry), path, { keepMark: true })
        const at = placeOf(before, text, path)
        const changed = text.slice(0, at) + after + text.slice(at + before.length)
        await writeBytes(entry, Buffer.from(changed), owner)
        return lineAt(text, at)
      })
    })
    return { text: `Replaced the text at line ${line} of ${path}.` }
  },
})

function placeOf(piece: string, text: string, path: string): number {
  const places: number[] = []
  for (let at = text.indexOf(piece); at !== -1; at = text.indexOf(piece, at + piece.length)) {
    places.push(at)
  }
  const [first] = places
  if (first === undefined) throw new ToolError(`"${path}" does not contain old_text.`)
  if (places.length === 1) return first
  const lines = places.slice(0, MAX_LINES_NAMED).map((at) => lineAt(text, at))
  const more = places.length > MAX_LINES_NAMED ? ' …' : ''
  throw new ToolError(
    `old_text occurs ${places.length} times in "${path}", at lines ${lines.join(', ')}${more}: give more of the text around the one to replace.`,
  )
}

const lineAt = (text: string, at: number): number => text.slice(0, at).split('\n').length
