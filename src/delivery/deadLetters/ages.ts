/** Items in the order of their times; of equal times, in the order in which they were added. */
export type Ages<Item> = {
  readonly add: (item: Item, time: number) => void
  /** `time`: the one with which it was added. */
  readonly remove: (item: Item, time: number) => void
  readonly oldest: () => { readonly item: Item; readonly time: number } | null
  /** The oldest first. */
  readonly all: () => readonly Item[]
}

export const createAges = <Item>(): Ages<Item> => {
  const entries: { readonly item: Item; readonly time: number }[] = []
  /** The number of entries of which the time is less than `time`, or also equal to it. */
  const before = (time: number, orEqual: boolean): number => {
    let [from, to] = [0, entries.length]
    while (from < to) {
      const middle = (from + to) >> 1
      const at = entries[middle]!.time
      if (at < time || (orEqual && at === time)) from = middle + 1
      else to = middle
    }
    return from
  }
  return {
    add: (item, time) => void entries.splice(before(time, true), 0, { item, time }),
    remove: (item, time) => {
      for (let index = before(time, false); index < entries.length && entries[index]!.time === time; index++)
        if (entries[index]!.item === item) return void entries.splice(index, 1)
    },
    oldest: () => entries[0] ?? null,
    all: () => entries.map(({ item }) => item),
  }
}
