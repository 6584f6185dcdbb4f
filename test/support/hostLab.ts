/**
 * A host program over a simulated driver, with a disk and a bus in memory and a recording control side. The clock
 * advances only on request.
 */
import { inProcessBus } from '../../src/bus/inProcess/inProcess.ts'
import { systemIds } from '../../src/vocabulary/clock.ts'
import type { Driver } from '../../src/drivers/driver.ts'
import { effectsPath, readEffects } from '../../src/drivers/simulated/effects.ts'
import type { SimulatedDriver } from '../../src/drivers/simulated/simulatedDriver.ts'
import { simulatedDriver } from '../../src/drivers/simulated/simulated.ts'
import { memoryDisk } from '../../src/host/disk.ts'
import type { Host, HostOptions, HostStart } from '../../src/host/host.ts'
import { hostGroup, startHost } from '../../src/host/host.ts'
import { orderRecord, readReport } from '../../src/wire/message.ts'
import type { Order } from '../../src/wire/orders.ts'
import type { Heartbeat, InventoryReport, OrderResult, Report } from '../../src/wire/reports.ts'
import { recordedHostIo } from '../drivers/recordedHostIo.ts'
import { filesOf } from './images.ts'
import { handClock, memoryLog, quiet } from './lab.ts'

export const HOST = 'h1'
export const IMAGE = '4a3bd0ae-0000-4000-8000-000000000001'
const uuid = (n: number): string => `b0a7${String(n).padStart(4, '0')}-0000-4000-8000-000000000000`

export type Boot = Partial<Omit<HostStart, 'options'>> & { readonly options?: HostOptions }

export const openHostLab = async () => {
  const clock = handClock()
  const bus = inProcessBus({ clock, partitions: 1 })
  const disk = memoryDisk()
  const io = recordedHostIo({ images: { [IMAGE]: 'bits' } }, HOST)
  const log = memoryLog()
  const driver: SimulatedDriver = simulatedDriver({
    seed: 1,
    clock,
    devices: [
      { kind: 'fpga', handles: 2 },
      { kind: 'fpga', handles: 2 },
      { kind: 'gpu', handles: 1 },
    ],
  })
  const heard: { readonly report: Report; readonly id: string; readonly headers: Readonly<Record<string, string>> }[] =
    []
  await bus.consume({
    topic: 'host.reports.v1',
    group: 'control',
    from: 'earliest',
    take: async (record) => {
      const message = readReport(record)
      if (!message.ok) throw new Error(JSON.stringify(message.fault))
      heard.push({ report: message.value.body, id: message.value.id, headers: record.headers })
    },
  })
  const of = <Type extends Report['type']>(type: Type) =>
    heard.flatMap(({ report }) => (report.type === type ? [report as Extract<Report, { type: Type }>] : []))

  const images = filesOf((image) => image === IMAGE)
  const boot = async ({ options, ...more }: Boot = {}): Promise<Host> => {
    const drivers: readonly Driver[] = [driver]
    const host = await startHost({
      name: HOST,
      stateDir: '/state',
      bus,
      drivers,
      io,
      disk,
      clock,
      ids: systemIds,
      log,
      options: { images, ...options },
      ...more,
    })
    await quiet()
    return host
  }
  /** Like a SIGKILL: the process ends, the disk and the hardware remain. */
  const kill = async (host: Host): Promise<void> => {
    const gone = host.stop('at once')
    bus.kill(hostGroup(HOST, host.bootId))
    await gone
    await quiet()
  }
  const devices = await driver.discover(io)
  /** Slot `n` of device `d`. */
  const order = (
    type: Order['type'],
    number: number,
    {
      device = 0,
      unit = 0,
      ...more
    }: Partial<Order> & { device?: number; unit?: number; bitstream?: string; image?: string } = {},
  ): Order => {
    const deployable = devices[device]!.deployables[0]!
    const onHandle = type === 'PrepareSlot' || type === 'ReleaseSlot'
    const head = {
      host: HOST,
      slot: onHandle ? uuid(10 * device + unit + 1) : uuid(9000 + device),
      number,
      driver: driver.name,
      deployable: deployable.name,
      deployableUuid: uuid(9000 + device),
      deadline: clock.now() + 120_000,
    }
    const handle = deployable.handles[unit]!
    const parts = {
      PrepareSlot: { handle, arq: uuid(7000) },
      ReleaseSlot: { handle },
      Program: { image: IMAGE },
      Probe: {},
    }
    return { ...head, type, ...parts[type], ...more } as Order
  }
  const send = async (...orders: readonly Order[]): Promise<void> => {
    await bus.publish(orders.map((one) => orderRecord(one, `${one.slot}/${one.number}`, clock.now())))
    await quiet(40)
  }
  return {
    clock,
    bus,
    disk,
    io,
    log,
    driver,
    heard,
    devices,
    boot,
    kill,
    order,
    send,
    results: (): OrderResult[] => of('OrderResult'),
    inventories: (): InventoryReport[] => of('Inventory'),
    heartbeats: (): Heartbeat[] => of('Heartbeat'),
    /** The state of the hardware. */
    effects: async () => readEffects(io.kept()[effectsPath(io.stateDir, driver.name)] ?? null),
    /** The entries on the disk; the last line of a slot counts. */
    ledger: async (): Promise<Record<string, unknown>[]> => {
      const lines = ((await disk.read('/state/ledger.jsonl')) ?? '').split('\n').slice(1).filter(Boolean)
      const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
      return [...new Map(entries.map((entry) => [entry['slot'], entry])).values()]
    },
  }
}
export type HostLab = Awaited<ReturnType<typeof openHostLab>>
