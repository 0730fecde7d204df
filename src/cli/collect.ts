/** Tells of all that came; also when a failure ends it early, unless that was at once. */
export async function collect<Item>(
  items: AsyncIterable<Item>,
  tell: (all: readonly Item[]) => void,
): Promise<Item[]> {
  const all: Item[] = []
  try {
    for await (const item of items) all.push(item)
  } catch (error) {
    if (all.length > 0) tell(all)
    throw error
  }
  tell(all)
  return all
}
