import { estimateTokens } from '../../domain/tokens.ts'
import { repeatLine, wrapSkill } from '../../domain/wrapped-skill.ts'
import type { Snapshot } from '../../registry/snapshot.ts'
import type { SkillStore, StoredSkill } from '../../store/skills.ts'
import type { LoadMark } from '../loads.ts'
import type { Tool } from '../tool.ts'
import { unknownSkill } from '../unknown-skill.ts'

interface Surroundings {
  skills: Pick<SkillStore, 'find'>
  /** The skills that are on offer in this step. */
  offer: Snapshot
  /** Bodies that are in the context before this step. */
  loads: ReadonlyMap<string, LoadMark>
  /** Bodies that were in it at any time. */
  everLoaded: ReadonlyMap<string, LoadMark>
}

/** One for each step: of two loads of a skill in one batch, the first brings the body. */
export function loadSkill({ skills, offer, loads, everLoaded }: Surroundings): Tool {
  const found = new Map<string, Promise<StoredSkill | undefined>>()

  return {
    name: 'load_skill',
    idempotent: true,
    immediate: true,
    description: 'Load the full instructions of a skill, by its name in the list of skills.',
    inputSchema: {
      type: 'object',
      properties: { name: { type: 'string', description: 'The name of the skill' } },
      required: ['name'],
      additionalProperties: false,
    },

    async run(input) {
      const name = String(input.name)
      if (!offer.has(name)) throw unknownSkill(name, offer)
      const again = found.get(name)
      const finding = again ?? skills.find(name)
      found.set(name, finding)
      const skill = await finding
      if (!skill?.enabled || skill.version === null) throw unknownSkill(name, offer)

      const dropped = everLoaded.has(name) && !loads.has(name)
      const loaded = { before: loads.get(name), again: again !== undefined, dropped }
      return loadOf({ ...skill, version: skill.version }, loaded)
    },
  }
}

const SENT_AGAIN =
  'It was loaded before and has left the context since, for that grew too long: this is it again.'

type CurrentSkill = StoredSkill & { version: number }

interface EarlierLoad {
  /** What the context holds of the skill. */
  before: LoadMark | undefined
  /** Whether it is asked for twice in one batch. */
  again?: boolean
  /** Whether the context held it once, and does no longer. */
  dropped?: boolean
}

/** The body, or one short line while the context holds it. */
export function loadOf(skill: CurrentSkill, { before, again, dropped }: EarlierLoad) {
  const repeat = again === true || before?.digest === skill.digest
  const body = loadText(skill, before?.version)
  const sentAgain = dropped && !again ? `${body}\n${SENT_AGAIN}` : body
  const text = repeat ? repeatLine(skill.name, skill.version) : sentAgain
  return { text, load: markOf(skill, text, repeat) }
}

/** What `load_skill` returns; `replaced` is the version that the context holds already. */
export const loadText = (
  skill: Pick<CurrentSkill, 'name' | 'version' | 'body' | 'files'>,
  replaced?: number,
): string => {
  const paths = skill.files.map(({ path }) => path).filter((path) => path !== 'SKILL.md')
  const text = wrapSkill(skill, paths)
  if (replaced === undefined) return text
  return `${text}\nThis is version ${skill.version}. It replaces version ${replaced}, which was loaded before: follow this one.`
}

const markOf = (skill: CurrentSkill, text: string, repeat: boolean): LoadMark => ({
  name: skill.name,
  version: skill.version,
  digest: skill.digest,
  tokens: repeat ? estimateTokens(text) : skill.tokens.body,
  repeat,
  allowedTools: skill.allowedTools,
})
