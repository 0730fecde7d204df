import assert from 'node:assert/strict'
import { chmod, rename } from 'node:fs/promises'
import { join } from 'node:path'
import Anthropic, { toFile } from '@anthropic-ai/sdk'
import Anthropic71, { toFile as toFile71 } from 'anthropic-sdk-0-71'
import Anthropic96, { toFile as toFile96 } from 'anthropic-sdk-0-96'
import { type Zippable, zipSync } from 'fflate'
import { get } from '../build-app.ts'
import { writeFiles } from '../cli/run-cli.ts'
import { type Response, send } from '../requests.ts'
import { until } from '../run-service.ts'
import { waysOf } from '../upload.ts'
import { findId, idOf, loadskill, newFolder, type Service, type WriteDoor } from './doors.ts'
import { callTool, connectMcp } from './mcp-wire.ts'
import { type Files, NAME } from './odd-skill.ts'
import { openaiFor, openais } from './openai-versions.ts'

const inFolder = (files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([path, bytes]) => [`${NAME}/${path}`, bytes]))

const isScript = (path: string) => path.endsWith('.sh')

/** As zip makes it of a folder whose scripts can be run. */
function makeZip(files: Files): Buffer {
  const entries: Zippable = {}
  for (const [path, bytes] of Object.entries(inFolder(files))) {
    const mode = isScript(path) ? 0o100755 : 0o100644
    entries[path] = [new Uint8Array(bytes), { os: 3, attrs: mode * 2 ** 16 }]
  }
  return Buffer.from(zipSync(entries))
}

async function writeFolder(folder: string, files: Files) {
  await writeFiles(folder, files)
  for (const path of Object.keys(files).filter(isScript)) await chmod(join(folder, path), 0o755)
}

const ONE = `/skills/${NAME}`

interface Sent {
  payload: Buffer | object
  headers?: Record<string, string>
}

/** POST for the first version, and PUT for others. */
const native = (name: string, toSent: (files: Files) => Sent): WriteDoor => ({
  name: `the native API as ${name}`,
  activates: true,
  async write(service, files) {
    const isNew = (await findId(service)) === undefined
    const [method, path] = isNew ? (['POST', '/skills'] as const) : (['PUT', ONE] as const)
    assertDone(await send(service.app, method, path, toSent(files)), isNew ? 201 : 200)
  },
})

function assertDone({ statusCode, body }: Response, status: number) {
  assert.equal(statusCode, status, body)
}

/** SKILL.md as text, and the other files in base64. */
function toParts({ 'SKILL.md': skillMd = Buffer.of(), ...others }: Files) {
  const files = Object.entries(others).map(([path, bytes]) => {
    const content = bytes.toString('base64')
    return { path, content, encoding: 'base64' }
  })
  return { content: skillMd.toString(), files }
}

const FORMS = ['zip', 'files'] as const
type Form = (typeof FORMS)[number]

/** As files with their paths, or as one file that is a zip. */
const makeUploads = <Made>(
  files: Files,
  form: Form,
  toUpload: (bytes: Buffer, name: string) => Promise<Made>,
) => {
  const sent = form === 'zip' ? { [`${NAME}.zip`]: makeZip(files) } : inFolder(files)
  return Promise.all(Object.entries(sent).map(([name, bytes]) => toUpload(bytes, name)))
}

const anthropic = (way: 'skills' | 'beta.skills'): WriteDoor => ({
  name: `client.${way} of the package of Anthropic`,
  activates: true,
  async write(service, files) {
    const client = new Anthropic({ apiKey: 'any', baseURL: service.url })
    const skills = way === 'skills' ? client.skills : client.beta.skills
    const id = await findId(service)
    const upload = {
      files: await makeUploads(files, 'files', toFile),
      ...(way === 'beta.skills' && { betas: ['skills-2025-10-02'] }),
    }
    if (id === undefined) await skills.create({ ...upload, display_name: 'Odd ones' })
    else await skills.versions.create(id, upload)
  },
})

