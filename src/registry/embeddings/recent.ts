/** What was put in last, or asked for last; the rest is forgotten. */
export interface Recent<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  remove(key: string): void
}

export function createRecent<Value>(limit: number): Recent<Value> {
  const values = new Map<string, Value>()
  const set = (key: string, value: Value) => {
    values.delete(key)
    values.set(key, value)
    const [oldest] = values.keys()
    if (values.size > limit && oldest !== undefined) values.delete(oldest)
  }
  return {
    set,
    remove: (key) => void values.delete(key),
    get(key) {
      const value = values.get(key)
      if (value !== undefined) set(key, value)
      return value
    },
  }
}
