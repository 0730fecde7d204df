import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/client'
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills'
import { unzipSync } from 'fflate'
import { Parser } from 'tar'
import { chat } from '../build-app.ts'
import {
  filesIn,
  loadskill,
  newFolder,
  type ReadDoor,
  type Service,
  withoutFolder,
} from './doors.ts'
import { callTool, connectMcp } from './mcp-wire.ts'
import { type Files, NAME, type Version } from './odd-skill.ts'
import { vendorReadDoors } from './vendor-read-doors.ts'
import { get, NEWER, OLDER, sha256, skillsOf } from './well-known-wire.ts'

const ONE = `/api/v1/skills/${NAME}`

async function bytesAt({ app }: Service, url: string): Promise<Buffer> {
  const response = await get(app, url)
  assert.equal(response.statusCode, 200, `${url}: ${response.body}`)
  return response.rawPayload
}

const encodePath = (path: string) => path.split('/').map(encodeURIComponent).join('/')

async function untar(tgz: Buffer): Promise<Files> {
  const files: [path: string, bytes: Promise<Buffer>][] = []
  const parser = new Parser({
    strict: true,
    onReadEntry: (entry) => files.push([entry.path, entry.concat()]),
  })
  const ended = once(parser, 'end')
  parser.end(tgz)
  await ended
  const read = files.map(async ([path, bytes]) => [path, await bytes])
  return Object.fromEntries(await Promise.all(read))
}

/** A skill or a version with its files, one by one. */
async function readNative(service: Service, at: string): Promise<Version> {
  const { version, description, body, digest, files } = JSON.parse(
    (await bytesAt(service, at)).toString(),
  )
  const read: Files = { 'SKILL.md': await bytesAt(service, `${at}/content`) }
  for (const { path } of files) {
    read[path] = await bytesAt(service, `${at}/files/${encodePath(path)}`)
  }
  return { version, description, body: body.trimEnd(), digest, files: read }
}

async function readArchive(service: Service, at: string, format: 'zip' | 'tgz') {
  const bytes = await bytesAt(service, `${at}?format=${format}`)
  const files = format === 'zip' ? unzipSync(new Uint8Array(bytes)) : await untar(bytes)
  return { files: withoutFolder(files) }
}

async function readResources({ t, app }: Service) {
  const skills = new SkillsClient(await connectMcp(t, app))
  const [skill, ...others] = (await skills.list()).skills
  assert.ok(skill && skill.resources !== 'dynamic' && others.length === 0)
  const files: Files = {}
  for (const { uri } of skill.resources) {
    const path = uri.slice(`skill://${NAME}/`.length)
    const { bytes, verified } = await skills.read(skill, path)
    assert.ok(verified)
    files[decodeURIComponent(path)] = Buffer.from(bytes)
  }
  return { files, description: String(skill.frontmatter.description) }
}

async function readFolders({ t, app }: Service) {
  const client = await connectMcp(t, app)
  const skills = new SkillsClient(client)
  const root = `skill://${NAME}`
  const files: Files = {}
  const folders = [root]
  for (const folder of folders) {
    for (const { uri, mimeType } of (await skills.readDirectory(folder)).resources) {
      if (mimeType === 'inode/directory') folders.push(uri)
      else files[decodeURIComponent(uri.slice(root.length + 1))] = await readResource(client, uri)
    }
  }
  return { files }
}

async function readResource(client: Client, uri: string): Promise<Buffer> {
  const [content] = (await client.readResource({ uri })).contents
  assert.ok(content)
  return 'text' in content ? Buffer.from(content.text) : Buffer.from(content.blob, 'base64')
}

const WRAPPED = /^<skill name="odd-ones" version="(\d+)">\n([\s\S]*)\n<\/skill>\n\nFiles of/

async function loadByTool({ t, app }: Service) {
  const { text } = await callTool(await connectMcp(t, app), 'load_skill', { name: NAME })
  const [, version, body = ''] = WRAPPED.exec(text) ?? []
  return { version: Number(version), body }
}

async function discover(service: Service) {
  const [entry] = await skillsOf(service.app, `${NEWER}/index.json`)
  assert.ok(entry && entry.type === 'archive')
  const archive = await bytesAt(service, entry.url)
  assert.equal(sha256(archive), entry.digest)
  return { description: entry.description, files: await untar(archive) }
}

async function discoverFiles(service: Service) {
  const index = JSON.parse((await bytesAt(service, `${OLDER}/index.json`)).toString())
  const [{ description, files: paths }] = index.skills
  const files: Files = {}
  for (const path of paths) {
    files[path] = await bytesAt(service, `${OLDER}/${NAME}/${encodePath(path)}`)
  }
  return { description, files }
}

async function pull(service: Service, ...options: string[]) {
  const folder = await newFolder(service)
  await loadskill(service, 'pull', ...options, NAME, folder)
  return { files: await filesIn(join(folder, NAME)) }
}

/** What a turn says that it put before the model. */
async function talk({ app }: Service) {
  const turn = (await chat(app, { message: `Please use ${NAME}.` })).json()
  const [loaded] = turn.receipt.loaded
  const { version, digest } = loaded
  return { version, digest }
}

const EXPORT = '/api/v1/export'
const ofVersion = (version: number) => `${ONE}/versions/${version}`

export const readDoors: readonly ReadDoor[] = [
  { name: 'native files', shows: 'current', read: (service) => readNative(service, ONE) },
  ...(['zip', 'tgz'] as const).flatMap((format): ReadDoor[] => [
    {
      name: `a native ${format}`,
      shows: 'current',
      read: (service) => readArchive(service, `${ONE}/archive`, format),
    },
    {
      name: `a native ${format} of a version`,
      shows: 'each',
      read: (service, version) => readArchive(service, `${ofVersion(version)}/archive`, format),
    },
    {
      name: `an export as ${format}`,
      shows: 'current',
      read: (service) => readArchive(service, EXPORT, format),
    },
  ]),
  {
    name: 'native files of a version',
    shows: 'each',
    read: (service, version) => readNative(service, ofVersion(version)),
  },
  ...vendorReadDoors,
  { name: 'resources of MCP', shows: 'current', read: readResources },
  { name: 'folders of MCP', shows: 'current', read: readFolders },
  { name: 'the MCP tool load_skill', shows: 'current', read: loadByTool },
  { name: 'discovery 0.2.0', shows: 'current', read: discover },
  { name: 'discovery 0.1.0', shows: 'current', read: discoverFiles },
  { name: 'the command line', shows: 'current', read: (service) => pull(service) },
  {
    name: 'the command line, of a version',
    shows: 'each',
    read: (service, version) => pull(service, '--number', String(version)),
  },
  { name: 'a chat', shows: 'current', read: talk },
]
