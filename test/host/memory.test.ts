/** MEMORY: a host that has lost its ledger. */
import { beforeEach, describe, expect, test } from 'vitest'
import { memoryDisk } from '../../src/host/disk.ts'
import type { Host } from '../../src/host/host.ts'
import { ledgerAnswerRecord, orderRecord } from '../../src/wire/message.ts'
import type { LedgerAnswer, Order } from '../../src/wire/orders.ts'
import { BOOT_HEADER } from '../../src/wire/seal.ts'
import { type HostLab, openHostLab } from '../support/hostLab.ts'
import { quiet } from '../support/lab.ts'

const SECOND = 'b0a79999-0000-4000-8000-00000000000b'
let lab: HostLab
beforeEach(async () => {
  lab = await openHostLab()
})
const bootNumber = () => lab.inventories().at(-1)!.bootNumber!
/** The order as a control sends it for this start of the host; null: as a control up to 0.2.0 does. */
const sendFor = async (boot: number | null, ...orders: readonly Order[]) => {
  const records = orders.map((order) => {
    const plain = orderRecord(order, `${order.slot}/${order.number}`, lab.clock.now())
    return boot === null ? plain : { ...plain, headers: { ...plain.headers, [BOOT_HEADER]: String(boot) } }
  })
  await lab.bus.publish(records)
  await quiet(40)
}
const answer = async (host: Host, slots: LedgerAnswer['slots'], last = true) => {
  const message: LedgerAnswer = { type: 'LedgerAnswer', host: 'h1', bootId: host.bootId, slots, last }
  await lab.bus.publish([ledgerAnswerRecord(message, `answer/${slots.length}/${last}`, lab.clock.now())])
  await quiet(40)
}
type Prepare = Extract<Order, { readonly type: 'PrepareSlot' }>
const slotOf = (order: Order): LedgerAnswer['slots'][number] => {
  const { slot, number, driver, deployable, deployableUuid, handle } = order as Prepare
  return { slot, number, driver, deployable, deployableUuid, handle }
}
const outcomes = () => lab.results().map(({ order, number, result }) => `${order} ${number} ${result.status}`)
const leftAlone = () => lab.log.said.filter(({ message }) => message === 'order.leftAlone').length
/** Loses its folder, and starts again a while later. */
const bootWithoutFolder = async (host: Host) => {
  await lab.kill(host)
  await lab.clock.pass(60_000)
  return lab.boot({ disk: memoryDisk() })
}

describe('MEMORY-1 orders that were given before the ledger began', () => {
  test('are left alone: the guest keeps what is prepared for it', async () => {
    const first = await lab.boot()
    await sendFor(bootNumber(), lab.order('PrepareSlot', 1))
    await answer(first, [])
    await lab.clock.pass(5000)
    await sendFor(bootNumber(), lab.order('ReleaseSlot', 2), lab.order('PrepareSlot', 3))
    const before = Object.keys((await lab.effects()).prepared)
    expect(before).toHaveLength(1)
    await bootWithoutFolder(first)
    await lab.clock.pass(20_000)
    expect(Object.keys((await lab.effects()).prepared)).toEqual(before)
    expect(leftAlone()).toBeGreaterThanOrEqual(2)
  })
  test('are left alone as well when they do not say for which start: their time is before it', async () => {
    const first = await lab.boot()
    await sendFor(null, lab.order('PrepareSlot', 1), lab.order('ReleaseSlot', 2), lab.order('PrepareSlot', 3))
    const results = lab.results().length
    await bootWithoutFolder(first)
    expect(lab.results()).toHaveLength(results)
    await sendFor(null, lab.order('ReleaseSlot', 4))
    expect(outcomes().at(-1)).toBe('ReleaseSlot 4 done')
  })
  test('are carried out when they are sent again for the present start', async () => {
    const host = await bootWithoutFolder(await lab.boot())
    await answer(host, [])
    await sendFor(bootNumber() - 1, lab.order('PrepareSlot', 5))
    expect(outcomes()).toEqual([])
    await sendFor(bootNumber(), lab.order('PrepareSlot', 5))
    expect(outcomes()).toEqual(['PrepareSlot 5 done'])
  })
  test('of a slot that the ledger knows are judged by their number alone', async () => {
    const host = await lab.boot()
    await answer(host, [])
    await sendFor(bootNumber(), lab.order('PrepareSlot', 5))
    await sendFor(bootNumber() - 1, lab.order('ReleaseSlot', 6))
    expect(outcomes()).toEqual(['PrepareSlot 5 done', 'ReleaseSlot 6 done'])
  })
})

describe('MEMORY-2 the question what is prepared', () => {
  test('is in every report until it is answered, and in none afterwards, also of a later start', async () => {
    const asks = () => lab.inventories().map(({ ledger }) => ledger ?? null)
    const host = await lab.boot()
    await lab.clock.pass(60_000)
    expect(asks()).toEqual(['new', 'new'])
    await answer(host, [], false)
    await lab.clock.pass(60_000)
    await answer(host, [])
    await lab.clock.pass(60_000)
    await lab.kill(host)
    await lab.boot()
    expect(asks()).toEqual(['new', 'new', 'new', null, null])
  })
  test('is asked again by the next start when nobody answered', async () => {
    await lab.kill(await lab.boot())
    await lab.boot()
    expect(lab.inventories().at(-1)!.ledger).toBe('new')
  })
  test('holds orders back until the answer is on disk: then the fence knows what is prepared', async () => {
    const host = await lab.boot()
    await sendFor(bootNumber(), lab.order('PrepareSlot', 1, { slot: SECOND }))
    expect(outcomes()).toEqual([])
    await answer(host, [slotOf(lab.order('PrepareSlot', 7))])
    expect(outcomes()).toEqual(['PrepareSlot 1 failed'])
    await sendFor(bootNumber(), lab.order('ReleaseSlot', 7))
    await sendFor(bootNumber(), lab.order('ReleaseSlot', 8))
    await sendFor(bootNumber(), lab.order('PrepareSlot', 2, { slot: SECOND }))
    expect(outcomes().slice(-2)).toEqual(['ReleaseSlot 8 done', 'PrepareSlot 2 done'])
  })
  test('an order that had no answer yet holds its function, and is carried out when it comes again', async () => {
    const host = await lab.boot()
    await answer(host, [{ ...slotOf(lab.order('PrepareSlot', 7)), pending: 'PrepareSlot' }])
    await sendFor(bootNumber(), lab.order('PrepareSlot', 1, { slot: SECOND }), lab.order('PrepareSlot', 7))
    expect(outcomes()).toEqual(['PrepareSlot 1 failed', 'PrepareSlot 7 done'])
    expect(Object.keys((await lab.effects()).prepared)).toEqual([lab.order('PrepareSlot', 7).slot])
  })
  test('without an answer in time the order is left alone, and carried out when it comes again', async () => {
    const host = await lab.boot()
    await sendFor(bootNumber(), lab.order('PrepareSlot', 1))
    await lab.clock.pass(5001)
    expect([outcomes(), leftAlone()]).toEqual([[], 1])
    await answer(host, [])
    await sendFor(bootNumber(), lab.order('PrepareSlot', 1))
    expect(outcomes()).toEqual(['PrepareSlot 1 done'])
  })
  test('an answer to another start changes nothing', async () => {
    const host = await lab.boot()
    await answer({ ...host, bootId: SECOND }, [slotOf(lab.order('PrepareSlot', 7))])
    expect(await lab.ledger()).toEqual([])
  })
})
