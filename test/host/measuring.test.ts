/** What a host measures of its devices, and how its heartbeats tell it. */
import { afterEach, describe, expect, test } from 'vitest'
import type { Card } from '../../src/vocabulary/card.ts'
import type { Driver, Measured } from '../../src/drivers/driver.ts'
import type { Measurements } from '../../src/wire/measurements.ts'
import { type Boot, type HostLab, openHostLab } from '../support/hostLab.ts'
import type { Host } from '../../src/host/host.ts'
import { driverByName } from '../../src/drivers/index.ts'
import { recordedHostIo } from '../drivers/recordedHostIo.ts'
import { pciTree } from '../drivers/trees.ts'

let hosts: Host[] = []
afterEach(async () => {
  for (const host of hosts) await host.stop('at once')
  hosts = []
})
const booted = async (boot: Boot = {}): Promise<HostLab> => {
  const lab = await openHostLab()
  hosts.push(await lab.boot(boot))
  return lab
}
const measuredBy = (lab: HostLab): readonly Measurements[] => lab.heartbeats().flatMap(({ measured = [] }) => measured)
const READ_MS = 30_000
const BEAT_MS = 5000

test('the first heartbeat after a discovery tells what was measured, and later ones only what was measured since', async () => {
  const lab = await booted()
  await lab.clock.pass(BEAT_MS)
  expect(measuredBy(lab)).toMatchObject([
    {
      driver: 'simulated_driver',
      devices: lab.devices.map(({ controlPath }) => ({ controlPath: controlPath.info, health: 'ok' })),
    },
  ])
  await lab.clock.pass(READ_MS)
  expect(measuredBy(lab)).toHaveLength(2)
  expect(lab.heartbeats().length).toBeGreaterThan(6)
})

test('a device that turns bad is told with the reason, and as good only after three good readings in a row (MEASURE-3)', async () => {
  const lab = await booted()
  await lab.clock.pass(BEAT_MS)
  const next = async (bad: readonly number[]) => {
    lab.driver.control.faults.bad = bad
    await lab.clock.pass(READ_MS)
    return measuredBy(lab)
      .at(-1)!
      .devices.map(({ health }) => health)
  }
  expect(await next([1])).toEqual(['ok', 'bad', 'ok'])
  expect(measuredBy(lab).at(-1)!.devices[1]!.reasons).toEqual(['it has reported fatal PCI errors'])
  expect(await next([])).toEqual(['ok', 'bad', 'ok'])
  expect(await next([])).toEqual(['ok', 'bad', 'ok'])
  expect(await next([1])).toEqual(['ok', 'bad', 'ok'])
  for (const health of ['bad', 'bad', 'ok']) expect((await next([]))[1]).toBe(health)
})

test('what could not be sent is told with the next heartbeat', async () => {
  const lab = await openHostLab()
  let down = true
  const publish: HostLab['bus']['publish'] = async (records) => {
    if (down && records.some(({ value }) => value.includes('report.Heartbeat'))) throw new Error('the bus is away')
    return lab.bus.publish(records)
  }
  hosts.push(await lab.boot({ bus: { ...lab.bus, publish } }))
  await lab.clock.pass(2 * BEAT_MS)
  down = false
  expect(measuredBy(lab)).toEqual([])
  await lab.clock.pass(BEAT_MS)
  expect(measuredBy(lab)).toHaveLength(1)
})

const withMeasure = async (measure: Driver['measure']): Promise<HostLab> => {
  const lab = await openHostLab()
  const { measure: _, ...plain } = lab.driver
  hosts.push(await lab.boot({ drivers: [{ ...plain, ...(measure ? { measure } : {}) }] }))
  return lab
}
const good = (paths: readonly string[]): Measured => ({
  devices: paths.map((controlPath) => ({ controlPath, numbers: {} })),
})

