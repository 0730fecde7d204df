import type { Logger } from 'pino'
import { makeAdminKey } from './admin-key.ts'
import type { Chats } from './agent/chats.ts'
import { openModels } from './agent/models/open.ts'
import { NO_STEP } from './agent/tool.ts'
import { buildApp } from './app.ts'
import { bundleLimitsOf, type Config } from './config.ts'
import { SKILL_TOOLS } from './domain/tool-permissions.ts'
import { isLoopback } from './http/auth.ts'
import { openAgent } from './open-agent.ts'
import { openMeanings } from './registry/embeddings/meanings.ts'
import { createRegistry } from './registry/registry.ts'
import { openSkillsDirectory } from './registry/skills-directory.ts'
import { createChatStore } from './store/chat-store.ts'
import { createEmbeddingStore } from './store/embedding-store.ts'
import { createIdempotencyStore } from './store/idempotency-store.ts'
import { createKeyStore } from './store/key-store.ts'
import { openDatabase } from './store/open.ts'
import { createSkillStore } from './store/skill-store.ts'
import { waitingWrites } from './store/transaction.ts'
import { createUsageStore } from './store/usage-store.ts'
import type { Tracing } from './telemetry/tracing.ts'

/**
 * Opens everything the service stands on, and the service over it, ready to listen. Closing the
 * app closes all of it. Throws one line that says what cannot be opened.
 */
export async function openService(
  config: Config,
  log: Logger,
  { stallMs, tracing }: { stallMs?: number; tracing?: Tracing | undefined } = {},
) {
  const authMode = readAuthMode(config)
  const models = openModels(config)
  const db = await openDatabase(config.DATABASE_URL)
  const skills = createSkillStore(db)
  const chats: Chats = createChatStore(db)
  const keys = createKeyStore(db)

  const interrupted = await chats.interruptRunning()
  if (interrupted > 0) log.warn({ turns: interrupted }, 'turns were running when the service died')
  if (authMode === 'keys' && config.ADMIN_KEY === undefined) {
    const path = await makeAdminKey(keys, config.DATABASE_URL)
    if (path) log.warn({ path }, 'admin key made: it stands in this file')
  }

  const limits = bundleLimitsOf(config)
  const agent = await openAgent(config, { db, skills, log })
  const ownTools = (await agent.workspace?.tools.tools(NO_STEP)) ?? []
  const toolNames = [...SKILL_TOOLS, ...ownTools.map(({ name }) => name)]
  const registry = createRegistry(skills, limits, toolNames)
  const path = config.SKILLS_DIR
  const directory =
    path === '' ? undefined : openSkillsDirectory({ path, registry, skills, limits, log })
  const url = config.EMBEDDINGS_URL
  const endpoint = { model: config.EMBEDDINGS_MODEL, key: config.EMBEDDINGS_API_KEY }
  const meanings =
    url === undefined
      ? undefined
      : openMeanings({
          skills,
          store: createEmbeddingStore(db),
          endpoint: { url, ...endpoint },
          log,
        })
  const app = buildApp({
    skills,
    chats,
    usage: createUsageStore(db),
    idempotency: createIdempotencyStore(db),
    registry,
    directory,
    meanings,
    models,
    agent,
    auth: { mode: authMode, keys, adminKey: config.ADMIN_KEY },
    onLoopback: isLoopback(config.HOST),
    wellKnown: config.WELL_KNOWN ?? (authMode === 'open' ? 'public' : 'keys'),
    defaults: {
      allowedToolsMode: config.ALLOWED_TOOLS_MODE,
      catalogMaxTokens: config.CATALOG_MAX_TOKENS,
      catalogTags: config.CATALOG_TAGS,
      maxOutputTokens: config.MODEL_MAX_OUTPUT_TOKENS,
      contextMaxTokens: config.CONTEXT_MAX_TOKENS,
    },
    maxRequestBytes: config.MAX_REQUEST_BYTES,
    importLimits: {
      packed: config.MAX_IMPORT_BYTES,
      entries: config.MAX_IMPORT_FILES,
      bytes: config.MAX_IMPORT_UNPACKED,
    },
    maxStreams: config.MAX_STREAMS,
    shutdownGraceMs: config.SHUTDOWN_GRACE_MS,
    waitingWrites: () => waitingWrites(db),
    tracing,
    logger: log,
    stallMs,
  })
  app.addHook('onClose', async () => {
    await directory?.close()
    await meanings?.close()
    await agent.close()
    await models.close()
    await db.destroy()
    await tracing?.close()
  })
  return { app, directory, authMode, model: models.defaultName }
}

/** Open where only this machine can reach it and nobody set a key, else by keys. */
function readAuthMode({ AUTH, HOST, ADMIN_KEY, AUTH_OPEN_ANYWAY }: Config): 'open' | 'keys' {
  const loopback = isLoopback(HOST)
  const mode = AUTH ?? (loopback && ADMIN_KEY === undefined ? 'open' : 'keys')
  if (mode === 'open' && !loopback && !AUTH_OPEN_ANYWAY) {
    const why = `HOST ${HOST} can be reached from elsewhere (AUTH_OPEN_ANYWAY=true allows it)`
    throw new Error(`AUTH must be keys, for ${why}`)
  }
  return mode
}
