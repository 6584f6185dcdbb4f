/**
 * What is recorded of a host appears in Placement, follows each change, and survives the death of who writes it
 * (placement 9, 12).
 */
import { ENTITIES } from '../../src/actors/entities.ts'
import { describe, expect, test } from 'vitest'
import type { ControlPlaneParts } from '../../src/services/controlPlane.ts'
import type { Placement } from '../../src/actors/placement/port.ts'
import type { SimulatedPlan } from '../../src/drivers/simulated/simulated.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import type { Store } from '../../src/persistence/store.ts'
import { handClock } from '../support/lab.ts'
import { placementInMemory } from '../support/placement.ts'
import { record } from '../support/placementLab.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'

const PLAN: SimulatedPlan = { seed: 1, devices: [{ kind: 'fpga', handles: 4 }] }
const TWO: SimulatedPlan = { seed: 1, devices: [...PLAN.devices, { kind: 'gpu', handles: 2 }] }
const ROOT = '7d2cd0a4-0f3c-4d0e-8d7f-2f1f1d2b1a01'
const AUDIT_MS = 60_000
const OPTIONS = { placementAuditMs: AUDIT_MS, staleAfterMs: 3_600_000, downAfterMs: 7_200_000, missingRounds: 1 }

const NEVER_SILENT = { staleAfterMs: 1e9, downAfterMs: 2e9 }

type World = Awaited<ReturnType<typeof open>>
const open = async (parts: Partial<ControlPlaneParts> = {}, store?: Store, clock = handClock()) => {
  const cloud = placementInMemory()
  const placement = parts.placement ?? cloud.placement
  const kept = store ?? memoryStore({ now: clock.now })
  const world = await openPlane({ clock, options: OPTIONS, ...parts, placement }, kept)
  const node = () => cloud.ask('POST', '/resource_providers', { uuid: ROOT, name: 'h1' })
  return { ...world, ...cloud, clock, node, kept }
}
/** Lets time pass until nothing is in hand. */
const rest = async ({ clock, plane }: Pick<World, 'clock' | 'plane'>, ms = 2000) => {
  await clock.pass(ms)
  await plane.sweeper.idle()
}
type Shown = { readonly name: string; readonly inventories: object; readonly traits: readonly string[] }
/** All providers below the compute node, by UUID. */
const shown = async ({ placement }: { readonly placement: Placement }): Promise<Readonly<Record<string, Shown>>> => {
  const answer = await placement.tree(ROOT)
  if (!answer.ok) throw new Error(answer.reason)
  const below = answer.value.filter(({ uuid }) => uuid !== ROOT)
  const read = below.map(async ({ uuid, name }) => {
    const [inventories, traits] = [await placement.inventories(uuid), await placement.traits(uuid)]
    if (!inventories.ok || !traits.ok) throw new Error('it is gone')
    return [uuid, { name, inventories: inventories.value.inventories, traits: traits.value.traits.toSorted() }] as const
  })
  return Object.fromEntries(await Promise.all(read))
}
const writes = ({ asked }: World) => asked.filter((line) => !line.startsWith('GET'))
const placeOf = async ({ control }: World) => value(await control.deployables.list({}, {})).items[0]!
const begin = async (plan = PLAN, ...opening: Parameters<typeof open>) => {
  const world = await open(...opening)
  world.node()
  await world.shows('h1', plan)
  await rest(world)
  return world
}

