/** INBOX, report by report: which step aside, how often and for how long each is tried, and what is remembered. */
import { describe, expect, test } from 'vitest'
import type { ConsumeOptions } from '../../src/bus/port.ts'
import { type InboxOptions, inbox } from '../../src/delivery/inbox.ts'
import { done, refuse } from '../../src/fault.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'
import { heartbeatOf, inventoryOf, resultOf } from '../support/reports.ts'
import { tell } from './inboxLab.ts'

const UNAVAILABLE = refuse({ kind: 'unavailable', reason: 'busy', retryAfterSeconds: 1 })
const slotOf = (n: number) => `6a1c7f0e-54f1-4e33-8d6b-${String(n).padStart(12, '0')}`

/** An inbox with a bus that hands over what the test says. */
const open = async (options: Partial<InboxOptions> = {}, storing: Promise<void> = Promise.resolve()) => {
  const clock = handClock()
  const began = clock.monotonic()
  const letters: string[] = []
  const taking: ConsumeOptions['take'][] = []
  const stopped = Promise.withResolvers<void>()
  const box = inbox({
    bus: {
      consume: async ({ take }) => {
        taking.push(take)
        return { stop: () => stopped.promise }
      },
      publish: async (batch) => {
        await storing
        letters.push(...batch.map(({ value }) => JSON.parse(value).data.reason))
      },
    },
    clock,
    log: memoryLog(),
    unchanged: () => false,
    take: async () => done(null),
    ...options,
  })
  await box.start()
  let offset = 0
  /** `asides`: how often it has asked to step aside. */
  const give = (record: BusRecord, mayStepAside = true) => {
    const given = { asides: 0, end: null as string | null }
    const stepAside = () => {
      given.asides++
      return mayStepAside
    }
    void taking[0]!({ ...record, partition: 0, offset: offset++ }, stepAside).then(
      () => (given.end = 'taken'),
      (error: Error) => (given.end = error.message),
    )
    return given
  }
  const since = () => clock.monotonic() - began
  return { clock, box, letters, give, since, busStopped: stopped.resolve }
}
/** Each report that is taken waits until the test lets it go. */
const gated = () => {
  const gates: (() => void)[] = []
  const take: InboxOptions['take'] = async () => {
    await new Promise<void>((resolve) => gates.push(resolve))
    return done(null)
  }
  return { gates, take }
}

describe('a report steps aside', () => {
  test('INBOX-9 when sixteen inventories are in hand, and not before; and again not when they have ended', async () => {
    const { gates, take } = gated()
    const { give } = await open({ take })
    const first = Array.from({ length: 16 }, (_, n) => give(tell(inventoryOf(`h${n}`, 1))))
    await quiet()
    const later = [give(tell(inventoryOf('late', 1))), give(tell(inventoryOf('no place', 1)), false)]
    await quiet()
    expect([gates.length, first.map(({ asides }) => asides), later]).toEqual([
      16,
      Array(16).fill(0),
      [
        { asides: 1, end: null },
        { asides: 1, end: 'too many inventories wait for their turn' },
      ],
    ])
    while (gates.length > 0) {
      gates.shift()!()
      await quiet()
    }
    expect([...first, later[0]!].map(({ end }) => end)).toEqual(Array(17).fill('taken'))
    const last = give(tell(inventoryOf('last', 1)))
    await quiet()
    expect([gates.length, last.asides]).toEqual([1, 0])
  })
  test('INBOX-4 when it waits for another of its host and kind, or of its slot, and for no other', async () => {
    const { gates, take } = gated()
    const { give } = await open({ take })
    const given = [
      heartbeatOf('h1'),
      heartbeatOf('h2'),
      resultOf('h1', 1, { slot: slotOf(1) }),
      resultOf('h1', 1, { slot: slotOf(2) }),
      inventoryOf('h1', 1, { ledger: 'new' }),
      inventoryOf('h2', 1),
    ].map((report, n) => give(tell(report, `first ${n}`)))
    await quiet()
    expect([gates.length, given.map(({ asides }) => asides)]).toEqual([6, [0, 0, 0, 0, 0, 0]])
    const behind = [
      heartbeatOf('h1'),
      resultOf('h1', 2, { slot: slotOf(2) }),
      inventoryOf('h1', 2, { ledger: 'new' }),
      inventoryOf('h2', 2),
    ].map((report, n) => give(tell(report, `second ${n}`)))
    await quiet()
    expect([gates.length, behind.map(({ asides }) => asides)]).toEqual([6, [1, 1, 1, 1]])
  })
  test('INBOX-6 once, however often it is tried, and at most 32 of one host at a time', async () => {
    let fails = true
    const { give, clock, box } = await open({ take: async () => (fails ? UNAVAILABLE : done(null)) })
    const giveOf = (day: string) =>
      Array.from({ length: 33 }, (_, n) => give(tell(resultOf('h1', 1, { slot: slotOf(n) }), `${day} ${n}`)))
    const given = giveOf('one')
    await clock.pass(10_000)
    const waiting = [
      ...Array.from({ length: 32 }, () => ({ asides: 1, end: null })),
      { asides: 0, end: '32 reports of h1 wait already' },
    ]
    expect(given).toEqual(waiting)
    const other = give(tell(resultOf('h2', 1)))
    await quiet()
    expect(other).toEqual({ asides: 1, end: null })
    fails = false
    await clock.pass(2000)
    expect([given[0], other, box.counts().taken]).toEqual([
      { asides: 1, end: 'taken' },
      { asides: 1, end: 'taken' },
      33,
    ])
    // those have made room
    fails = true
    const again = giveOf('two')
    await quiet()
    expect(again).toEqual(waiting)
  })
})

