/** Clouds of any kind, and what may happen in them, for properties that must hold in all of them. */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import type { ReportedDevice } from '../../src/vocabulary/hardware.ts'
import type { SimulatedDevice } from '../../src/drivers/simulated/simulated.ts'
import { NOVA, type openPlane, TENANT, value } from '../support/plane.ts'

export type Plane = Awaited<ReturnType<typeof openPlane>>
export type Group = Readonly<Record<string, string>>

const IMAGE = '90000000-0000-4000-8000-00000000000a'
const OTHER_IMAGE = '90000000-0000-4000-8000-00000000000b'
const device = fc
  .record({
    kind: fc.constantFrom('gpu', 'fpga', 'nic', 'fpga'),
    handles: fc.integer({ min: 1, max: 3 }),
    pairs: fc.boolean(),
    hostWork: fc.boolean(),
  })
  .map(({ kind, handles, pairs, hostWork }): SimulatedDevice => ({
    ...{ kind, handles, hostWork },
    ...(kind === 'fpga' && pairs ? { functions: 2 } : {}),
  }))
const steps = fc.constantFrom(
  'disable',
  'retire',
  'quarantine',
  'take',
  'leave',
  'unplug',
  'program',
  'divide',
  'divide',
)
const group = fc
  .record({
    rc: fc.constantFrom('FPGA', 'FPGA', 'FPGA', 'FPGA', 'FPGA', 'PGPU', 'CUSTOM_NIC'),
    amount: fc.constantFrom(1, 1, 1, 2, 3),
    trait: fc.constantFrom(null, null, null, null, 'CUSTOM_FPGA_XILINX', 'CUSTOM_FPGA_INTEL', 'OWNER_CYBORG'),
    how: fc.constantFrom('required', 'forbidden'),
    image: fc.constantFrom(null, null, null, null, null, null, IMAGE, OTHER_IMAGE),
  })
  .map(({ rc, amount, trait, how, image }): Group => ({
    [`resources:${rc}`]: String(amount),
    ...(trait === null ? {} : { [`trait:${trait}`]: how }),
    ...(image === null ? {} : { 'accel:bitstream_id': image }),
  }))
/** Requests for this trait are counted by their amount of FPGA. */
const isCounted = (one: Group) => one['trait:CUSTOM_FPGA_XILINX'] !== 'required' || one['resources:FPGA'] !== undefined
export const world = fc.record({
  hosts: fc.array(fc.array(device, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 2 }),
  steps: fc.array(fc.tuple(steps, fc.nat()), { maxLength: 6 }),
  groups: fc.array(group, { minLength: 1, maxLength: 2 }).filter((all) => all.every(isCounted)),
})
export type World = typeof world extends fc.Arbitrary<infer W> ? W : never

const pick = <Value>(all: readonly Value[], at: number): Value | undefined => all[at % Math.max(1, all.length)]
const NOTE = { by: 'kim', reason: 'a test' }

/** As an image divides a card: each accelerator is one of a deployable below the first one. */
const divided = (one: ReportedDevice): ReportedDevice => ({
  ...one,
  deployables: one.deployables.flatMap((root) => {
    const units = Map.groupBy(
      root.handles.map((handle, at) => ({ handle, unit: handle.set ?? `of its own ${at}` })),
      ({ unit }) => unit,
    )
    const nodes = [...units.values()].map((unit, at) => ({
      ...root,
      ...{ name: `${root.name}_vf_${at}`, parent: root.name, kind: 'vf' as const, programmable: false },
      ...{ attributes: [], numAccelerators: 1, handles: unit.map(({ handle }) => handle) },
    }))
    return [{ ...root, handles: [], numAccelerators: nodes.length }, ...nodes]
  }),
})

export const play = async (
  { control, store, shows, discovered, report }: Plane,
  { hosts }: World,
  step: string,
  at: number,
) => {
  const devices = value(await control.devices.list({}, {})).items
  const deployables = value(await control.deployables.list({}, {})).items
  const handles = (await store.reads.page({ view: 'handles', where: {}, sort: 'uuid', limit: 1000 }))!
  const [card, place, handle] = [pick(devices, at), pick(deployables, at), pick(handles, at)]
  // whatever is refused leaves the world as it is
  if (step === 'disable' && card) await control.devices.setStatus(NOVA, card.uuid, 'maintaining')
  if (step === 'quarantine' && handle) await control.handles.quarantine(NOVA, handle.uuid, NOTE)
  if (step === 'retire') await control.hosts.retire(NOVA, `h${at % hosts.length}`, NOTE)
  if (step === 'program' && place) await control.deployables.program(NOVA, place.uuid, IMAGE)
  if (step === 'unplug') await shows(`h${at % hosts.length}`, { seed: 1, devices: hosts[at % hosts.length]!.slice(1) })
  if (step === 'divide') {
    const found = await discovered(`h${at % hosts.length}`, { seed: 1, devices: hosts[at % hosts.length]! })
    const devices = found.map((one, n) => (n === 0 ? divided(one) : one))
    await report(`h${at % hosts.length}`, [{ driver: 'simulated_driver', status: 'ok', devices }])
  }
  if (step === 'take' && place?.rp_uuid) {
    const attributes = place.attributes as readonly Group[]
    const rc = attributes.flatMap(({ rc: name }) => name ?? [])[0]!
    await tryBind(control, [{ [`resources:${rc}`]: '1' }], [place.rp_uuid], place.hostname)
  }
  if (step === 'leave') {
    const arqs = value(await control.arqs.list(NOVA, {}, {})).items.filter(({ state }) => state === 'Bound')
    const arq = pick(arqs, at)
    if (arq) await control.arqs.unbind(NOVA, [arq.uuid])
  }
}

/** Whether a bind of new requests of these groups is accepted, each group by its provider. */
export const tryBind = async (
  control: Plane['control'],
  groups: readonly Group[],
  providers: readonly string[],
  hostname: string,
): Promise<boolean> => {
  const name = `p-${randomUUID()}`
  value(await control.profiles.create(NOVA, { name, description: null, groups }))
  const arqs = value(await control.arqs.create(TENANT, name))
  const instanceUuid = randomUUID()
  const bound = await control.arqs.bind(
    NOVA,
    arqs.map(({ uuid, group_id: at }) => ({ arq: uuid, hostname, deviceRpUuid: providers[at]!, instanceUuid })),
  )
  if (!bound.ok && bound.fault.kind !== 'conflict') throw new Error(JSON.stringify(bound.fault))
  return bound.ok
}
