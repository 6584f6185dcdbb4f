/** Work of one name in turn, of different names at once. A name nobody waits for costs nothing. */
export const lanes = (): (<Value>(name: string, work: () => Promise<Value>) => Promise<Value>) => {
  const last = new Map<string, Promise<unknown>>()
  return async (name, work) => {
    const before = last.get(name)
    const mine = before === undefined ? work() : before.then(work, work)
    last.set(name, mine)
    try {
      return await mine
    } finally {
      if (last.get(name) === mine) last.delete(name)
    }
  }
}
