/**
 * What the service expects of Placement (placement.md 5), tried with its own client: on the double, and on the real
 * Placement of the rig.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  customName,
  type PlacementLab,
  placementLab,
  record,
  placementFailure,
  uniqueName,
  well,
} from '../support/placementLab.ts'
import { SERVICE, sessionOptions } from './keystone.contract.ts'

/** `authUrl`: of the Keystone whose catalogue has the Placement. */
export type Cloud = { readonly authUrl: string }

const VGPU_8 = { VGPU: record(8) }
export const placementContract = (cloud: () => Cloud): void => {
  let lab: PlacementLab
  let placement: PlacementLab['placement']
  beforeAll(() => {
    lab = placementLab(sessionOptions(cloud().authUrl))
    placement = lab.placement
  })
  afterAll(() => lab.close())
  describe('Placement: providers', () => {
    test('a new one hangs under its parent, and is found by UUID, name and tree', async () => {
      const root = await lab.node()
      const [uuid, name] = [randomUUID(), `${uniqueName()} & 0000:af:00.0/100%`]
      const value = { uuid, name, generation: 0, parent: root, root }
      expect(await placement.create({ uuid, name, parent: root })).toEqual(well(value))
      expect(await placement.provider(uuid)).toEqual(well(value))
      expect(await placement.named(name)).toEqual(well(value))
      const grandchild = await lab.child(uuid)
      for (const member of [root, uuid, grandchild]) {
        const tree = await placement.tree(member)
        expect(tree.ok && new Set(tree.value.map((one) => one.uuid))).toEqual(new Set([root, uuid, grandchild]))
      }
      expect(await placement.provider(grandchild)).toMatchObject(well({ parent: uuid, root }))
    })
    test('what nobody knows: no provider, an empty tree, gone', async () => {
      const unknown = randomUUID()
      expect(await placement.named(uniqueName())).toEqual(well(null))
      expect(await placement.named('')).toEqual(well(null))
      expect(await placement.tree(unknown)).toEqual(well([]))
      expect(await placement.provider(unknown)).toEqual(placementFailure('gone', unknown))
      expect(await placement.remove(unknown)).toEqual(placementFailure('gone', unknown))
      expect(await placement.update({ uuid: unknown, name: 'x', parent: unknown })).toEqual(placementFailure('gone'))
      expect(await placement.inventories(unknown)).toEqual(placementFailure('gone'))
      expect(await placement.setInventories({ uuid: unknown, generation: 0, inventories: VGPU_8 })).toEqual(
        placementFailure('gone'),
      )
      expect(await placement.traits(unknown)).toEqual(placementFailure('gone'))
      expect(await placement.setTraits({ uuid: unknown, generation: 0, traits: [] })).toEqual(placementFailure('gone'))
      expect(await placement.allocations(unknown)).toEqual(placementFailure('gone'))
    })
    test('a name or a UUID that exists: duplicate', async () => {
      const { root, uuid, name } = await lab.ours()
      expect(await placement.create({ uuid: randomUUID(), name, parent: root })).toEqual(
        placementFailure('duplicate', name),
      )
      expect(await placement.create({ uuid, name: uniqueName(), parent: root })).toEqual(
        placementFailure('duplicate', uuid),
      )
      const other = { uuid: await lab.child(root), name, parent: root }
      expect(await placement.update(other)).toEqual(placementFailure('duplicate', name))
    })
    test('an unknown parent, a name that is too long: refused', async () => {
      const { root, uuid, name } = await lab.ours()
      const unknown = randomUUID()
      const create = (of: { name: string; parent: string }) => placement.create({ uuid: randomUUID(), ...of })
      expect(await create({ name: uniqueName(), parent: unknown })).toEqual(
        placementFailure('refused', 'parent provider UUID'),
      )
      expect(await create({ name: 'n'.repeat(201), parent: root })).toEqual(
        placementFailure('refused', 'JSON does not validate'),
      )
      expect(await placement.update({ uuid, name, parent: unknown })).toEqual(
        placementFailure('refused', 'parent provider UUID'),
      )
      const longest = `${uniqueName()}${'n'.repeat(200)}`.slice(0, 200)
      expect(await create({ name: longest, parent: root })).toMatchObject({ ok: true })
    })
    test('it is renamed and moved to another tree, with what hangs below it; its generation stays', async () => {
      const [{ root, uuid }, other] = [await lab.ours(), await lab.node()]
      const below = await lab.child(uuid)
      const name = uniqueName()
      const value = { uuid, name, generation: 0, parent: root, root }
      expect(await placement.update({ uuid, name, parent: root })).toEqual(well(value))
      expect(await placement.update({ uuid, name, parent: other })).toEqual(
        well({ ...value, parent: other, root: other }),
      )
      expect(await placement.provider(below)).toMatchObject(well({ parent: uuid, root: other }))
      expect(await placement.update({ uuid, name, parent: below })).toEqual(placementFailure('refused', 'loop'))
    })
    test('before 1.37 it can be renamed, not moved', async () => {
      const [{ uuid, root }, other] = [await lab.ours(), await lab.node()]
      const put = (parent: string | null) =>
        lab.ask('PUT', `/resource_providers/${uuid}`, { name: uniqueName(), parent_provider_uuid: parent }, '1.36')
      expect([(await put(root)).status, (await put(other)).status, (await put(null)).status]).toEqual([200, 400, 400])
    })
    test('it is removed with its inventory and traits, but not with children or allocations', async () => {
      const { root, uuid } = await lab.ours()
      await lab.setInventories(uuid, VGPU_8)
      await lab.setTraits(uuid, ['OWNER_CYBORG'])
      expect(await placement.remove(root)).toEqual(placementFailure('hasChildren', root))
      const consumer = randomUUID()
      expect(await lab.allocate(consumer, { [uuid]: { VGPU: 1 } })).toBe(204)
      expect(await placement.remove(uuid)).toEqual(placementFailure('inUse', uuid))
      expect(await lab.release(consumer)).toBe(204)
      expect(await placement.remove(uuid)).toEqual(well(null))
      expect(await placement.remove(uuid)).toEqual(placementFailure('gone'))
    })
    test('ours are those with the trait OWNER_CYBORG', async () => {
      const { root, uuid } = await lab.ours()
      const uuids = async () => {
        const answer = await placement.owned()
        return answer.ok ? answer.value.map((one) => one.uuid) : answer
      }
      expect(await uuids()).not.toContain(uuid)
      await lab.setTraits(uuid, ['OWNER_CYBORG'])
      expect(await uuids()).toContain(uuid)
      expect(await uuids()).not.toContain(root)
    })
    test('devices that Nova tracks itself are those with its trait', async () => {
      const { root, uuid } = await lab.ours()
      const theirs = await lab.child(root)
      await lab.setTraits(uuid, ['OWNER_CYBORG'])
      await lab.setTraits(theirs, ['COMPUTE_MANAGED_PCI_DEVICE'])
      const answer = await placement.ofNova()
      const uuids = answer.ok ? answer.value.map((one) => one.uuid) : answer
      expect(uuids).toContain(theirs)
      expect(uuids).not.toContain(uuid)
    })
    test('a query key that is unknown, or unknown in that version: 400', async () => {
      const status = async (query: string, version?: string) =>
        (await lab.ask('GET', `/resource_providers?${query}`, undefined, version)).status
      expect(await status('colour=red')).toBe(400)
      expect([
        await status(`in_tree=${randomUUID()}`, '1.13'),
        await status(`in_tree=${randomUUID()}`, '1.14'),
      ]).toEqual([400, 200])
      expect([await status('required=OWNER_CYBORG', '1.17'), await status('required=!OWNER_CYBORG', '1.21')]).toEqual([
        400, 400,
      ])
      expect([await status(`required=${customName()}`), await status('in_tree=x')]).toEqual([400, 400])
    })
  })

  describe('Placement: inventories and generations', () => {
    test('they are replaced as a whole; the generation grows also when nothing changes', async () => {
      const { uuid } = await lab.ours()
      expect(await placement.inventories(uuid)).toEqual(well({ generation: 0, inventories: {} }))
      expect(await placement.setInventories({ uuid, generation: 0, inventories: VGPU_8 })).toEqual(well(1))
      expect(await placement.setInventories({ uuid, generation: 1, inventories: VGPU_8 })).toEqual(well(2))
      const fpga = { FPGA: record(2, 1) }
      expect(await placement.setInventories({ uuid, generation: 2, inventories: fpga })).toEqual(well(3))
      expect(await placement.inventories(uuid)).toEqual(well({ generation: 3, inventories: fpga }))
    })
    test('what is left out has a default', async () => {
      const { uuid } = await lab.ours()
      await lab.ask('PUT', `/resource_providers/${uuid}/inventories`, {
        resource_provider_generation: 0,
        inventories: { VGPU: { total: 8 } },
      })
      const value = { generation: 1, inventories: { VGPU: { ...record(8), max_unit: 2_147_483_647 } } }
      expect(await placement.inventories(uuid)).toEqual(well(value))
    })
    test('a generation that is not the present one: stale, also before anything else is looked at', async () => {
      const { uuid } = await lab.ours()
      for (const inventories of [VGPU_8, { [customName()]: record(1) }])
        expect(await placement.setInventories({ uuid, generation: 7, inventories })).toEqual(
          placementFailure('stale', 'conflict'),
        )
      expect(await placement.setTraits({ uuid, generation: 7, traits: [customName()] })).toEqual(
        placementFailure('stale'),
      )
      expect(await lab.generation(uuid)).toBe(0)
    })
    test('an unknown class', async () => {
      const { uuid } = await lab.ours()
      const name = customName()
      expect(await lab.setInventories(uuid, { [name]: record(1) })).toEqual(placementFailure('unknownName', name))
      expect(await placement.ensureClass(name)).toEqual(well(null))
      expect(await lab.setInventories(uuid, { [name]: record(1) })).toEqual(well(1))
    })
    test('numbers out of bounds: refused', async () => {
      const { uuid } = await lab.ours()
      const bad = [
        record(0),
        record(8, 9),
        record(8, -1),
        record(2 ** 31),
        { ...record(8), min_unit: 0 },
        { ...record(8), step_size: 0 },
      ]
      for (const one of bad)
        expect([one, await lab.setInventories(uuid, { VGPU: one })]).toEqual([one, placementFailure('refused')])
      expect(await lab.setInventories(uuid, { VGPU: record(2 ** 31 - 1) })).toEqual(well(1))
      expect(await lab.setInventories(uuid, { VGPU: record(8, 8) })).toEqual(well(2))
      const body = { resource_provider_generation: 2, inventories: { VGPU: record(8, 8) } }
      expect((await lab.ask('PUT', `/resource_providers/${uuid}/inventories`, body, '1.25')).status).toBe(400)
    })
    test('a class with allocations cannot go, but shrink below what is allocated', async () => {
      const { uuid } = await lab.ours()
      await lab.setInventories(uuid, VGPU_8)
      const consumer = randomUUID()
      expect(await lab.allocate(consumer, { [uuid]: { VGPU: 3 } })).toBe(204)
      for (const inventories of [{}, { FPGA: record(1) }])
        expect(await lab.setInventories(uuid, inventories)).toEqual(placementFailure('inUse', 'VGPU'))
      expect((await lab.ask('DELETE', `/resource_providers/${uuid}/inventories`)).status).toBe(409)
      expect(await lab.setInventories(uuid, { VGPU: record(1, 1) })).toEqual(well(3))
      expect(await lab.allocate(consumer, { [uuid]: { VGPU: 4 } })).toBe(409)
      expect((await lab.ask('DELETE', `/allocations/${consumer}`)).status).toBe(204)
      expect(await lab.setInventories(uuid, {})).toEqual(well(4))
    })
    test('the whole of it reserved: no new consumer, the present one may hold the same or less', async () => {
      const { uuid } = await lab.ours()
      await lab.setInventories(uuid, VGPU_8)
      const [one, other] = [randomUUID(), randomUUID()]
      expect(await lab.allocate(one, { [uuid]: { VGPU: 3 } })).toBe(204)
      expect(await lab.setInventories(uuid, { VGPU: record(8, 8) })).toMatchObject({ ok: true })
      expect(await lab.allocate(other, { [uuid]: { VGPU: 1 } })).toBe(409)
      for (const [amount, status] of [
        [3, 204],
        [2, 204],
        [3, 409],
      ] as const)
        expect([amount, await lab.allocate(one, { [uuid]: { VGPU: amount } })]).toEqual([amount, status])
    })
    test('what changes the generation, and what does not', async () => {
      const { uuid, root, name } = await lab.ours()
      const steps: readonly (readonly [string, () => Promise<unknown>, number])[] = [
        ['inventories', () => lab.setInventories(uuid, VGPU_8), 1],
        ['the same inventories', () => lab.setInventories(uuid, VGPU_8), 1],
        ['traits', () => lab.setTraits(uuid, ['OWNER_CYBORG']), 1],
        ['the same traits', () => lab.setTraits(uuid, ['OWNER_CYBORG', 'OWNER_CYBORG']), 0],
        ['a name', () => placement.update({ uuid, name: `${name}-`, parent: root }), 0],
        ['a change of the parent', () => lab.setTraits(root, ['COMPUTE_NODE']), 0],
        ['an allocation', () => lab.allocate(consumer, { [uuid]: { VGPU: 1 } }), 1],
        ['a changed allocation', () => lab.allocate(consumer, { [uuid]: { VGPU: 2 } }), 1],
        ['an allocation that is refused', () => lab.allocate(consumer, { [uuid]: { VGPU: 20 } }), 0],
        ['an allocation that moves away', () => lab.allocate(consumer, { [root]: { VCPU: 1 } }), 0],
        ['an allocation that comes back', () => lab.allocate(consumer, { [uuid]: { VGPU: 2 } }), 1],
        ['an allocation set to nothing', () => lab.allocate(consumer, {}), 1],
        ['a new one', () => lab.allocate(consumer, { [uuid]: { VGPU: 2 } }), 1],
        ['the deletion of an allocation', () => lab.release(consumer), 0],
        ['aggregates', () => aggregate(uuid), 1],
      ]
      const consumer = randomUUID()
      const aggregate = async (of: string) => {
        const body = { aggregates: [randomUUID()], resource_provider_generation: await lab.generation(of) }
        return lab.ask('PUT', `/resource_providers/${of}/aggregates`, body)
      }
      for (const [what, step, growth] of steps) {
        const before = await lab.generation(uuid)
        await step()
        expect([what, (await lab.generation(uuid)) - before]).toEqual([what, growth])
      }
    })
  })

  describe('Placement: traits and classes', () => {
    test('traits are replaced as a whole, in any order', async () => {
      const { uuid } = await lab.ours()
      const custom = customName()
      expect(await placement.traits(uuid)).toEqual(well({ generation: 0, traits: [] }))
      expect(await lab.setTraits(uuid, ['OWNER_CYBORG', custom])).toEqual(placementFailure('unknownName', custom))
      expect(await placement.ensureTrait(custom)).toEqual(well(null))
      expect(await lab.setTraits(uuid, ['OWNER_CYBORG', custom])).toEqual(well(1))
      const answer = await placement.traits(uuid)
      expect(answer.ok && [answer.value.generation, answer.value.traits.toSorted()]).toEqual([
        1,
        [custom, 'OWNER_CYBORG'],
      ])
      expect(await lab.setTraits(uuid, [custom, 'OWNER_CYBORG'])).toEqual(well(1))
      expect(await lab.setTraits(uuid, [])).toEqual(well(2))
    })
    test('a custom name is made once; a standard one has to be there; others are not taken', async () => {
      const name = customName()
      for (const ensure of [placement.ensureTrait, placement.ensureClass]) {
        expect([await ensure(name), await ensure(name)]).toEqual([well(null), well(null)])
        expect(await ensure('NO_SUCH_STANDARD')).toEqual(placementFailure('unknownName', 'NO_SUCH_STANDARD'))
        expect(await ensure('CUSTOM_lower')).toEqual(placementFailure('refused'))
        expect(await ensure(`CUSTOM_${'X'.repeat(249)}`)).toEqual(placementFailure('refused'))
        expect(await ensure('CUSTOM_A/B')).toEqual(placementFailure('unknownName'))
      }
      expect(await placement.ensureTrait('OWNER_CYBORG')).toEqual(well(null))
      for (const standard of ['VGPU', 'PGPU', 'FPGA']) expect(await placement.ensureClass(standard)).toEqual(well(null))
    })
    test('they are deleted unless they are standard or in use', async () => {
      const { uuid } = await lab.ours()
      const name = customName()
      const status = async (path: string) => (await lab.ask('DELETE', path)).status
      await placement.ensureTrait(name)
      await placement.ensureClass(name)
      await lab.setTraits(uuid, [name])
      await lab.setInventories(uuid, { [name]: record(1) })
      expect([await status(`/traits/${name}`), await status(`/resource_classes/${name}`)]).toEqual([409, 409])
      await placement.remove(uuid)
      for (const path of [`/traits/${name}`, `/resource_classes/${name}`])
        expect([await status(path), await status(path)]).toEqual([204, 404])
      expect([await status('/traits/OWNER_CYBORG'), await status('/resource_classes/VGPU')]).toEqual([400, 400])
    })
  })

  describe('Placement: versions, errors and rights', () => {
    test('versions beyond its own: 406 with what it offers; the highest of today has a name', async () => {
      const { status, body } = await lab.ask('GET', '/resource_providers?name=x', undefined, '1.999')
      expect([status, body]).toEqual([
        406,
        { errors: [expect.objectContaining({ status: 406, min_version: '1.0', max_version: '1.39' })] },
      ])
      expect((await lab.ask('GET', '/resource_providers?name=x', undefined, 'latest')).status).toBe(200)
    })
    test('what a version lacks', async () => {
      const statusOf = async (method: 'GET' | 'PUT' | 'DELETE', path: string, version: string) =>
        (await lab.ask(method, path, undefined, version)).status
      const name = customName()
      expect([
        await statusOf('PUT', `/traits/${name}`, '1.5'),
        await statusOf('PUT', `/traits/${name}`, '1.6'),
      ]).toEqual([404, 201])
      expect(await statusOf('PUT', `/resource_classes/${name}`, '1.7')).toBe(201)
      expect(await statusOf('DELETE', `/resource_classes/${name}`, '1.1')).toBe(404)
      expect(await statusOf('DELETE', `/resource_classes/${name}`, '1.2')).toBe(204)
      const uuid = await lab.node()
      const shown = async (version: string) =>
        (await lab.ask('GET', `/resource_providers/${uuid}`, undefined, version)).body
      expect(await shown('1.13')).not.toHaveProperty('root_provider_uuid')
      expect(await shown('1.14')).toHaveProperty('root_provider_uuid', uuid)
      const make = async (version: string) =>
        (await lab.ask('POST', '/resource_providers', { name: uniqueName() }, version)).status
      expect([await make('1.19'), await make('1.20')]).toEqual([201, 200])
    })
    test('an error has a code from 1.23 on, and says first what its status means', async () => {
      const errorIn = async (version: string) =>
        (await lab.ask('GET', `/resource_providers/${randomUUID()}`, undefined, version)).body
      const detail = expect.stringMatching(/^The resource could not be found\.\n\n No resource provider with uuid /)
      const error = { status: 404, title: 'Not Found', detail }
      expect(await errorIn('1.23')).toEqual({
        errors: [expect.objectContaining({ ...error, code: 'placement.undefined_code' })],
      })
      expect(await errorIn('1.22')).toEqual({ errors: [expect.not.objectContaining({ code: expect.anything() })] })
      expect((await lab.ask('GET', '/nowhere')).status).toBe(404)
      expect((await lab.ask('POST', '/traits/CUSTOM_X', {})).status).toBe(405)
    })
    test.each([
      ['plain-service', 'service', true],
      ['admin', 'admin', true],
      ['alpha-manager', 'alpha', false],
      ['alpha-member', 'alpha', false],
    ])('%s of %s', async (username, project, allowed) => {
      const options = { ...sessionOptions(cloud().authUrl), credentials: { ...SERVICE, username, project } }
      const other = placementLab(options)
      try {
        const said = [await other.placement.named('x'), await other.placement.owned()]
        const wanted = allowed ? { ok: true } : placementFailure('denied', 'needs the role admin or service')
        expect(said).toEqual([expect.objectContaining(wanted), expect.objectContaining(wanted)])
      } finally {
        await other.close()
      }
    })
  })
}
