/**
 * `fake_driver`: simulates an FPGA whose values are all fixed, because clients and their tests have relied on them for
 * years.
 */
import type { HostName } from '../../vocabulary/identifiers.ts'
import type { Clock } from '../../vocabulary/clock.ts'
import type { ReportedDevice, ReportedHandle } from '../../vocabulary/hardware.ts'
import { deployableName } from '../names.ts'
import { hexText } from '../../vocabulary/pci.ts'
import { type SimulatedDriver, createSimulatedDriver } from './simulatedDriver.ts'
import { spacedJson } from '../../vocabulary/spacedJson.ts'
import type { InjectedFaults } from './injectedFaults.ts'

export type FakeOptions = {
  /** 1 when not given; at most 244, one PCI bus each. */
  readonly devices?: number
  /** Of each device; 16 when not given, at most 255. */
  readonly handles?: number
  /** A bind needs `prepare` on the host. Default: false. */
  readonly hostWork?: boolean
  /** Delay and failures. Default: none. */
  readonly faults?: Partial<InjectedFaults>
  readonly clock?: Clock
}

const FIRST_BUS = 0x0c
const LIMITS = { devices: 0x100 - FIRST_BUS, handles: 0xff }

/** Device and function are not zero-padded, because clients compare these known values as text. */
const handle = (bus: string, n: number): ReportedHandle => ({
  type: 'TEST_PCI',
  info: { domain: '0000', bus, device: hexText(n >> 3, 1), function: hexText(n & 7, 1) },
})

const device = (hostname: HostName, at: number, handles: number, hostWork: boolean): ReportedDevice => {
  const bus = hexText(FIRST_BUS + at, 2)
  const unit = at === 0 ? 'FakeDevice' : `FakeDevice_${at + 1}`
  return {
    type: 'FPGA',
    vendor: '0xABCD',
    model: 'miss model info',
    stdBoardInfo: spacedJson({ device_id: '0xabcd', class: 'Fake class' }),
    vendorBoardInfo: 'fake_vendor_info',
    controlPath: { type: 'PCI', info: `{"domain":"0000","bus":"${bus}","device":"00","function":"0"}` },
    deployables: [
      {
        name: deployableName(hostname, unit).replaceAll(/[^A-Za-z0-9_-]/g, '_'),
        numAccelerators: handles,
        driverName: 'fake',
        attributes: [
          { key: 'traits1', value: 'CUSTOM_FAKE_DEVICE' },
          { key: 'rc', value: 'FPGA' },
        ],
        handles: Array.from({ length: handles }, (_, n) => handle(bus, n + 1)),
        hostWork,
        programmable: true,
      },
    ],
  }
}

/** Creates the fake driver, which remembers what `program` loaded. Throws when an option is out of range. */
export const fakeDriver = (options: FakeOptions = {}): SimulatedDriver => {
  const { devices = 1, handles = 16, hostWork = false, ...rest } = options
  for (const [name, value] of [
    ['devices', devices],
    ['handles', handles],
  ] as const)
    if (!Number.isInteger(value) || value < 1 || value > LIMITS[name])
      throw new RangeError(`fake.${name}: must be a whole number from 1 to ${LIMITS[name]}`)
  return createSimulatedDriver({
    name: 'fake_driver',
    devices: (hostname) => Array.from({ length: devices }, (_, at) => device(hostname, at, handles, hostWork)),
    ...rest,
  })
}
