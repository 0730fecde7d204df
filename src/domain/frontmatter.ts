import matter from 'gray-matter'
import type { Diagnostics, Place } from './diagnostics.ts'
import { excerpt } from './excerpt.ts'
import type { Block } from './fence.ts'
import { createLocator, type Position } from './position.ts'
import { repairYaml } from './repair.ts'
import { readYaml, type YamlReading } from './yaml.ts'
import { advise, keyOf } from './yaml-advice.ts'
import { EMPTY_MAP, isNothing, kindOf, type YamlEntry, type YamlMap } from './yaml-node.ts'

const MAX_BYTES = 16 * 1024

export interface Frontmatter {
  root: YamlMap
  /** The text that `root` was read from: that of the file, or its repair. */
  yaml: string
  /** Where a top-level key stands; the first line of the block when it stands nowhere. */
  placeOf(field: string): Place
}

/**
 * The only door to gray-matter, which is never left to look for anything. Throws unless there is a
 * mapping; a repeated key is told, and its first value kept.
 */
export function readFrontmatter(block: Block, diagnostics: Diagnostics): Frontmatter {
  const size = new TextEncoder().encode(block.yaml).length
  if (size > MAX_BYTES) {
    const what = `the frontmatter has ${size} bytes, of ${MAX_BYTES} allowed: move text into the body.`
    diagnostics.abort('frontmatter_too_large', what, { line: block.line - 1 }, 413)
  }
  let frontmatter = describe(EMPTY_MAP, block.yaml, block.line)
  // Its search for comments is quadratic in blank lines, so it is shown none of them.
  matter(`---\n${block.yaml}`.replaceAll(/\n\s*/g, '\n'), {
    language: 'yaml',
    delimiters: ['---', '\0'], // the block is cut already, so the end must not be looked for
    engines: {
      yaml: () => {
        frontmatter = readMapping(block, diagnostics)
        return {}
      },
      json: refuseLanguage,
      javascript: refuseLanguage,
    },
  })
  return frontmatter
}

/** Of a file without a block. */
export const NO_FRONTMATTER: Frontmatter = {
  root: EMPTY_MAP,
  yaml: '',
  placeOf: (field) => ({ field, line: 1 }),
}

function refuseLanguage(): never {
  throw new Error('Only YAML is read.')
}

function readMapping(block: Block, diagnostics: Diagnostics): Frontmatter {
  let { yaml } = block
  let reading = readYaml(yaml)
  const repaired = diagnostics.lenient && isRepairable(reading) ? repairYaml(yaml) : undefined
  if (repaired) {
    const lines = yaml.split('\n')
    for (const { line, advice } of repaired.repairs) {
      const field = lines
        .slice(0, line + 1)
        .map(keyOf)
        .findLast((key) => key !== undefined)
      diagnostics.warn('frontmatter_yaml', advice, {
        ...(field && { field }),
        line: block.line + line,
      })
    }
    yaml = repaired.yaml
    reading = readYaml(yaml)
  }
  if (reading.faults.length > 0) refuseFaults(reading, yaml, block.line, diagnostics)

  const { root = EMPTY_MAP, repeats } = reading
  if (root.kind !== 'map' && !isNothing(root)) {
    const what = `the frontmatter is ${kindOf(root)}: write lines of "key: value".`
    diagnostics.abort('frontmatter_not_mapping', what, { line: block.line })
  }
  if (repeats.length > 0) tellRepeats(repeats, yaml, block.line, diagnostics)
  return describe(root.kind === 'map' ? root : EMPTY_MAP, yaml, block.line)
}

const isRepairable = ({ faults }: YamlReading): boolean =>
  faults.length > 0 &&
  faults.every(({ code, reason }) => code === 'frontmatter_yaml' && !BEYOND_REPAIR.has(reason))

const BEYOND_REPAIR = new Set(['DIRECTIVE', 'MULTIPLE_DOCS'])

const MAX_TOLD = 20

/** One fault for each key: what follows the first one is mostly its echo. */
function refuseFaults(
  { faults }: YamlReading,
  yaml: string,
  line: number,
  diagnostics: Diagnostics,
) {
  const locate = createLocator(yaml, line)
  const lines = yaml.split('\n')
  const told = new Set<string>()
  for (const fault of faults.slice(0, 10 * MAX_TOLD)) {
    const place = locate(fault.offset)
    const about = `${fault.code} ${place.field}`
    if (told.has(about) || told.size === MAX_TOLD) continue
    told.add(about)
    diagnostics.refuse(fault.code, advise(fault, lines[place.line - line] ?? ''), place)
  }
  diagnostics.throwIfRefused()
}

function tellRepeats(
  repeats: readonly YamlEntry[],
  yaml: string,
  line: number,
  diagnostics: Diagnostics,
) {
  const locate = createLocator(yaml, line)
  for (const { key, start } of repeats.slice(0, MAX_TOLD)) {
    const kept = diagnostics.lenient ? ' The first value was kept.' : ''
    const what = `the key ${excerpt(key)} stands here again: keep one of them.${kept}`
    diagnostics.rescue('frontmatter_duplicate_key', what, locate(start))
  }
}

function describe(root: YamlMap, yaml: string, line: number): Frontmatter {
  let locate: ((offset: number) => Position) | undefined
  const placeOf = (field: string): Place => {
    const entry = root.entries.find(({ key }) => key === field)
    if (!entry) return { field, line: Math.max(1, line - 1) }
    locate ??= createLocator(yaml, line)
    return { ...locate(entry.start), field }
  }
  return { root, yaml, placeOf }
}
