import Fastify, { type FastifyServerOptions } from 'fastify'
import type { Chats } from './agent/chats.ts'
import type { Models } from './agent/model.ts'
import { RunningTurns } from './agent/running-turns.ts'
import type { Defaults } from './agent/setup.ts'
import { anthropicSkillRoutes } from './compat/anthropic-skills/skills.ts'
import { anthropicVersionRoutes } from './compat/anthropic-skills/versions.ts'
import { familyConstraint, isCompat, sendFailure } from './compat/family.ts'
import { mcpRoutes } from './compat/mcp/routes.ts'
import { modelRoutes } from './compat/openai-chat/models.ts'
import { completionRoutes } from './compat/openai-chat/routes.ts'
import { openaiSkillRoutes } from './compat/openai-skills/skills.ts'
import { openaiVersionRoutes } from './compat/openai-skills/versions.ts'
import { unknownRoutes } from './compat/unknown-routes.ts'
import { wellKnownRoutes } from './compat/well-known/routes.ts'
import { type AuthOptions, auth } from './http/auth.ts'
import { answerClientError, newRequestId } from './http/client-error.ts'
import { etags } from './http/etag.ts'
import { createIdempotency, idempotencyKeys } from './http/idempotency.ts'
import { jsonBody } from './http/json-body.ts'
import { metrics } from './http/metrics.ts'
import { MAX_PARAM_LENGTH, notFound } from './http/not-found.ts'
import { openapi } from './http/openapi.ts'
import { problems, sendProblem } from './http/problem.ts'
import { requestLog } from './http/request-log.ts'
import { shutdown } from './http/shutdown.ts'
import { strictQuery } from './http/strict-query.ts'
import { validator } from './http/validator.ts'
import type { AgentWorld } from './open-agent.ts'
import type { ArchiveLimits } from './registry/archives/archive.ts'
import type { Meanings } from './registry/embeddings/meanings.ts'
import type { Registry } from './registry/registry.ts'
import { createSkillsById } from './registry/skills-by-id.ts'
import type { SkillsDirectory } from './registry/skills-directory.ts'
import { agentRoutes } from './routes/agents.ts'
import { archiveRoutes } from './routes/archives.ts'
import { catalogRoutes } from './routes/catalog.ts'
import { chatRoutes } from './routes/chat.ts'
import { contentRoutes } from './routes/contents.ts'
import { conversationRoutes } from './routes/conversations.ts'
import { fileWriteRoutes } from './routes/file-writes.ts'
import { importRoutes } from './routes/import.ts'
import { mcpServerRoutes } from './routes/mcp-servers.ts'
import { operationRoutes } from './routes/operations.ts'
import { skillEditRoutes } from './routes/skill-edits.ts'
import { skillWriteRoutes } from './routes/skill-writes.ts'
import { skillRoutes } from './routes/skills.ts'
import { statsRoutes } from './routes/stats.ts'
import { toolRoutes } from './routes/tools.ts'
import { turnRoutes } from './routes/turns.ts'
import { versionRoutes } from './routes/versions.ts'
import type { IdempotencyStore } from './store/idempotency.ts'
import type { SkillStore } from './store/skills.ts'
import type { UsageStore } from './store/usage.ts'

export interface AppOptions {
  skills: SkillStore
  chats: Chats
  usage: UsageStore
  idempotency: IdempotencyStore
  registry: Registry
  directory?: SkillsDirectory | undefined
  /** Absent: skills are found by words alone. */
  meanings?: Meanings | undefined
  models: Models
  auth: AuthOptions
  /** Whether it listens on a loopback address. */
  onLoopback: boolean
  /** Who may discover skills. */
  wellKnown: 'public' | 'keys' | 'off'
  agent: AgentWorld
  defaults: Defaults
  maxRequestBytes: number
  importLimits: ArchiveLimits & { packed: number }
  maxStreams: number
  shutdownGraceMs: number
  logger?: FastifyServerOptions['loggerInstance']
  /** After how long a client that does not read is cut. */
  stallMs?: number | undefined
}

