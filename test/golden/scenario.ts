/**
 * A short life of a small cloud in which everything happens that a journal can hold. Time and ids are counted, so that
 * it can be repeated.
 */
import type { HandleRow } from '../../src/actors/control.ts'
import type { NovaVerdict } from '../../src/actors/neighbours.ts'
import type { ControlPlaneParts } from '../../src/services/controlPlane.ts'
import type { FeedRow } from '../../src/actors/runtime/ports.ts'
import type { Ids } from '../../src/vocabulary/clock.ts'
import { orderedIds } from '../../src/vocabulary/clock.ts'
import type { SimulatedPlan } from '../../src/drivers/simulated/simulated.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import type { InventoryReport, OrderResult } from '../../src/wire/reports.ts'
import { handClock, quiet } from '../support/lab.ts'
import { placementInMemory } from '../support/placement.ts'
import { NOVA, TENANT, openPlane, value } from '../support/plane.ts'
import { catalogueOf } from '../support/images.ts'

type Devices = Extract<InventoryReport['drivers'][number], { status: 'ok' }>['devices']
type Result = OrderResult['result']

export const HOST = 'compute-1'
export const BOOT = '90000000-0000-4000-8000-000000000001'
export const COMPUTE_NODE = '90000000-0000-4000-8000-0000000000c1'
const ORPHAN = '90000000-0000-4000-8000-0000000000c2'
export const IMAGE = '90000000-0000-4000-8000-00000000000a'
const PLAN: SimulatedPlan = {
  seed: 'golden',
  devices: [
    { kind: 'fpga', handles: 2 },
    { kind: 'gpu', handles: 2 },
    { kind: 'nic', handles: 1 },
  ],
}
const BIND_MS = 60_000
const STALE_MS = 3_600_000
/** By then a release that failed has been ordered once more. */
const RELEASED_AGAIN_MS = 310_000
const PLACEMENT_AUDIT_MS = 10_000
const WEEK_MS = 604_800_000
const OPTIONS = {
  placementAuditMs: PLACEMENT_AUDIT_MS,
  programWaitMs: 0,
  sweepEveryMs: 1000,
  bindDeadlineMs: BIND_MS,
  staleAfterMs: STALE_MS,
  downAfterMs: 2 * STALE_MS,
  missingRounds: 2,
  arqsPerProject: 1000,
}

const countedIds = (now: () => number): Ids => {
  let count = 0
  const text = () => `80000000-0000-4000-8000-${(++count).toString(16).padStart(12, '0')}`
  return { uuid: text, ordered: orderedIds(now, (length) => new Uint8Array(length)) }
}

/** The first telling finds nobody, the others find a Nova that knows the instance, or does not. */
const novaOf = (known: (instance: string) => boolean) => {
  let asked = 0
  return {
    notify: async (events: readonly { readonly tag: string; readonly server_uuid: string }[]) =>
      events.map(({ tag, server_uuid: instance }): NovaVerdict => {
        if (asked++ === 0) return { tag, outcome: 'retry', code: 503, note: 'not now' }
        return known(instance) ? { tag, outcome: 'delivered', code: 200 } : { tag, outcome: 'gone', code: 404 }
      }),
  }
}

export const openCloud = async (parts: Partial<ControlPlaneParts> = {}) => {
  const clock = handClock()
  const ids = countedIds(clock.now)
  const store = memoryStore({ now: clock.now })
  const gone = new Set<string>()
  const nova = novaOf((instance) => !gone.has(instance))
  const images = catalogueOf()
  const placing = placementInMemory()
  const { placement } = placing
  const own = { clock, ids, nova, images, placement, options: OPTIONS }
  const world = await openPlane({ ...own, ...parts }, store, 'when told')
  const shown = await world.discovered(HOST, PLAN)
  return { ...world, clock, ids, gone, shown, placing }
}
export type Cloud = Awaited<ReturnType<typeof openCloud>>

