/** SQLite takes 32,766 parameters in a statement. */
const ROWS = 1000

export function* chunks<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let start = 0; start < items.length; start += ROWS) yield items.slice(start, start + ROWS)
}
