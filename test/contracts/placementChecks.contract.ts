/**
 * The checks of acceptance (placement.md 12) that are not cases of drift: changes on our side, failures between the
 * two, and what must never be written. On the double over each store, and on a real Placement.
 */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { ReportedDevice } from '../../src/vocabulary/hardware.ts'
import { type Answer, Unanswered } from '../../src/neighbours/openstack/send.ts'
import type { Call } from '../../src/neighbours/openstack/session.ts'
import { PLAN, type PlacedHost, placedHost } from '../support/placedHost.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { type Source, openTestStore } from '../support/stores.ts'
import { customName, type PlacementLab, record, uniqueName } from '../support/placementLab.ts'

type Deployable = ReportedDevice['deployables'][number]
const FPGA = 'FPGA'
/** Changes the first card of a report. */
const first =
  (change: (deployable: Deployable) => Deployable) =>
  (devices: readonly ReportedDevice[]): readonly ReportedDevice[] =>
    devices.map((device, at) => (at === 0 ? { ...device, deployables: device.deployables.map(change) } : device))
const withUnits = (count: number) =>
  first((one) => ({ ...one, handles: one.handles.slice(0, count), numAccelerators: count }))
const withClass = (resourceClass: string) =>
  first((one) => ({
    ...one,
    attributes: one.attributes.map((each) => (each.key === 'rc' ? { ...each, value: resourceClass } : each)),
  }))

const CONFLICT: Answer = {
  status: 409,
  headers: {},
  text: JSON.stringify({
    errors: [{ status: 409, title: 'Conflict', detail: 'x', code: 'placement.concurrent_update' }],
  }),
}
/** Nothing happens by itself. */
const QUIET = { placementAuditMs: 86_400_000, staleAfterMs: 86_400_000, downAfterMs: 172_800_000 }
const isWrite = ({ method }: Call): boolean => method !== 'GET'