test('a reading that hangs is given up and named, keeps no heartbeat and no report back, and is not begun twice (MEASURE-1)', async () => {
  let begun = 0
  const signals: AbortSignal[] = []
  const lab = await withMeasure((_io, _paths, signal) => {
    begun++
    signals.push(signal)
    return new Promise(() => {})
  })
  await lab.clock.pass(10 * READ_MS)
  expect(lab.heartbeats().length).toBe(61)
  expect(lab.inventories().length).toBeGreaterThan(4)
  expect(measuredBy(lab)).toMatchObject([{ complaint: 'did not answer within 10000 ms', devices: [] }])
  expect(begun).toBe(1)
  expect(signals[0]!.aborted).toBe(true)
  expect(lab.log.said.filter(({ message }) => message === 'measuring.failed')).toHaveLength(1)
})

test('a reading that fails is named, and a later one is told as usual', async () => {
  let fails = true
  const lab = await withMeasure(async (_io, paths) => {
    if (fails) throw new Error('no tool')
    return good(paths)
  })
  await lab.clock.pass(READ_MS)
  fails = false
  await lab.clock.pass(READ_MS)
  const kinds = new Set(measuredBy(lab).map(({ complaint, devices }) => `${complaint ?? 'well'} ${devices.length}`))
  expect([...kinds]).toEqual(['no tool 0', 'well 3'])
  expect(lab.log.said.map(({ message }) => message)).toContain('measuring.well')
})

test.each([
  [
    'not a number',
    { devices: [{ controlPath: '{}', numbers: { power_watts: Number.NaN } }] },
    /^measured what no report may hold: devices\.0\.numbers/,
  ],
  [
    'too long',
    {
      devices: Array.from({ length: 1000 }, (_, n) => ({ controlPath: `${n}${'x'.repeat(900)}`, numbers: {} })),
    },
    /^a reading must not be longer than 524288 bytes$/,
  ],
  [
    'explained with half a character where it is cut',
    { devices: [], complaint: `${'x'.repeat(499)}😀` },
    /^x{499}\uFFFD$/,
  ],
])('a reading that is %s is replaced by a complaint', async (_, reading, complaint) => {
  const lab = await withMeasure(async () => reading)
  await lab.clock.pass(BEAT_MS)
  expect(measuredBy(lab)).toMatchObject([{ devices: [] }])
  expect(measuredBy(lab)[0]!.complaint).toMatch(complaint)
})

