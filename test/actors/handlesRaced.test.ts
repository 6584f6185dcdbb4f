/** What an operator decides of a handle while its deployable, or the last request that had it, changes. */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Order } from '../../src/wire/orders.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import type { Store } from '../../src/persistence/store.ts'
import { handClock } from '../support/lab.ts'
import { openPlane } from '../support/plane.ts'
import { type Cloud, FPGA, NOVA, openCloud, value } from './cloud.ts'

const ONE = { ...FPGA, devices: [{ kind: 'fpga' as const, handles: 1 }] }
const WORD = { by: 'op', reason: 'looked at' }
const STUCK = { status: 'failed', reason: 'stuck', final: true } as const
const DAY_MS = 24 * 3_600_000

let clock: ReturnType<typeof handClock>
let cloud: Cloud
let other: Awaited<ReturnType<typeof openPlane>>
/** Done once, before the next rows are written. */
let before: (() => Promise<void>) | null
/** What was read of handles is read again as it was. */
let isOld: boolean
beforeEach(async () => {
  clock = handClock()
  before = null
  isOld = false
  const beforeCommit = async () => {
    const work = before
    before = null
    await work?.()
  }
  const store = memoryStore({ exclusive: false, now: clock.now, beforeCommit })
  const kept = new Map<string, unknown>()
  const page = async (query: Parameters<Store['reads']['page']>[0]) => {
    const key = JSON.stringify(query)
    if (!isOld || !kept.has(key)) kept.set(key, await store.reads.page(query))
    return kept.get(key)
  }
  const parts = { clock, options: { sweepEveryMs: DAY_MS, missingRounds: 1 } }
  const reads: Store['reads'] = { ...store.reads, page: page as Store['reads']['page'] }
  cloud = await openCloud(ONE, { 'resources:FPGA': '1' }, parts, { ...store, reads }, 'when told')
  other = await openPlane(parts, store, 'when told')
})
afterEach(() => Promise.all([cloud.stop(), other.plane.stop(), clock.pass(DAY_MS)]))

/** The host carries out the last order that it was given. */
const answer = async (result?: Parameters<Cloud['answer']>[1]): Promise<Order> => {
  await other.pump()
  const order = other.orders.at(-1)!
  await other.answer(order, result)
  return order
}
/** A request whose release has failed for good, so that its handle is withheld. */
const unbindFailed = async () => {
  const [arq] = await cloud.create()
  value(await other.control.arqs.bind(NOVA, [cloud.bindingOf(arq!, randomUUID())]))
  await answer()
  value(await other.control.arqs.unbind(NOVA, [arq!]))
  const slot: string = (await answer(STUCK)).slot
  return { arq: arq!, slot }
}

const states = (...arqs: readonly string[]) =>
  Promise.all(arqs.map(async (arq) => value(await other.control.arqs.get(NOVA, arq)).state))

test('a release ends the request that had the handle last when it is recorded, not when it was asked', async () => {
  const first = await unbindFailed()
  let second = first
  before = async () => {
    value(await other.control.handles.release(NOVA, first.slot, WORD))
    await answer()
    second = await unbindFailed()
    expect(await states(first.arq, second.arq)).toEqual(['Unbound', 'UnbindFailed'])
  }
  const released = value(await cloud.control.handles.release(NOVA, first.slot, WORD))
  expect(released).toMatchObject({ state: 'releasing', last_arq: second.arq, quarantine: null })
  await answer()
  expect(second.arq).not.toBe(first.arq)
  expect(await states(first.arq, second.arq)).toEqual(['Unbound', 'Unbound'])
})

test('a handle whose device has left is not found, though what was read of it is older', async () => {
  const { uuid } = (await cloud.handles())[0]!
  expect(await cloud.control.handles.get(NOVA, uuid)).toMatchObject({ ok: true, value: { uuid, state: 'free' } })
  isOld = true
  for (let n = 0; n < 2; n++) await cloud.shows('h1', { ...ONE, devices: [] })
  const missing = { ok: false, fault: { kind: 'not_found', resource: 'attach handle', id: uuid } }
  expect(await cloud.control.handles.get(NOVA, uuid)).toEqual(missing)
  isOld = false
  expect(await cloud.control.handles.get(NOVA, uuid)).toEqual(missing)
})