export const shows = async ({ report, clock }: Cloud, devices: Devices) => {
  await report(HOST, [{ driver: 'simulated_driver', status: 'ok', devices }], BOOT)
  await clock.pass(1)
}
export const placeOf = async ({ control }: Pick<Cloud, 'control'>, rc: string) => {
  const places = value(await control.deployables.list({}, {})).items
  const holds = (attributes: unknown) => JSON.stringify(attributes).includes(`"${rc}"`)
  return places.find(({ attributes }) => holds(attributes))!
}

/** Makes as many ARQs as the profile asks for, and has their bind accepted. */
const bind = async (cloud: Cloud, profile: string, rc: string) => {
  const { control, clock, ids } = cloud
  const arqs = value(await control.arqs.create(TENANT, profile)).map(({ uuid }) => uuid)
  const { rp_uuid: deviceRpUuid } = await placeOf(cloud, rc)
  const instanceUuid = ids.uuid()
  await clock.pass(1)
  value(
    await control.arqs.bind(
      NOVA,
      arqs.map((arq) => ({ arq, hostname: HOST, deviceRpUuid: deviceRpUuid!, instanceUuid })),
    ),
  )
  await clock.pass(1)
  return { arqs, instance: instanceUuid }
}

/** Answers what the host was ordered last of this type, once for each, with these results. */
export const answer = async (
  { pump, orders, answer: told, clock }: Cloud,
  type: string,
  ...results: readonly Result[]
) => {
  for (const result of results) {
    await pump()
    const order = orders.findLast((one) => one.type === type)!
    orders.splice(0)
    await told(order, result)
    await clock.pass(1)
  }
}
export const DONE: Result = { status: 'done' }
export const AGAIN: Result = { status: 'failed', reason: 'the card does not answer', final: false }
export const NEVER: Result = { status: 'failed', reason: 'the card is on fire', final: true }

const profilesAndAttributes = async (cloud: Cloud) => {
  const { control, clock } = cloud
  const profile = (name: string, group: Record<string, string>) =>
    control.profiles.create(NOVA, { name, description: `asks for ${name}`, groups: [group] })
  value(await profile('fpga', { 'resources:FPGA': '1' }))
  value(await profile('two fpgas', { 'resources:FPGA': '2' }))
  value(await profile('gpu', { 'resources:PGPU': '1' }))
  value(await profile('never used', { 'resources:PGPU': '1' }))
  value(await control.profiles.remove(NOVA, ['never used']))
  await clock.pass(1)
  const { uuid } = await placeOf(cloud, 'FPGA')
  const { uuid: rack } = value(await control.attributes.create(NOVA, uuid, 'rack', 'r1'))
  value(await control.attributes.create(NOVA, uuid, 'room', 'east'))
  value(await control.attributes.remove(NOVA, rack))
  await clock.pass(1)
}

const binds = async (cloud: Cloud) => {
  const { control, clock, pump, orders, gone } = cloud
  const gpu = await bind(cloud, 'gpu', 'PGPU')
  // Nova is not there at first.
  await clock.pass(3000)
  const both = await bind(cloud, 'two fpgas', 'FPGA')
  await pump()
  for (const order of orders.splice(0)) await cloud.answer(order)
  await clock.pass(1)
  const [first, second] = both.arqs as [string, string]
  value(await control.arqs.unbind(NOVA, [first]))
  // Asked for again by Nova, then by itself after a while.
  await answer(cloud, 'ReleaseSlot', AGAIN, NEVER)
  value(await control.arqs.unbind(NOVA, [first]))
  await answer(cloud, 'ReleaseSlot', NEVER)
  await clock.pass(RELEASED_AGAIN_MS)
  await answer(cloud, 'ReleaseSlot', DONE)
  value(await control.arqs.remove(NOVA, [first]))
  value(await control.arqs.removeByInstance(NOVA, both.instance))
  await answer(cloud, 'ReleaseSlot', DONE)
  const failing = await bind(cloud, 'fpga', 'FPGA')
  gone.add(failing.instance)
  await answer(cloud, 'PrepareSlot', NEVER)
  await answer(cloud, 'ReleaseSlot', DONE)
  const late = await bind(cloud, 'fpga', 'FPGA')
  await clock.pass(BIND_MS + 1000)
  await answer(cloud, 'ReleaseSlot', NEVER)
  return { gpu, second, failing, late }
}

