/**
 * A control plane without HTTP and bus. Its store is in memory unless the test selects another; hosts answer orders at
 * once or on request.
 */
import { setTimeout } from 'node:timers/promises'
import type { Caller } from '../../src/actors/control.ts'
import { type ControlPlaneParts, openControlPlane } from '../../src/services/controlPlane.ts'
import { lettersOf, reactions } from '../../src/actors/reactions.ts'
import { systemClock, systemIds } from '../../src/vocabulary/clock.ts'
import { openDeadLetters } from '../../src/delivery/deadLetters/keeper.ts'
import { openEvents } from '../../src/delivery/events/events.ts'
import { recordedHostIo } from '../drivers/recordedHostIo.ts'
import { type SimulatedPlan, simulatedDriver } from '../../src/drivers/simulated/simulated.ts'
import { silent } from '../../src/vocabulary/log.ts'
import type { Store } from '../../src/persistence/store.ts'
import { readOrder, readToHost } from '../../src/wire/message.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import type { Order, SlotsQuestion } from '../../src/wire/orders.ts'
import type { InventoryReport, OrderResult } from '../../src/wire/reports.ts'
import { openTestStore } from './stores.ts'
import { noCatalogue } from './images.ts'
import { signerOf } from './keys.ts'

export const NOVA: Caller = {
  userId: 'nova',
  projectId: 'p1',
  isAdmin: true,
  isService: true,
  requestId: 'req-11111111-1111-4111-8111-111111111111',
}
export const TENANT: Caller = {
  userId: 'u1',
  projectId: 'p1',
  isAdmin: false,
  isService: false,
  requestId: 'req-22222222-2222-4222-8222-222222222222',
}

type Answering = 'at once' | 'when told'
export const openPlane = async (
  parts: Partial<ControlPlaneParts> = {},
  given?: Store,
  answering: Answering = 'at once',
) => {
  const store = given ?? (await openTestStore((parts.clock ?? systemClock).now))
  const orders: Order[] = []
  const questions: SlotsQuestion[] = []
  const bootId = systemIds.uuid()
  let reports = 0
  /** What is published beside the orders: dead letters, the marks on them, and what is sent again. */
  const published: BusRecord[] = []
  const carrier = { publish: async (batch: readonly BusRecord[]) => void published.push(...batch) }
  const { bus, ...deadLetters } = openDeadLetters({
    bus: carrier,
    clock: parts.clock ?? systemClock,
    log: silent,
    follow: null,
  })
  const plane = openControlPlane({
    deadLetters,
    journal: store.journal,
    reads: store.reads,
    sharing: store.sharing,
    clock: systemClock,
    ids: systemIds,
    images: noCatalogue(),
    nova: null,
    publish: async (records) => void (await take(records.map((record) => ({ ...record })))),
    log: silent,
    ...parts,
  })
  /** A control of a cloud takes signed reports only. */
  const signerFor = (name: string): string | null => (parts.cloud ? signerOf(name).publicKey : null)
  const taken = async (...[body, id]: Parameters<typeof plane.reports.take>) =>
    value(await plane.reports.take(body, id, signerFor(body.host)))
  const answer = (order: Order, result: OrderResult['result'] = { status: 'done' }) =>
    taken(
      {
        type: 'OrderResult',
        host: order.host,
        bootId,
        order: order.type,
        slot: order.slot,
        deployableUuid: order.deployableUuid,
        number: order.number,
        ...(order.type === 'PrepareSlot' ? { arq: order.arq } : {}),
        startedAt: 1,
        finishedAt: 5,
        result,
      },
      `${order.slot}.${order.number}.result`,
    )
  const take = async (records: Parameters<ControlPlaneParts['publish']>[0]) => {
    for (const record of records) {
      const sent = readToHost(record)
      if (sent.ok && sent.value.body.type === 'TellSlots') questions.push(sent.value.body)
      const order = readOrder(record)
      if (!order.ok) continue
      orders.push(order.value.body)
      if (answering === 'at once') await answer(order.value.body)
    }
  }
  /** Hands every new journal row's orders to the hosts, as the relay does. */
  let position = await store.journal.checkpoint('test')
  let pumping: Promise<void> = Promise.resolve()
  const pump = () =>
    (pumping = pumping.then(async () => {
      for (;;) {
        const end = await store.journalEnd()
        const rows = await store.journal.feed(position, 100)
        position = rows.at(-1)?.position ?? position
        await take(rows.flatMap(reactions).filter(({ topic }) => topic === 'host.orders.v1'))
        if (rows.length > 0) continue
        if (!store.landmarks.isBefore(position, end)) return
        // an open transaction of another test on the same server hides the last rows from the feed until it ends
        await setTimeout(5)
      }
    }))
  const discovered = async (host: string, plan: SimulatedPlan) =>
    simulatedDriver(plan).discover(recordedHostIo({}, host))
  const report = async (
    host: string,
    drivers: InventoryReport['drivers'],
    boot = bootId,
    more: Partial<InventoryReport> = {},
  ) => {
    const number = ++reports
    const head = { host, bootId: boot, number, observedAt: Date.now(), version: '0.1.0', aliases: [] }
    await taken({ type: 'Inventory', ...head, drivers, ...more }, `${host}.${boot}.${number}`)
  }
  const shows = async (host: string, plan: SimulatedPlan) =>
    report(host, [{ driver: 'simulated_driver', status: 'ok', devices: await discovered(host, plan) }])
  await plane.start()
  const { journal, landmarks, hints } = store
  const events = openEvents({ journal, landmarks, hints, lettersOf, clock: systemClock, log: silent })
  const { control } = plane
  const host = { answer, report, shows, discovered }
  return { plane, control, events, store, orders, questions, pump, bus, published, letters: deadLetters, ...host }
}

/** Returns the value, or fails the test with the fault. */
export const value = <Value>(outcome: { ok: true; value: Value } | { ok: false; fault: object }): Value => {
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.fault))
  return outcome.value
}
