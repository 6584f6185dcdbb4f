/** Which row of a list a key leads to. Pure. */

/** `at`: the index of the row with the focus; -1: no row has it, and the first or last one gets it. */
export const nextRow = (at: number, by: 1 | -1, count: number): number => {
  if (at < 0) return by > 0 ? 0 : count - 1
  return Math.min(Math.max(at + by, 0), count - 1)
}