/** What an operator decides. */
const cleared = async ({ control, store, clock }: Cloud) => {
  const word = { by: 'operator', reason: 'looked at' }
  const [handle] = (await store.reads.page({
    view: 'handles',
    where: { state: 'quarantined' },
    sort: 'uuid',
    limit: 1,
  }))!
  value(await control.handles.release(NOVA, handle!.uuid, word))
  await clock.pass(1)
  value(await control.handles.quarantine(NOVA, handle!.uuid, word))
  await clock.pass(1)
  value(await control.handles.release(NOVA, handle!.uuid, word))
  const { uuid, name, groups: was } = value(await control.profiles.byName('gpu'))
  const groups = [{ 'resources:PGPU': '1', 'trait:CUSTOM_GPU': 'required' }]
  value(await control.profiles.regroup(NOVA, [{ uuid, name, was, groups }], 'renamed'))
  await clock.pass(1)
  const change = { ifVersion: 2, enabled: false, groups: was, versions: [{ version: 1, enabled: false }] }
  value(await control.profiles.update(NOVA, uuid, { ...change, projects: [TENANT.projectId] }, 'a draft'))
  await clock.pass(1)
}

const programs = async (cloud: Cloud) => {
  const { control, clock } = cloud
  const { uuid } = await placeOf(cloud, 'FPGA')
  for (const result of [NEVER, DONE]) {
    value(await control.deployables.program(NOVA, uuid, IMAGE))
    await answer(cloud, 'Program', result)
  }
  const { device_uuid: device } = await placeOf(cloud, 'PGPU')
  value(await control.devices.setStatus(NOVA, device, 'maintaining'))
  await clock.pass(1)
  value(await control.devices.setStatus(NOVA, device, 'enabled'))
  await clock.pass(1)
}

/**
 * The machine has restarted: the card holds nothing of what was loaded. The host says so, and again when it is asked.
 */
const imageLost = async ({ report, questions, shown, clock }: Cloud) => {
  const drivers = [{ driver: 'simulated_driver', status: 'ok', devices: shown }] as const
  // nothing is said of slots: the last one there may be is the first of the page
  const from = 'ffffffff-ffff-4fff-8fff-ffffffffffff'
  await report(HOST, drivers, BOOT, { slots: { from, prepared: [] } })
  const [question] = questions.splice(0)
  await report(HOST, drivers, BOOT, { slots: { from, prepared: [], answers: question!.id } })
  await clock.pass(1)
}

/** A card fails, and is well again. */
const measured = async ({ shown, plane, clock }: Cloud) => {
  const { info: controlPath } = (shown[1] as Devices[number]).controlPath
  const beat = { type: 'Heartbeat', host: HOST, bootId: BOOT, observedAt: 1 } as const
  const status = { drivers: {}, ordersInHand: 0, resultsWaiting: 0 }
  for (const reasons of [['it has reported fatal PCI errors'], []]) {
    const device = {
      controlPath,
      health: reasons.length > 0 ? 'bad' : 'ok',
      reasons,
      numbers: { temperature_celsius: 41 },
    } as const
    const readings = [{ driver: 'simulated_driver', at: clock.now(), devices: [device] }]
    await plane.reports.take({ ...beat, status, measured: readings }, `measured ${reasons.length}`)
    await clock.pass(1)
  }
}

