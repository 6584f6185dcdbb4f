/**
 * COMPARE, IMAGE: a control compares the images that a host shows with the journal, on the store in memory and on the
 * embedded database.
 */
import type { InventoryReport } from '../../src/wire/reports.ts'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { check } from '../../src/audit/check.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { handClock, memoryLog } from '../support/lab.ts'
import { inventoryOf } from '../support/reports.ts'
import { pglitePool } from '../support/storePools.ts'
import type { Source } from '../support/stores.ts'
import { FPGA, NOVA, openCloud, value } from './cloud.ts'
import { expectRebuilt } from './rebuilt.ts'

const HOUR = 3_600_000
const [IMAGE, OTHER] = [randomUUID(), randomUUID()]
const GROUP = { 'resources:FPGA': '1', 'accel:bitstream_id': IMAGE }
/** No slot is spoken of. */
type Slots = NonNullable<InventoryReport['slots']>
const SILENT: Slots = { from: 'ffffffff-ffff-4fff-8fff-ffffffffffff', prepared: [] }

const pool = pglitePool()
const STORES: readonly (readonly [string, Source])[] = [
  ['memory', async (now) => memoryStore({ now })],
  ['PGlite', pool.take],
]
// the first one takes longer than a test may
beforeAll(async () => (await pool.take(Date.now)).close())
afterAll(pool.end)

const open = async (source: Source) => {
  const [clock, log] = [handClock(), memoryLog()]
  const store = await source(clock.now)
  const parts = { clock, log, options: { sweepEveryMs: 24 * HOUR } }
  const cloud = await openCloud(FPGA, GROUP, parts, store, 'when told')
  const devices = await cloud.discovered('h1', FPGA)
  const bootId = value(await cloud.control.hosts.list({})).items[0]!.boot_id!
  let number = 100
  const report = async (image: string | null, slots: Slots | null, loaded: object = {}) => {
    const shown = devices.map((device) => ({
      ...device,
      deployables: device.deployables.map((one) => ({
        ...one,
        ...(image === null ? {} : { bitstreamId: image }),
        ...loaded,
      })),
    }))
    const drivers = [{ driver: 'simulated_driver', status: 'ok', devices: shown }] as const
    const made = inventoryOf('h1', ++number, { bootId, drivers, ...(slots ? { slots } : {}) })
    value(await cloud.plane.reports.take(made, `${bootId}/${number}`))
  }
  /** The host shows the image, and again if it is asked. Returns how often it was. */
  const shows = async (image: string | null) => {
    await report(image, SILENT)
    const asked = cloud.questions.splice(0)
    for (const { id } of asked) await report(image, { ...SILENT, answers: id })
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
    return { arq, orders: await work() }
  }
  const image = async () => value(await cloud.control.deployables.get(cloud.deployable.uuid)).bitstream_id
  const read = () => log.said.flatMap(({ message, detail }) => (message === 'image.read' ? [detail] : []))
  const stop = async () => {
    expect(check({ journal: await store.journal.feed('', 10_000), now: clock.now() })).toEqual([])
    await expectRebuilt(store)
    await Promise.all([cloud.stop(), clock.pass(48 * HOUR)])
    await store.close()
  }
  return { ...cloud, report, shows, work, bound, image, read, stop, count: () => cloud.plane.counts().imagesRead }
}

