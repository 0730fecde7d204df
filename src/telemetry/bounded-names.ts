const MOST = 100

/**
 * Names as they may stand in a label: the first hundred that come, and `other` for the rest, for
 * every name is kept in memory for as long as the process runs.
 */
export function boundedNames(most = MOST) {
  const known = new Set<string>()
  return (name: string): string => {
    if (known.has(name)) return name
    if (known.size >= most) return 'other'
    known.add(name)
    return name
  }
}
