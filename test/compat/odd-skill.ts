import { createHash } from 'node:crypto'
import { posix } from 'node:path'

export const NAME = 'odd-ones'

export type Files = Record<string, Buffer>

/** A version of the skill, or what a door shows of it. */
export interface Version {
  version: number
  files: Files
  description: string
  /** With the line breaks of Unix, and without the blanks at its end. */
  body: string
  digest: string
}

export type Versions = readonly [first: Version, second: Version]

const FIRST = 'Größen: of 名前 & <odd> things. Use when odd ones come.'
const SECOND = 'Mehr Größen – of odd things. Use when odd ones come again.'

const skillMd = (description: string, body: string) =>
  `---\nname: ${NAME}\ndescription: "${description}"\n---\n${body}`

const BOM = '\ufeff'
const BODY = '\n# Größe \u{1f44b}\n\nRun it: \t the script\n\n'

/** What text modes, archives, forms and file systems like to change. */
export const VERSIONS: Versions = [
  toVersion(1, FIRST, {
    'SKILL.md': Buffer.from(BOM + skillMd(FIRST, BODY).replaceAll('\n', '\r\n')),
    'assets/deep/er/logo.bin': Buffer.from([0, 0xff, 13, 10, 0xfe, 0x1a, 0x80, 10, 13]),
    'references/Größe 名 (a).md': Buffer.from('# Ä\r\n\u{1f44b} no line break'),
    'scripts/run.sh': Buffer.from('#!/bin/sh\necho "$1"\n'),
    'bom.csv': Buffer.from(`${BOM}a;b\r\n`),
    'empty.txt': Buffer.of(),
  }),
  toVersion(2, SECOND, {
    'SKILL.md': Buffer.from(skillMd(SECOND, 'Mixed\r\nline breaks\nand no last one')),
    'assets/deep/er/logo.bin': Buffer.from([0xff, 0xfe, 0, 0]),
    'references/Größe 名 (a).md': Buffer.from('# Ö\n'),
    'references/über.md': Buffer.from('A new one.\n'),
    'scripts/run.sh': Buffer.from('#!/bin/sh\r\necho "$2"\r\n'),
  }),
]

/** As they are when the folders are lost. */
export const flatten = ([first, second]: Versions): Versions => [flat(first), flat(second)]

const flat = ({ version, description, files }: Version) => {
  const entries = Object.entries(files).map(([path, bytes]) => [posix.basename(path), bytes])
  return toVersion(version, description, Object.fromEntries(entries))
}

function toVersion(version: number, description: string, files: Files): Version {
  const [, body = ''] = String(files['SKILL.md']).replaceAll('\r\n', '\n').split('\n---\n')
  return { version, files, description, body: body.trim(), digest: digestOf(files) }
}

/** That of the manifest, as sha256sum prints it. */
function digestOf(files: Files): string {
  const manifest = Object.entries(files)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, bytes]) => `${sha256(bytes)}  ${path}\n`)
  return `sha256:${sha256(manifest.join(''))}`
}

function sha256(data: Buffer | string): string {
  return createHash('sha256').update(data).digest('hex')
}
