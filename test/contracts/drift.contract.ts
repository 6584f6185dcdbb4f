/**
 * The drift catalogue (placement.md 8): each case is made with the API of Placement, and one pass of the reconciler
 * follows. On the double over each store, and on a real Placement.
 */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { ReportedDevice } from '../../src/vocabulary/hardware.ts'
import { type PlacedHost, placedHost, type Shown } from '../support/placedHost.ts'
import { customName, type PlacementLab, record, uniqueName } from '../support/placementLab.ts'
import { NOVA, value } from '../support/plane.ts'
import { type Source, openTestStore } from '../support/stores.ts'

type Case = readonly [
  name: string,
  /** What happened to Placement; answers with what is checked after the pass. */
  given: (host: PlacedHost, lab: PlacementLab, before: Shown) => Promise<(() => Promise<unknown>) | void>,
]
const FPGA = 'FPGA'
const HUGE = 2_147_483_647
const replaced = (lab: PlacementLab, uuid: string, fields: object) =>
  lab.setInventories(uuid, { [FPGA]: { ...record(4), ...fields } })
const put = async (lab: PlacementLab, path: string, body: unknown) => {
  const { status, body: answer } = await lab.ask('PUT', path, body)
  expect([status, answer]).toEqual([200, expect.anything()])
}

/** The device with one more trait. */
const withTrait = (device: ReportedDevice, trait: string): ReportedDevice => ({
  ...device,
  deployables: device.deployables.map((one) => ({
    ...one,
    attributes: [...one.attributes, { key: 'trait99', value: trait }],
  })),
})

/** After the pass Placement shows what it showed before, and nothing is amiss. */
const MENDED: readonly Case[] = [
  ['P1 the provider was deleted', async ({ card }, lab) => void (await lab.placement.remove(card.uuid))],
  [
    'P1 the provider was deleted while its device is disabled',
    async (host, lab) => {
      await host.disable()
      await host.heal()
      const reserved = await host.now()
      expect(reserved.inventories).toEqual({ [FPGA]: record(4, 4) })
      await lab.placement.remove(host.card.uuid)
      return async () => {
        expect(await host.now()).toEqual(reserved)
        await host.enable()
        await host.heal()
      }
    },
  ],
  ['P7 another total', async ({ card }, lab) => void (await replaced(lab, card.uuid, { total: 99 }))],
  ['P8 units are reserved', async ({ card }, lab) => void (await replaced(lab, card.uuid, { reserved: 3 }))],
  ['P9 max_unit is without limit', async ({ card }, lab) => void (await replaced(lab, card.uuid, { max_unit: HUGE }))],
  [
    'other fields of the inventory',
    async ({ card }, lab) => void (await replaced(lab, card.uuid, { min_unit: 2, step_size: 2, allocation_ratio: 16 })),
  ],
  [
    'P10 one more resource class',
    async ({ card }, lab) => void (await lab.setInventories(card.uuid, { [FPGA]: record(4), VGPU: record(2) })),
  ],
  ['the inventory is empty', async ({ card }, lab) => void (await lab.setInventories(card.uuid, {}))],
  ['P11 traits are missing', async ({ card }, lab) => void (await lab.setTraits(card.uuid, ['OWNER_CYBORG']))],
  ['P11 all traits are missing', async ({ card }, lab) => void (await lab.setTraits(card.uuid, []))],
  [
    'P19 it was renamed',
    async ({ card, root }, lab) => void (await lab.placement.update({ ...card, name: uniqueName(), parent: root })),
  ],
  [
    'P20 a trait was deleted everywhere',
    async ({ places }, lab, { traits }) => {
      const custom = traits.find((name) => name.startsWith('CUSTOM_'))!
      for (const { rp_uuid: uuid } of await places()) await lab.setTraits(uuid!, ['OWNER_CYBORG'])
      // it may be in use by other hosts of the same cloud
      expect([204, 409]).toContain((await lab.ask('DELETE', `/traits/${custom}`)).status)
    },
  ],
  [
    'several things at once',
    async ({ card, root }, lab) => {
      await lab.setTraits(card.uuid, [])
      await lab.setInventories(card.uuid, { VGPU: record(9) })
      await lab.placement.update({ ...card, name: uniqueName(), parent: root })
    },
  ],
]

