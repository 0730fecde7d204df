import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { patch } from '../requests.ts'
import { openService, type ReadDoor, type Service, versionsOf } from './doors.ts'
import { flatten, NAME, VERSIONS, type Version } from './odd-skill.ts'
import { readDoors } from './read-doors.ts'
import { writeDoors } from './write-doors.ts'

suite('a skill is read back identically through every door', { concurrency: 2 }, () => {
  for (const { name, write, activates, flattens, makeCurrent = patchCurrent } of writeDoors) {
    test(`when it comes in by ${name}`, async (t) => {
      const service = await openService(t)
      const [first, second] = flattens ? flatten(VERSIONS) : VERSIONS
      await write(service, VERSIONS[0].files)
      await assertShown(service, { current: first, latest: first })

      await write(service, VERSIONS[1].files)
      if (!activates) {
        await assertShown(service, { current: first, latest: second })
        await makeCurrent(service, 2)
      }
      await assertShown(service, { current: second, latest: second })

      await makeCurrent(service, 1)
      await assertShown(service, { current: first, latest: second })
      const numbers = (await versionsOf(service)).map(({ version }) => version)
      assert.deepEqual(numbers, [2, 1])
      for (const each of [first, second]) await assertShown(service, { each })
    })
  }
})

async function patchCurrent({ app }: Service, version: number) {
  const { statusCode, body } = await patch(app, NAME, { current_version: version })
  assert.equal(statusCode, 200, body)
}

/** Every door is asked at once; the first in the list that shows something else is told. */
async function assertShown(
  service: Service,
  expected: Partial<Record<ReadDoor['shows'], Version>>,
) {
  const asked = readDoors.flatMap(({ name, shows, read }) => {
    const version = expected[shows]
    return version ? [{ name, version, seen: read(service, version.version) }] : []
  })
  await Promise.allSettled(asked.map(({ seen }) => seen))
  for (const { name, version, seen } of asked) {
    const shown = await seen.catch((cause) => {
      throw new Error(`Nothing comes by ${name}: ${cause}`, { cause })
    })
    assertSame(name, shown, version)
  }
}

/** A door may show less than there is of a version, but not nothing. */
function assertSame(door: string, seen: Partial<Version>, expected: Version) {
  const compared = new Set(Object.keys(seen))
  assert.ok(compared.size > 0, door)
  const known = Object.entries(expected).filter(([key]) => compared.has(key))
  assert.deepEqual({ door, ...seen }, { door, ...Object.fromEntries(known) })
}
