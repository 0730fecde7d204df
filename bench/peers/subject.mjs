import { ANSWER } from './scene.mjs'

/** `node subject.mjs NAME URL`: runs turns when its parent says so, and tells what they cost. */
const [name, url] = process.argv.slice(2)
const { turn } = await import(`./${name}.mjs`)

process.on('message', async ({ turns, atOnce }) => {
  const before = process.cpuUsage()
  for (let left = turns; left > 0; left -= atOnce) {
    const answers = await Promise.all(
      Array.from({ length: Math.min(left, atOnce) }, () => turn(url)),
    )
    for (const answer of answers) {
      if (answer !== ANSWER) throw new Error(`${name} answered ${JSON.stringify(answer)}`)
    }
  }
  const { user, system } = process.cpuUsage(before)
  process.send({ cpuMs: (user + system) / 1000 })
})
process.send('ready')