describe('a host in Placement', () => {
  test('has a provider for each deployable, under its recorded UUID, with inventory and traits', async () => {
    const world = await begin(TWO)
    const places = value(await world.control.deployables.list({}, {})).items
    const all = await shown(world)
    expect(Object.keys(all).toSorted()).toEqual(places.map(({ rp_uuid: uuid }) => String(uuid)).toSorted())
    const [first] = places
    expect(all[first!.rp_uuid!]).toEqual({
      name: first!.name,
      inventories: { FPGA: record(4) },
      traits: (first!.attributes as readonly Record<string, string>[])
        .flatMap((each) => Object.entries(each))
        .flatMap(([key, trait]) => (key.startsWith('trait') ? [trait] : []))
        .toSorted(),
    })
    await world.plane.stop()
  })

  test('is written once: the next looks find nothing to do, and the compute node is never written', async () => {
    const world = await begin(TWO)
    const before = writes(world).length
    await rest(world, 10 * AUDIT_MS)
    expect(writes(world)).toHaveLength(before)
    expect(world.asked.length).toBeGreaterThan(before + 10)
    expect(writes(world).filter((line) => line.includes(ROOT))).toEqual([])
    await world.plane.stop()
  })

  test('waits for its compute node, and is shown when that is there', async () => {
    const world = await open()
    await world.shows('h1', PLAN)
    await rest(world)
    expect(value(await world.control.drift.list('h1', {})).items[0]!.trouble).toEqual({
      state: 'waiting_for_compute_node',
      reason: 'Placement has no compute node named h1',
    })
    world.node()
    await rest(world, 70_000)
    expect(Object.keys(await shown(world))).toHaveLength(1)
    expect(value(await world.control.drift.list(null, {})).items).toEqual([
      { host: 'h1', root: ROOT, checkedAt: expect.any(Number), trouble: null, entries: [] },
    ])
    await world.plane.stop()
  })

  test('that cannot be compared as a whole says so, instead of hiding what differs', async () => {
    const cloud = placementInMemory()
    const reason = 'no answer in time'
    const allocations = async () => ({ ok: false, error: 'unanswered', reason }) as const
    const world = await open({ placement: { ...cloud.placement, allocations } })
    cloud.ask('POST', '/resource_providers', { uuid: ROOT, name: 'h1' })
    await world.shows('h1', PLAN)
    await rest(world)
    expect(value(await world.control.drift.list('h1', {})).items[0]).toMatchObject({
      trouble: { state: 'unreachable', reason },
    })
    await world.plane.stop()
  })

  test('shows what is disabled as reserved, and as free when it is enabled again', async () => {
    const world = await begin()
    const { device_uuid: device, rp_uuid: uuid } = await placeOf(world)
    for (const [status, reserved] of [
      ['maintaining', 4],
      ['enabled', 0],
    ] as const) {
      value(await world.control.devices.setStatus(NOVA, device, status))
      await rest(world)
      expect((await shown(world))[uuid!]!.inventories).toEqual({ FPGA: record(4, reserved) })
    }
    await world.plane.stop()
  })

  test('withholds what is bound without an allocation, and gives it back by itself when there is one or it is unbound', async () => {
    const world = await begin()
    const { rp_uuid: uuid } = await placeOf(world)
    const { control } = world
    value(await control.profiles.create(NOVA, { name: 'fpga', description: null, groups: [{ 'resources:FPGA': '1' }] }))
    const bind = async (instanceUuid: string) => {
      const [arq] = value(await control.arqs.create(NOVA, 'fpga'))
      value(await control.arqs.bind(NOVA, [{ arq: arq!.uuid, hostname: 'h1', deviceRpUuid: uuid!, instanceUuid }]))
    }
    const reserved = async () => (await shown(world))[uuid!]!.inventories
    const [first, second] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222']
    await bind(first)
    await bind(second)
    await rest(world, 2 * AUDIT_MS)
    expect(await reserved()).toEqual({ FPGA: record(4, 2) })
    const allocations = { [uuid!]: { resources: { FPGA: 1 } } }
    const whose = { project_id: 'p', user_id: 'u', consumer_generation: null, consumer_type: 'INSTANCE' }
    world.ask('PUT', `/allocations/${first}`, { allocations, ...whose })
    await rest(world, 35_000)
    expect(await reserved()).toEqual({ FPGA: record(4, 1) })
    value(await control.arqs.removeByInstance(NOVA, second))
    await rest(world, 35_000)
    expect(await reserved()).toEqual({ FPGA: record(4) })
    await world.plane.stop()
  })

  test('is counted: passes by how they ended, what they changed, what Placement refused, and the state of hosts', async () => {
    const world = await open()
    await world.shows('h1', PLAN)
    await rest(world)
    const hosts = async () => [...(await world.kept.reads.tally('due', 'kind'))]
    expect(await hosts()).toEqual([['placement waiting_for_compute_node', 1]])
    world.node()
    await rest(world, 70_000)
    const { passes, changes, troubles, passMs } = world.plane.sweeper.placer!.counts()
    expect(passes).toMatchObject({ unreachable: 0, changed: 1, superseded: 0, failed: 0 })
    expect(passes.waiting_for_compute_node).toBeGreaterThan(1)
    expect(changes).toMatchObject({ created: 1, traits: 1, inventory: 1, removed: 0 })
    expect([troubles.refused, troubles.unanswered, passMs]).toEqual([0, 0, expect.any(Number)])
    expect(await hosts()).toEqual([['placement in_sync', 1]])
    await rest(world, 3 * AUDIT_MS)
    const later = world.plane.sweeper.placer!.counts()
    expect(later.passes).toEqual({ ...passes, unchanged: later.passes.unchanged })
    expect(later.passes.unchanged).toBeGreaterThan(passes.unchanged)
    expect(later.changes).toEqual(changes)
    await world.plane.stop()
  })

  test.each([
    ['agrees', async (world: World) => void world.node()],
    ['has no compute node', async () => {}],
    [
      'has units that are bound without an allocation',
      async (world: World) => {
        world.node()
        const groups = [{ 'resources:FPGA': '1' }]
        value(await world.control.profiles.create(NOVA, { name: 'fpga', description: null, groups }))
        const [arq] = value(await world.control.arqs.create(NOVA, 'fpga'))
        const { rp_uuid: deviceRpUuid } = await placeOf(world)
        const instanceUuid = '11111111-1111-4111-8111-111111111111'
        value(
          await world.control.arqs.bind(NOVA, [
            { arq: arq!.uuid, hostname: 'h1', deviceRpUuid: deviceRpUuid!, instanceUuid },
          ]),
        )
      },
    ],
  ])(
    'that %s is compared again and again, and nothing of it is recorded',
    async (_, prepare) => {
      const world = await open({ options: { ...OPTIONS, sweepEveryMs: 5000 } })
      await world.shows('h1', PLAN)
      await prepare(world)
      await rest(world, 2 * AUDIT_MS)
      const recorded = async () => {
        const answer = await world.plane.region.readCurrent(ENTITIES['placement']!, 'placement/h1')
        return answer.ok && answer.value.version
      }
      const compared = () =>
        Object.values(world.plane.sweeper.placer!.counts().passes).reduce((sum, one) => sum + one, 0)
      const [version, looks] = [await recorded(), compared()]
      await rest(world, 20 * AUDIT_MS)
      expect(await recorded()).toBe(version)
      expect(compared() - looks).toBeGreaterThan(15)
      expect(compared() - looks).toBeLessThan(45)
      await world.plane.stop()
    },
    30_000,
  )

  test('is compared with a record once a day', async () => {
    const hour = 3_600_000
    const world = await open({
      options: { ...OPTIONS, placementAuditMs: hour, sweepEveryMs: 300_000, ...NEVER_SILENT },
    })
    world.node()
    await world.shows('h1', PLAN)
    await rest(world, hour / 2)
    const comparedAt = async () => {
      const answer = await world.plane.region.readCurrent(ENTITIES['placement']!, 'placement/h1')
      return answer.ok ? answer.value.state.comparedAt! : 0
    }
    const first = await comparedAt()
    await rest(world, 23 * hour)
    expect(await comparedAt()).toBe(first)
    await rest(world, 3 * hour)
    expect(await comparedAt()).toBeGreaterThanOrEqual(first + 24 * hour)
    await world.plane.stop()
  })

  test('is compared at once when Placement answers again for another one', async () => {
    const cloud = placementInMemory()
    let away = false
    const unanswered = { ok: false, error: 'unanswered', reason: 'it is away' } as const
    const tree: Placement['tree'] = async (root) => (away ? unanswered : cloud.placement.tree(root))
    const world = await open({ placement: { ...cloud.placement, tree } })
    const hosts = Array.from({ length: 12 }, (_, at) => `h${at + 1}`)
    for (const name of hosts) {
      cloud.ask('POST', '/resource_providers', { name })
      await world.shows(name, PLAN)
    }
    await rest(world)
    const inState = async (state: string) =>
      new Map(await world.kept.reads.tally('due', 'kind')).get(`placement ${state}`)
    expect(await inState('in_sync')).toBe(hosts.length)
    away = true
    await rest(world, 10 * AUDIT_MS)
    expect(await inState('unreachable')).toBe(hosts.length)
    away = false
    while ((await inState('unreachable')) === hosts.length) await rest(world, 250)
    await rest(world, 4000)
    expect(await inState('in_sync')).toBe(hosts.length)
    await world.plane.stop()
  })

  test('is repaired within the time of one comparison when somebody else has changed it', async () => {
    const world = await begin()
    await rest(world, 3 * AUDIT_MS)
    const { rp_uuid: uuid } = await placeOf(world)
    world.ask('DELETE', `/resource_providers/${uuid}`)
    expect(await shown(world)).toEqual({})
    await rest(world, 1.2 * AUDIT_MS)
    expect(Object.keys(await shown(world))).toEqual([uuid])
    await world.plane.stop()
  })

  test('loses the provider of a device that has left', async () => {
    const world = await begin(TWO)
    for (let round = 0; round < 3; round++) await world.shows('h1', PLAN)
    await rest(world)
    expect(Object.keys(await shown(world))).toEqual([(await placeOf(world)).rp_uuid])
    await world.plane.stop()
  })

  test('keeps, but reserves, the provider of a device that has left while somebody has units of it', async () => {
    const world = await begin(TWO)
    const gone = value(await world.control.deployables.list({}, {})).items[1]!.rp_uuid!
    const consumer = '11111111-1111-4111-8111-111111111111'
    const allocation = { allocations: { [gone]: { resources: { PGPU: 1 } } }, project_id: 'p', user_id: 'u' }
    world.ask('PUT', `/allocations/${consumer}`, {
      ...allocation,
      consumer_generation: null,
      consumer_type: 'INSTANCE',
    })
    for (let round = 0; round < 3; round++) await world.shows('h1', PLAN)
    await rest(world)
    expect((await shown(world))[gone]!.inventories).toEqual({ PGPU: record(2, 2) })
    const [drift] = value(await world.control.drift.list('h1', {})).items
    expect(drift!.entries).toMatchObject([
      { provider: gone, state: 'pending', reason: `units are allocated to ${consumer}` },
    ])
    world.ask('DELETE', `/allocations/${consumer}`)
    await rest(world, 2 * AUDIT_MS)
    expect(Object.keys(await shown(world))).not.toContain(gone)
    await world.plane.stop()
  })

  test('is empty when an operator has removed it, and is not looked at any more', async () => {
    const world = await begin()
    value(await world.control.hosts.remove(NOVA, 'h1', { by: 'op', reason: 'sold' }, false))
    await rest(world)
    expect(await shown(world)).toEqual({})
    world.asked.splice(0)
    await rest(world, 10 * AUDIT_MS)
    expect(world.asked).toEqual([])
    await world.plane.stop()
  })

  test('is found by a service that had no Placement before', async () => {
    const clock = handClock()
    const store = memoryStore({ now: clock.now })
    const without = await openPlane({ clock, options: OPTIONS }, store)
    await without.shows('h1', PLAN)
    await without.plane.stop()
    const world = await open({}, store, clock)
    world.node()
    await rest(world, 5000)
    expect(Object.keys(await shown(world))).toHaveLength(1)
    await world.plane.stop()
  })
})

