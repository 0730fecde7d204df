import { type Static, type TSchema, Type } from 'typebox'
import { convertMcpTool } from '../domain/mcp-tool.ts'
import { renderSkillMd } from '../domain/render-skill-md.ts'
import type { BundleFile } from '../domain/skill.ts'
import { AppError } from '../errors.ts'
import type { Packed } from '../registry/archives/archive.ts'
import { Strict } from '../schema.ts'
import { BundleBody, bundleContent } from './bundle-body.ts'

const Optional = <Schema extends TSchema>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]))

export const MARKDOWN_TYPES = ['text/markdown', 'text/plain', 'text/x-markdown']

/** The parts of a SKILL.md that may be given, or edited, one by one. */
export const skillParts = {
  allowed_tools: Optional(Type.Array(Type.String())),
  tags: Optional(Type.Array(Type.String())),
  license: Optional(Type.String()),
  compatibility: Optional(Type.String()),
  metadata: Optional(Type.Record(Type.String(), Type.Unknown())),
}

const toolExample = {
  name: 'get_weather',
  description: 'Tells the weather of a city. Use when somebody asks about rain or temperature.',
  inputSchema: {
    type: 'object',
    properties: { city: { type: 'string', description: 'As people write it' } },
    required: ['city'],
  },
}

type SkillBody = Static<typeof SkillBody>
const SkillBody = Strict({
  content: Type.Optional(Type.String({ description: 'A whole SKILL.md; instead of its parts' })),
  name: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  body: Type.Optional(Type.String({ description: 'The instructions, in Markdown' })),
  ...skillParts,
  mcp_tool: Type.Optional(
    Type.Object(
      {
        name: Type.String({ minLength: 1 }),
        description: Type.String(),
        inputSchema: Type.Record(Type.String(), Type.Unknown()),
      },
      {
        additionalProperties: false,
        description: 'A tool as MCP servers list it, to be made into a skill; stands alone',
        examples: [toolExample],
      },
    ),
  ),
  files: Type.Optional(
    Type.Array(
      Strict({
        path: Type.String({ minLength: 1 }),
        content: Type.String(),
        encoding: Type.Optional(Type.Enum(['utf8', 'base64'], { default: 'utf8' })),
      }),
      { description: 'Bundled files, beside the SKILL.md' },
    ),
  ),
})

// Without a type: the body is bytes when it is checked.
const Markdown = Type.Unsafe<Uint8Array>({ contentMediaType: 'text/markdown' })

const example =
  '---\nname: greet\ndescription: Greets people. Use when somebody says hello.\n---\nSay hello.\n'

/** The bodies that hand in a skill: a raw SKILL.md, JSON, a form or an archive. */
export const skillBody = {
  content: {
    'application/json': {
      schema: { ...SkillBody, examples: [{ content: example }] },
    },
    ...Object.fromEntries(
      MARKDOWN_TYPES.map((type) => [type, { schema: { ...Markdown, examples: [example] } }]),
    ),
    ...bundleContent,
  },
}

/** What the body was once it is checked: bytes when it was Markdown. */
export type SkillUpload = Uint8Array | BundleBody | SkillBody

/** The files of an upload, as they came; an archive is still to be unpacked. */
export function readFiles(upload: SkillUpload): readonly BundleFile[] | Packed {
  if (upload instanceof Uint8Array) return [skillMd(upload)]
  if (upload instanceof BundleBody) return upload.content
  const { content, files = [], mcp_tool: tool, ...parts } = upload
  if (tool) return readTool(tool, Object.keys(upload))
  const bundled = files.map(({ path, content: text, encoding = 'utf8' }, index) => ({
    path,
    bytes: encoding === 'utf8' ? Buffer.from(text) : fromBase64(text, `/files/${index}/content`),
  }))
  if (content !== undefined) {
    const [part] = Object.keys(parts)
    if (part)
      refuse(`"content" is a whole SKILL.md: leave "${part}" out, or "content".`, `/${part}`)
    return [skillMd(Buffer.from(content)), ...bundled]
  }
  const { name, description, ...rest } = parts
  if (name === undefined) return refuse('Send "content", or "name" and "description".', '/name')
  if (description === undefined) return refuse('"description" is missing.', '/description')
  return [skillMd(Buffer.from(renderSkillMd({ name, description, ...rest }))), ...bundled]
}

function readTool(
  tool: NonNullable<SkillBody['mcp_tool']>,
  members: readonly string[],
): BundleFile[] {
  const other = members.find((member) => member !== 'mcp_tool')
  if (other) refuse(`"mcp_tool" is a whole skill: leave "${other}" out.`, `/${other}`)
  const { skillMd: text, files } = convertMcpTool(tool)
  const bundled = files.map(({ path, content }) => ({ path, bytes: Buffer.from(content) }))
  return [skillMd(Buffer.from(text)), ...bundled]
}

const skillMd = (bytes: Uint8Array): BundleFile => ({ path: 'SKILL.md', bytes })

function fromBase64(text: string, field: string): Buffer {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') === text) return bytes
  return refuse('The content is not base64 (RFC 4648, with padding).', field)
}

function refuse(message: string, field: string): never {
  throw new AppError('body_invalid', message, {
    errors: [{ code: 'body_invalid', message, field }],
  })
}