describe('INBOX-3 without options', () => {
  const GIVEN_UP = 'after 2 tries: unavailable: {"reason":"busy","retryAfterSeconds":1}'
  test('a report is tried thirty times, at moments that grow apart to two seconds', async () => {
    const tries: number[] = []
    const { give, clock, since, letters } = await open({
      take: async () => {
        tries.push(since())
        return UNAVAILABLE
      },
    })
    give(tell(resultOf('h1', 1)))
    await clock.pass(100_000)
    const pauses = tries.slice(1).map((at, n) => at - tries[n]!)
    expect(pauses).toEqual([50, 100, 200, 400, 800, 1600, ...Array(23).fill(2000)])
    expect(letters).toEqual(['after 30 tries: unavailable: {"reason":"busy","retryAfterSeconds":1}'])
  })
  test.each([
    ['whose second try fails 60 s after the first began is given up', 60_000, [GIVEN_UP]],
    ['whose second try fails a millisecond earlier is not given up yet', 59_999, []],
  ])('a report %s', async (_, ms, given) => {
    let tries = 0
    const { give, clock, letters } = await open({
      take: async () => {
        // the second try begins 50 ms after the end of the first
        if (++tries === 1) await new Promise<void>((resolve) => void clock.after(ms - 50, resolve))
        return UNAVAILABLE
      },
    })
    give(tell(resultOf('h1', 1)))
    await clock.pass(ms)
    expect([tries, letters]).toEqual([2, given])
  })
  test('the store is asked at most once in a second whether it answers', async () => {
    const asked: number[] = []
    const { give, clock, since } = await open({
      take: async () => UNAVAILABLE,
      storeAnswers: async () => {
        asked.push(since())
        return true
      },
      retry: { firstMs: 500, maxMs: 500, tries: 100, forMs: 60_000 },
    })
    give(tell(resultOf('h1', 1)))
    await clock.pass(3400)
    expect(asked).toEqual([0, 1000, 2000, 3000])
  })
})

describe('what is remembered', () => {
  test('of each host the ids of its last 64 results', async () => {
    const { give, box } = await open()
    const id = async (n: number) => {
      give(tell(resultOf('h1', n), `${n}`))
      await quiet(2)
      return box.counts().repeated
    }
    for (let n = 1; n <= 64; n++) await id(n)
    expect([await id(1), await id(65), await id(2), await id(1)]).toEqual([1, 1, 2, 2])
  })
  test('of 4096 hosts', async () => {
    const { give, box } = await open()
    const hosts = async (...numbers: readonly number[]) => {
      for (const n of numbers) give(tell(resultOf(`h${n}`, 1)))
      await quiet()
      return box.counts().repeated
    }
    await hosts(...Array.from({ length: 4096 }, (_, n) => n))
    expect(await hosts(0)).toBe(1)
    await hosts(4096)
    expect([await hosts(1), await hosts(0)]).toEqual([2, 2])
  })
  test('no inventory that could not be recorded for another reason than its content', async () => {
    const tries: string[] = []
    const { give, clock, letters, box } = await open({
      take: async (_, id) => {
        tries.push(id)
        throw new Error('lost')
      },
      retry: { firstMs: 1, maxMs: 1, tries: 1, forMs: 1000 },
    })
    for (const number of [1, 2]) {
      give(tell(inventoryOf('h1', number)))
      await clock.pass(10)
    }
    expect([tries, letters, box.counts().repeated]).toEqual([
      ['h1/Inventory/1', 'h1/Inventory/2'],
      ['after 1 try: lost', 'after 1 try: lost'],
      0,
    ])
  })
})

test('INBOX-5 a report that is refused for good has ended when its dead letter is stored', async () => {
  const stored = Promise.withResolvers<void>()
  const { give, letters } = await open({ take: async () => refuse({ kind: 'forbidden', rule: 'no' }) }, stored.promise)
  const given = give(tell(resultOf('h1', 1)))
  await quiet()
  expect([given.end, letters]).toEqual([null, []])
  stored.resolve()
  await quiet()
  expect([given.end, letters]).toEqual(['taken', ['no']])
})
test('a stop has ended when the bus has stopped handing over', async () => {
  const { box, busStopped } = await open()
  let ended = false
  const stopping = box.stop().then(() => (ended = true))
  await quiet()
  expect(ended).toBe(false)
  busStopped()
  await stopping
})
