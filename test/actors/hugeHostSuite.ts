/**
 * One host shows the largest inventory that the reader of reports permits, while another host and a client work: over
 * any store.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inProcessBus } from '../../src/bus/inProcess/inProcess.ts'
import { type System, openSystem } from '../../src/cli/programs/system.ts'
import { systemClock } from '../../src/vocabulary/clock.ts'
import type { ReportedDeployable, ReportedDevice, ReportedHandle } from '../../src/vocabulary/hardware.ts'
import type { Store } from '../../src/persistence/store.ts'
import { CATALOGUE } from '../../src/wire/catalogue.ts'
import { MESSAGE_MAX_BYTES, readDeadLetter, reportRecord } from '../../src/wire/message.ts'
import type { InventoryReport } from '../../src/wire/reports.ts'
import { imagesOf } from '../sim/images.ts'
import { memoryLog, until } from '../support/lab.ts'
import { NOVA, TENANT, value } from '../support/plane.ts'
import { inventoryOf } from '../support/reports.ts'
import { signerOf } from '../support/keys.ts'

/** The limits of the lists in a report (`src/vocabulary/hardware.ts`, `src/wire/reports.ts`). */
const MOST = { devices: 1000, deployables: 1000, handles: 4096 } as const
const LONG_MS = 50_000
const PAGE = 1000

type Recorded = {
  readonly type: string
  readonly identity: { readonly name: string }
  readonly description: { readonly handles: readonly unknown[] }
}
/** No two of them are the same function. */
const handle = (n: number): ReportedHandle => {
  const info = {
    bus: hex((n >> 8) & 255, 2),
    device: hex((n >> 3) & 31, 2),
    domain: hex(n >> 16, 4),
    function: hex(n & 7, 1),
  }
  return { type: 'PCI', info }
}
const virtual = (n: number): ReportedHandle => ({ ...handle(n), physfn: 'ffff:ff:1f.7', set: n })
const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')
const deployable = (name: string, handles: readonly ReportedHandle[]): ReportedDeployable => ({
  name,
  numAccelerators: handles.length,
  driverName: 'd',
  attributes: [{ key: 'rc', value: 'PGPU' }],
  handles,
  hostWork: false,
  programmable: false,
})
const device = (
  n: number,
  deployables: readonly ReportedDeployable[],
  stdBoardInfo: string | null = null,
): ReportedDevice => ({
  type: 'GPU',
  vendor: 'v',
  model: 'm',
  stdBoardInfo,
  vendorBoardInfo: null,
  controlPath: { type: 'PCI', info: JSON.stringify(handle(n).info) },
  deployables,
})
const drivers = (devices: readonly ReportedDevice[]): InventoryReport['drivers'] => [
  { driver: 'd', status: 'ok', devices },
]
const many = <One>(count: number, one: (n: number) => One): readonly One[] =>
  Array.from({ length: count }, (_, n) => one(n))

const SINGLES = MOST.devices - 2
const HIGH = 1 << 20
const wide = (count: number): ReportedDevice => device(3 * HIGH, [deployable('wide_0', many(count, virtual))])
/** So many virtual functions a deployable may have so that a message holds all that is recorded of it (FACTS-1). */
const MOST_VIRTUAL = 3580
/** A deployable with as many handles as may be, a device with as many deployables, and as many devices. */
const largest = (handles: number = MOST.handles, boardInfo: string | null = null): readonly ReportedDevice[] => [
  device(HIGH, [deployable('big_l', many(handles, handle))], boardInfo),
  device(
    HIGH + 1,
    many(MOST.deployables, (n) => deployable(`big_p${n}`, [])),
  ),
  ...many(SINGLES, (n) => device(HIGH + 8 * (n + 1), [deployable(`big_l${n}`, [handle(HIGH + 8 * (n + 1))])])),
]
const EXPECTED = { deployables: 1 + MOST.deployables + SINGLES, handles: MOST.handles + SINGLES }

const reported = (host: string, number: number, devices: readonly ReportedDevice[]) =>
  signerOf(host).signed(
    reportRecord(
      inventoryOf(host, number, { drivers: drivers(devices), observedAt: Date.now() }),
      `${host}/${number}`,
      Date.now(),
    ),
  )
/** The same, filled up so that its record is as long as the bus takes. */
const filledUp = (host: string, number: number) => {
  const missing = MESSAGE_MAX_BYTES - Buffer.byteLength(reported(host, number, largest(MOST.handles, '')).value)
  expect(missing).toBeGreaterThan(0)
  return reported(host, number, largest(MOST.handles, 'x'.repeat(missing)))
}

