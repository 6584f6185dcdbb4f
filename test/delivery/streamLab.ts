/** A stream of events over a ring and pages that a test fills, and the entries in them. */
import type { IdentifyAgain } from '../../src/actors/events.ts'
import type { Entry } from '../../src/delivery/events/entries.ts'
import { DEFAULTS } from '../../src/delivery/events/options.ts'
import type { Pages } from '../../src/delivery/events/pages.ts'
import { BEGINNING, type EventPosition, earlierBy } from '../../src/delivery/events/position.ts'
import { Ring } from '../../src/delivery/events/ring.ts'
import { type From, Stream } from '../../src/delivery/events/stream.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { watchedClock } from '../support/kafkaLab.ts'

export const earlier = earlierBy({ isBefore: (one, other) => Number(one) < Number(other) })
export const placeOf = (n: number): EventPosition => ({ position: `${n}`, count: 1, id: `${n}-1-aaaaaaaaaaaa` })
export const entryAt = (n: number, bytes = 10): Entry => ({
  place: placeOf(n),
  kind: 'arq',
  subject: `a${n}`,
  type: 't',
  hosts: [],
  instances: [],
  project: null,
  request: null,
  whole: { id: `a${n}`, type: 't', text: '{}' },
  forProject: null,
  user: null,
  forUser: null,
  bytes,
})

const never = <Value>(): Promise<Value> => new Promise(() => undefined)

/** Begins at the first position, with a ring that begins at `floor`; entry 0 is not shown to its caller. */
export const openStream = (from: Partial<From> = {}, pages: Partial<Pages> = {}, floor = BEGINNING) => {
  const clock = watchedClock()
  const ring = new Ring(floor, 1e9, earlier)
  const listeners = new Set<() => void>()
  const onMoved = (listener: () => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  const identified: number[] = []
  const way: { ending: Awaited<ReturnType<IdentifyAgain>> } = { ending: null }
  const began = clock.monotonic()
  const stream = new Stream(
    {
      settings: { ...DEFAULTS, clock, log: silent, random: () => 0 },
      reader: { ring, generation: 0, onMoved },
      pages: { earlier, oldest: never, after: never, isWholeAfter: never, ...pages },
      inTurn: (work) => work(),
      audience: null,
      shows: ({ subject, whole }) => (subject === 'a0' ? null : whole),
      identifyAgain: async () => {
        identified.push(clock.monotonic() - began)
        return way.ending
      },
    },
    { place: BEGINNING, rest: [], lost: null, ...from },
  )
  /** Adds entries to the ring and tells the stream of them. */
  const add = (...entries: readonly Entry[]): void => {
    ring.add(entries, entries.at(-1)!.place)
    for (const listener of listeners) listener()
  }
  return { clock, ring, stream, identified, way, add }
}
