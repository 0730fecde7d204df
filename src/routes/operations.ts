import { type FastifyPluginAsyncTypebox, Type } from '@fastify/type-provider-typebox'
import type { Models } from '../agent/model.ts'
import type { Workspace } from '../agent/workspace/open-workspace.ts'
import { AppError } from '../errors.ts'
import { problemResponses } from '../http/problem.ts'
import type { SkillsDirectory } from '../registry/skills-directory.ts'
import type { SkillStore } from '../store/skills.ts'

const health = {
  operationId: 'getHealth',
  summary: 'Whether the process answers',
  tags: ['operations'],
  response: { 200: Type.Object({ status: Type.Literal('ok') }), ...problemResponses },
}

const Part = Type.Object({
  ready: Type.Boolean(),
  detail: Type.Optional(Type.String({ description: 'Why it is not, or what it is' })),
})
const Readiness = Type.Object({
  ready: Type.Boolean(),
  parts: Type.Object({
    database: Part,
    model: Part,
    workspace: Part,
    skills_directory: Type.Object({
      ...Part.properties,
      skipped: Type.Array(
        Type.Object({ path: Type.String(), code: Type.String(), reason: Type.String() }),
        { description: 'What was left out of the catalog, and why' },
      ),
    }),
  }),
})
const ready = {
  operationId: 'getReadiness',
  summary: 'Whether each part can do its work',
  tags: ['operations'],
  response: {
    200: Readiness,
    503: {
      description: 'A part is not ready',
      content: { 'application/json': { schema: Readiness } },
    },
  },
}

interface Options {
  skills: Pick<SkillStore, 'probe'>
  models: Pick<Models, 'defaultName'>
  directory: SkillsDirectory | undefined
  workspace: Pick<Workspace, 'problem'> | undefined
}

export const operationRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { skills, models, directory, workspace } = options

  app.get('/health', { schema: health }, async () => ({ status: 'ok' as const }))

  app.get('/ready', { schema: ready }, async (_, reply) => {
    const database = await probe(skills)
    const skills_directory = readDirectory(directory)
    const model = { ready: true, detail: models.defaultName }
    const parts = { database, model, workspace: readWorkspace(workspace), skills_directory }
    const all = Object.values(parts).every((part) => part.ready)
    return reply.code(all ? 200 : 503).send({ ready: all, parts })
  })
}

/** With a write: a full disk reads well. */
async function probe(skills: Pick<SkillStore, 'probe'>) {
  try {
    await skills.probe()
    return { ready: true }
  } catch (error) {
    if (error instanceof AppError) return { ready: false, detail: error.message }
    throw error
  }
}

/** Without bash the file tools still work, and without those all else does. */
const readWorkspace = (workspace: Pick<Workspace, 'problem'> | undefined) => ({
  ready: true,
  detail: workspace ? (workspace.problem ?? 'bash and file tools') : 'none',
})

function readDirectory(directory: SkillsDirectory | undefined) {
  if (!directory) return { ready: true, detail: 'none', skipped: [] }
  const skipped = directory.skipped()
  if (!directory.isRead()) return { ready: false, detail: 'it is being read', skipped }
  return { ready: true, skipped }
}
