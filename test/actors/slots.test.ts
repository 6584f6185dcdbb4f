/**
 * COMPARE: a control compares what a host has prepared with the journal, on the store in memory and on the embedded
 * database.
 */
import type { InventoryReport } from '../../src/wire/reports.ts'
import { functionText } from './cards.ts'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RELEASE_FOR_MS } from '../../src/services/kernel/kernel.ts'
import { check } from '../../src/audit/check.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { readToHost, reportRecord, sighting } from '../../src/wire/message.ts'
import type { Order, SlotsQuestion } from '../../src/wire/orders.ts'
import { handClock } from '../support/lab.ts'
import { inventoryOf } from '../support/reports.ts'
import { pglitePool } from '../support/storePools.ts'
import type { Source } from '../support/stores.ts'
import { FPGA, NOVA, openCloud, value } from './cloud.ts'
import { expectRebuilt } from './rebuilt.ts'

const HOUR = 3_600_000
const WORD = { by: 'op', reason: 'nobody uses it' }
const STRANGER = 'b0a79999-0000-4000-8000-00000000000b'
type Slots = NonNullable<InventoryReport['slots']>
type Prepared = Slots['prepared'][number]

const pool = pglitePool()
const STORES: readonly (readonly [string, Source])[] = [
  ['memory', async (now) => memoryStore({ now })],
  ['PGlite', pool.take],
]
// the first one takes longer than a test may
beforeAll(async () => (await pool.take(Date.now)).close())
afterAll(pool.end)

const open = async (source: Source) => {
  const clock = handClock()
  const store = await source(clock.now)
  const questions: SlotsQuestion[] = []
  const publish = async (records: readonly BusRecord[]) => {
    for (const record of records) {
      const sent = readToHost(record)
      if (sent.ok && sent.value.body.type === 'TellSlots') questions.push(sent.value.body)
    }
  }
  const parts = { clock, publish, options: { sweepEveryMs: 24 * HOUR } }
  const cloud = await openCloud(FPGA, { 'resources:FPGA': '1' }, parts, store, 'when told')
  const devices = await cloud.discovered('h1', FPGA)
  // the start for which the cloud answers orders; it has reported before
  const bootId = value(await cloud.control.hosts.list({})).items[0]!.boot_id!
  let number = 100
  const reportOf = (slots: Slots | undefined, host = 'h1', shown = devices) =>
    inventoryOf(host, ++number, {
      bootId,
      drivers: [{ driver: 'simulated_driver', status: 'ok', devices: shown }],
      ...(slots ? { slots } : {}),
    })
  const report = async (...given: Parameters<typeof reportOf>) => {
    const made = reportOf(...given)
    value(await cloud.plane.reports.take(made, `${bootId}/${made.number}`))
    return made
  }
  /** What the host has, in its report of the minute; then again, if it is asked. */
  const says = async (...prepared: readonly Prepared[]) => {
    await report({ prepared })
    const asked = questions.splice(0)
    for (const { id } of asked) await report({ prepared, answers: id })
    return asked.length
  }
  const work = async (answer: Parameters<typeof cloud.answer>[1] = { status: 'done' }) => {
    await cloud.pump()
    const orders = cloud.orders.splice(0)
    for (const order of orders) await cloud.answer(order, answer)
    await cloud.pump()
    return orders
  }
  const bound = async () => {
    const { arq } = await cloud.start()
    const [order] = await work()
    return { arq, order: order as Extract<Order, { type: 'PrepareSlot' }> }
  }
  const one = async (uuid: string) => value(await cloud.control.handles.get(NOVA, uuid))
  const stop = async () => {
    expect(check({ journal: await store.journal.feed('', 10_000), now: clock.now() })).toEqual([])
    await expectRebuilt(store)
    await Promise.all([cloud.stop(), clock.pass(48 * HOUR)])
    await store.close()
  }
  return {
    ...cloud,
    clock,
    questions,
    reportOf,
    report,
    says,
    work,
    bound,
    one,
    stop,
    differences: () => cloud.plane.counts().slotDifferences,
  }
}
const shown = ({ slot, number, handle, arq }: Extract<Order, { type: 'PrepareSlot' }>, more = {}): Prepared => {
  const { info } = handle
  return { slot, number, state: 'prepared', arq, function: functionText(info), ...more }
}

