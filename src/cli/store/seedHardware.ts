/** The hardware of a seeded store: simulated hosts, recorded as if they had reported, and a device profile. */
import type { Caller } from '../../actors/control.ts'
import type { ControlPlane } from '../../services/controlPlane.ts'
import { deployable, deployableKey } from '../../actors/deployable/decider.ts'
import type { Memory } from '../../actors/runtime/memory.ts'
import type { Row } from '../../actors/runtime/views.ts'
import { systemClock, systemIds } from '../../vocabulary/clock.ts'
import { realHostIo } from '../../drivers/hostIo.ts'
import { simulatedDriver } from '../../drivers/simulated/simulated.ts'
import { type SimulatedHost, sizedCloud } from '../../drivers/simulated/cloud.ts'
import type { Outcome } from '../../vocabulary/fault.ts'
import type { Log } from '../../vocabulary/log.ts'
import type { Store } from '../../persistence/store.ts'
import { OPTIONS } from '../config/table.ts'
import { openOfflinePlane } from './offlinePlane.ts'

export type SeedSize = {
  readonly hosts: number
  readonly devices: number
  readonly handles: number
  readonly arqs: number
  readonly projects: number
}
export type SeededHardware = {
  /** Number of ARQs that are already bound. */
  readonly bound: number
  readonly profile: Row<'profiles'>
  readonly group: Readonly<Record<string, string>>
  readonly deployables: readonly { readonly memory: Memory; readonly row: Row<'deployables'> }[]
}

const value = <Value>(outcome: Outcome<Value>): Value => {
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.fault))
  return outcome.value
}

const reportHost = async (plane: ControlPlane, { hostname, plan }: SimulatedHost, at: number) => {
  const io = realHostIo({ hostname, stateDir: '/nonexistent', warn: () => {} })
  const devices = await simulatedDriver(plan).discover(io)
  const bootId = systemIds.uuid()
  const drivers = [{ driver: 'simulated_driver', status: 'ok' as const, devices }]
  const report = {
    type: 'Inventory' as const,
    host: hostname,
    bootId,
    number: 1,
    observedAt: at,
    version: 'seed',
    aliases: [],
    drivers,
  }
  value(await plane.reports.take(report, `${hostname}.${bootId}.1`))
}

const GROUP = { 'resources:FPGA': '1' }
const profileOf = async ({ control }: ControlPlane, operator: Caller, name: string) => {
  const found = await control.profiles.byName(name)
  return found.ok
    ? found.value
    : value(await control.profiles.create(operator, { name, description: 'made by seed', groups: [GROUP] }))
}

const boundNow = async ({ control }: ControlPlane, operator: Caller) =>
  value(await control.arqs.list(operator, {}, {})).items.filter(({ state }) => state === 'Bound').length

export const seedHardware = async (
  store: Store,
  size: SeedSize,
  operator: Caller,
  profileName: string,
  log: Log,
): Promise<SeededHardware> => {
  const plane = openOfflinePlane(store, log)
  try {
    const hosts = sizedCloud(OPTIONS.demo_seed.standard as string, size)
    for (const host of hosts) await reportHost(plane, host, systemClock.now())
    const profile = await profileOf(plane, operator, profileName)
    const names = new Set(hosts.map(({ hostname }) => hostname))
    const rows = value(await plane.control.deployables.list({}, {})).items.filter(({ hostname }) => names.has(hostname))
    const places = await Promise.all(
      rows.map(async (row) => ({
        row,
        memory: value(await plane.region.readCurrent(deployable, deployableKey(row.uuid))),
      })),
    )
    return { bound: await boundNow(plane, operator), profile, group: GROUP, deployables: places }
  } finally {
    await plane.stop()
  }
}