/** Used in the same way, with types of their own; the older one loses the folders of files. */
const olders: [
  version: string,
  form: Form,
  Client: typeof Anthropic71,
  toOldFile: typeof toFile71,
][] = [
  ['0.71', 'files', Anthropic71, toFile71],
  ['0.96', 'zip', Object(Anthropic96), Object(toFile96)],
]

const olderAnthropic = olders.map(
  ([version, form, Client, toOldFile]): WriteDoor => ({
    name: `the package of Anthropic ${version}, as ${form}`,
    activates: true,
    flattens: form === 'files',
    async write(service, files) {
      const { skills } = new Client({ apiKey: 'any', baseURL: service.url }).beta
      const id = await findId(service)
      const upload = { files: await makeUploads(files, form, toOldFile) }
      if (id === undefined) await skills.create(upload)
      else await skills.versions.create(id, upload)
    },
  }),
)

/** A zip becomes the default version as it comes in, and files once they are told to. */
const openaiDoors = openais.flatMap((openai) =>
  FORMS.map((form): WriteDoor => {
    const activates = form === 'zip'
    return {
      name: `the package openai ${openai.version}, as ${form}`,
      activates,
      flattens: form === 'files' && openai.flattens,
      async write(service, files) {
        const { skills } = openaiFor(openai, service)
        const id = await findId(service)
        const uploads = await makeUploads(files, form, openai.toUpload)
        const [zip] = uploads
        const upload = { files: form === 'zip' && zip ? zip : uploads }
        if (id === undefined) await skills.create(upload)
        else await skills.versions.create(id, { ...upload, ...(activates && { default: true }) })
      },
      makeCurrent: async (service, number) =>
        openaiFor(openai, service).skills.update(await idOf(service), {
          default_version: String(number),
        }),
    }
  }),
)

async function addByTool({ t, app }: Service, files: Files) {
  const client = await connectMcp(t, app)
  const { text, isError } = await callTool(client, 'add_skill', {
    ...toParts(files),
    replace: true,
  })
  assert.ok(!isError, text)
}

/** Moves a whole folder in, so that no half of it is ever seen. */
async function putIntoFolder(service: Service, files: Files) {
  const place = join(service.watched, NAME)
  const made = await newFolder(service)
  await writeFolder(made, files)
  const before = await get(service.app, ONE)
  const version = before.statusCode === 200 ? before.json().latest_version : 0
  if (version > 0) await rename(place, join(await newFolder(service), 'gone'))
  await rename(made, place)
  await until(async () => {
    const { latest_version: latest, enabled } = (await get(service.app, ONE)).json()
    return latest === version + 1 && enabled
  })
}

async function push(service: Service, files: Files) {
  const folder = join(await newFolder(service), NAME)
  await writeFolder(folder, files)
  await loadskill(service, 'push', folder)
}

async function importOne({ app }: Service, files: Files) {
  const response = await send(app, 'POST', '/skills/import', waysOf(inFolder(files)).tgz)
  assertDone(response, 200)
  assert.equal(response.json().failed, 0, response.body)
}

export const writeDoors: readonly WriteDoor[] = [
  native('JSON', (files) => ({ payload: toParts(files) })),
  native('a tar.gz', (files) => waysOf(inFolder(files)).tgz),
  native('a form', (files) => waysOf(files).form),
  anthropic('skills'),
  anthropic('beta.skills'),
  ...olderAnthropic,
  ...openaiDoors,
  { name: 'the MCP tool add_skill', activates: true, write: addByTool },
  { name: 'the watched folder', activates: true, write: putIntoFolder },
  {
    name: 'the command line',
    activates: true,
    write: push,
    makeCurrent: (service, version) => loadskill(service, 'rollback', NAME, String(version)),
  },
  { name: 'an import', activates: true, write: importOne },
]
