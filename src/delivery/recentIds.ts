/** Recently seen ids: a bounded number for each key, and a bounded number of keys; the oldest are forgotten first. */
export type Recent = {
  readonly has: (key: string, id: string) => boolean
  readonly add: (key: string, id: string) => void
}

const trim = (kept: Set<string> | Map<string, unknown>, max: number): void => {
  for (const oldest of kept.keys()) {
    if (kept.size <= max) return
    kept.delete(oldest)
  }
}

export const recent = (idsMax: number, keysMax: number): Recent => {
  const byKey = new Map<string, Set<string>>()
  return {
    has: (key, id) => byKey.get(key)?.has(id) ?? false,
    add: (key, id) => {
      const ids = byKey.get(key) ?? new Set()
      byKey.delete(key)
      byKey.set(key, ids.add(id))
      trim(ids, idsMax)
      trim(byKey, keysMax)
    },
  }
}
