import { estimateTokens } from '../../domain/tokens.ts'
import type { Snapshot } from '../../registry/snapshot.ts'
import type { SkillStore } from '../../store/skills.ts'
import { decodeText, excerptLines, lineRange } from '../excerpt-lines.ts'
import type { LoadMark } from '../loads.ts'
import { type Tool, ToolError } from '../tool.ts'
import { unknownSkill } from '../unknown-skill.ts'

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

  const versionOnOffer = (name: string) =>
    offer.entries.find((entry) => entry.name === name)?.version

  return {
    name: 'read_skill_file',
    idempotent: true,
    immediate: true,
    description: 'Read a bundled text file of a skill, as load_skill lists them.',
    inputSchema: {
      type: 'object',
      properties: {
        skill: { type: 'string', description: 'The name of the skill' },
        path: { type: 'string', description: 'The path of the file in the skill' },
        ...lineRange,
      },
      required: ['skill', 'path'],
      additionalProperties: false,
    },

    async run(input) {
      const [name, path] = [String(input.skill), String(input.path)]
      if (!offer.has(name) && !(await isPreloaded(name))) throw unknownSkill(name, offer)
      const version = loads.get(name)?.version ?? versionOnOffer(name)
      const file = await skills.readFile(name, path, version)
      if (!file || version === undefined) {
        throw new ToolError(`The skill "${name}" has no file "${path.slice(0, 255)}".`)
      }
      const text = excerptLines(decodeText(file.bytes, path), input)
      return { text, use: { skill: name, version, kind: 'read', tokens: estimateTokens(text) } }
    },
  }
}
