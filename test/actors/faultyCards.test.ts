/**
 * A card that vanishes or fails while servers use it, from the report of its host to the overview that an operator
 * reads. Over all stores.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApp } from '../../src/http/app.ts'
import { noauth } from '../../src/http/identity.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { handClock } from '../support/lab.ts'
import { describeWith } from '../support/needs.ts'
import { NOVA, value } from '../support/plane.ts'
import { type Pool, pglitePool, postgresPool } from '../support/storePools.ts'
import { openCloud } from './cloud.ts'

const NEWEST = { 'openstack-api-version': 'accelerator latest, accelerando latest' }
/** Requests bind to the first card. More of them vanish than a sentence names. */
const PLAN = { seed: 1, devices: Array.from({ length: 6 }, () => ({ kind: 'fpga' as const, handles: 4 })) }
const DRIVER = 'simulated_driver'
type Faulty = {
  readonly devices: number
  readonly instances: number
  readonly cards: readonly { readonly pci_address: string | null }[]
  readonly since: string | null
}
type Detail = {
  readonly state: string
  readonly state_reason: string | null
  readonly health: { readonly held: readonly { readonly instance_uuid: string }[] }
}

const open = async (pool: Pool) => {
  const clock = handClock()
  const store = await pool.take(clock.now)
  const cloud = await openCloud(PLAN, { 'resources:FPGA': '1' }, { clock }, store)
  const found = await cloud.discovered('h1', PLAN)
  const reports = (devices: typeof found) => cloud.report('h1', [{ driver: DRIVER, status: 'ok', devices }])
  const fails = async (reason: string) => {
    const [card] = found
    const measured = { controlPath: card!.controlPath.info, health: 'bad' as const, reasons: [reason], numbers: {} }
    const body = { host: 'h1', bootId: randomUUID(), observedAt: clock.now() }
    const status = { drivers: {}, ordersInHand: 0, resultsWaiting: 0 }
    const all = [{ driver: DRIVER, at: clock.now(), devices: [measured] }]
    value(await cloud.plane.reports.take({ type: 'Heartbeat', ...body, status, measured: all } as const, 'beat 1'))
  }
  const app = createApp({ control: cloud.control, identify: noauth, log: silent, clock })
  const asked = async <Document>(path: string) =>
    (await (await app.request(`/v2${path}`, { headers: NEWEST })).json()) as Document
  /** What the overview says. Counts are kept for a second, or longer. */
  const said = async () => {
    await clock.pass(5100)
    const { vanished, failing } = await asked<Readonly<Record<'vanished' | 'failing', Faulty | null>>>('/overview')
    return [vanished, failing].map((some) => {
      if (!some || some.devices === 0) return null
      const { devices: count, instances, cards, since } = some
      return { count, instances, named: cards.map((card) => card.pci_address), since: since && Date.parse(since) }
    })
  }
  const { devices } = await asked<{ readonly devices: readonly [{ readonly uuid: string }] }>('/devices')
  const [{ uuid }] = devices
  const shown = async () => {
    const { state, state_reason: why, health } = await asked<Detail>(`/devices/${uuid}`)
    const instances = health.held.map(({ instance_uuid: one }) => one)
    return { state, why, instances: new Set(instances) }
  }
  /** The device as the answer about each of its attach handles has it. */
  const byHandle = async () => {
    const handles = await Promise.all(
      (await cloud.handles()).map(({ uuid: one }) =>
        asked<{ readonly device: (Detail & { readonly uuid: string }) | null }>(`/handles/${one}`),
      ),
    )
    return handles.map(({ device }) => device).filter((device) => device?.uuid === uuid)
  }
  const close = async () => {
    await cloud.stop()
    await store.close()
  }
  return { ...cloud, clock, found, reports, fails, said, shown, byHandle, uuid, close }
}
const over = (pool: Pool): void => {
  beforeAll(async () => (await pool.take(Date.now)).close())
  afterAll(pool.end)
  test('a card that vanished is told with its servers, before those that nobody uses, and until it is back', async () => {
    const world = await open(pool)
    const servers = new Set([await world.start(), await world.start()].map(({ instance }) => instance))
    await world.pump()
    expect(await world.said()).toEqual([null, null])
    const [held, ...others] = world.found
    await world.clock.pass(7000)
    const at = Math.floor(world.clock.now() / 1000) * 1000
    await world.reports(others)
    expect(await world.said()).toEqual([{ count: 1, instances: 2, named: ['acc0:00:00.0'], since: at }, null])
    expect(await world.shown()).toEqual({
      state: 'missing',
      why: 'its host does not report it any more',
      instances: servers,
    })
    expect(value(await world.control.hosts.get(NOVA, 'h1')).devices).toEqual({ missing: 1, enabled: 5 })
    await world.reports([others[4]!])
    const [vanished] = await world.said()
    expect(vanished).toMatchObject({ count: 5, instances: 2, since: at })
    expect(vanished!.named[0]).toBe('acc0:00:00.0')
    expect(vanished!.named).toHaveLength(3)
    await world.reports([held!, ...others])
    expect(await world.said()).toEqual([null, null])
    expect(await world.shown()).toMatchObject({ state: 'enabled', why: null, instances: servers })
    await world.close()
  })
  test('a card that fails is told with its servers, since when and why', async () => {
    const world = await open(pool)
    const { instance } = await world.start()
    await world.pump()
    await world.clock.pass(7000)
    const at = Math.floor(world.clock.now() / 1000) * 1000
    await world.fails('it is too hot')
    expect(await world.said()).toEqual([null, { count: 1, instances: 1, named: ['acc0:00:00.0'], since: at }])
    expect(await world.shown()).toEqual({ state: 'failing', why: 'it is too hot', instances: new Set([instance]) })
    const ofHandles = await world.byHandle()
    expect(ofHandles).toHaveLength(4)
    for (const device of ofHandles)
      expect(device).toMatchObject({ state: 'failing', state_reason: 'it is too hot', state_since: expect.any(String) })
    await world.close()
  })
}
describe('in memory', () => over({ take: async (now) => memoryStore({ now }), end: async () => {} }))
describe('PGlite', () => over(pglitePool()))
describeWith('postgres', 'PostgreSQL', (bin) => over(postgresPool(bin)))
