import { parseDocument } from 'yaml'
import { Diagnostics } from '../src/domain/diagnostics.ts'
import { parseSkillMd } from '../src/domain/skill-md.ts'

const FRONTMATTER = `name: code-review
description: Reviews a change for bugs, regressions and missing tests. Use when somebody asks for a review of a diff, a branch or a pull request.
license: MIT
compatibility: Needs git.
allowed-tools: Read, Grep, Bash(git diff:*), Bash(git log:*)
tags: [quality, review]
metadata:
  author: someone
  version: "1.10"
  team:
    lead: somebody else
argument-hint: "[branch]"
`
const LINE =
  '- Read every changed file whole, not only the lines of the diff, and say what you did not read.\n'
const HEAD = `---\n${FRONTMATTER}---\n\n# Steps\n\n`
const FILE = HEAD + LINE.repeat(Math.round((6 * 1024 - HEAD.length) / LINE.length))

const ROUNDS = 31
const TIMES = 300

function measure(run: () => unknown): number {
  const start = process.hrtime.bigint()
  for (let time = 0; time < TIMES; time++) run()
  return Number(process.hrtime.bigint() - start) / TIMES / 1000
}

const bytes = new TextEncoder().encode(FILE)
const ours = () => parseSkillMd(bytes, new Diagnostics('SKILL.md'))
const yamlAlone = () => parseDocument(FRONTMATTER).toJS()

const rounds = Array.from({ length: ROUNDS }, () => {
  const base = measure(yamlAlone)
  const parse = measure(ours)
  return { base, parse, ratio: parse / base }
}).slice(1)

const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

const line = {
  bytes: bytes.length,
  parse_us: Math.round(median(rounds.map(({ parse }) => parse))),
  yaml_us: Math.round(median(rounds.map(({ base }) => base))),
  ratio: Number(median(rounds.map(({ ratio }) => ratio)).toFixed(2)),
  target: 2.5,
}
process.stdout.write(`${JSON.stringify(line)}\n`)