const madeBefore = async (lab: PlacementLab, host: PlacedHost, change: (uuid: string) => Promise<unknown>) => {
  const root = await host.node()
  const { uuid } = host.card
  const body = { uuid, name: host.card.name, parent_provider_uuid: root }
  expect((await lab.ask('POST', '/resource_providers', body)).status).toBe(200)
  await change(uuid)
}

export const driftContract = (given: () => PlacementLab, stores: Source = openTestStore): void => {
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

  describe('drift that a pass mends', () => {
    test.each(MENDED)('%s', async (_, happened) => {
      const host = await open()
      const before = await host.now()
      const check = await happened(host, lab, before)
      await host.heal()
      await check?.()
      if (!check) expect(await host.writesDuring(host.heal)).toEqual([])
      else await host.heal()
      const after = await host.now()
      expect({ ...after, parent: null }).toEqual({ ...before, parent: null })
      await host.inStep()
    })
    test('P2 what was recorded while there was no compute node is created when there is one (P22)', async () => {
      const host = await open({ node: false })
      const missing = { state: 'waiting_for_compute_node', reason: expect.stringContaining(host.host) }
      expect(await host.drift()).toMatchObject({ root: null, trouble: missing, entries: [] })
      expect(await host.shown(host.card.uuid)).toBeNull()
      const root = await host.node()
      await host.heal()
      expect(await host.now()).toMatchObject({ parent: root, inventories: { [FPGA]: record(4) } })
      await host.inStep()
    })
    test.each<[string, (uuid: string) => Promise<unknown>]>([
      ['with nothing', async () => {}],
      ['with our trait', (uuid) => lab.setTraits(uuid, ['OWNER_CYBORG'])],
      [
        'with its inventory alone, as the predecessor left it',
        (uuid) => lab.setInventories(uuid, { [FPGA]: { ...record(4), max_unit: HUGE } }),
      ],
    ])('P3 a provider that was created and not recorded is adopted: %s', async (_, change) => {
      const host = await open({ node: false })
      await madeBefore(lab, host, change)
      await host.heal()
      expect(await host.now()).toMatchObject({
        inventories: { [FPGA]: record(4) },
        traits: expect.arrayContaining(['OWNER_CYBORG']),
      })
      await host.inStep()
    })
    test('P4 a provider with our trait that nothing explains is told, and deleted when an operator orders it', async () => {
      const host = await open()
      const orphan = await lab.child(host.root)
      await lab.setInventories(orphan, { [FPGA]: record(4) })
      await lab.setTraits(orphan, ['OWNER_CYBORG'])
      const before = await host.shown(orphan)
      const entry = { provider: orphan, state: 'placement_conflict', repairs: [] }
      expect(await host.drift()).toMatchObject({ entries: [expect.objectContaining(entry)] })
      expect(await host.shown(orphan)).toEqual(before)
      await host.heal()
      expect(await host.shown(orphan)).toBeNull()
      await host.inStep()
    })
  })

  describe('drift that is kept, and told', () => {
    test('P4 an orphan with allocations is reserved, and deleted when they are gone', async () => {
      const [host, consumer] = [await open(), randomUUID()]
      const orphan = await lab.child(host.root)
      await lab.setInventories(orphan, { [FPGA]: record(4) })
      await lab.setTraits(orphan, ['OWNER_CYBORG'])
      expect(await lab.allocate(consumer, { [orphan]: { [FPGA]: 1 } })).toBe(204)
      await host.heal()
      expect(await host.shown(orphan)).toMatchObject({ inventories: { [FPGA]: record(4, 4) } })
      const entry = { provider: orphan, state: 'pending', reason: expect.stringContaining(consumer) }
      expect(await host.drift()).toMatchObject({ entries: [expect.objectContaining(entry)] })
      expect(await host.writesDuring(host.heal)).not.toContain(`PUT /resource_providers/${orphan}/inventories`)
      await lab.release(consumer)
      await host.heal()
      expect(await host.shown(orphan)).toBeNull()
    })
    test('P5 what is left of a host that was removed, with allocations: reserved, until they are gone', async () => {
      const [host, consumer] = [await open(), randomUUID()]
      expect(await lab.allocate(consumer, { [host.card.uuid]: { [FPGA]: 1 } })).toBe(204)
      value(await host.control.hosts.remove(NOVA, host.host, { by: 'operator', reason: 'sold' }, false))
      await expect
        .poll(() => host.shown(host.card.uuid), { timeout: 10_000 })
        .toMatchObject({ inventories: { [FPGA]: record(4, 4) } })
      expect((await lab.placement.allocations(host.card.uuid)) as object).toMatchObject({
        value: { consumers: { [consumer]: { [FPGA]: 1 } } },
      })
    })
    test('P10 a class that is in use stays, with everything of it reserved, until it is free; the own class is offered', async () => {
      const [host, consumer] = [await open(), randomUUID()]
      const both = { [FPGA]: record(4), VGPU: record(2) }
      await lab.setInventories(host.card.uuid, both)
      expect(await lab.allocate(consumer, { [host.card.uuid]: { VGPU: 1 } })).toBe(204)
      await host.heal()
      expect((await host.now()).inventories).toEqual({ [FPGA]: record(4), VGPU: record(2, 2) })
      expect(await host.drift()).toMatchObject({
        entries: expect.arrayContaining([expect.objectContaining({ provider: host.card.uuid, state: 'pending' })]),
      })
      await lab.release(consumer)
      await host.heal()
      expect((await host.now()).inventories).toEqual({ [FPGA]: record(4) })
      await host.inStep()
    })
    test('P12 a trait of an operator stays; one that this service has set goes when the device shows it no more', async () => {
      const [host, foreign] = [await open(), customName()]
      const stale = (await host.now()).traits.find((name) => name.startsWith('CUSTOM_FPGA_PRODUCT'))!
      await lab.placement.ensureTrait(foreign)
      await lab.setTraits(host.card.uuid, [...(await host.now()).traits, foreign])
      await host.heal()
      expect((await host.now()).traits).toContain(foreign)
      // and it is told, once
      const foreignNow = async () =>
        (await host.reconciled()).filter(({ foreign: traits }) => traits?.includes(foreign))
      expect(await foreignNow()).toEqual([
        expect.objectContaining({ uuid: host.card.uuid, state: 'in_sync', foreign: [foreign] }),
      ])
      await host.heal()
      expect(await foreignNow()).toHaveLength(1)
      const fresh = customName()
      await host.shows((devices) =>
        devices.map((device) => ({
          ...device,
          deployables: device.deployables.map((deployable) => ({
            ...deployable,
            attributes: deployable.attributes.map((each) => (each.value === stale ? { ...each, value: fresh } : each)),
          })),
        })),
      )
      await host.heal()
      const { traits } = await host.now()
      expect([traits.includes(stale), traits.includes(fresh), traits.includes(foreign)]).toEqual([false, true, true])
      await host.inStep()
    })
    test.each<[string, (functionId: string | null) => readonly (string | null)[]]>([
      ['another one, after it was programmed', (one) => [one, `${one}_NEXT`]],
      ['none any more, after the host was booted', (one) => [one, null]],
    ])('P13 the trait of a function follows what the card is loaded with: %s', async (_, shown) => {
      const [host, loaded] = [
        await open(),
        `CUSTOM_FPGA_FUNCTION_ID_X_${randomUUID().toUpperCase().replaceAll('-', '')}`,
      ]
      const plain = (await host.now()).traits
      for (const one of shown(loaded)) {
        await host.shows((devices) =>
          devices.map((device, at) => (at === 0 && one !== null ? withTrait(device, one) : device)),
        )
        await host.heal()
        expect((await host.now()).traits).toEqual([...plain, ...(one === null ? [] : [one])].toSorted())
        await host.inStep()
      }
    })
    test('P13 the trait of a function that the card is not loaded with is taken away, whoever has set it', async () => {
      const [host, stale] = [
        await open(),
        `CUSTOM_FPGA_FUNCTION_ID_X_${randomUUID().toUpperCase().replaceAll('-', '')}`,
      ]
      const before = await host.now()
      await lab.placement.ensureTrait(stale)
      await lab.setTraits(host.card.uuid, [...before.traits, stale])
      await host.heal()
      expect(await host.now()).toEqual(before)
      await host.inStep()
    })
    test('P14 an allocation that no request explains is told, and left alone', async () => {
      const [host, consumer] = [await open(), randomUUID()]
      expect(await lab.allocate(consumer, { [host.card.uuid]: { [FPGA]: 1 } })).toBe(204)
      expect(await host.writesDuring(host.heal)).toEqual([])
      expect((await host.drift()).entries).toEqual([
        expect.objectContaining({ kind: 'allocation_without_arq', provider: host.card.uuid, consumer }),
      ])
      expect(await lab.placement.allocations(host.card.uuid)).toMatchObject({
        value: { consumers: { [consumer]: { [FPGA]: 1 } } },
      })
    })
    test('P15 the unit of a bound request without an allocation is withheld until there is one, or the request is gone', async () => {
      const host = await open()
      const [first, second] = [await host.binds(), await host.binds()]
      await host.heal()
      expect((await host.now()).inventories).toEqual({ [FPGA]: record(4, 2) })
      const missing = ({ instance, arqs }: typeof first) =>
        expect.objectContaining({ kind: 'arq_without_allocation', consumer: instance, arqs })
      expect((await host.drift()).entries).toEqual([missing(first), missing(second)])
      expect(await host.writesDuring(host.heal)).toEqual([])
      expect(await lab.allocate(first.instance, { [host.card.uuid]: { [FPGA]: 1 } })).toBe(204)
      await host.heal()
      expect((await host.now()).inventories).toEqual({ [FPGA]: record(4, 1) })
      value(await host.control.arqs.removeByInstance(NOVA, second.instance))
      await host.heal()
      expect((await host.now()).inventories).toEqual({ [FPGA]: record(4) })
      await host.inStep()
    })
    test('P15 an instance with fewer units than are bound to it: the others are withheld', async () => {
      const host = await open()
      const { instance } = await host.binds(3)
      expect(await lab.allocate(instance, { [host.card.uuid]: { [FPGA]: 1 } })).toBe(204)
      await host.heal()
      expect((await host.now()).inventories).toEqual({ [FPGA]: record(4, 2) })
      await lab.release(instance)
      await host.heal()
      expect((await host.now()).inventories).toEqual({ [FPGA]: record(4, 3) })
    })
    test('P15 all units that are in use are withheld when the provider was deleted together with the allocations', async () => {
      const host = await open()
      await host.binds(4)
      await lab.placement.remove(host.card.uuid)
      await host.heal()
      expect((await host.now()).inventories).toEqual({ [FPGA]: record(4, 4) })
    })
    test('P16 handles that are withheld are reserved', async () => {
      const host = await open()
      const [handle] = value(await host.control.handles.list(NOVA, { deployable_uuid: host.card.deployable }, {})).items
      const note = { by: 'operator', reason: 'dirty' }
      value(await host.control.handles.quarantine(NOVA, handle!.uuid, note))
      await host.heal()
      expect((await host.now()).inventories).toEqual({ [FPGA]: record(4, 1) })
      value(await host.control.handles.release(NOVA, handle!.uuid, note))
      await host.heal()
      expect((await host.now()).inventories).toEqual({ [FPGA]: record(4) })
    })
    test('P17 more is allocated than there is: the inventory follows the hardware all the same', async () => {
      const [host, consumer] = [await open(), randomUUID()]
      expect(await lab.allocate(consumer, { [host.card.uuid]: { [FPGA]: 4 } })).toBe(204)
      await host.shows((devices) =>
        devices.map((device) => ({
          ...device,
          deployables: device.deployables.map(({ handles, ...rest }) => {
            const fewer = handles.slice(0, Math.min(2, handles.length))
            return { ...rest, handles: fewer, numAccelerators: fewer.length }
          }),
        })),
      )
      await host.heal()
      expect((await host.now()).inventories).toMatchObject({ [FPGA]: { total: 2 } })
    })
    test('P18 a host that shows a device under the name of another host leaves its provider as it is', async () => {
      const [first, second] = [await open(), await open()]
      const before = await first.now()
      await second.shows((devices) =>
        devices.map((device, at) => ({
          ...device,
          deployables: device.deployables.map((each) => (at === 0 ? { ...each, name: first.card.name } : each)),
        })),
      )
      await second.heal()
      await second.heal()
      expect((await second.drift()).entries.map(({ provider }) => provider)).not.toContain(first.card.uuid)
      expect(await first.now()).toEqual(before)
      await first.heal()
      expect(await first.now()).toEqual(before)
      await first.inStep()
    })
    test('P21 aggregates are left alone', async () => {
      const [host, aggregate] = [await open(), randomUUID()]
      const at = `/resource_providers/${host.card.uuid}/aggregates`
      await put(lab, at, {
        aggregates: [aggregate],
        resource_provider_generation: await lab.generation(host.card.uuid),
      })
      await replaced(lab, host.card.uuid, { total: 99 })
      await host.heal()
      expect((await lab.ask('GET', at)).body).toMatchObject({ aggregates: [aggregate] })
      expect((await host.now()).inventories).toEqual({ [FPGA]: record(4) })
    })
  })
}
