/**
 * A host whose inventory is shown in a Placement, real or double: a control plane over a store, the compute node that
 * Nova made, and the means to change either side.
 */
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { HostDrift } from '../../src/actors/answers/drift.ts'
import type { Found, PlacementEvent } from '../../src/actors/placement/decider.ts'
import type { Inventories } from '../../src/actors/placement/port.ts'
import { reactions } from '../../src/actors/reactions.ts'
import type { SimulatedPlan } from '../../src/drivers/simulated/simulated.ts'
import type { ReportedDevice } from '../../src/vocabulary/hardware.ts'
import { type PlacementLab, uniqueName } from './placementLab.ts'
import { NOVA, openPlane, value } from './plane.ts'
import { type Source, openTestStore } from './stores.ts'

/** Nothing happens by itself: the host is looked at when a change has marked it, or when the test says so. */
const OPTIONS = { placementAuditMs: 86_400_000, staleAfterMs: 86_400_000, downAfterMs: 172_800_000, missingRounds: 1 }
/** Two cards: the first with four units. */
export const PLAN: SimulatedPlan = {
  seed: 1,
  devices: [
    { kind: 'fpga', handles: 4, hostWork: false },
    { kind: 'gpu', handles: 2 },
  ],
}
export type Shown = {
  readonly name: string
  readonly parent: string | null
  readonly inventories: Inventories
  readonly traits: readonly string[]
}
type Edit = (devices: readonly ReportedDevice[]) => readonly ReportedDevice[]

/**
 * What Placement shows of a compute node, which belongs to Nova: it is as it was, whatever the service did below it
 * (T7).
 */
const guardedNodes = (lab: PlacementLab) => {
  const nodes = new Map<string, unknown>()
  const shown = async (uuid: string) => [
    await lab.placement.provider(uuid),
    await lab.placement.inventories(uuid),
    await lab.placement.traits(uuid),
    (await lab.ask('GET', `/resource_providers/${uuid}/aggregates`)).body,
  ]
  const guard = async (uuid: string): Promise<string> => {
    nodes.set(uuid, await shown(uuid))
    return uuid
  }
  return {
    guard,
    /** From now on whatever happens to it is meant. */
    leave: (uuid: string) => void nodes.delete(uuid),
    areAsBefore: async () => {
      for (const [uuid, before] of nodes) expect([uuid, await shown(uuid)]).toEqual([uuid, before])
    },
  }
}

