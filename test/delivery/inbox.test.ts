import { describe, expect, test, vi } from 'vitest'
import { done, refuse } from '../../src/vocabulary/fault.ts'
import { inventoryDigest } from '../../src/wire/message.ts'
import { quiet } from '../support/lab.ts'
import { heartbeatOf, inventoryOf, resultOf, SLOT } from '../support/reports.ts'
import { start, tell } from './inboxLab.ts'
import type { Report } from '../../src/wire/reports.ts'

const OTHER_SLOT = SLOT.replace(/.$/, '9')

test('each report is taken, with its message id, in order per host and kind', async () => {
  const { taken, say, box } = await start()
  await say(
    tell(inventoryOf('h1', 1)),
    tell(heartbeatOf('h1')),
    tell(resultOf('h1', 3)),
    tell(inventoryOf('h1', 2)),
    tell(inventoryOf('h2', 1)),
  )
  expect(taken.map(({ id }) => id).toSorted()).toEqual([
    'h1/Heartbeat/0',
    'h1/Inventory/1',
    'h1/Inventory/2',
    'h1/OrderResult/3',
    'h2/Inventory/1',
  ])
  expect(taken.find(({ id }) => id === 'h1/OrderResult/3')!.report).toEqual(resultOf('h1', 3))
  expect(box.counts()).toEqual({ unchanged: 0, taken: 5, repeated: 0, retried: 0, dead: 0 })
})

