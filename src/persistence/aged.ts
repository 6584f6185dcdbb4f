/**
 * Judges how old journal rows are, by the order of their commits. Each row is dated by the clock of the process that
 * wrote it, and such a clock may be wrong. Pure.
 *
 * AGED-1 the dates of the longest series of rows that never goes back count. A row that is dated out of this order,
 *    into the future or the past, is as old as the next row that counts, so it neither holds up those behind it nor
 *    goes before its time.
 */

/** Processes write at the same time, so the dates of neighbours may go back a little. */
const APART_MS = 300_000

/** The indexes of a longest series of dates that never goes back. */
const inOrder = (dates: readonly number[]): ReadonlySet<number> => {
  /** The last index of the best series of each length, and the index before each one in its series. */
  const [ends, former]: readonly [number[], number[]] = [[], []]
  for (const [index, at] of dates.entries()) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (dates[ends[middle]!]! <= at) low = middle + 1
      else high = middle
    }
    former[index] = ends[low - 1] ?? -1
    ends[low] = index
  }
  const found = new Set<number>()
  for (let index = ends.at(-1) ?? -1; index >= 0; index = former[index]!) found.add(index)
  return found
}

/** How many of the rows, in the order of their commits, are older than `before`, from the first one on. */
export const agedCount = (dates: readonly number[], before: number): number => {
  const counting = inOrder(dates)
  let [count, last] = [0, Number.NaN]
  for (const [index, at] of dates.entries()) {
    if (!counting.has(index) && !(Math.abs(at - last) <= APART_MS)) continue
    if (at >= before) break
    if (counting.has(index)) last = at
    count = index + 1
  }
  return count
}
