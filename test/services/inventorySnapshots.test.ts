/** Which inventories count as known: only the last complete one of a start, from one signer, since nothing changed. */
import { beforeEach, describe, expect, test } from 'vitest'
import { type InventorySnapshot, createInventorySnapshots } from '../../src/services/reports/inventorySnapshots.ts'
import { slotsDigest } from '../../src/wire/slots.ts'
import { handClock } from '../support/lab.ts'
import { BOOT, SLOT, inventoryOf } from '../support/reports.ts'

const OTHER_BOOT = '6a1c7f0e-54f1-4e33-8d6b-0d7f7f9f0009'
const SLOTS = { prepared: [{ slot: SLOT, number: 1, state: 'prepared', function: 'f' }] } as const
const DIGEST = slotsDigest(SLOTS)
const taken: InventorySnapshot = {
  boot: BOOT,
  number: 7,
  digest: 'd',
  complete: true,
  changedAt: 1000,
  signer: 'key',
  incarnation: 0,
}
const same = { host: 'h1', boot: BOOT, number: 8, digest: 'd', signer: 'key' }

const opened = () => {
  const clock = handClock()
  const world: { incarnation?: number; changedAt: number | null } = { changedAt: 1000 }
  const journal = {
    get incarnation() {
      return world.incarnation
    },
  } as { readonly incarnation?: number }
  const snapshots = createInventorySnapshots({ clock, journal }, { changedAt: () => world.changedAt })
  const take = (more: Partial<InventorySnapshot> = {}, slots: typeof SLOTS | null = SLOTS, agrees = true) => {
    const report = inventoryOf('h1', 7, slots === null ? {} : { slots })
    return snapshots.take(report, { ...taken, ...more }, async () => agrees)
  }
  return { clock, world, ...snapshots, take }
}
let one: ReturnType<typeof opened>
beforeEach(() => void (one = opened()))

describe('an inventory', () => {
  test('is known while nothing differs, with the number that follows or an earlier one', async () => {
    expect([one.isKnown(same), one.isFrom('h1', 'key'), one.incarnation()]).toEqual([false, false, 0])
    await one.take()
    expect([one.isFrom('h1', 'key'), one.isFrom('h1', null), one.isFrom('h2', 'key')]).toEqual([true, false, false])
    expect([7, 8, 9, 11, 10, 3].map((number) => one.isKnown({ ...same, number }))).toEqual([
      true,
      true,
      true,
      false,
      true,
      true,
    ])
    // the highest number counts
    expect(one.isKnown({ ...same, number: 11 })).toBe(true)
  })
  test.each([
    ['another signer', { signer: 'other' }],
    ['no signer', { signer: null }],
    ['another start', { boot: OTHER_BOOT }],
    ['another content', { digest: 'e' }],
    ['another host', { host: 'h2' }],
    ['a number that is missing', { number: 9 }],
  ])('is not known with %s', async (_, more) => {
    await one.take()
    expect(one.isKnown({ ...same, ...more })).toBe(false)
  })
  test('is not known when it was not recorded completely', async () => {
    await one.take({ complete: false })
    expect([one.isKnown(same), one.isFrom('h1', 'key')]).toEqual([false, true])
  })
  test.each([
    ['something of the host was recorded since', { changedAt: 1001 }],
    ['the host is gone', { changedAt: null }],
    ['the journal may be on another server', { incarnation: 1 }],
  ])('is neither known nor from anybody when %s', async (_, change) => {
    await one.take()
    Object.assign(one.world, change)
    expect([one.isKnown(same), one.isFrom('h1', 'key'), one.isFrom('h1', null)]).toEqual([false, false, false])
  })
  test('is old when a later one of the same start was taken', async () => {
    expect(one.isOld(inventoryOf('h1', 1))).toBe(false)
    await one.take()
    expect([6, 7, 8].map((number) => one.isOld(inventoryOf('h1', number)))).toEqual([true, false, false])
    expect(one.isOld(inventoryOf('h1', 6, { bootId: OTHER_BOOT }))).toBe(false)
    expect(one.isOld(inventoryOf('h2', 6))).toBe(false)
  })
})

describe('prepared slots', () => {
  test('are known for ten minutes after they agreed', async () => {
    await one.take()
    expect([one.isKnown({ ...same, slots: DIGEST }), one.isKnown({ ...same, slots: 'other' })]).toEqual([true, false])
    await one.clock.pass(599_999)
    expect(one.isKnown({ ...same, slots: DIGEST })).toBe(true)
    await one.clock.pass(1)
    expect([one.isKnown({ ...same, slots: DIGEST }), one.isKnown({ ...same, slots: null })]).toEqual([false, true])
  })
  test('are not known when they did not agree, or were not said', async () => {
    await one.take({}, SLOTS, false)
    expect([one.isKnown({ ...same, slots: DIGEST }), one.isKnown(same)]).toEqual([false, true])
    const other = opened()
    await other.take({}, null)
    expect([other.isKnown({ ...same, slots: DIGEST }), other.isKnown(same)]).toEqual([false, true])
  })
  test('are not known after an order has ended, also while they were compared', async () => {
    await one.take()
    one.orderEnded('h1')
    one.orderEnded('h2')
    expect([one.isKnown({ ...same, slots: DIGEST }), one.isKnown(same)]).toEqual([false, true])
    const snapshots = createInventorySnapshots({ clock: one.clock, journal: {} }, { changedAt: () => 1000 })
    await snapshots.take(inventoryOf('h1', 7, { slots: SLOTS }), taken, async () => {
      snapshots.orderEnded('h1')
      return true
    })
    expect([snapshots.isKnown({ ...same, slots: DIGEST }), snapshots.isKnown(same)]).toEqual([false, true])
  })
  test('of an inventory that was followed by another are not known', async () => {
    const report = inventoryOf('h1', 7, { slots: SLOTS })
    const snapshots = createInventorySnapshots({ clock: one.clock, journal: {} }, { changedAt: () => 1000 })
    await snapshots.take(report, taken, async () => {
      await snapshots.take(inventoryOf('h1', 8), { ...taken, number: 8 }, async () => false)
      return true
    })
    expect(snapshots.isKnown({ ...same, slots: DIGEST })).toBe(false)
    expect(snapshots.isKnown({ ...same, number: 9 })).toBe(true)
  })
})
