/** The overview part of the control port: the number of entities of each kind, by state, and the work that waits. */
import { type Outcome, allOf, done } from '../../vocabulary/fault.ts'
import type { Control } from '../../actors/control.ts'
import { tallyDevices } from '../devices/tallyDevices.ts'
import { tallyHosts } from '../hosts/tallyHosts.ts'
import { instance, instanceKey } from '../../actors/instance/decider.ts'
import { NOVA_DUE, NOVA_UNDELIVERED } from '../../actors/runtime/dueKinds.ts'
import { idOf } from '../../actors/runtime/memory.ts'
import type { Row, ViewName } from '../../actors/runtime/views.ts'
import type { Delivery, DeliveryState, Overview } from '../../actors/answers/tallied.ts'
import { HOST_STATES, dueKindOf } from '../../actors/placement/hostState.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { deliveryOf } from '../nova/resendDelivery.ts'
import { keptAnswer } from './kept.ts'
import { createProgress } from './progress.ts'
import { createFaulty } from './faulty.ts'

/**
 * Whole views are read to count, so this process counts at most once in this time, and less often if it takes long
 * (`kept.ts`).
 */
const COUNTED_FOR_MS = 1000

type Counted = Readonly<Record<string, number>>

const counted = async (read: Promise<ReadonlyMap<string, number>>): Promise<Outcome<Counted>> =>
  done(Object.fromEntries(await read))
const total = (counts: Counted): number => Object.values(counts).reduce((sum, each) => sum + each, 0)
const inPlacement = (due: Counted): Counted =>
  Object.fromEntries(
    HOST_STATES.flatMap((state) => {
      const hosts = due[dueKindOf(state)] ?? 0
      return hosts > 0 ? [[state, hosts]] : []
    }),
  )

export const createOverview = (kernel: Kernel): Control['overview'] => {
  const { reads, readers, guard, clock } = kernel
  const progress = createProgress(kernel)
  const faultyOf = createFaulty(kernel)
  const tally = async <N extends ViewName>(view: N, by: keyof Row<N> & string): Promise<Outcome<Counted>> => {
    return guard(counted(reads.tally(view, by)), 'views', { view })
  }
  const oldestOrder = async (): Promise<Outcome<number | null>> => {
    const found = await readers.first('pending_orders', {})
    return found.ok ? done(found.value?.sent_at ?? null) : found
  }
  const oldestDelivery = async (): Promise<Outcome<number | null>> => {
    const found = await readers.first('due', { kind: NOVA_DUE })
    return found.ok ? done(found.value?.at ?? null) : found
  }
  const devicesNow = async () => {
    const counting = async () => done(await tallyDevices(reads))
    const tallied = await guard(counting(), 'views', { view: 'devices' })
    if (!tallied.ok) return tallied
    const vanished = await faultyOf(tallied.value.missing, ({ missingSince }) => missingSince)
    if (!vanished.ok) return vanished
    const failing = await faultyOf(tallied.value.failing, (card) => card.failing?.since)
    if (!failing.ok) return failing
    const deviceStates = Object.fromEntries(tallied.value.states)
    return done({ deviceStates, vanished: vanished.value, failing: failing.value })
  }
  const count = async (): Promise<Outcome<Overview>> => {
    const counts = await allOf([
      tally('arqs', 'state'),
      tally('handles', 'state'),
      guard(counted(tallyHosts(reads)), 'views', { view: 'hosts' }),
      tally('devices', 'status'),
      tally('devices', 'failing'),
      tally('pending_orders', 'hostname'),
      tally('due', 'kind'),
    ])
    const oldest = await allOf([oldestOrder(), oldestDelivery()])
    const [ofService, ofDevices] = [await progress(), await devicesNow()]
    if (!counts.ok) return counts
    if (!oldest.ok) return oldest
    if (!ofService.ok) return ofService
    if (!ofDevices.ok) return ofDevices
    const [arqs = {}, handles = {}, hosts = {}, devices = {}, failing = {}, orders = {}, due = {}] = counts.value
    const [orderAt = null, deliveryAt = null] = oldest.value
    return done({
      countedAt: clock.now(),
      arqs,
      handles,
      hosts,
      devices,
      ...ofDevices.value,
      orders: { waiting: total(orders), oldestAt: orderAt },
      deliveries: { waiting: due[NOVA_DUE] ?? 0, oldestAt: deliveryAt, undelivered: due[NOVA_UNDELIVERED] ?? 0 },
      failingDevices: total(failing),
      placement: inPlacement(due),
      progress: ofService.value,
    })
  }
  return keptAnswer(clock, COUNTED_FOR_MS, count)
}

const KIND_OF: Readonly<Record<DeliveryState, string>> = { waiting: NOVA_DUE, undelivered: NOVA_UNDELIVERED }

export const createDeliveries = ({ readers, region }: Pick<Kernel, 'readers' | 'region'>): Control['deliveries'] => {
  const one = async ({ entity, at }: Row<'due'>): Promise<Outcome<Delivery>> => {
    const uuid = idOf(entity)
    const known = await region.readCurrent(instance, instanceKey(uuid))
    if (!known.ok) return known
    return done({ ...deliveryOf(known.value.state, at), instance: uuid })
  }
  return async ({ state, limit, marker }) => {
    let after = marker
    for (;;) {
      const page = { limit, ...(after && { marker: instanceKey(after) }) }
      const listed = await readers.list('due', { kind: KIND_OF[state] }, page)
      if (!listed.ok) return listed
      const read = await allOf(listed.value.items.map(one))
      if (!read.ok) return read
      // a row may be older than the instance as it is now, or of a control of 0.2.0, which never deletes it
      const items = read.value.filter((delivery) => delivery.state === state)
      const { next } = listed.value
      // a page without items has no marker for the next one
      if (items.length > 0 || next === null) return done({ items, next })
      after = read.value.at(-1)?.instance
    }
  }
}