describe('a service that dies', () => {
  /** The steps of placing one card, each answered and then nothing any more. */
  const dying = (placement: Placement, after: number): Placement => {
    let left = after
    const mortal =
      <Argument, Value>(call: (argument: Argument) => Promise<Value>) =>
      (argument: Argument): Promise<Value> =>
        left-- > 0 ? call(argument) : new Promise(() => {})
    return Object.fromEntries(
      Object.entries(placement).map(([name, call]) => [name, mortal(call as (argument: unknown) => Promise<unknown>)]),
    ) as unknown as Placement
  }
  test.each(Array.from({ length: 14 }, (_, at) => at))(
    'after %i calls to Placement leaves what the next one completes',
    async (calls) => {
      const clock = handClock()
      const cloud = placementInMemory()
      const store = memoryStore({ now: clock.now })
      cloud.ask('POST', '/resource_providers', { uuid: ROOT, name: 'h1' })
      const first = await openPlane({ clock, options: OPTIONS, placement: dying(cloud.placement, calls) }, store)
      await first.shows('h1', PLAN)
      await clock.pass(2000)
      const stopping = first.plane.stop()
      await clock.pass(20_000)
      await stopping
      const second = await openPlane({ clock, options: OPTIONS, placement: cloud.placement }, store)
      await rest({ clock, plane: second.plane }, 70_000)
      const [place] = value(await second.control.deployables.list({}, {})).items
      expect(await shown(cloud)).toEqual({
        [place!.rp_uuid!]: expect.objectContaining({ name: place!.name, inventories: { FPGA: record(4) } }),
      })
      expect(value(await second.control.drift.list('h1', {})).items[0]).toMatchObject({ trouble: null, entries: [] })
      await second.plane.stop()
    },
  )
})

test('many hosts are compared at the same time, but not more than eight, and every one of them in the end', async () => {
  let inHand = 0
  const seen = new Set<string>()
  const gate = Promise.withResolvers<void>()
  const cloud = placementInMemory()
  const placement: Placement = {
    ...cloud.placement,
    named: async (name) => {
      seen.add(name)
      inHand++
      await gate.promise
      inHand--
      return cloud.placement.named(name)
    },
  }
  const world = await open({ placement, options: { ...OPTIONS, ...NEVER_SILENT } })
  for (let n = 0; n < 30; n++) await world.shows(`many-${n}`, PLAN)
  await world.clock.pass(5000)
  expect(inHand).toBe(8)
  gate.resolve()
  await rest(world, 5000)
  expect([seen.size, inHand]).toEqual([30, 0])
  await world.plane.stop()
})
