/** Plans of whole simulated clouds. */
import type { HostName } from '../../vocabulary/identifiers.ts'
import type { SimulatedDevice, SimulatedPlan } from './simulated.ts'
import type { Kind } from './models.ts'

export type SimulatedHost = { readonly hostname: HostName; readonly plan: SimulatedPlan }

const some = (count: number, kind: Kind, handles: number): readonly SimulatedDevice[] =>
  Array.from({ length: count }, () => ({ kind, handles }))

const MIXED: readonly (readonly SimulatedDevice[])[] = [
  [...some(1, 'fpga', 16), ...some(2, 'gpu', 1), ...some(1, 'nic', 8)],
  [...some(4, 'gpu', 1), ...some(1, 'qat', 16), ...some(2, 'ssd', 1)],
  [...some(2, 'aichip', 1), ...some(1, 'fpga', 4), ...some(1, 'nic', 4), ...some(1, 'ssd', 1)],
]

const host = (seed: number | string, at: number, devices: readonly SimulatedDevice[]): SimulatedHost => ({
  hostname: `sim-${at + 1}`,
  plan: { seed: `${seed}/${at + 1}`, devices },
})

/**
 * Three small hosts which together have a device of every kind. The first device of the first host is an FPGA with 16
 * handles.
 */
export const mixedCloud = (seed: number | string): readonly SimulatedHost[] =>
  MIXED.map((devices, at) => host(seed, at, devices))

/** `hostWork`: binding one of the FPGAs needs work on its host. Default: true. */
export type CloudSize = {
  readonly hosts: number
  readonly devices: number
  readonly handles: number
  readonly hostWork?: boolean
}

/** The given number of hosts, FPGAs per host, and handles per FPGA. */
export const sizedCloud = (seed: number | string, size: CloudSize): readonly SimulatedHost[] =>
  Array.from({ length: size.hosts }, (_, at) => {
    const { hostname, plan } = host(seed, at, some(size.devices, 'fpga', size.handles))
    return { hostname, plan: { ...plan, hostWork: size.hostWork ?? true } }
  })
