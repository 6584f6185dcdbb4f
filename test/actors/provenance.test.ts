/** PROVENANCE: who may answer an order. */
import { beforeEach, describe, expect, test } from 'vitest'
import { systemIds } from '../../src/vocabulary/clock.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { readToHost } from '../../src/wire/message.ts'
import type { Order } from '../../src/wire/orders.ts'
import type { OrderResult } from '../../src/wire/reports.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { inventoryOf } from '../support/reports.ts'

const FPGA = { seed: 1, devices: [{ kind: 'fpga', handles: 1 }] } as const
type World = Awaited<ReturnType<typeof openPlane>>
let w: World
let arq: string
let deployable: string

/** What hosts were told besides orders. */
let stops: unknown[]

beforeEach(async () => {
  stops = []
  const publish = async (records: readonly BusRecord[]) => {
    for (const record of records) {
      const read = readToHost(record)
      if (read.ok && read.value.body.type === 'Stop') stops.push(read.value.body)
    }
  }
  w = await openPlane({ publish }, undefined, 'when told')
  await w.shows('victim', FPGA)
  await w.shows('rogue', { ...FPGA, seed: 2 })
  value(await w.control.profiles.create(NOVA, { name: 'f', description: null, groups: [{ 'resources:FPGA': '1' }] }))
  const place = value(await w.control.deployables.list({}, {})).items.find(({ hostname }) => hostname === 'victim')!
  deployable = place.uuid
  const [made] = value(await w.control.arqs.create(NOVA, 'f'))
  arq = made!.uuid
  const bind = { arq, hostname: 'victim', deviceRpUuid: place.rp_uuid!, instanceUuid: systemIds.uuid() }
  value(await w.control.arqs.bind(NOVA, [bind]))
  await w.pump()
})
const state = async () => value(await w.control.arqs.get(NOVA, arq)).state
const handle = async () => value(await w.control.handles.list(NOVA, { hostname: 'victim' }, {})).items
const resultOf = (order: Order, more: Partial<OrderResult> = {}): OrderResult => ({
  type: 'OrderResult',
  host: order.host,
  bootId: systemIds.uuid(),
  order: order.type,
  slot: order.slot,
  deployableUuid: order.deployableUuid,
  number: order.number,
  ...(order.type === 'PrepareSlot' ? { arq: order.arq } : {}),
  startedAt: 1,
  finishedAt: 2,
  result: { status: 'done' },
  ...more,
})
const sent = (result: OrderResult) => w.plane.reports.take(result, systemIds.uuid())
const refusals = () => w.plane.counts().refusedReports
/** The refusals in the journal of the host. */
const recorded = async (host: string) =>
  (await w.store.journal.history([`host/${host}`], 1000)).flatMap(({ events }) =>
    events.filter(({ type }) => type === 'ReportRefused'),
  )

describe('PROVENANCE-1 a result of another host', () => {
  test('does not bind: it is refused for good, naming both hosts, counted, and recorded once', async () => {
    const forged = await sent(resultOf(w.orders.at(-1)!, { host: 'rogue' }))
    expect(forged).toMatchObject({ ok: false, fault: { kind: 'invalid', field: 'data.host' } })
    expect(JSON.stringify(forged)).toMatch(/is on host victim, and host rogue/)
    await sent(resultOf(w.orders.at(-1)!, { host: 'rogue' }))
    expect(await state()).toBe('BindStarted')
    expect(refusals()).toEqual(expect.objectContaining({ foreign_host: 2 }))
    expect(await recorded('victim')).toHaveLength(1)
  })
  test('does not bind either when it names a deployable of its own host', async () => {
    const place = value(await w.control.deployables.list({}, {})).items.find(({ hostname }) => hostname === 'rogue')!
    await sent(resultOf(w.orders.at(-1)!, { host: 'rogue', deployableUuid: place.uuid }))
    expect(await state()).toBe('BindStarted')
  })
  test('does not free a handle', async () => {
    await w.answer(w.orders.at(-1)!)
    value(await w.control.arqs.unbind(NOVA, [arq]))
    await w.pump()
    const held = (await handle()).map((one) => one.state)
    expect((await sent(resultOf(w.orders.at(-1)!, { host: 'rogue' }))).ok).toBe(false)
    expect((await handle()).map((one) => one.state)).toEqual(held)
  })
  test('the host itself is heard as before', async () => {
    await sent(resultOf(w.orders.at(-1)!, { host: 'rogue' }))
    await w.answer(w.orders.at(-1)!)
    expect(await state()).toBe('Bound')
  })
})

