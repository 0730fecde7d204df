import type { Snapshot } from '../../registry/snapshot.ts'
import type { SkillStore } from '../../store/skills.ts'
import type { LoadMark } from '../loads.ts'
import { type Tool, ToolError } from '../tool.ts'
import { unknownSkill } from '../unknown-skill.ts'

const MAX_CHARACTERS = 50_000
const DEFAULT_LINES = 2000

interface Surroundings {
  skills: Pick<SkillStore, 'find' | 'readFile'>
  offer: Snapshot
  loads: ReadonlyMap<string, LoadMark>
}

/** Layer 3: a bundled file of a skill, in the version that was loaded, else in the current one. */
export function readSkillFile({ skills, offer, loads }: Surroundings): Tool {
  /** A skill that is not on offer, but whose body lists its files in the context. */
  const isPreloaded = async (name: string) =>
    loads.has(name) && (await skills.find(name))?.enabled === true

  return {
    name: 'read_skill_file',
    description: 'Read a bundled text file of a skill, as load_skill lists them.',
    inputSchema: {
      type: 'object',
      properties: {
        skill: { type: 'string', description: 'The name of the skill' },
        path: { type: 'string', description: 'The path of the file in the skill' },
        offset: { type: 'integer', minimum: 1, description: 'The first line, from 1' },
        limit: { type: 'integer', minimum: 1, description: 'How many lines' },
      },
      required: ['skill', 'path'],
      additionalProperties: false,
    },

    async run(input) {
      const [name, path] = [String(input.skill), String(input.path)]
      if (!offer.has(name) && !(await isPreloaded(name))) throw unknownSkill(name, offer)
      const file = await skills.readFile(name, path, loads.get(name)?.version)
      if (!file) throw new ToolError(`The skill "${name}" has no file "${path.slice(0, 255)}".`)
      const lines = decode(file.bytes, path).split('\n')
      return {
        text: excerpt(lines, Number(input.offset ?? 1), Number(input.limit ?? DEFAULT_LINES)),
      }
    },
  }
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new ToolError(`"${path}" is not a text file (${bytes.length} bytes).`)
  }
}

function excerpt(lines: readonly string[], offset: number, limit: number): string {
  const shown: string[] = []
  let size = 0
  for (const line of lines.slice(offset - 1, offset - 1 + limit)) {
    size += line.length + 1
    if (size > MAX_CHARACTERS && shown.length > 0) break
    shown.push(line.slice(0, MAX_CHARACTERS))
  }
  const left = lines.length - (offset - 1) - shown.length
  return left > 0 ? `${shown.join('\n')}\n… (${left} more lines)` : shown.join('\n')
}