export const hugeHostSuite = (open: () => Promise<Store>): void => {
  const log = memoryLog()
  const bus = inProcessBus({ clock: systemClock, partitions: 1 })
  const letters: { readonly key: string; readonly reason: string }[] = []
  /** By deployable, how many attach handles readers of the topic were told of when it was recorded. */
  const published = new Map<string, number>()
  let system: System
  let store: Store
  beforeAll(async () => {
    store = await open()
    await bus.consume({
      topic: 'dead-letters.v1',
      group: 'test',
      from: 'earliest',
      take: async (record) => {
        const letter = readDeadLetter(record)
        if (letter.ok) letters.push({ key: record.key, reason: letter.value.body.reason })
      },
    })
    await bus.consume({
      topic: CATALOGUE.deployableEvents.topic,
      group: 'test',
      from: 'earliest',
      take: async ({ value: text }) => {
        const { event } = (JSON.parse(text) as { readonly data: { readonly event: Recorded } }).data
        if (event.type === 'DeployableRecorded') published.set(event.identity.name, event.description.handles.length)
      },
    })
    system = await openSystem({ store, images: imagesOf(), nova: null, log, bus })
  })
  afterAll(async () => {
    await system.stop()
    await store.close()
  })
  /** How many rows a view has, page by page. */
  const count = async (view: 'deployables' | 'handles') => {
    let [rows, after]: [number, string | null] = [0, '']
    while (after !== null) {
      const from = after === '' ? {} : { after: { value: after, key: after } }
      const page: readonly { readonly uuid: string }[] = (await store.reads.page({
        view,
        where: {},
        sort: 'uuid',
        limit: PAGE,
        ...from,
      }))!
      rows += page.length
      after = page.length < PAGE ? null : page.at(-1)!.uuid
    }
    return rows
  }
  const recorded = async () => ({ deployables: await count('deployables'), handles: await count('handles') })
  const bound = async (name: string) => {
    const { control } = system.plane
    const found = value(await control.deployables.list({}, {})).items.find((one) => one.name === name)!
    const [arq] = value(await control.arqs.create(TENANT, 'p'))
    const binding = { arq: arq!.uuid, hostname: 'small', deviceRpUuid: found.rp_uuid!, instanceUuid: randomUUID() }
    value(await control.arqs.bind(NOVA, [binding]))
    return value(await control.arqs.get(NOVA, arq!.uuid)).state
  }
  const small = (n: number) => deployable(`small_${n}`, [handle(2 * HIGH + n)])

  test('a small host is recorded, and what it shows is bound, while a host with the largest inventory reports; that one is recorded whole', async () => {
    value(
      await system.plane.control.profiles.create(NOVA, {
        name: 'p',
        description: null,
        groups: [{ 'resources:PGPU': '1' }],
      }),
    )
    await bus.publish([reported('small', 1, [device(2 * HIGH, [small(0)])])])
    await until(() => system.inbox.counts().taken === 1, 'the first report', LONG_MS)
    await bus.publish([filledUp('big', 1), reported('small', 2, [device(2 * HIGH, [small(0), small(1)])])])
    expect(await bound('small_0')).toBe('Bound')
    await until(() => system.inbox.counts().taken === 3, 'the largest report', LONG_MS)
    expect(await bound('small_1')).toBe('Bound')
    expect(await recorded()).toEqual({ deployables: EXPECTED.deployables + 2, handles: EXPECTED.handles + 2 })
    expect(system.inbox.counts()).toMatchObject({ retried: 0, dead: 0 })
  })
  test('readers of the topics are told all of it', async () => {
    await until(() => published.size === EXPECTED.deployables + 2, 'the facts', LONG_MS)
    expect(published.get('big_l')).toBe(MOST.handles)
    expect([letters, log.said.filter(({ message }) => message === 'relay.untold')]).toEqual([[], []])
  })
  test('one handle more is a dead letter that names the list, and changes nothing', async () => {
    const before = await store.journalEnd()
    await bus.publish([reported('big', 2, largest(MOST.handles + 1))])
    await until(() => system.inbox.counts().dead === 1, 'the dead letter', LONG_MS)
    await until(() => letters.some(({ key }) => key === 'big'), 'the dead letter', LONG_MS)
    expect(letters.at(-1)!.reason).toMatch(/handles/)
    expect(await store.journalEnd()).toBe(before)
  })
  test('one byte more is refused by the bus, with both numbers', async () => {
    const record = filledUp('big', 3)
    const longer = { ...record, value: record.value.replace('xx', 'xxx') }
    const why = `a message of ${MESSAGE_MAX_BYTES + 1} bytes, more than ${MESSAGE_MAX_BYTES}`
    await expect(bus.publish([longer])).rejects.toThrow(why)
  })
  test('after it the same host is heard again, and nothing that it shows no more is forgotten at once', async () => {
    const devices = largest().slice(0, 2)
    await bus.publish([reported('big', 4, devices)])
    await until(() => system.inbox.counts().taken === 4, 'the shorter report', LONG_MS)
    expect(await recorded()).toEqual({ deployables: EXPECTED.deployables + 2, handles: EXPECTED.handles + 2 })
    const [found] = value(await system.plane.control.hosts.list({})).items.filter(({ name }) => name === 'big')
    expect(found).toMatchObject({ liveness: 'up' })
  })
  test('a device of which a message cannot hold all is refused alone, and one that just fits is told whole (FACTS-1)', async () => {
    const beside = device(4 * HIGH, [deployable('wide_beside', [handle(4 * HIGH)])])
    await bus.publish([reported('wide', 1, [wide(MOST_VIRTUAL + 1), beside])])
    await until(() => published.has('wide_beside'), 'the device beside it', LONG_MS)
    const refusals = () => log.said.filter(({ message }) => message === 'inventory.refused')
    expect(refusals().map(({ detail }) => detail)).toEqual([
      expect.objectContaining({
        host: 'wide',
        reason: expect.stringMatching(
          `^deployable wide_0 with ${MOST_VIRTUAL + 1} attach handles and 1 attributes would take`,
        ),
      }),
    ])
    await bus.publish([reported('wide', 2, [wide(MOST_VIRTUAL), beside])])
    await until(() => published.has('wide_0'), 'the device', LONG_MS)
    expect([published.get('wide_0'), refusals().length]).toEqual([MOST_VIRTUAL, 1])
    expect(log.said.filter(({ message }) => message === 'relay.untold')).toEqual([])
  })
}