describe('a device that its tool has called bad', () => {
  const HOT = { pci_fatal_errors: 0, temperature_celsius: 40 }
  const cards = (device: string) => pciTree({ '0000:81:00.0': { vendor: '10de', device, class: '030200', more: AER } })
  const AER = { aer_dev_fatal: 'TOTAL_ERR_FATAL 0\n' }
  const GPU = '00000000:81:00.0, 40, 0, 0, 71.35, 0, 0, No\n'
  type Rows = '0' | '1' | 'unknown' | 'broken' | 'absent'
  /**
   * A GPU as its kernel driver shows it, and what `nvidia-smi` says of rows of its memory that could not be replaced.
   */
  const card = async () => {
    let [rows, device]: [Rows, string] = ['0', '20b5']
    const smi = ([query = '']: readonly string[]): string => {
      if (rows === 'broken') throw new Error('nvidia-smi: no end within 8000 ms')
      if (rows === 'absent') throw Object.assign(new Error('spawn nvidia-smi ENOENT'), { code: 'ENOENT' })
      if (query.startsWith('--query-gpu')) return GPU
      if (rows === 'unknown') throw new Error('nvidia-smi: Field "remapped_rows.failure" is not a valid field')
      return `00000000:81:00.0, 0, ${rows}\n`
    }
    const lab = await openHostLab()
    const here = () => recordedHostIo({ sys: cards(device) }, 'h1', '/state', { 'nvidia-smi': smi })
    const reading = driverByName('nvidia_gpu_driver')
    if (!reading.ok) throw new Error('no driver')
    const driver: Driver = {
      ...reading.driver,
      discover: async () => reading.driver.discover(here()),
      inUse: async () => [],
      measure: async (_io, paths, signal) => reading.driver.measure!(here(), paths, signal),
    }
    const start = async () => {
      const host = await lab.boot({ drivers: [driver] })
      hosts.push(host)
      return host
    }
    let host = await start()
    await lab.clock.pass(BEAT_MS)
    return {
      lab,
      restart: async (then: string = device) => {
        device = then
        await lab.kill(host)
        host = await start()
        await lab.clock.pass(BEAT_MS)
      },
      next: async (then: Rows) => {
        rows = then
        await lab.clock.pass(READ_MS)
        return measuredBy(lab).at(-1)!.devices[0]!
      },
    }
  }
  test.each<[string, Rows, string | undefined]>([
    ['fails', 'broken', 'nvidia-smi: no end within 8000 ms'],
    ['is missing', 'absent', undefined],
    ['does not tell that any more', 'unknown', undefined],
  ])(
    'stays bad while the tool %s, until three readings in a row say otherwise (MEASURE-4)',
    async (_, silent, complaint) => {
      const { lab, next } = await card()
      expect(await next('1')).toMatchObject({ health: 'bad', reasons: ['broken memory of it could not be replaced'] })
      for (let n = 0; n < 5; n++) {
        const { health, reasons, numbers } = await next(silent)
        expect([health, reasons]).toEqual(['bad', ['broken memory of it could not be replaced']])
        expect(numbers).toMatchObject({ pci_fatal_errors: 0 })
        expect(numbers).not.toHaveProperty('memory_repair_failed')
        expect(measuredBy(lab).at(-1)!.complaint).toBe(complaint)
      }
      expect((await next('0')).health).toBe('bad')
      expect((await next(silent)).health).toBe('bad')
      for (const health of ['bad', 'bad', 'ok']) expect((await next('0')).health).toBe(health)
      expect((await next(silent)).health).toBe('ok')
    },
  )
  test('stays so after a restart, whether its tool answers or not, unless another kind of card is there (MEASURE-5)', async () => {
    const { next, restart } = await card()
    await next('1')
    await next('broken')
    await restart()
    expect(await next('broken')).toMatchObject({
      health: 'bad',
      reasons: ['broken memory of it could not be replaced'],
    })
    await restart('2330')
    expect((await next('broken')).health).toBe('ok')
  })
  test('is good after a restart when the tool says so, and is not remembered then', async () => {
    const { lab, next, restart } = await card()
    await next('1')
    expect(lab.io.kept()[FILE]).toContain('memory_repair_failed')
    await restart()
    for (const health of ['bad', 'bad', 'ok']) expect((await next('0')).health).toBe(health)
    expect(lab.io.kept()[FILE]).toBe('{}')
    await restart()
    expect((await next('broken')).health).toBe('ok')
  })
  const FILE = '/state/nvidia_gpu_driver.failing.json'
  test('is good after three readings without the sensor that made it bad, as when a guest gets it (HEALTH-3)', async () => {
    const readings = [{ ...HOT, temperature_margin_celsius: -2, vendor_alarm: 2 }, { vendor_alarm: 0 }]
    const lab = await withMeasure(async (_io, paths) => ({
      devices: paths
        .slice(0, 1)
        .map((controlPath) => ({ controlPath, numbers: readings.shift() ?? { vendor_alarm: 0 } })),
    }))
    await lab.clock.pass(4 * READ_MS)
    const HOTTEST = 'it is as hot as its critical temperature, or hotter'
    const ALARM = 'the tool of its vendor reports an alarm'
    expect(
      measuredBy(lab)
        .slice(0, 4)
        .map(({ devices: [one] }) => [one!.health, one!.reasons.includes(HOTTEST)]),
    ).toEqual([
      ['bad', true],
      ['bad', true],
      ['bad', true],
      ['ok', false],
    ])
    expect(measuredBy(lab)[0]!.devices[0]!.reasons).toContain(ALARM)
  })
  test('names every reason that still stands', async () => {
    const readings = [
      { ...HOT, vendor_alarm: 2 },
      { pci_fatal_errors: 1 },
      { pci_fatal_errors: 0 },
      { ...HOT, vendor_alarm: 0 },
    ]
    const lab = await withMeasure(async (_io, paths) => ({
      devices: paths
        .slice(0, 1)
        .map((controlPath) => ({ controlPath, numbers: readings.shift() ?? { ...HOT, vendor_alarm: 0 } })),
    }))
    await lab.clock.pass(6 * READ_MS)
    const [ALARM, FATAL] = ['the tool of its vendor reports an alarm', 'it has reported fatal PCI errors']
    expect(measuredBy(lab).map(({ devices: [one] }) => one!.reasons.toSorted())).toEqual([
      ['the tool of its vendor reports a warning', ALARM].toSorted(),
      [FATAL, ALARM],
      [FATAL, ALARM],
      [FATAL, ALARM],
      [FATAL, ALARM],
      [],
      [],
    ])
  })
  test('is not known when the file is damaged, which is logged; a file that cannot be read is complained of', async () => {
    const lab = await openHostLab()
    await lab.io.write('/state/simulated_driver.failing.json', '{"a": 1}')
    hosts.push(await lab.boot())
    await lab.clock.pass(BEAT_MS)
    expect(measuredBy(lab).at(-1)!.devices).toHaveLength(3)
    expect(lab.log.said.map(({ message }) => message)).toContain('measuring.failingUnknown')
    const other = await openHostLab()
    const read: typeof other.io.read = async (path) => {
      if (path.endsWith('.failing.json')) throw new Error('EIO: no disk')
      return other.io.read(path)
    }
    hosts.push(await other.boot({ io: { ...other.io, read } }))
    await other.clock.pass(BEAT_MS)
    expect(measuredBy(other).at(-1)).toMatchObject({ devices: [], complaint: 'EIO: no disk' })
  })
})

