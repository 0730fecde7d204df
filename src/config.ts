import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import type { BundleLimits } from './domain/bundle.ts'
import { readText } from './schema.ts'

const MEBIBYTE = 1024 * 1024

const Milliseconds = (value: number, description: string) =>
  Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, default: value, description })
const Bytes = (value: number, description: string) =>
  Type.Integer({ minimum: 1, default: value, description })

export type Config = Readonly<Static<typeof Config>>
/** Every setting: its type, its default and what it means. */
export const Config = Type.Object({
  HOST: Type.String({ default: '127.0.0.1', description: 'The address to listen on' }),
  PORT: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 3000,
    description: '0 takes a free one',
  }),
  DATABASE_URL: Type.String({
    pattern: '^(sqlite:.+|postgres(ql)?://.+)$',
    default: 'sqlite:./data/loadskill.db',
    description: 'sqlite:PATH or postgres://…',
  }),
  SKILLS_DIR: Type.String({
    default: './skills',
    description: 'A folder of skills to read and watch; empty: none',
  }),
  AUTH: Type.Optional(
    Type.Enum(['open', 'keys'], {
      description: 'open, or keys; by default open on a loopback HOST without ADMIN_KEY',
    }),
  ),
  AUTH_OPEN_ANYWAY: Type.Boolean({
    default: false,
    description: 'Lets AUTH=open listen on other addresses than loopback',
  }),
  ADMIN_KEY: Type.Optional(
    Type.String({
      pattern: '^[\\x21-\\x7e]{16,256}$',
      description: 'An admin key besides the stored ones, 16 to 256 visible characters',
    }),
  ),
  MODEL: Type.Optional(
    Type.String({
      pattern: '^(offline|(anthropic|openai)/.+)$',
      description: 'anthropic/ID, openai/ID or offline; by default by the API key that is set',
    }),
  ),
  ANTHROPIC_API_KEY: Type.Optional(Type.String({ description: 'For anthropic/…' })),
  ANTHROPIC_BASE_URL: Type.String({
    default: 'https://api.anthropic.com',
    description: 'Without /v1',
  }),
  OPENAI_API_KEY: Type.Optional(Type.String({ description: 'For openai/…' })),
  OPENAI_BASE_URL: Type.String({
    default: 'https://api.openai.com/v1',
    description: 'Any compatible server, with its /v1',
  }),
  MODEL_CONNECT_TIMEOUT_MS: Milliseconds(10_000, 'For the connection to a model'),
  MODEL_TIMEOUT_MS: Milliseconds(60_000, 'Until the first part of an answer'),
  MODEL_IDLE_TIMEOUT_MS: Milliseconds(60_000, 'For a silence within an answer'),
  MODEL_ANSWER_TIMEOUT_MS: Milliseconds(600_000, 'For a whole answer'),
  MODEL_MAX_ANSWER_BYTES: Bytes(8 * MEBIBYTE, 'Of one answer'),
  MODEL_MAX_OUTPUT_TOKENS: Type.Integer({
    minimum: 1,
    default: 8192,
    description: 'Of one answer, unless the request says otherwise',
  }),
  ALLOWED_TOOLS_MODE: Type.Enum(['restrict', 'preapprove', 'off'], {
    default: 'restrict',
    description: 'What allowed-tools of loaded skills means for the tools on offer',
  }),
  CATALOG_MAX_TOKENS: Type.Integer({
    minimum: 1,
    maximum: 200_000,
    default: 4000,
    description: 'The budget of the catalog in the system prompt',
  }),
  CATALOG_TAGS: Type.Boolean({
    default: false,
    description: 'Whether tags stand behind the descriptions in the prompt',
  }),
  CONTEXT_MAX_TOKENS: Type.Integer({
    minimum: 1000,
    default: 150_000,
    description: 'Of all that one model call is sent; conversations are compacted to it',
  }),
  WORKSPACE_DIR: Type.Optional(
    Type.String({ description: 'Offers bash and file tools, in a folder for each conversation' }),
  ),
  BASH_TIMEOUT_MS: Milliseconds(120_000, 'For one command'),
  TOOLS_ALLOW_HOSTS: Type.Optional(
    Type.String({
      description: 'Hosts, with a port or without, that tools may reach besides public addresses',
    }),
  ),
  MCP_COMMANDS: Type.Boolean({
    default: false,
    description: 'Whether MCP servers may be run as commands',
  }),
  WELL_KNOWN: Type.Optional(
    Type.Enum(['public', 'keys', 'off'], {
      description:
        'Who may discover skills at /.well-known/…: anybody, or with a key; by default public with AUTH=open, else keys',
    }),
  ),
  HOOKS: Type.Optional(Type.String({ description: 'Paths of hook modules, by commas' })),
  HOOK_URLS: Type.Optional(Type.String({ description: 'URLs of webhooks, by commas' })),
  HOOK_SECRET: Type.Optional(Type.String({ description: 'What webhooks are signed with' })),
  MAX_SKILL_BYTES: Bytes(MEBIBYTE, 'Of a SKILL.md'),
  MAX_FILE_BYTES: Bytes(16 * MEBIBYTE, 'Of one bundled file'),
  MAX_BUNDLE_BYTES: Bytes(64 * MEBIBYTE, 'Of all files of a skill'),
  MAX_BUNDLE_FILES: Type.Integer({ minimum: 1, default: 512, description: 'Files of a skill' }),
  MAX_REQUEST_BYTES: Bytes(32 * MEBIBYTE, 'Of a request body'),
  MAX_IMPORT_BYTES: Bytes(64 * MEBIBYTE, 'Of the archive of an import'),
  MAX_IMPORT_FILES: Type.Integer({
    minimum: 1,
    default: 20_000,
    description: 'Files of an import',
  }),
  MAX_IMPORT_UNPACKED: Bytes(256 * MEBIBYTE, 'Of all files of an import'),
  EMBEDDINGS_URL: Type.Optional(
    Type.String({
      pattern: '^https?://[^/@\\s]+(/\\S*)?$',
      description:
        'An OpenAI-compatible server, with its /v1, for search by meaning; by default words alone',
    }),
  ),
  EMBEDDINGS_MODEL: Type.String({
    default: 'text-embedding-3-small',
    description: 'Its model',
  }),
  EMBEDDINGS_API_KEY: Type.Optional(
    Type.String({ pattern: '^[\\x21-\\x7e]+$', description: 'Its key, if it asks for one' }),
  ),
  SHUTDOWN_GRACE_MS: Milliseconds(20_000, 'For running turns after SIGTERM'),
  MAX_STREAMS: Type.Integer({
    minimum: 1,
    default: 2000,
    description: 'Turns that run at once; more are 503',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(
    Type.String({
      pattern: '^https?://[^/@\\s]+(/\\S*)?$',
      description: 'Where traces are sent (OTLP over HTTP, as JSON, to its /v1/traces)',
    }),
  ),
  OTEL_SERVICE_NAME: Type.String({
    default: 'loadskill',
    description: 'What the service is called in traces',
  }),
  LOG_LEVEL: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
    default: 'info',
    description: 'Reads that succeed are logged at debug',
  }),
})

/** The one reading of the environment. Throws one line that names the setting when it is wrong. */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const set = Object.fromEntries(
    Object.entries(env).filter(([name, value]) => value !== '' || name === 'SKILLS_DIR'),
  )
  const config = Value.Default(Config, readText(Config, Value.Clean(Config, set) as object))
  const [error] = Value.Errors(Config, config)
  if (error) throw new Error(`${error.instancePath.slice(1)} ${error.message}`)
  return config as Config
}

/** What one skill may hold. */
export const bundleLimitsOf = (config: Config): BundleLimits => ({
  skillBytes: config.MAX_SKILL_BYTES,
  fileBytes: config.MAX_FILE_BYTES,
  bundleBytes: config.MAX_BUNDLE_BYTES,
  files: config.MAX_BUNDLE_FILES,
})