/** The whole service, minus the process: no environment, no port, no signals. */
export function buildApp(options: AppOptions) {
  const { registry, skills, meanings, models, agent, chats, directory, logger, stallMs } = options
  const app = Fastify({
    ...(logger && { loggerInstance: logger }),
    logController: requestLog,
    genReqId: newRequestId,
    clientErrorHandler: answerClientError,
    bodyLimit: options.maxRequestBytes,
    requestTimeout: 120_000,
    return503OnClosing: false,
    routerOptions: {
      maxParamLength: MAX_PARAM_LENGTH,
      constraints: { family: familyConstraint },
    },
    frameworkErrors: (error, request, reply) => {
      reply.header('x-request-id', request.id)
      const answer = isCompat(request.url) ? sendFailure : sendProblem
      answer(error, request, reply)
      requestLog.requestCompleted(null, request, reply)
    },
  })
  const running = new RunningTurns(options.maxStreams)
  const idempotency = createIdempotency(options.idempotency)

  app.setValidatorCompiler(validator)
  // Every answer is made by a function that names its members: it needs no second filter.
  app.setSerializerCompiler(() => JSON.stringify)
  app.addHook('onRequest', async ({ id }, reply) => {
    reply.header('x-request-id', id)
  })
  app.register(problems)
  app.register(shutdown, { drain: () => running.drain(options.shutdownGraceMs) })
  app.register(auth, options.auth)
  app.register(etags)
  app.register(idempotencyKeys)
  app.register(jsonBody)
  app.register(notFound)
  app.register(openapi)
  app.register(metrics)

  const prefix = '/api/v1'
  app.register(strictQuery, { below: prefix })
  app.register(operationRoutes, { skills, models, directory, workspace: agent.workspace })
  app.register(skillRoutes, { prefix, skills, meanings, registry })
  app.register(skillWriteRoutes, { prefix, registry, idempotency })
  app.register(skillEditRoutes, { prefix, registry, idempotency })
  app.register(versionRoutes, { prefix, skills, registry })
  app.register(contentRoutes, { prefix, skills, registry })
  app.register(fileWriteRoutes, { prefix, registry, idempotency })
  app.register(archiveRoutes, { prefix, skills, registry })
  app.register(importRoutes, {
    prefix,
    skills,
    registry,
    idempotency,
    limits: options.importLimits,
    stallMs,
  })
  app.register(catalogRoutes, { prefix, skills, meanings, registry })
  const chat = {
    skills,
    meanings,
    registry,
    chats,
    models,
    running,
    stallMs,
    agents: agent.agents,
    tools: agent.tools,
    hooks: agent.hooks,
    idempotency: options.idempotency,
    defaults: options.defaults,
  }
  app.register(chatRoutes, { prefix, ...chat })
  app.register(agentRoutes, { prefix, agents: agent.agents, models, idempotency })
  app.register(toolRoutes, {
    prefix,
    definitions: agent.httpDefinitions,
    idempotency,
    checkUrl: agent.checkUrl,
    others: agent.otherTools,
  })
  app.register(mcpServerRoutes, {
    prefix,
    servers: agent.servers,
    tools: agent.mcp,
    idempotency,
    commands: agent.commands,
    checkUrl: agent.checkUrl,
  })
  app.register(statsRoutes, { prefix, skills, registry, usage: options.usage })
  app.register(conversationRoutes, { prefix, chats, running, workspace: agent.workspace })
  app.register(turnRoutes, { prefix, chats })

  const compat = '/v1'
  app.register(unknownRoutes, { prefix: compat })
  app.register(completionRoutes, { prefix: compat, ...chat })
  app.register(modelRoutes, { prefix: compat, agents: agent.agents })
  const managed = { skills, idempotency, byId: createSkillsById(skills, registry) }
  app.register(anthropicSkillRoutes, { prefix: compat, ...managed })
  app.register(anthropicVersionRoutes, { prefix: compat, ...managed })
  app.register(openaiSkillRoutes, { prefix: compat, ...managed })
  app.register(openaiVersionRoutes, { prefix: compat, ...managed })
  const { catalogMaxTokens, catalogTags } = options.defaults
  app.register(mcpRoutes, {
    onLoopback: options.onLoopback,
    skills,
    meanings,
    registry,
    usage: options.usage,
    catalogMaxTokens,
    catalogTags,
  })
  const { wellKnown } = options
  if (wellKnown !== 'off') {
    app.register(wellKnownRoutes, { skills, agents: agent.agents, access: wellKnown })
  }
  return app
}