/** Another text for the first card, one handle less on the second, and the third taken out. */
const changes = async (cloud: Cloud) => {
  const [fpga, gpu] = cloud.shown as [Devices[number], Devices[number]]
  const narrower = gpu.deployables.map((place) => ({
    ...place,
    numAccelerators: 1,
    handles: place.handles.slice(0, 1),
  }))
  const devices = [
    { ...fpga, model: `${fpga.model}, second edition` },
    { ...gpu, deployables: narrower },
  ]
  for (let round = 0; round < 3; round++) await shows(cloud, devices)
  await cloud.clock.pass(STALE_MS + 60_000)
  await cloud.plane.reports.take(
    {
      type: 'Heartbeat',
      host: HOST,
      bootId: BOOT,
      observedAt: 1,
      status: { drivers: {}, ordersInHand: 0, resultsWaiting: 0 },
    },
    'heartbeat',
  )
  await cloud.clock.pass(10_000)
  await quiet()
}

/** Another host answers for a deployable of this one. */
const foreignAnswer = async (cloud: Cloud) => {
  const { uuid: deployableUuid } = await placeOf(cloud, 'FPGA')
  const head = { type: 'OrderResult', host: 'host-9', bootId: BOOT, order: 'ReleaseSlot' } as const
  const rest = { slot: deployableUuid, deployableUuid, number: 1, startedAt: 1, finishedAt: 1, result: DONE }
  await cloud.plane.reports.take({ ...head, ...rest }, 'foreign answer')
}

/** The host begins to sign; an operator names another key, and that one is the first to be refused. */
const keys = async (cloud: Cloud) => {
  const beat = { type: 'Heartbeat', host: HOST, bootId: BOOT, observedAt: 1 } as const
  const status = { drivers: {}, ordersInHand: 0, resultsWaiting: 0 }
  const [own, next] = ['A'.repeat(43), `B${'A'.repeat(42)}`]
  await cloud.plane.reports.take({ ...beat, status }, 'signed', own)
  value(await cloud.control.hosts.rekey(NOVA, HOST, { by: 'ops', reason: 'a new folder' }, next))
  await cloud.plane.reports.take({ ...beat, status }, 'signed with the former key', own)
}

/** The database has lost a row that gave the card of the FPGA an order. */
const adopts = async (cloud: Cloud) => {
  const { uuid } = await placeOf(cloud, 'FPGA')
  const events = [{ type: 'OrderDone', slot: '90000000-0000-4000-8000-00000000000b', number: 1000 }]
  const row = { key: `deployable/${uuid}`, command: '90000000-0000-4000-8000-00000000000c', events } as const
  value(await cloud.plane.adoption(NOVA, [row], { by: 'operator', reason: 'rows are lost' }))
  await cloud.clock.pass(1)
}

/** Another card is at the address of the second one, which a request has, and then that one again. */
const moves = async (cloud: Cloud) => {
  const [fpga, gpu] = cloud.shown as [Devices[number], Devices[number]]
  await shows(cloud, [fpga, { ...gpu, vendorBoardInfo: '{"serial": "another"}' }])
  await shows(cloud, [fpga, gpu])
}

/** The third card is back, first with a function of its own, then with two, then with another one of them. */
const divides = async (cloud: Cloud) => {
  const [fpga, gpu, nic] = cloud.shown as [Devices[number], Devices[number], Devices[number]]
  const [whole] = nic.deployables as [Devices[number]['deployables'][number]]
  const [handle] = whole.handles as [(typeof whole.handles)[number]]
  const other = { ...handle, info: { ...handle.info, function: '7' } }
  const functionOf = (name: string, parent: string, handles: typeof whole.handles) => {
    const { driverName, hostWork } = whole
    const own = { name: `${whole.name}_${name}`, parent, numAccelerators: handles.length }
    return { ...own, kind: 'vf' as const, driverName, hostWork, programmable: false, attributes: [], handles }
  }
  const parent = whole.attributes.length
  const attributes = [...whole.attributes, { key: 'function', value: 'nic-40' }, { key: 'kpi', value: '40G', parent }]
  for (const names of [['vf_0'], ['vf_0', 'vf_1'], ['vf_0', 'vf_2']]) {
    const nodes = names.map((name, at) => functionOf(name, whole.name, [[handle, other][at]!]))
    const root = { ...whole, kind: 'pf' as const, attributes, numAccelerators: names.length, handles: [] }
    await shows(cloud, [fpga, gpu, { ...nic, deployables: [...nodes, root] }])
  }
}