test('a driver that cannot measure tells nothing', async () => {
  const lab = await withMeasure(undefined)
  await lab.clock.pass(4 * READ_MS)
  expect(measuredBy(lab)).toEqual([])
})

test('a host that is told not to measure says that nothing is measured, so that no device stays bad for ever', async () => {
  const lab = await openHostLab()
  lab.driver.control.faults.bad = [0]
  hosts.push(await lab.boot({ options: { measureEveryMs: 0 } }))
  await lab.clock.pass(70_000)
  expect(measuredBy(lab).map(({ devices, complaint }) => [devices, complaint])).toEqual([
    [[], undefined],
    [[], undefined],
  ])
})

test('a card that was bad is bad where it is after a restart, and no other card is that has its place (MEASURE-5)', async () => {
  const lab = await openHostLab()
  const card = (serial: string): Card => ({ kind: { pci: '10de:20b5' }, marks: { serial_number: serial } })
  let [places, alarm] = [['a'.repeat(32), 'b'.repeat(32)], true]
  const { measure: _, ...plain } = lab.driver
  const driver: Driver = {
    ...plain,
    discover: async () => lab.devices.slice(0, 2).map((device, n) => ({ ...device, card: card(places[n]!) })),
    measure: async (_io, paths) => ({
      devices: paths.map((controlPath, n) => ({ controlPath, numbers: alarm && n === 0 ? { vendor_alarm: 2 } : {} })),
    }),
  }
  const health = () =>
    measuredBy(lab)
      .at(-1)!
      .devices.map((one) => one.health)
  const first = await lab.boot({ drivers: [driver] })
  await lab.clock.pass(BEAT_MS)
  expect(health()).toEqual(['bad', 'ok'])
  alarm = false
  for (const [next, healths] of [
    [
      ['b', 'a'],
      ['ok', 'bad'],
    ],
    [
      ['c', 'b'],
      ['ok', 'ok'],
    ],
  ] as const) {
    await lab.kill(hosts.pop() ?? first)
    places = next.map((letter) => letter.repeat(32))
    hosts.push(await lab.boot({ drivers: [driver] }))
    await lab.clock.pass(BEAT_MS)
    expect(health()).toEqual(healths)
  }
})
