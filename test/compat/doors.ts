import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import type { TestContext } from 'node:test'
import { buildTestApp, get, type TestApp } from '../build-app.ts'
import { runCli } from '../cli/run-cli.ts'
import { tempFolder } from '../temp-folder.ts'
import { type Files, NAME, type Version } from './odd-skill.ts'

/** A service of its own, on a port, with a watched folder. */
export interface Service {
  t: TestContext
  app: TestApp
  url: string
  /** A folder of the test, beside the watched one. */
  folder: string
  watched: string
}

/** Where skills come in. */
export interface WriteDoor {
  name: string
  /** Stores the skill, or its next version where it is there; throws where that is refused. */
  write(service: Service, files: Files): Promise<unknown>
  /** Whether its versions become the current one at once. */
  activates: boolean
  /** Whether it sends the base names of files alone. */
  flattens?: boolean
  /** Its own way to another current version; without one it is that of the native API. */
  makeCurrent?(service: Service, version: number): Promise<unknown>
}

/** Where skills are read. */
export interface ReadDoor {
  name: string
  /** Which version it shows; with `each` the one it is asked for. */
  shows: 'current' | 'latest' | 'each'
  read(service: Service, version: number): Promise<Partial<Version>>
}

export async function openService(t: TestContext): Promise<Service> {
  const folder = await tempFolder(t)
  const watched = join(folder, 'skills')
  await mkdir(watched)
  const app = await buildTestApp(t, { env: { SKILLS_DIR: watched } })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  return { t, app, url, folder, watched }
}

/** A new folder of the test. */
export const newFolder = ({ folder }: Service) => mkdtemp(join(folder, 'new-'))

/** Runs a command against the service; throws unless it ends well. */
export async function loadskill({ t, url }: Service, ...args: string[]) {
  const { code, stdout, stderr } = await runCli(t, args, { env: { LOADSKILL_URL: url } })
  assert.equal(code, 0, stdout + stderr)
}

/** The id of the skill; undefined while there is none. */
export async function findId({ app }: Service): Promise<string | undefined> {
  const response = await get(app, `/skills/${NAME}`)
  return response.statusCode === 404 ? undefined : response.json().id
}

export async function idOf(service: Service): Promise<string> {
  const id = await findId(service)
  assert.ok(id, 'the skill is there')
  return id
}

interface VersionRecord {
  id: string
  version: number
}

export async function versionsOf({ app }: Service): Promise<VersionRecord[]> {
  return (await get(app, `/skills/${NAME}/versions`)).json().data
}

/** Files that came with the name of the skill as their one top folder. */
export function withoutFolder(files: Record<string, Uint8Array>): Files {
  const entries = Object.entries(files).map(([path, bytes]) => {
    assert.ok(path.startsWith(`${NAME}/`), path)
    return [path.slice(NAME.length + 1), Buffer.from(bytes)]
  })
  return Object.fromEntries(entries)
}

export async function filesIn(folder: string): Promise<Files> {
  const files: Files = {}
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue
    const path = join(entry.parentPath, entry.name)
    files[relative(folder, path).replaceAll(sep, '/')] = await readFile(path)
  }
  return files
}
