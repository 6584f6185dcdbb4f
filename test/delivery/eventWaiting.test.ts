/** No event is missed by a stream that is about to wait for one. */
import { expect, test } from 'vitest'
import type { Entry } from '../../src/delivery/events/entries.ts'
import { DEFAULTS, type Settings } from '../../src/delivery/events/options.ts'
import type { Pages } from '../../src/delivery/events/pages.ts'
import { BEGINNING, type EventPosition, earlierBy } from '../../src/delivery/events/position.ts'
import type { Reader } from '../../src/delivery/events/reader.ts'
import { Ring } from '../../src/delivery/events/ring.ts'
import { Stream } from '../../src/delivery/events/stream.ts'
import { silent } from '../../src/log.ts'
import { handClock, quiet } from '../support/lab.ts'

const earlier = earlierBy({ isBefore: (one, other) => Number(one) < Number(other) })

const placeOf = (n: number) => ({ position: `${n}`, count: 1, id: `${n}-1-aaaaaaaaaaaa` })
const entryAt = (n: number) => ({ place: placeOf(n), subject: `a${n}`, bytes: 10 }) as unknown as Entry

/** A stream that begins at the first position, and a ring that begins at `floor`. The clock stands still. */
const open = (floor: EventPosition, pages: Partial<Pages> = {}) => {
  const listeners = new Set<() => void>()
  const ring = new Ring(floor, 1000, earlier)
  const reader = {
    ring,
    generation: 0,
    onMoved: (listener: () => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  } as unknown as Reader
  const settings = { ...DEFAULTS, clock: handClock(), log: silent } as unknown as Settings
  const stream = new Stream(
    {
      settings,
      reader,
      pages: { earlier, ...pages } as unknown as Pages,
      inTurn: (work) => work(),
      shows: ({ subject }: Entry) => ({ id: subject, type: 't', text: '{}' }),
      identifyAgain: async () => null,
    },
    { place: BEGINNING, rest: [], lost: null },
  )
  const add = (n: number) => {
    ring.add([entryAt(n)], placeOf(n))
    for (const listener of listeners) listener()
  }
  return { stream, add }
}
/** What the stream has sent as soon as everything was done that needs no time. */
const sentBy = async (stream: Stream, meanwhile: () => Promise<void> = async () => {}) => {
  const sent: unknown[] = []
  void stream.next().then((portion) => sent.push(portion))
  await meanwhile()
  await quiet()
  return sent
}
const eventsOf = (...ns: readonly number[]) => ({
  kind: 'events',
  events: ns.map((n) => ({ id: `a${n}`, type: 't', text: '{}' })),
})

test.each(Array.from({ length: 40 }, (_, turns) => turns))(
  'an event that comes %i turns after it was waited for is sent without any time passing',
  async (turns) => {
    const { stream, add } = open(BEGINNING)
    expect(await sentBy(stream)).toMatchObject([{ kind: 'beat' }])
    const sent = await sentBy(stream, async () => {
      for (let n = 0; n < turns; n++) await Promise.resolve()
      add(1)
    })
    expect(sent).toEqual([eventsOf(1)])
    stream.close('stopping')
  },
)

test('events of the journal are sent without any time passing where the ring has never held one', async () => {
  const rows = [1, 2, 3]
  const after: Pages['after'] = async (place) => {
    const next = rows.find((n) => earlier(place, placeOf(n)))!
    return { entries: [entryAt(next)], end: placeOf(next), last: next === 3 }
  }
  const { stream, add } = open(placeOf(3), { after, isWholeAfter: async () => true })
  expect(await sentBy(stream)).toMatchObject([{ kind: 'beat' }])
  for (const n of rows) expect(await sentBy(stream)).toEqual([eventsOf(n)])
  expect(await sentBy(stream, async () => add(4))).toEqual([eventsOf(4)])
  stream.close('stopping')
})