export const placementChecksContract = (given: () => PlacementLab, stores: Source = openTestStore): void => {
  let lab: PlacementLab
  const hosts: PlacedHost[] = []
  const open = async (more: { readonly node?: boolean } = {}) => {
    const host = await placedHost(lab, { ...more, stores })
    hosts.push(host)
    return host
  }
  beforeAll(() => {
    lab = given()
  })
  afterEach(() => Promise.all(hosts.splice(0).map((host) => host.stop())))

  describe('what is changed here follows in Placement', () => {
    test('T2 a disabled device that shows another number of units is reserved as a whole', async () => {
      const host = await open()
      await host.disable()
      await host.shows(withUnits(3))
      await host.heal()
      expect((await host.now()).inventories).toEqual({ [FPGA]: record(3, 3) })
      await host.enable()
      await host.heal()
      expect((await host.now()).inventories).toEqual({ [FPGA]: record(3) })
    })
    test('T5 a class that changes while units are allocated: the former stays, reserved, until they are free', async () => {
      const [host, consumer] = [await open(), randomUUID()]
      expect(await lab.allocate(consumer, { [host.card.uuid]: { [FPGA]: 1 } })).toBe(204)
      await host.shows(withClass('VGPU'))
      await host.heal()
      expect((await host.now()).inventories).toEqual({ [FPGA]: record(4, 4) })
      await lab.release(consumer)
      await host.heal()
      expect((await host.now()).inventories).toEqual({ VGPU: record(4) })
      await host.inStep()
    })
    test('T9 traits in another order: nothing is written', async () => {
      const host = await open()
      const written = await host.writesDuring(async () => {
        await host.shows(
          first((one) => {
            const traits = one.attributes.filter(({ key }) => key.startsWith('trait'))
            const turned = traits.map(({ key }, at) => ({ key, value: traits.at(-1 - at)!.value }))
            return { ...one, attributes: [...one.attributes.filter(({ key }) => !key.startsWith('trait')), ...turned] }
          }),
        )
        await host.heal()
      })
      expect(written).toEqual([])
    })
    test('a device that is gone takes its provider with it, and comes back with the same UUID', async () => {
      const host = await open()
      const [before, uuid] = [await host.now(), host.card.uuid]
      for (let round = 0; round < 3; round++) await host.shows((devices) => devices.slice(1))
      await host.heal()
      expect(await host.shown(uuid)).toBeNull()
      await host.shows()
      await host.heal()
      expect(await host.now()).toEqual(before)
    })
    test('names of classes and traits that Placement would not take are made fit', async () => {
      const host = await open()
      const name = customName()
      await host.shows((devices) =>
        first((one) => ({
          ...one,
          attributes: one.attributes.map((each) =>
            each.key === 'trait1' ? { ...each, value: `${name.toLowerCase()}-x.1` } : each,
          ),
        }))(devices),
      )
      await host.heal()
      expect((await host.now()).traits).toContain(`${name}_X_1`)
      await host.inStep()
    })
  })

  describe('failures between the two', () => {
    test('T3 a conflict at each of the first four writes of an inventory: the fifth is right', async () => {
      const host = await open()
      await lab.setInventories(host.card.uuid, { [FPGA]: record(9) })
      let conflicts = 0
      lab.meddle((call, carryOut) =>
        call.method === 'PUT' && call.path.endsWith('/inventories') && conflicts++ < 4
          ? Promise.resolve(CONFLICT)
          : carryOut(),
      )
      await host.heal()
      lab.meddle(null)
      expect([conflicts, (await host.now()).inventories]).toEqual([5, { [FPGA]: record(4) }])
      await host.inStep()
    })
    test('somebody allocates between reading and writing: his change is not overwritten', async () => {
      const [host, consumer] = [await open(), randomUUID()]
      await lab.setInventories(host.card.uuid, { [FPGA]: record(9) })
      let raced = false
      lab.meddle(async (call, carryOut) => {
        if (!raced && call.method === 'PUT' && call.path.endsWith('/inventories')) {
          raced = true
          expect(await lab.allocate(consumer, { [host.card.uuid]: { [FPGA]: 1 } })).toBe(204)
        }
        return carryOut()
      })
      await host.heal()
      lab.meddle(null)
      expect((await host.now()).inventories).toEqual({ [FPGA]: record(4) })
      expect(await lab.placement.allocations(host.card.uuid)).toMatchObject({
        value: { consumers: { [consumer]: { [FPGA]: 1 } } },
      })
    })
    test('T4 Placement is down during a report and a change of the device: both are recorded, and shown later', async () => {
      const host = await open()
      lab.meddle(() => Promise.reject(new Unanswered('connect ECONNREFUSED')))
      await host.disable()
      await host.shows(withUnits(2))
      await host.heal()
      expect(await host.drift()).toMatchObject({ trouble: { state: 'unreachable' } })
      expect((await host.places())[0]).toMatchObject({ num_accelerators: 2 })
      lab.meddle(null)
      await host.heal()
      expect((await host.now()).inventories).toEqual({ [FPGA]: record(2, 2) })
      await host.inStep()
    })
    test('T8 the answer to each write is lost: a few passes later all is as wanted, once', async () => {
      const host = await open({ node: false })
      const root = await host.node()
      lab.meddle(async (call, carryOut) => {
        const answer = await carryOut()
        if (isWrite(call)) throw new Unanswered('socket hang up')
        return answer
      })
      for (let round = 0; round < 20; round++) await host.heal()
      lab.meddle(null)
      await host.heal()
      expect(await host.now()).toMatchObject({ parent: root, inventories: { [FPGA]: record(4) } })
      const tree = await lab.placement.tree(root)
      expect(tree.ok && tree.value.length).toBe(1 + PLAN.devices.length)
      await host.inStep()
    })
    test('our account has lost its rights: the host is in trouble, nothing is forgotten', async () => {
      const host = await open()
      const denied = { status: 403, headers: {}, text: '{"errors": [{"status": 403, "title": "x", "detail": "no"}]}' }
      lab.meddle(() => Promise.resolve(denied))
      await host.heal()
      expect(await host.drift()).toMatchObject({
        trouble: { state: 'unreachable', reason: expect.stringContaining('role') },
      })
      lab.meddle(null)
      await host.heal()
      await host.inStep()
    })
  })

  describe('what is not ours', () => {
    test.each([
      ['T6 a PCI provider of Nova has our name', ['OWNER_NOVA', 'COMPUTE_MANAGED_PCI_DEVICE']],
      ['a provider of an operator has our name', []],
    ])('%s: it is not written, and the conflict is told; the others go on', async (_, traits) => {
      const host = await open({ node: false })
      const root = await host.node()
      const other = await lab.child(root, host.card.name)
      await lab.setInventories(other, { PCI_DEVICE: record(1) })
      await lab.setTraits(other, traits)
      const before = await host.shown(other)
      await host.heal()
      expect(await host.shown(other)).toEqual(before)
      expect(await host.shown(host.card.uuid)).toBeNull()
      expect((await host.drift()).entries).toEqual([
        expect.objectContaining({ provider: host.card.uuid, state: 'placement_conflict' }),
      ])
      const [, gpu] = await host.places()
      expect(await host.shown(gpu!.rp_uuid!)).toMatchObject({ inventories: { PGPU: record(2) } })
      await lab.placement.remove(other)
      await host.heal()
      await host.inStep()
    })
    test('Nova stamps one of ours as its own: it is left alone from then on', async () => {
      const host = await open()
      await lab.setTraits(host.card.uuid, ['OWNER_CYBORG', 'OWNER_NOVA'])
      await lab.setInventories(host.card.uuid, { [FPGA]: record(9) })
      expect(await host.writesDuring(host.heal)).toEqual([])
      expect((await host.drift()).entries).toEqual([
        expect.objectContaining({ provider: host.card.uuid, state: 'placement_conflict' }),
      ])
    })
    test('other children of the compute node are never read as ours', async () => {
      const host = await open()
      const nova = await lab.child(host.root, `${host.host}_0000:81:00.0`)
      await lab.setInventories(nova, { PCI_DEVICE: record(1) })
      await lab.setTraits(nova, ['OWNER_NOVA', 'COMPUTE_MANAGED_PCI_DEVICE'])
      const bare = await lab.child(host.root, uniqueName())
      expect(await host.writesDuring(host.heal)).toEqual([])
      expect([await host.shown(nova), await host.shown(bare)]).toEqual([expect.anything(), expect.anything()])
      await host.inStep()
    })
  })

  describe('what it costs', () => {
    test('T14 an audit of a host that has not changed writes nothing, and asks little', async () => {
      const host = await open()
      await host.heal()
      const before = lab.asked.length
      for (let round = 0; round < 5; round++) await host.heal()
      const asked = lab.asked.slice(before)
      expect(asked.filter((line) => !line.startsWith('GET '))).toEqual([])
      expect(asked.length).toBeLessThanOrEqual(5 * (3 + 2 * PLAN.devices.length))
    })
  })

  describe('a process that has just started', () => {
    const READ = /^GET \/resource_providers\/[^?]+\/(inventories|traits)$/
    /** The providers that it reads in one pass, and what it writes. */
    const passOf = async (host: PlacedHost, next: Awaited<ReturnType<typeof openPlane>>) => {
      const before = lab.asked.length
      value(await next.control.drift.heal(NOVA, host.host))
      const asked = lab.asked.slice(before)
      return {
        reads: asked.filter((line) => READ.test(line)).length / 2,
        writes: asked.filter((line) => !line.startsWith('GET ')).length,
      }
    }
    const opened = (host: PlacedHost) => openPlane({ placement: lab.placement, options: QUIET }, host.store)

    test('reads no provider that agreed when it was written or read last, until it has relied on that five times', async () => {
      const host = await open()
      const next = await opened(host)
      const none = { reads: 0, writes: 0 }
      for (let round = 0; round < 5; round++) expect([round, await passOf(host, next)]).toEqual([round, none])
      expect(await passOf(host, next)).toEqual({ reads: PLAN.devices.length, writes: 0 })
      await next.plane.stop()
    })
    test('reads, and mends, those that were changed in Placement or here while none ran', async () => {
      const host = await open()
      await lab.setInventories(host.card.uuid, { [FPGA]: record(9) })
      const next = await opened(host)
      expect(await passOf(host, next)).toEqual({ reads: 1, writes: 1 })
      expect((await host.now()).inventories).toEqual({ [FPGA]: record(4) })
      await next.plane.stop()
      await host.disable()
      const third = await opened(host)
      await passOf(host, third)
      expect((await host.now()).inventories).toEqual({ [FPGA]: record(4, 4) })
      await third.plane.stop()
    })
    test('reads one of which units were allocated meanwhile, and writes nothing; the next one need not', async () => {
      const [host, consumer] = [await open(), randomUUID()]
      expect(await lab.allocate(consumer, { [host.card.uuid]: { [FPGA]: 1 } })).toBe(204)
      for (const reads of [1, 0]) {
        const next = await opened(host)
        expect(await passOf(host, next)).toEqual({ reads, writes: 0 })
        await next.plane.stop()
      }
    })
  })

  describe('what device profiles name', () => {
    const ask = async (of: string, trait: string) =>
      (await lab.ask('GET', `/allocation_candidates?resources_a=${of}:1&required_a=${trait}`)).status
    const patience = { timeout: 20_000, interval: 100 }
    const profileOf = async (host: PlacedHost) => {
      const [name, custom] = [uniqueName(), customName()]
      const groups = [
        { [`resources:${custom}`]: '1', [`trait:${custom}`]: 'required', 'trait:OWNER_CYBORG': 'required' },
      ]
      const row = value(await host.control.profiles.create(NOVA, { name, description: null, groups }))
      return { custom, row, groups }
    }
    test('T11 a trait and a class that nobody has: the search of Nova is answered', async () => {
      const { custom } = await profileOf(await open())
      await expect.poll(() => ask(custom, custom), patience).toBe(200)
    })
    test('T11 the same for a profile that is changed', async () => {
      const host = await open()
      const { row, groups } = await profileOf(host)
      const custom = customName()
      const change = { uuid: row.uuid, name: row.name, was: groups, groups: [{ [`resources:${custom}`]: '1' }] }
      value(await host.control.profiles.regroup(NOVA, [change], 'because'))
      await expect.poll(() => ask(custom, 'OWNER_CYBORG'), patience).toBe(200)
    })
    test('T11 recorded while Placement is away: known to it when a service starts beside one that is well', async () => {
      const host = await open()
      lab.meddle(() => Promise.reject(new Unanswered('connect ECONNREFUSED')))
      const { custom } = await profileOf(host)
      await expect.poll(() => lab.asked.at(-1), patience).toContain(custom)
      lab.meddle(null)
      expect(await ask(custom, custom)).toBe(400)
      const next = await openPlane({ placement: lab.placement }, host.store)
      await expect.poll(() => ask(custom, custom), patience).toBe(200)
      await next.plane.stop()
    })
  })
}