describe.each(STORES)('over %s', (_, source) => {
  const inCloud = (run: (w: Awaited<ReturnType<typeof open>>) => Promise<void>) => async () => {
    const w = await open(source)
    await run(w)
    await w.stop()
  }

  test(
    'what agrees is not asked about, and is known again without being read',
    inCloud(async (w) => {
      const { order } = await w.bound()
      const prepared = [shown(order)]
      expect(await w.says(...prepared)).toBe(0)
      const again = w.reportOf({ prepared })
      const seen = (slots: Slots) => w.plane.reports.unchanged(sighting(reportRecord({ ...again, slots }, 'again', 0))!)
      expect(seen({ prepared: [] })).toBe(false)
      expect(seen({ prepared })).toBe(true)
      await w.clock.pass(11 * 60_000)
      expect(seen({ prepared })).toBe(false)
    }),
  )

  test(
    'what agreed is read again after an order of the host has ended',
    inCloud(async (w) => {
      await w.says()
      const again = w.reportOf({ prepared: [] })
      await w.bound()
      expect(w.plane.reports.unchanged(sighting(reportRecord(again, 'again', 0))!)).toBe(false)
    }),
  )

  test(
    'COMPARE-1 one report is not enough, and neither is an answer after the handle had an order',
    inCloud(async (w) => {
      const { arq } = await w.bound()
      await w.report({ prepared: [] })
      expect(w.questions).toMatchObject([{ host: 'h1', id: expect.any(String) }])
      const [{ id }] = w.questions.splice(0) as [SlotsQuestion]
      value(await w.control.arqs.unbind(NOVA, [arq]))
      await w.work()
      await w.bound()
      await w.report({ prepared: [], answers: id })
      // it differs, but not as it did: nothing is done, and the next report asks anew
      expect(w.questions.splice(0)).toHaveLength(0)
      expect(w.differences()).toEqual({ unexplained: 0, lost: 0, in_use: 0 })
    }),
  )

  test(
    'COMPARE-4 an answer to a question that nobody knows is a report like any other',
    inCloud(async (w) => {
      await w.bound()
      await w.report({ prepared: [], answers: 'of another control' })
      expect(w.questions.splice(0)).toHaveLength(1)
      expect(w.differences().lost).toBe(0)
    }),
  )

  test(
    'SLOT-2 what the host has lost is ordered again, and the request is as before when it is done',
    inCloud(async (w) => {
      const { arq, order } = await w.bound()
      expect(await w.says()).toBe(1)
      expect(await w.pending()).toMatchObject([{ slot: order.slot, number: order.number + 1 }])
      const [again] = await w.work()
      expect(again).toMatchObject({ type: 'PrepareSlot', slot: order.slot, arq, number: order.number + 1 })
      expect(await w.states([arq])).toEqual(['Bound'])
      expect(await w.says(shown(order, { number: again!.number }))).toBe(0)
      expect(w.differences()).toEqual({ unexplained: 0, lost: 1, in_use: 0 })
    }),
  )

  test.each<[string, Partial<Prepared>]>([
    ['is releasing', { state: 'releasing' }],
    ['has for another request', { arq: STRANGER }],
  ])('SLOT-2 so is what the host %s', async (_what, more) =>
    inCloud(async (w) => {
      const { order } = await w.bound()
      expect(await w.says(shown(order, more))).toBe(1)
      expect(await w.pending()).toMatchObject([{ slot: order.slot, number: order.number + 1 }])
    })(),
  )

  test(
    'SLOT-2 when that fails the request stays bound, and the handle is kept back once it is given up',
    inCloud(async (w) => {
      const { arq, order } = await w.bound()
      await w.says()
      await w.work({ status: 'failed', reason: 'broken', final: true })
      expect(await w.states([arq])).toEqual(['Bound'])
      expect(await w.one(order.slot)).toMatchObject({
        state: 'held',
        order: null,
        quarantine: { reason: expect.stringContaining('broken') },
      })
      expect(await w.says()).toBe(0)
      value(await w.control.arqs.unbind(NOVA, [arq]))
      await w.work()
      expect(await w.one(order.slot)).toMatchObject({ state: 'quarantined', arq_uuid: null })
      value(await w.control.handles.release(NOVA, order.slot, WORD))
      expect(await w.one(order.slot)).toMatchObject({ state: 'free', quarantine: null })
    }),
  )

  test(
    'SLOT-2 the same when there is no answer by its deadline',
    inCloud(async (w) => {
      const { arq, order } = await w.bound()
      await w.says()
      await w.clock.pass(121_000)
      await w.plane.sweeper.round()
      await w.plane.sweeper.idle()
      expect(await w.one(order.slot)).toMatchObject({
        state: 'held',
        order: null,
        quarantine: { reason: expect.stringContaining('in time') },
      })
      expect(await w.states([arq])).toEqual(['Bound'])
      expect(await w.pending()).toEqual([])
    }),
  )

  test(
    'SLOT-1 SLOT-3 what the journal holds free is withheld, and undone by an order above the number of the host',
    inCloud(async (w) => {
      const { arq, order } = await w.bound()
      value(await w.control.arqs.unbind(NOVA, [arq]))
      await w.work()
      const old = shown(order, { number: 70 })
      expect(await w.says(old)).toBe(1)
      expect(await w.one(order.slot)).toMatchObject({
        state: 'quarantined',
        quarantine: { reason: expect.stringContaining('free') },
      })
      expect(await w.says(old)).toBe(0)
      value(await w.control.handles.release(NOVA, order.slot, WORD))
      const deadline = w.clock.now() + RELEASE_FOR_MS
      expect(await w.work()).toMatchObject([{ type: 'ReleaseSlot', slot: order.slot, number: 71, deadline }])
      expect(await w.one(order.slot)).toMatchObject({ state: 'free', quarantine: null })
      expect(await w.bound()).toMatchObject({ order: { number: 72 } })
    }),
  )

  test(
    'SLOT-1 an unknown slot withholds the handle with the same hardware, and is named in the order that undoes it',
    inCloud(async (w) => {
      const { arq, order } = await w.bound()
      value(await w.control.arqs.unbind(NOVA, [arq]))
      await w.work()
      expect(await w.says(shown(order, { slot: STRANGER, number: 3 }))).toBe(1)
      value(await w.control.handles.release(NOVA, order.slot, WORD))
      expect(await w.work()).toMatchObject([{ type: 'ReleaseSlot', slot: order.slot, also: [STRANGER] }])
      expect((await w.one(order.slot)).state).toBe('free')
    }),
  )

  test(
    'COMPARE-3 what another host says concerns no handle of this one',
    inCloud(async (w) => {
      const { order } = await w.bound()
      const stranger = { prepared: [shown(order, { number: 70, arq: randomUUID() })] }
      const own = await w.discovered('h2', { seed: 2, devices: [{ kind: 'nic', handles: 1 }] })
      await w.report(stranger, 'h2', own)
      await w.report(stranger, 'h2', own)
      expect(w.questions.filter(({ host }) => host === 'h1')).toEqual([])
      expect(await w.one(order.slot)).toMatchObject({ state: 'held', quarantine: null })
    }),
  )

  test(
    'a host of a release up to 0.2.0 says nothing, and nothing is concluded',
    inCloud(async (w) => {
      await w.bound()
      await w.report(undefined)
      await w.report(undefined)
      expect(w.questions).toEqual([])
      expect(w.differences()).toEqual({ unexplained: 0, lost: 0, in_use: 0 })
    }),
  )

  test(
    'a host that an operator took out of service is not compared',
    inCloud(async (w) => {
      const { order } = await w.bound()
      await w.says(shown(order))
      value(await w.control.hosts.retire(NOVA, 'h1', WORD))
      expect(await w.says()).toBe(0)
    }),
  )
})