describe.each(STORES)('over %s', (_, source) => {
  const inCloud = (run: (w: Awaited<ReturnType<typeof open>>) => Promise<void>) => async () => {
    const w = await open(source)
    await run(w)
    await w.stop()
  }

  test(
    'IMAGE-1 what a card has lost is recorded when the host has shown it twice, and is loaded again for the next request',
    inCloud(async (w) => {
      const { arq, orders } = await w.bound()
      expect(orders).toMatchObject([{ type: 'PrepareSlot', bitstream: IMAGE }])
      expect(await w.image()).toBe(IMAGE)
      expect(await w.shows(IMAGE)).toBe(0)
      value(await w.control.arqs.unbind(NOVA, [arq]))
      await w.work()
      expect(await w.shows(null)).toBe(1)
      expect(await w.image()).toBe(null)
      expect(w.read()).toEqual([
        { host: 'h1', deployable: w.deployable.uuid, recorded: IMAGE, image: null, heldBy: [] },
      ])
      expect(await w.shows(null)).toBe(0)
      expect((await w.bound()).orders).toMatchObject([{ bitstream: IMAGE }])
      expect([await w.image(), w.count()]).toEqual([IMAGE, 1])
    }),
  )

  test(
    'what another tool has loaded is recorded, also while requests use the card; they are named in the log',
    inCloud(async (w) => {
      const { arq } = await w.bound()
      expect(await w.shows(OTHER)).toBe(1)
      expect(await w.image()).toBe(OTHER)
      expect(w.read()).toMatchObject([{ recorded: IMAGE, image: OTHER, heldBy: [arq] }])
      // it cannot be programmed under the feet of the one who uses it
      expect(await w.bind(await w.create(), randomUUID())).toMatchObject({ fault: { kind: 'conflict' } })
    }),
  )

  test(
    'while others use the card, the host is told to compare only; what it answers ends the bind',
    inCloud(async (w) => {
      await w.bound()
      const { arqs } = await w.start()
      const reason = `image_changed: h1 holds ${OTHER}, not image ${IMAGE}`
      const [order] = await w.work({ status: 'failed', reason, final: true })
      expect(order).toMatchObject({ type: 'PrepareSlot', expects: IMAGE })
      expect(order).not.toHaveProperty('bitstream')
      expect(await w.states(arqs)).toEqual(['BindFailed'])
      expect(value(await w.control.arqs.get(NOVA, arqs[0]!)).reason).toBe(reason)
      // nothing was written
      expect(await w.image()).toBe(IMAGE)
      await w.work()
    }),
  )

  test(
    'COMPARE-1 one report is not enough, and neither is an answer after an order that may have written the card',
    inCloud(async (w) => {
      const { arq } = await w.bound()
      await w.report(null, SILENT)
      const [question] = w.questions.splice(0)
      expect(await w.image()).toBe(IMAGE)
      value(await w.control.arqs.unbind(NOVA, [arq]))
      await w.work()
      await w.bound()
      await w.report(null, { ...SILENT, answers: question!.id })
      expect([await w.image(), w.count()]).toEqual([IMAGE, 0])
      expect(w.questions.splice(0)).toHaveLength(0)
    }),
  )

  test(
    'COMPARE-1 nothing is concluded while the card may be written; the same report counts when that has ended',
    inCloud(async (w) => {
      await w.start()
      expect(await w.shows(OTHER)).toBe(0)
      await w.work({ status: 'failed', reason: 'no', final: true })
      await w.work()
      expect(await w.image()).toBe(null)
      expect(await w.shows(OTHER)).toBe(1)
      expect(await w.image()).toBe(OTHER)
    }),
  )

  test(
    'what changes once more is recorded once more',
    inCloud(async (w) => {
      await w.bound()
      expect(await w.shows(OTHER)).toBe(1)
      expect(await w.image()).toBe(OTHER)
      expect(await w.shows(IMAGE)).toBe(1)
      expect([await w.image(), w.count()]).toEqual([IMAGE, 2])
    }),
  )

  test(
    'a host of a release that does not say what is prepared on it is not asked, and nothing of its cards is corrected',
    inCloud(async (w) => {
      await w.bound()
      await w.report(null, null)
      expect(w.questions).toEqual([])
      expect(await w.image()).toBe(IMAGE)
    }),
  )

  test(
    'what is missing, or shown by another driver, says nothing of the image',
    inCloud(async (w) => {
      await w.bound()
      const drivers = [{ driver: 'another_driver', status: 'ok', devices: [] }] as const
      const bootId = value(await w.control.hosts.list({})).items[0]!.boot_id!
      const made = inventoryOf('h1', 900, { bootId, drivers, slots: SILENT })
      value(await w.plane.reports.take(made, `${bootId}/900`))
      expect(w.questions).toEqual([])
      expect(await w.image()).toBe(IMAGE)
    }),
  )
})
