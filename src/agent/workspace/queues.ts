/** Queues, by a key: what has the same one runs one after the other, in the order of asking. */
export function createQueues() {
  const ends = new Map<string, Promise<unknown>>()

  return {
    inTurn<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
      const result = (ends.get(key) ?? Promise.resolve()).then(work)
      const end = result
        .catch(() => undefined)
        .then(() => {
          if (ends.get(key) === end) ends.delete(key)
        })
      ends.set(key, end)
      return result
    },

    /** Resolves once every queue is empty. */
    async settled(): Promise<void> {
      while (ends.size > 0) await Promise.all(ends.values())
    },
  }
}

export type InTurn = ReturnType<typeof createQueues>['inTurn']