describe('INBOX-1 an unchanged picture', () => {
  const known = inventoryDigest(inventoryOf('h1', 1))
  test('is told by its headers alone: the body is never parsed', async () => {
    const seen: unknown[] = []
    const { say, taken, box, letters } = await start({
      unchanged: (sighting) => seen.push(sighting) > 0 && sighting.digest === known,
    })
    const parse = vi.spyOn(JSON, 'parse')
    const record = { ...tell(inventoryOf('h1', 5)), value: 'this is no JSON at all' }
    await say(record)
    expect(parse).not.toHaveBeenCalled()
    parse.mockRestore()
    expect(seen).toEqual([
      { host: 'h1', boot: inventoryOf('h1', 1).bootId, number: 5, observedAt: 1005, digest: known, slots: null },
    ])
    expect([taken, letters]).toEqual([[], []])
    expect(box.counts().unchanged).toBe(1)
  })
  test('that the control side does not know, or cannot look up, is taken whole', async () => {
    const { say, taken } = await start({
      unchanged: async ({ number }) => {
        if (number === 2) throw new Error('no database')
        return false
      },
    })
    await say(tell(inventoryOf('h1', 1)), tell(inventoryOf('h1', 2)))
    expect(taken.map(({ id }) => id)).toEqual(['h1/Inventory/1', 'h1/Inventory/2'])
  })
  test('waits for the changed one before it', async () => {
    const order: string[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    const { say } = await start({
      unchanged: ({ number }) => order.push(`asked ${number}`) > 1 && number === 2,
      take: async () => {
        await promise
        order.push('taken')
        return done(null)
      },
    })
    await say(tell(inventoryOf('h1', 1)), tell(inventoryOf('h1', 2)))
    resolve()
    await quiet()
    expect(order).toEqual(['asked 1', 'taken', 'asked 2'])
  })
})

describe('INBOX-2 dead letters', () => {
  test('what cannot be read goes there with the reason, and the stream goes on', async () => {
    const { say, taken, letters, box } = await start()
    const bad = tell(resultOf('h1', 1))
    const { slot: _, ...slotless } = resultOf('h1', 1)
    const envelope = JSON.parse(bad.value)
    await say(
      { ...bad, value: '{' },
      { ...bad, value: JSON.stringify({ ...envelope, data: slotless }) },
      { ...bad, headers: {}, value: 'x'.repeat(100_000) },
      tell(resultOf('h1', 2)),
    )
    expect(letters.map(({ reason }) => reason)).toEqual([
      'message: must be JSON',
      expect.stringMatching(/^data\.slot: /),
      'message: must be JSON',
    ])
    expect(letters[0]).toMatchObject({ topic: 'host.reports.v1', key: 'h1', value: '{' })
    expect(letters[2]!.value).toHaveLength(64 * 1024)
    expect(taken).toHaveLength(1)
    expect(box.counts()).toMatchObject({ taken: 1, dead: 3 })
  })
  test('what is refused for good goes there without another try', async () => {
    let tries = 0
    const { say, letters } = await start({
      take: async () => {
        tries++
        return refuse({ kind: 'conflict', reason: 'no such deployable' })
      },
    })
    await say(tell(resultOf('h1', 1)))
    expect([tries, letters[0]!.reason]).toEqual([1, 'conflict: {"reason":"no such deployable"}'])
  })
  test('as long as the dead letters take nothing, the message is not done with', async () => {
    const { bus, box, make, letters, clock } = await start()
    await box.stop()
    let away = 2
    const shaky = make({
      bus: {
        consume: bus.consume,
        publish: (batch) => (away-- > 0 ? Promise.reject(new Error('away')) : bus.publish(batch)),
      },
    })
    await shaky.start()
    await bus.publish([{ ...tell(resultOf('h1', 1)), value: '{' }])
    await clock.pass(5000)
    expect([letters.length, bus.lag('host.reports.v1', 'control')]).toEqual([1, 0])
  })
})

describe('INBOX-3 another try', () => {
  const busyFor = (count: number, taken: string[]) => {
    let left = count
    return async (report: Report, id: string) => {
      taken.push(id)
      if (report.type !== 'OrderResult' || report.slot !== SLOT || left-- <= 0) return done(null)
      if (left % 2 === 0) throw new Error('connection lost')
      return refuse({ kind: 'unavailable', reason: 'busy', retryAfterSeconds: 1 })
    }
  }
  test('what finds nobody home is tried again; other slots and hosts go on, its own slot waits', async () => {
    const tries: string[] = []
    const { say, clock, letters, box } = await start({ take: busyFor(2, tries) })
    await say(
      tell(resultOf('h1', 1)),
      tell(resultOf('h1', 2)),
      tell(resultOf('h1', 1, { slot: OTHER_SLOT }), 'other'),
      tell(inventoryOf('h1', 1)),
    )
    expect(tries).toEqual(['h1/OrderResult/1', 'other', 'h1/Inventory/1'])
    await clock.pass(100)
    expect(tries).toHaveLength(4)
    await clock.pass(200)
    expect(tries.slice(4)).toEqual(['h1/OrderResult/1', 'h1/OrderResult/2'])
    expect([letters, box.counts()]).toEqual([[], { unchanged: 0, taken: 4, repeated: 0, retried: 2, dead: 0 }])
  })
  test('a bounded number of times, then it is a dead letter', async () => {
    const tries: string[] = []
    const { say, clock, letters } = await start({ take: busyFor(100, tries) })
    await say(tell(resultOf('h1', 1)))
    await clock.pass(60_000)
    expect(tries).toHaveLength(4)
    expect(letters.map(({ reason }) => reason)).toEqual([expect.stringMatching(/^after 4 tries: /)])
  })
  test('INBOX-5 a stop ends the waiting at once and leaves the message to the next inbox', async () => {
    const tries: string[] = []
    const { say, box, make, clock, taken } = await start({ take: busyFor(100, tries) })
    await say(tell(resultOf('h1', 1)))
    await box.stop()
    expect(tries).toHaveLength(1)
    await make({ take: async (report, id) => (taken.push({ report, id }), done(null)) }).start()
    await clock.pass(5000)
    expect(taken.map(({ id }) => id)).toEqual(['h1/OrderResult/1'])
  })
})

describe('INBOX-6 no host waits for another', () => {
  const unavailable = refuse({ kind: 'unavailable', reason: 'not now', retryAfterSeconds: 1 })
  const bad = (report: Report) => report.host === 'bad'
  const slotOf = (number: number) => `6a1c7f0e-54f1-4e33-8d6b-${String(number).padStart(12, '0')}`
  const failingFor = (isBad: (report: Report) => boolean, taken: string[], tries: string[]) => ({
    take: async (report: Report, id: string) => {
      if (isBad(report)) return tries.push(id) > 0 ? unavailable : done(null)
      taken.push(id)
      return done(null)
    },
  })
  test('as many reports of others as come are taken while one waits for its next try', async () => {
    const [taken, tries]: [string[], string[]] = [[], []]
    const { say, box } = await start({ window: 4, ...failingFor(bad, taken, tries) })
    await say(tell(inventoryOf('bad', 1)), tell(inventoryOf('bad', 2)), tell(inventoryOf('bad', 3)))
    for (let round = 1; round <= 20; round++)
      await say(...Array.from({ length: 20 }, (_, host) => tell(inventoryOf(`good${host}`, round))))
    expect([taken.length, tries]).toEqual([400, ['bad/Inventory/1']])
    expect(box.counts()).toMatchObject({ taken: 400, dead: 0 })
  })
  test('a host with more such reports than may step aside keeps back only its own', async () => {
    const [taken, tries]: [string[], string[]] = [[], []]
    const { say, clock, letters } = await start({ window: 4, ...failingFor(bad, taken, tries) })
    const slots = Array.from({ length: 100 }, (_, slot) => resultOf('bad', 1, { slot: slotOf(slot) }))
    await say(...slots.map((result) => tell(result, `bad/${result.slot}`)))
    await say(...Array.from({ length: 50 }, (_, host) => tell(inventoryOf(`good${host}`, 1))))
    expect(taken).toHaveLength(50)
    expect(new Set(tries).size).toBeLessThanOrEqual(36)
    // each of them has its tries, and is a dead letter then
    await clock.pass(60_000)
    expect(letters).toHaveLength(100)
  })
  test('what waits behind a report is not tried for longer than one report may be', async () => {
    const [taken, tries]: [string[], string[]] = [[], []]
    const retry = { firstMs: 1000, maxMs: 1000, tries: 10, forMs: 10_000 }
    const { say, clock, letters } = await start({ retry, ...failingFor(bad, taken, tries) })
    await say(...[1, 2, 3, 4, 5].map((number) => tell(inventoryOf('bad', number))))
    await clock.pass(10_100)
    expect(letters.map(({ reason }) => reason.split(':')[0])).toEqual([
      'after 10 tries',
      'after 2 tries',
      'after 1 try',
      'after 1 try',
      'after 1 try',
    ])
  })
  test('what the database can never take is a dead letter at once, and once, however often the host repeats it', async () => {
    const tries: string[] = []
    const { say, letters, box } = await start({
      take: async (_, id) => {
        tries.push(id)
        return refuse({ kind: 'invalid', field: 'deployables.num_accelerators', rule: 'must be a whole number' })
      },
    })
    await say(tell(inventoryOf('bad', 1)), tell(inventoryOf('bad', 2)), tell(inventoryOf('bad', 3)))
    expect(tries).toEqual(['bad/Inventory/1'])
    expect(letters.map(({ reason }) => reason)).toEqual(['deployables.num_accelerators: must be a whole number'])
    expect(box.counts()).toEqual({ unchanged: 0, taken: 0, repeated: 2, retried: 0, dead: 1 })
    await say(tell(inventoryOf('bad', 4, { version: '0.2.0', aliases: ['other'] })))
    expect(tries).toEqual(['bad/Inventory/1', 'bad/Inventory/4'])
  })
  test('a store that refuses a read for good is not asked again for the same message', async () => {
    const { say, letters, box } = await start({ take: async () => refuse({ kind: 'broken', reason: 'no such table' }) })
    await say(tell(resultOf('h1', 1)))
    expect([letters.length, box.counts().retried]).toEqual([1, 0])
  })
})

describe('once', () => {
  test('a message that comes again is not taken again; the same content under another id is', async () => {
    const { say, taken, box } = await start()
    const record = tell(resultOf('h1', 1))
    await say(record, record)
    await say(record)
    await say(tell(resultOf('h1', 1), 'another'))
    expect(taken.map(({ id }) => id)).toEqual(['h1/OrderResult/1', 'another'])
    expect(box.counts().repeated).toBe(2)
  })
  test('the memory of ids is bounded per host', async () => {
    const { say, taken } = await start()
    await say(tell(resultOf('h1', 1), 'first'))
    for (let number = 2; number < 80; number++) await say(tell(resultOf('h1', number)))
    await say(tell(resultOf('h1', 1), 'first'))
    expect(taken.filter(({ id }) => id === 'first')).toHaveLength(2)
  })
})