export const placedHost = async (
  lab: PlacementLab,
  {
    plan = PLAN,
    node = true,
    stores = openTestStore,
  }: { readonly plan?: SimulatedPlan; readonly node?: boolean; readonly stores?: Source } = {},
) => {
  const host = uniqueName()
  const nodes = guardedNodes(lab)
  /** The compute node as Nova registers it. */
  const newNode = async () => nodes.guard(await lab.node(host))
  const root = node ? await newNode() : null
  const store = await stores(Date.now)
  const world = await openPlane({ placement: lab.placement, options: OPTIONS }, store)
  const { control, plane, report, discovered } = world
  const devices = async (shown: SimulatedPlan) => discovered(host, shown)
  /** Reports what the host shows, changed by `edit`. */
  const shows = async (edit: Edit = (all) => all, shown = plan) =>
    report(host, [{ driver: 'simulated_driver', status: 'ok', devices: edit(await devices(shown)) }])
  /** One pass. */
  const heal = async () => value(await control.drift.heal(NOVA, host))
  const drift = async (): Promise<HostDrift> => value(await control.drift.list(host, {})).items[0]!
  /** What Placement shows of a provider; null: it does not exist. */
  const shown = async (uuid: string): Promise<Shown | null> => {
    const [provider, inventories, traits] = [
      await lab.placement.provider(uuid),
      await lab.placement.inventories(uuid),
      await lab.placement.traits(uuid),
    ]
    if (!provider.ok || !inventories.ok || !traits.ok) return null
    const { name, parent } = provider.value
    return { name, parent, inventories: inventories.value.inventories, traits: traits.value.traits.toSorted() }
  }
  const places = async () =>
    value(await control.deployables.list({}, {})).items.filter(({ name }) => name.startsWith(`${host}_`))
  await shows()
  await heal()
  const [first] = await places()
  /** Of the first card. */
  const card = { uuid: first!.rp_uuid!, name: first!.name, device: first!.device_uuid, deployable: first!.uuid }
  return {
    ...world,
    host,
    root: root ?? '',
    node: newNode,
    /** The compute node is renamed by whoever it belongs to. */
    renameNode: async (uuid: string) => {
      const { status } = await lab.ask('PUT', `/resource_providers/${uuid}`, { name: uniqueName() })
      expect(status).toBe(200)
      await nodes.guard(uuid)
    },
    /** Nova gives the compute node other traits. */
    retraitNode: async (uuid: string, traits: readonly string[]) => {
      expect(await lab.setTraits(uuid, traits)).toMatchObject({ ok: true })
      await nodes.guard(uuid)
    },
    /**
     * As Nova does when its compute service is deleted: all of the tree, from below; what has allocations stays.
     * Answers with the statuses.
     */
    deleteNode: async (uuid: string): Promise<readonly number[]> => {
      nodes.leave(uuid)
      const tree = await lab.placement.tree(uuid)
      if (!tree.ok) throw new Error(tree.reason)
      const below = tree.value.filter((one) => one.uuid !== uuid).map((one) => one.uuid)
      const statuses: number[] = []
      for (const one of [...below, uuid]) statuses.push((await lab.ask('DELETE', `/resource_providers/${one}`)).status)
      return statuses
    },
    card,
    shows,
    heal,
    drift,
    shown,
    places,
    now: async (): Promise<Shown> => {
      const found = await shown(card.uuid)
      if (found === null) throw new Error('the provider is gone')
      return found
    },
    /** Nothing is left to do in Placement, and nothing was found amiss there. */
    inStep: async () => {
      const { trouble, entries } = await drift()
      expect([trouble, entries.filter(({ kind }) => kind !== 'hardware')]).toEqual([null, []])
    },
    /** What was told of its providers on the topic of Placement so far. */
    reconciled: async (): Promise<readonly Found[]> => {
      const found: Found[] = []
      let after = await store.journal.checkpoint('nobody')
      for (;;) {
        const rows = await store.journal.feed(after, 500)
        if (rows.length === 0) return found
        after = rows.at(-1)!.position
        for (const { topic, value: text } of rows.flatMap(reactions)) {
          const { data } = JSON.parse(text ?? '{}') as { readonly data?: { readonly event?: PlacementEvent } }
          if (topic === 'placement.events.v1' && data?.event?.type === 'ProviderReconciled')
            found.push(data.event.provider)
        }
      }
    },
    /** The requests of the control plane that change something, while this is done. */
    writesDuring: async (work: () => Promise<unknown>): Promise<readonly string[]> => {
      const before = lab.asked.length
      await work()
      return lab.asked.slice(before).filter((line) => !line.startsWith('GET '))
    },
    /** Binds so many units of the first card to a new instance, without an allocation. */
    binds: async (units = 1) => {
      const [name, instance] = [uniqueName(), randomUUID()]
      const groups = [{ 'resources:FPGA': String(units) }]
      value(await control.profiles.create(NOVA, { name, description: null, groups }))
      const arqs = value(await control.arqs.create(NOVA, name)).map(({ uuid }) => uuid)
      const at = { hostname: host, deviceRpUuid: card.uuid, instanceUuid: instance }
      value(
        await control.arqs.bind(
          NOVA,
          arqs.map((arq) => ({ arq, ...at })),
        ),
      )
      return { instance, arqs }
    },
    disable: async () => value(await control.devices.setStatus(NOVA, card.device, 'maintaining')),
    enable: async () => value(await control.devices.setStatus(NOVA, card.device, 'enabled')),
    stop: async () => {
      await plane.stop()
      await store.close()
      lab.meddle(null)
      await nodes.areAsBefore()
    },
  }
}
export type PlacedHost = Awaited<ReturnType<typeof placedHost>>
