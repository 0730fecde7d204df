import { textToYaml, toYaml } from './yaml-text.ts'

/** A skill by its parts, as they stand on the wire. */
export interface SkillParts {
  name: string
  description: string
  body?: string | null
  allowed_tools?: readonly string[] | null
  tags?: readonly string[] | null
  license?: string | null
  compatibility?: string | null
  metadata?: Record<string, unknown> | null
}

/** A SKILL.md that reads back as these parts. */
export function renderSkillMd(parts: SkillParts): string {
  const { name, description, body } = parts
  const keys: [key: string, value: unknown][] = [
    ['license', parts.license],
    ['compatibility', parts.compatibility],
    ['allowed-tools', parts.allowed_tools],
    ['tags', parts.tags],
  ]
  const lines = [
    `name: ${textToYaml(name)}`,
    `description: ${isProse(description) ? toBlock(description) : textToYaml(description)}`,
    ...keys.filter(([, value]) => value != null).map(([key, value]) => `${key}: ${toYaml(value)}`),
    ...renderMetadata(parts.metadata),
  ]
  return `---\n${lines.join('\n')}\n---\n${body ? `\n${body}` : ''}`
}

function renderMetadata(metadata: SkillParts['metadata']): string[] {
  if (!metadata) return []
  const entries = Object.entries(metadata)
  if (entries.length === 0) return ['metadata: {}']
  return ['metadata:', ...entries.map(([key, value]) => `  ${textToYaml(key)}: ${toYaml(value)}`)]
}

/** Several lines that a block text holds as they are. */
const isProse = (text: string): boolean =>
  text.includes('\n') && text === text.trim() && !/[^\P{C}\n]|\u2028|\u2029/u.test(text)

const toBlock = (text: string): string =>
  `|-\n${text
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n')}`
