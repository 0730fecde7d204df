/** What every subject of `bench/turn.ts` does: two model calls with one load between them. */
export const SYSTEM = `You are a helpful assistant.

When a line below fits, call load_skill with its name first.

${Array.from({ length: 8 }, (_, index) => `- skill-${index}: Does the work of kind ${index}. Use when somebody asks for work of that kind.`).join('\n')}`

export const MESSAGE = 'Do the work of kind 3.'
export const BODY = 'Follow these steps with care, one after the other. '.repeat(60)

/** In the text of the last answer. */
export const ANSWER = 'The work is done.'

export const LOAD_SKILL = {
  name: 'load_skill',
  description: 'Load the full instructions of a skill, by its name in the list of skills.',
  parameter: 'The name of the skill',
}

export const loadSkill = (name) => `<skill name="${name}" version="1">\n${BODY}\n</skill>`
