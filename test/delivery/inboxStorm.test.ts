/** Many hosts that start together, and a store that is away: what the inbox holds back, and what it gives up. */
import { describe, expect, test } from 'vitest'
import { ASIDE_MAX } from '../../src/bus/port.ts'
import { done, refuse } from '../../src/vocabulary/fault.ts'
import type { Report } from '../../src/wire/reports.ts'
import { quiet } from '../support/lab.ts'
import { heartbeatOf, inventoryOf, resultOf } from '../support/reports.ts'
import { start, tell } from './inboxLab.ts'

describe('when many hosts start together', () => {
  const hosts = (count: number) => Array.from({ length: count }, (_, n) => `h${n}`)
  const gated = () => {
    const gates: (() => void)[] = []
    const begun: string[] = []
    const take = async (report: Report) => {
      begun.push(`${report.host}/${report.type}`)
      if (report.type === 'Inventory') await new Promise<void>((resolve) => gates.push(resolve))
      return done(null)
    }
    return { gates, begun, take }
  }
  test('INBOX-9 only so many inventories are recorded at a time; heartbeats and results do not wait for them', async () => {
    const { gates, begun, take } = gated()
    const { say } = await start({ take, inventoriesAtOnce: 3, window: 4 })
    await say(...hosts(20).map((host) => tell(inventoryOf(host, 1))))
    expect(begun).toEqual(['h0/Inventory', 'h1/Inventory', 'h2/Inventory'])
    await say(tell(heartbeatOf('h7')), tell(resultOf('h8', 1)))
    expect(begun.slice(3)).toEqual(['h7/Heartbeat', 'h8/OrderResult'])
    gates[1]!()
    await quiet()
    expect(begun.slice(5)).toEqual(['h3/Inventory'])
  })
  test('INBOX-9 beyond what may step aside, inventories are given back to the bus, and heartbeats still do not wait', async () => {
    const { gates, begun, take } = gated()
    const { say, clock } = await start({ take, inventoriesAtOnce: 1, window: 4 })
    await say(...hosts(ASIDE_MAX + 20).map((host) => tell(inventoryOf(host, 1))))
    await say(...hosts(4).map((host) => tell(resultOf(`r${host}`, 1))))
    await quiet(3000)
    expect(begun).toEqual(['h0/Inventory', ...hosts(4).map((host) => `r${host}/OrderResult`)])
    for (let n = 0; n < ASIDE_MAX + 20; n++) {
      await clock.pass(2000)
      gates[n]!()
      await quiet()
    }
    expect(new Set(begun).size).toBe(ASIDE_MAX + 24)
  })
  test('INBOX-9 a stop begins no more of them', async () => {
    const { gates, begun, take } = gated()
    const { say, box, make, taken, clock } = await start({ take, inventoriesAtOnce: 1 })
    await say(...hosts(5).map((host) => tell(inventoryOf(host, 1))))
    const stopped = box.stop()
    gates[0]!()
    await stopped
    expect(begun).toEqual(['h0/Inventory'])
    await make({ take: async (report, id) => (taken.push({ report, id }), done(null)) }).start()
    await clock.pass(5000)
    expect(taken.map(({ id }) => id)).toEqual([1, 2, 3, 4].map((n) => `h${n}/Inventory/1`))
  })
  test('INBOX-9 the wait for a turn is not part of the time that a report has', async () => {
    const { gates, begun, take } = gated()
    const { say, clock, letters, box } = await start({ take, inventoriesAtOnce: 1 })
    await say(...hosts(3).map((host) => tell(inventoryOf(host, 1))))
    for (let n = 0; n < 3; n++) {
      await clock.pass(59_000)
      gates[n]!()
      await quiet()
    }
    expect(begun).toHaveLength(3)
    expect([letters, box.counts()]).toEqual([[], expect.objectContaining({ taken: 3, dead: 0 })])
  })
  test('INBOX-9 a report that failed has its time from its first turn on', async () => {
    let first: (() => void) | null = null
    const take = async (report: Report) => {
      if (report.host === 'h0') await new Promise<void>((resolve) => (first = resolve))
      return report.host === 'h0' ? done(null) : refuse({ kind: 'unavailable', reason: 'no', retryAfterSeconds: 1 })
    }
    const retry = { firstMs: 1000, maxMs: 1000, tries: 100, forMs: 10_000 }
    const { say, clock, letters } = await start({ take, retry, inventoriesAtOnce: 1 })
    await say(tell(inventoryOf('h0', 1)), tell(inventoryOf('h1', 1)))
    await clock.pass(100_000)
    first!()
    await quiet()
    await clock.pass(9000)
    expect(letters).toEqual([])
    await clock.pass(2000)
    expect(letters.map(({ reason }) => reason.split(':')[0])).toEqual(['after 11 tries'])
  })
})

describe('INBOX-10 a store that does not answer at all', () => {
  const unavailable = refuse({ kind: 'unavailable', reason: 'the journal does not answer', retryAfterSeconds: 1 })
  const away = async () => {
    let [answers, takes] = [false, false]
    const world = await start({
      storeAnswers: async () => answers,
      take: async () => (takes ? done(null) : unavailable),
    })
    await world.say(tell(inventoryOf('h1', 1)), tell(resultOf('h1', 1)), tell(heartbeatOf('h2')))
    await world.clock.pass(600_000)
    expect(world.letters).toEqual([])
    const back = (how: { readonly answers: boolean; readonly takes: boolean }) => ({ answers, takes } = how)
    return { ...world, back }
  }
  test('costs no report: all are taken once it is back', async () => {
    const { box, clock, letters, back } = await away()
    back({ answers: true, takes: true })
    await clock.pass(1000)
    expect([letters, box.counts()]).toEqual([[], expect.objectContaining({ taken: 3, dead: 0 })])
  })
  test('does not save what still fails when it is back: each has its time anew, and no more', async () => {
    const { clock, letters, back } = await away()
    back({ answers: true, takes: false })
    await clock.pass(1500)
    expect(letters).toEqual([])
    await clock.pass(5000)
    expect(letters.map(({ reason }) => reason.split(':')[0])).toEqual(Array(3).fill('after 4 tries'))
  })
  test('is asked once by all reports that fail at about the same time', async () => {
    let asked = 0
    const { say, clock } = await start({ storeAnswers: async () => ++asked < 0, take: async () => unavailable })
    await say(...Array.from({ length: 40 }, (_, n) => tell(heartbeatOf(`h${n}`))))
    expect(asked).toBe(1)
    await clock.pass(10_000)
    expect(asked).toBeLessThan(12)
  })
})
