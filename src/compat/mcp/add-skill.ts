import { type Static, Type } from 'typebox'
import type { Tool } from '../../agent/tool.ts'
import { readFiles } from '../../http/skill-upload.ts'
import type { Registry } from '../../registry/registry.ts'
import { Strict } from '../../schema.ts'
import type { Caller } from './caller.ts'

const Input = Strict({
  content: Type.String({
    description:
      'The whole SKILL.md: "---", YAML with "name" and "description", "---", then the instructions in Markdown',
  }),
  files: Type.Optional(
    Type.Array(
      Strict({
        path: Type.String({ minLength: 1, description: 'Such as references/guide.md' }),
        content: Type.String(),
        encoding: Type.Optional(
          Type.Enum(['utf8', 'base64'], { description: 'Of the content; utf8 if left out' }),
        ),
      }),
      { description: 'Files beside the SKILL.md' },
    ),
  ),
  replace: Type.Optional(
    Type.Boolean({ description: 'Whether to store the next version of a skill that is there' }),
  ),
  note: Type.Optional(Type.String({ maxLength: 1000, description: 'Kept with the version' })),
})

/** Stores a skill as POST does, or with `replace` as PUT. Refusals are AppErrors. */
export const addSkill = (
  registry: Pick<Registry, 'publish' | 'unpack'>,
  { owner }: Caller,
): Pick<Tool, 'name' | 'description' | 'inputSchema' | 'run'> => ({
  name: 'add_skill',
  description:
    'Store a skill for everybody to load: instructions for a kind of work that will come again.',
  inputSchema: Input,

  async run(input) {
    const { replace = false, note = null, ...parts } = input as Static<typeof Input>
    const files = readFiles(parts)
    const { outcome, skill } = await registry.publish(
      { files: 'format' in files ? await registry.unpack(files) : files, mode: 'strict' },
      { source: { type: 'api' }, by: owner, note, createOnly: !replace },
    )
    const what = outcome === 'unchanged' ? 'It is stored already' : 'Stored'
    const warnings = skill.warnings.map(({ code, message }) => `\nWarning: ${message} (${code})`)
    return { text: `${what}: ${skill.name}, version ${skill.version}.${warnings.join('')}` }
  },
})