describe('PROVENANCE-2 a result of a former boot', () => {
  const boots = Array.from({ length: 3 }, () => systemIds.uuid())
  const boot = (n: number) => w.report('victim', [], boots[n])
  test('is refused while the order waits, and the present boot answers it', async () => {
    await boot(0)
    await boot(1)
    const order = w.orders.at(-1)!
    expect(await sent(resultOf(order, { bootId: boots[0]! }))).toMatchObject({ fault: { field: 'data.bootId' } })
    expect(await state()).toBe('BindStarted')
    expect(refusals()).toEqual(expect.objectContaining({ former_boot: 1 }))
    expect((await sent(resultOf(order, { bootId: boots[1]! }))).ok).toBe(true)
    expect(await state()).toBe('Bound')
  })
  test('changes nothing and is no dead letter when no order waits for it', async () => {
    await boot(0)
    const order = w.orders.at(-1)!
    await sent(resultOf(order, { bootId: boots[0]! }))
    await boot(1)
    expect((await sent(resultOf(order, { bootId: boots[0]! }))).ok).toBe(true)
    expect(refusals()).toEqual(expect.objectContaining({ former_boot: 0 }))
  })
  test.each(['a slot that nobody knows', 'a number that nobody gave', 'a deployable that nobody knows'] as const)(
    'for %s changes nothing either',
    async (what) => {
      await boot(0)
      await boot(1)
      const order = w.orders.at(-1)!
      const odd = {
        'a slot that nobody knows': { slot: systemIds.uuid() },
        'a number that nobody gave': { number: order.number + 1 },
        'a deployable that nobody knows': { deployableUuid: systemIds.uuid() },
      }[what]
      expect(await sent(resultOf(order, { bootId: boots[0]!, ...odd }))).toEqual({ ok: true, value: null })
      expect(refusals()).toEqual(expect.objectContaining({ former_boot: 0 }))
      expect(await state()).toBe('BindStarted')
    },
  )
  test('of a boot whose first report is still on its way counts', async () => {
    await boot(0)
    expect((await sent(resultOf(w.orders.at(-1)!, { bootId: boots[2]! }))).ok).toBe(true)
    expect(await state()).toBe('Bound')
    expect(deployable).not.toBe('')
  })
})

describe('PROVENANCE-4 two programs under one name', () => {
  const [older, later] = [systemIds.uuid(), systemIds.uuid()]
  const NUMBER = 1_700_000_000_000
  const status = { drivers: {}, ordersInHand: 0, resultsWaiting: 0 }
  const beat = (bootId: string, bootNumber: number, observedAt: number) =>
    w.plane.reports.take({ type: 'Heartbeat', host: 'twin', bootId, bootNumber, observedAt, status }, systemIds.uuid())
  const start = async (bootId: string, bootNumber: number) => {
    const report = inventoryOf('twin', 1, { bootId, bootNumber, drivers: [] })
    value(await w.plane.reports.take(report, `${bootId}/1`))
  }
  beforeEach(async () => {
    await start(older, NUMBER)
    await start(later, NUMBER + 10_000)
  })
  test('the older one is told to stop, and both are named', async () => {
    expect((await beat(later, NUMBER + 10_000, NUMBER + 20_000)).ok).toBe(true)
    const judged = await beat(older, NUMBER, NUMBER + 20_000)
    expect(judged).toMatchObject({ ok: false, fault: { kind: 'invalid', field: 'data.bootId' } })
    expect(JSON.stringify(judged)).toContain(older)
    expect(JSON.stringify(judged)).toContain(later)
    expect(refusals()).toMatchObject({ doubled_host: 1 })
    expect(stops).toMatchObject([{ type: 'Stop', host: 'twin', bootId: older, by: later }])
    expect(await recorded('twin')).toHaveLength(1)
  })
  test.each([
    ['a second before', -1000],
    ['1999 ms after', 1999],
  ])('a heartbeat that the older one sent %s the start of the later one is no sign of two programs', async (_, ms) => {
    expect((await beat(older, NUMBER, NUMBER + 10_000 + ms)).ok).toBe(true)
    expect([refusals().doubled_host, stops]).toEqual([0, []])
  })
  test('a heartbeat that was sent two seconds after the later one started is of a second program', async () => {
    const rule = `two programs run under the name twin: boot ${older}, which is told to stop, and the later boot ${later}`
    const fault = { kind: 'invalid', field: 'data.bootId', rule }
    expect(await beat(older, NUMBER, NUMBER + 12_000)).toEqual({ ok: false, fault })
    expect([refusals().doubled_host, stops.length]).toEqual([1, 1])
  })
})

test.each(['2099-01-01', '2300-01-01'])(
  'PROVENANCE-6 a start that the clock of its host has dated %s keeps no later start out, though the host has lost its folder',
  async (wrong) => {
    const told = async (bootId: string, bootNumber: number, seed: number) => {
      const devices = await w.discovered('wrong', { ...FPGA, seed })
      const drivers = [{ driver: 'simulated_driver', status: 'ok', devices } as const]
      await w.report('wrong', drivers, bootId, { bootNumber })
    }
    const [first, later] = [systemIds.uuid(), systemIds.uuid()]
    const bootOf = async () => value(await w.control.hosts.get(NOVA, 'wrong')).boot_id
    await told(first, Date.parse(wrong), 3)
    await told(later, Date.now(), 3)
    expect(await bootOf()).toBe(later)
    // what the former start still says is old
    await told(first, Date.parse(wrong), 4)
    expect(await bootOf()).toBe(later)
    // with right clocks on, the numbers tell again which start is the later one
    await told(systemIds.uuid(), Date.now() - 60_000, 4)
    expect(await bootOf()).toBe(later)
  },
)
