import assert from 'node:assert/strict'
import Anthropic from '@anthropic-ai/sdk'
import Anthropic96 from 'anthropic-sdk-0-96'
import { unzipSync } from 'fflate'
import { idOf, type ReadDoor, type Service, versionsOf, withoutFolder } from './doors.ts'
import { NAME } from './odd-skill.ts'
import { openaiFor, openais } from './openai-versions.ts'

const unzip = async (content: { arrayBuffer(): Promise<ArrayBuffer> }) =>
  withoutFolder(unzipSync(new Uint8Array(await content.arrayBuffer())))

async function numberOf(service: Service, id: string | null): Promise<number> {
  return (await versionsOf(service)).find((version) => version.id === id)?.version ?? 0
}

const anthropicFor = ({ url }: Service) => new Anthropic({ apiKey: 'any', baseURL: url })
const olderAnthropicFor = ({ url }: Service) =>
  new Anthropic96({ apiKey: 'any', baseURL: url }).beta

async function readAnthropic(service: Service) {
  const { skills, beta } = anthropicFor(service)
  const id = await idOf(service)
  const { latest_version_id } = await skills.retrieve(id)
  const latest = await skills.versions.retrieve('latest', { skill_id: id })
  assert.deepEqual([latest.id, latest.name], [latest_version_id, NAME])
  const files = await unzip(await beta.skills.versions.download('latest', { skill_id: id }))
  return { version: await numberOf(service, latest.id), description: latest.description, files }
}

/** By its id; the older package asks for it by its epoch. */
async function readAnthropicVersion(service: Service, number: number) {
  const { versions } = anthropicFor(service).beta.skills
  const at = { skill_id: await idOf(service) }
  const { id = '' } = (await versionsOf(service)).find(({ version }) => version === number) ?? {}
  const { description } = await versions.retrieve(id, at)
  const older = olderAnthropicFor(service).skills.versions
  const { version: epoch } = await older.retrieve(id, at)
  const { id: again } = await older.retrieve(epoch, at)
  const files = await unzip(await versions.download(epoch, at))
  return { version: await numberOf(service, again), description, files }
}

async function readAnthropicBeta(service: Service) {
  const { skills } = olderAnthropicFor(service)
  const id = await idOf(service)
  const { latest_version } = await skills.retrieve(id)
  const latest = await skills.versions.retrieve('latest', { skill_id: id })
  assert.deepEqual([latest.version, latest.directory], [latest_version, NAME])
  const { id: version, description } = latest
  return { version: await numberOf(service, version), description }
}

const openaiDoors = openais.flatMap((openai): ReadDoor[] => [
  {
    name: `the package openai ${openai.version}`,
    shows: 'current',
    async read(service) {
      const { skills } = openaiFor(openai, service)
      const id = await idOf(service)
      const { default_version, description } = await skills.retrieve(id)
      const files = await unzip(await skills.content.retrieve(id))
      return { version: Number(default_version), description, files }
    },
  },
  {
    name: `the newest version by the package openai ${openai.version}`,
    shows: 'latest',
    async read(service) {
      const id = await idOf(service)
      return {
        version: Number((await openaiFor(openai, service).skills.retrieve(id)).latest_version),
      }
    },
  },
  {
    name: `a version by the package openai ${openai.version}`,
    shows: 'each',
    async read(service, number) {
      const { versions } = openaiFor(openai, service).skills
      const at = { skill_id: await idOf(service) }
      const found = await versions.retrieve(String(number), at)
      const files = await unzip(await versions.content.retrieve(String(number), at))
      return { version: Number(found.version), description: found.description, files }
    },
  },
])

/** The packages of those whose APIs the service speaks. */
export const vendorReadDoors: readonly ReadDoor[] = [
  { name: 'the package of Anthropic', shows: 'latest', read: readAnthropic },
  { name: 'the package of Anthropic 0.96', shows: 'latest', read: readAnthropicBeta },
  { name: 'a version by the package of Anthropic', shows: 'each', read: readAnthropicVersion },
  ...openaiDoors,
]
