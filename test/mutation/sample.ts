/**
 * Which mutants are judged: each room gets its share of the wanted count, and what to take next is drawn from a seed.
 */
import { random } from '../kill/random.ts'
import type { Mutant } from './mutants.ts'

export type Stratum = {
  readonly room: string
  /** So many are to be judged; less when there are not so many. */
  readonly wanted: number
  /** In the order in which they are to be taken. Those that do not count are replaced by the next. */
  readonly queue: readonly Mutant[]
}

/** `src/clock.ts` is of the vocabulary, as in the table of rooms. */
export const roomOf = (path: string): string => /^src\/([^/]+)\//.exec(path)?.[1] ?? 'vocabulary'

const LEAST = 3
/** In proportion to their sizes, but no room without any, and never more than there are. */
const shares = (sizes: readonly number[], count: number): readonly number[] => {
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const wanted = sizes.map((size) => Math.min(size, Math.max(LEAST, Math.floor((size / total) * count))))
  const spare = () => count - wanted.reduce((sum, one) => sum + one, 0)
  const bySize = sizes.map((_, at) => at).toSorted((a, b) => sizes[b]! - sizes[a]!)
  while (spare() > 0 && wanted.some((one, at) => one < sizes[at]!))
    for (const at of bySize) if (spare() > 0 && wanted[at]! < sizes[at]!) wanted[at]!++
  while (spare() < 0) wanted[wanted.indexOf(Math.max(...wanted))]!--
  return wanted
}

/** The probability of a kind grows with the square root of its number, so that rare kinds occur in a small sample. */
const drawn = (mutants: readonly Mutant[], seed: number): readonly Mutant[] => {
  const chance = random(seed)
  const kinds = [...Map.groupBy(mutants, ({ kind }) => kind).values()].map((all) => ({
    weight: Math.sqrt(all.length),
    left: [...all],
  }))
  const queue: Mutant[] = []
  for (let open = kinds; open.length > 0; open = open.filter(({ left }) => left.length > 0)) {
    let at = chance.next() * open.reduce((sum, { weight }) => sum + weight, 0)
    const { left } = open.find(({ weight }) => (at -= weight) < 0) ?? open.at(-1)!
    queue.push(...left.splice(chance.between(0, left.length - 1), 1))
  }
  return queue
}

export const strataOf = (mutants: readonly Mutant[], count: number, seed: number): readonly Stratum[] => {
  const rooms = [...Map.groupBy(mutants, ({ path }) => roomOf(path))].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const wanted = shares(
    rooms.map(([, all]) => all.length),
    count,
  )
  return rooms.map(([room, all], at) => ({ room, wanted: wanted[at]!, queue: drawn(all, seed + at) }))
}
