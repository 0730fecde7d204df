/** Keeps what was used last, as long as all of it together fits into `limit` bytes. */
export function createArchiveCache(limit: number) {
  const kept = new Map<string, Buffer>()
  let size = 0

  function forget(key: string): void {
    size -= kept.get(key)?.length ?? 0
    kept.delete(key)
  }

  return async (key: string, make: () => Promise<Buffer>): Promise<Buffer> => {
    const bytes = kept.get(key) ?? (await make())
    forget(key)
    if (bytes.length > limit) return bytes
    // A map hands its keys out in the order in which they were put in.
    kept.set(key, bytes)
    size += bytes.length
    for (const oldest of kept.keys()) {
      if (size <= limit) break
      forget(oldest)
    }
    return bytes
  }
}
