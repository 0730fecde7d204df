import { createHash } from 'node:crypto'

const LONGEST = 128

/**
 * The name a model sees, `mcp__SERVER__TOOL`: letters that are not safe are replaced and what is too
 * long is cut, and then a hash of the tool's own name keeps it apart, as it does from a `taken` one.
 */
export function safeName(server: string, tool: string, taken: ReadonlySet<string>): string {
  const prefix = `mcp__${server}__`
  const plain = prefix + tool.replaceAll(/[^a-zA-Z0-9_-]/g, '_')
  if (plain === prefix + tool && plain.length <= LONGEST && !taken.has(plain)) return plain
  for (let round = 0; ; round++) {
    const hash = createHash('sha256').update(`${round}${tool}`).digest('hex').slice(0, 8)
    const name = `${plain.slice(0, LONGEST - 9)}_${hash}`
    if (!taken.has(name)) return name
  }
}