/** Nova lost what it was told: an operator has it told once more. */
const toldAgain = async ({ control, clock, plane }: Cloud, instance: string) => {
  value(await control.resendDelivery(NOVA, instance, { by: 'operator', reason: 'Nova was restored' }))
  await plane.sweeper.idle()
  await clock.pass(1)
}

/** The compute node appears in Placement, and an operator deletes a provider of ours that is not wanted any more. */
const placed = async ({ placing, clock, plane }: Cloud) => {
  await clock.pass(2 * PLACEMENT_AUDIT_MS)
  await plane.sweeper.idle()
  placing.ask('POST', '/resource_providers', { uuid: COMPUTE_NODE, name: HOST })
  await clock.pass(2 * PLACEMENT_AUDIT_MS)
  await plane.sweeper.idle()
  const made = { uuid: ORPHAN, name: `${HOST}_former`, parent_provider_uuid: COMPUTE_NODE }
  placing.ask('POST', '/resource_providers', made)
  const traits = { resource_provider_generation: 0, traits: ['OWNER_CYBORG'] }
  placing.ask('PUT', `/resource_providers/${ORPHAN}/traits`, traits)
  await clock.pass(2 * PLACEMENT_AUDIT_MS)
  await plane.sweeper.idle()
}

/** A difference that no pass repairs is ignored until an operator or its term ends that, and then once more. */
const ignores = async ({ control, clock, plane }: Cloud) => {
  const note = { by: 'operator', reason: 'the vendor was called' }
  const [{ uuid: handle }] = value(await control.handles.list(NOVA, { state: 'free' }, {})).items as [HandleRow]
  value(await control.handles.quarantine(NOVA, handle, note))
  const [drift] = value(await control.drift.list(HOST, {})).items
  const difference = drift!.entries.find(({ kind }) => kind === 'hardware')!.uuid
  const ignored = async (forMs: number) =>
    value(await control.drift.ignore(NOVA, { host: HOST, difference, until: clock.now() + forMs }, note))
  await ignored(PLACEMENT_AUDIT_MS)
  value(await control.drift.unignore(NOVA, difference, { by: 'operator', reason: 'the vendor came' }))
  await clock.pass(2 * PLACEMENT_AUDIT_MS)
  await plane.sweeper.idle()
  await ignored(WEEK_MS)
  value(await control.handles.release(NOVA, handle, note))
  await clock.pass(1)
}

/** The cloud at the end of that life; who asks for it stops it. */
export const openLivedCloud = async () => {
  const cloud = await openCloud()
  await shows(cloud, cloud.shown)
  await placed(cloud)
  await ignores(cloud)
  await profilesAndAttributes(cloud)
  const { gpu } = await binds(cloud)
  await cleared(cloud)
  await programs(cloud)
  await imageLost(cloud)
  await measured(cloud)
  await changes(cloud)
  await bind(cloud, 'fpga', 'FPGA')
  await foreignAnswer(cloud)
  await moves(cloud)
  await divides(cloud)
  await keys(cloud)
  await adopts(cloud)
  await toldAgain(cloud, gpu.instance)
  return cloud
}

export const playScenario = async (): Promise<readonly FeedRow[]> => {
  const cloud = await openLivedCloud()
  const rows = await cloud.store.journal.feed('', 10_000)
  await cloud.plane.stop()
  return rows
}
