/** No event is missed by a stream that is about to wait for one. */
import { expect, test } from 'vitest'
import type { Pages } from '../../src/delivery/events/pages.ts'
import type { Stream } from '../../src/delivery/events/stream.ts'
import { quiet } from '../support/lab.ts'
import { earlier, entryAt, openStream, placeOf } from './streamLab.ts'

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

/** More than a stream needs until it waits; all later turns are alike. */
const TURNS = 40
test('a stream that has nothing to send waits after half of the turns that are tried', async () => {
  const { stream, clock } = openStream()
  await sentBy(stream)
  expect(clock.pending()).toBe(1)
  void stream.next()
  expect(clock.pending()).toBe(0)
  for (let n = 0; n < TURNS / 2; n++) await Promise.resolve()
  expect(clock.pending()).toBe(1)
  stream.close('stopping')
})
test.each(Array.from({ length: TURNS }, (_, turns) => turns))(
  'an event that comes %i turns after it was waited for is sent without any time passing',
  async (turns) => {
    const { stream, add } = openStream()
    expect(await sentBy(stream)).toMatchObject([{ kind: 'beat' }])
    const sent = await sentBy(stream, async () => {
      for (let n = 0; n < turns; n++) await Promise.resolve()
      add(entryAt(1))
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
  const { stream, add } = openStream({}, { after, isWholeAfter: async () => true }, placeOf(3))
  expect(await sentBy(stream)).toMatchObject([{ kind: 'beat' }])
  for (const n of rows) expect(await sentBy(stream)).toEqual([eventsOf(n)])
  expect(await sentBy(stream, async () => add(entryAt(4)))).toEqual([eventsOf(4)])
  stream.close('stopping')
})
