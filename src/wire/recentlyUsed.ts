/** A map of limited size: what was used longest ago gives way. */
export type RecentlyUsed<Value> = {
  readonly get: (key: string) => Value | undefined
  readonly set: (key: string, value: Value) => void
}

export const createRecentlyUsed = <Value>(max: number): RecentlyUsed<Value> => {
  const known = new Map<string, Value>()
  const set = (key: string, value: Value): void => {
    known.delete(key)
    known.set(key, value)
    if (known.size > max) known.delete(known.keys().next().value!)
  }
  const get = (key: string): Value | undefined => {
    const value = known.get(key)
    if (value !== undefined) set(key, value)
    return value
  }
  return { get, set }
}
