/** Trees of deployables: recorded, bound, programmed, shown to Placement (data-model 8, 10). */
import { placementInMemory } from '../support/placement.ts'
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { check } from '../../src/audit/check.ts'
import type { ReportedDeployable, ReportedDevice } from '../../src/vocabulary/hardware.ts'
import { catalogueOf } from '../support/images.ts'
import { NOVA, TENANT, openPlane, value } from '../support/plane.ts'
import { card, inventoryOf, part, slot } from './cards.ts'
import { expectRebuilt } from './rebuilt.ts'

const NODE = '70000000-0000-4000-8000-000000000001'
const IMAGE = '90000000-0000-4000-8000-00000000000a'
let world: Awaited<ReturnType<typeof openPlane>>
let seen: ReturnType<typeof inventoryOf>
beforeEach(async () => {
  world = await openPlane({ images: catalogueOf(), options: { programWaitMs: 0 } }, undefined, 'when told')
  seen = inventoryOf(world)
  value(
    await world.control.profiles.create(NOVA, { name: 'f', description: null, groups: [{ 'resources:FPGA': '1' }] }),
  )
})
afterEach(async () => {
  await expectSound()
  await expectRebuilt(world.store)
  await world.plane.stop()
})

const expectSound = async () => {
  const journal = await world.store.journal.feed('', 10_000)
  const deployables = await world.store.reads.page({ view: 'deployables', where: {}, sort: 'uuid', limit: 1000 })
  expect(check({ journal, now: Date.now(), views: { deployables: deployables! } })).toEqual([])
}
const node = (name: string, parent: string | null, more: Partial<ReportedDeployable> = {}): ReportedDeployable => ({
  ...part(name, { programmable: parent === null, handles: [], numAccelerators: 1 }),
  ...(parent === null ? {} : { parent, attributes: [] }),
  ...more,
})
const vf = (name: string, parent: string, fn: number) =>
  node(name, parent, { kind: 'vf', handles: [{ type: 'PCI', info: slot(0x3b, fn) }] })
const flat = card(0x3b, { deployables: [node('h1_r', null, { handles: [{ type: 'PCI', info: slot(0x3b) }] })] })
const of = (...deployables: readonly ReportedDeployable[]): ReportedDevice => ({
  ...flat,
  deployables: [...deployables],
})
/** The example of data-model 10.3; children may be named before their parents. */
const TREE = of(
  vf('h1_r_vf_1', 'h1_r_pf_1', 1),
  vf('h1_r_vf_2', 'h1_r_pf_2', 3),
  node('h1_r_pf_1', 'h1_r', { kind: 'pf' }),
  node('h1_r_pf_2', 'h1_r', { kind: 'pf' }),
  node('h1_r', null, { kind: 'region', numAccelerators: 2, bitstreamId: IMAGE }),
)

const byName = async () => new Map((await seen.deployables()).map((row) => [row.name, row]))
const uuidOf = async (name: string) => (await byName()).get(name)!.uuid
/** What Placement offers after a pass over the host, by another control plane that has one. */
const wanted = async () => {
  const cloud = placementInMemory()
  cloud.ask('POST', '/resource_providers', { uuid: NODE, name: 'h1' })
  const parts = { placement: cloud.placement, options: { sweepEveryMs: 86_400_000 } }
  const { plane } = await openPlane(parts, world.store, 'when told')
  expect(await plane.sweeper.placer!.now('h1')).toMatchObject({ ok: true })
  await plane.stop()
  // oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into freely
  const ask = (path: string): any => cloud.ask('GET', `/resource_providers${path}`)
  const { resource_providers: all } = ask(`?in_tree=${NODE}`) as { readonly resource_providers: readonly Shown[] }
  return all.flatMap(({ uuid, name }) => {
    const { FPGA: units } = ask(`/${uuid}/inventories`).inventories
    return uuid === NODE ? [] : [{ name, FPGA: `${units.total - units.reserved} of ${units.total}` }]
  })
}
type Shown = { readonly uuid: string; readonly name: string }
const bind = async (more: object = {}) => {
  const [arq] = value(await world.control.arqs.create(TENANT, 'f'))
  const { rp_uuid: deviceRpUuid } = (await byName()).get('h1_r')!
  const one = { arq: arq!.uuid, hostname: 'h1', deviceRpUuid: deviceRpUuid!, instanceUuid: randomUUID(), ...more }
  return { arq: arq!.uuid, outcome: await world.control.arqs.bind(NOVA, [one]) }
}
const bound = async () => {
  const { arq, outcome } = await bind()
  value(outcome)
  return value(await world.control.arqs.get(NOVA, arq))
}
const conflict = (reason: RegExp) => ({ ok: false, fault: { kind: 'conflict', reason: expect.stringMatching(reason) } })

describe('a tree', () => {
  it('is recorded as the table of data-model 10.3, and has one provider', async () => {
    await seen.shows(TREE)
    const rows = await byName()
    const [r, pf1, pf2] = ['h1_r', 'h1_r_pf_1', 'h1_r_pf_2'].map((name) => rows.get(name)!)
    const table = [...rows.values()].map(
      ({ name, kind, parent_uuid, root_uuid, parent_id, root_id, rp_uuid, num_accelerators }) => [
        name,
        kind,
        parent_uuid,
        parent_id,
        root_uuid,
        root_id,
        rp_uuid !== null,
        num_accelerators,
      ],
    )
    expect(table.toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1))).toEqual([
      ['h1_r', 'region', null, null, null, null, true, 2],
      ['h1_r_pf_1', 'pf', r!.uuid, r!.id, r!.uuid, r!.id, false, 1],
      ['h1_r_pf_2', 'pf', r!.uuid, r!.id, r!.uuid, r!.id, false, 1],
      ['h1_r_vf_1', 'vf', pf1!.uuid, pf1!.id, r!.uuid, r!.id, false, 1],
      ['h1_r_vf_2', 'vf', pf2!.uuid, pf2!.id, r!.uuid, r!.id, false, 1],
    ])
    expect(await wanted()).toEqual([{ name: 'h1_r', FPGA: '2 of 2' }])
  })
  it('changes nothing when it is shown again, in any order (C1)', async () => {
    await seen.shows(TREE)
    const rows = await seen.rows()
    await seen.shows(TREE)
    await seen.shows(of(...TREE.deployables.toReversed()))
    await seen.shows(of(...TREE.deployables.toReversed()))
    // another order of the list is another report; nothing of a deployable changes
    const written = (await world.store.journal.feed('', 10_000))
      .slice(rows)
      .filter(({ key }) => key.startsWith('deployable/'))
    expect(written).toEqual([])
  })
  it('gives the handles of its leaves by the provider of its root (R6), and no more than there are', async () => {
    await seen.shows(TREE)
    const [one, two] = [await bound(), await bound()]
    expect([one, two].map(({ handle_info }) => (handle_info as { function: string }).function).toSorted()).toEqual([
      '1',
      '3',
    ])
    expect((await bind()).outcome).toMatchObject(conflict(/no free attach handle/))
    // Placement has no allocation for what is bound
    expect(await wanted()).toEqual([{ name: 'h1_r', FPGA: '0 of 2' }])
  })
  it('is found by a bind that knew the card as it was before', async () => {
    await seen.shows(flat)
    const first = await bound()
    value(await world.control.arqs.removeByInstance(NOVA, first.instance_uuid!))
    await seen.shows(TREE)
    await bound()
    await seen.shows(flat)
    await seen.shows(of(vf('h1_r_other', 'h1_r', 5), node('h1_r', null, { numAccelerators: 1 })))
    expect((await bound()).handle_info).toMatchObject({ function: '5' })
  })
  it('keeps the UUIDs of what comes back, and provider and root all the time (C6)', async () => {
    await seen.shows(flat)
    const { rp_uuid, uuid: root } = (await byName()).get('h1_r')!
    await seen.shows(TREE)
    const before = [await uuidOf('h1_r_vf_1'), await uuidOf('h1_r_pf_2')]
    const handles = (await seen.handles()).filter(({ state }) => state === 'free').map(({ uuid }) => uuid)
    await seen.shows(flat)
    expect(
      (await seen.deployables()).map(({ name, num_accelerators, uuid, rp_uuid: own }) => [
        name,
        num_accelerators,
        uuid,
        own,
      ]),
    ).toEqual([['h1_r', 1, root, rp_uuid]])
    await seen.shows(TREE)
    expect([await uuidOf('h1_r_vf_1'), await uuidOf('h1_r_pf_2')]).toEqual(before)
    expect((await seen.handles()).filter(({ state }) => state === 'free').map(({ uuid }) => uuid)).toEqual(handles)
  })
  it('keeps a function that a request has, although it is shown no more', async () => {
    await seen.shows(TREE)
    const held = await bound()
    await seen.shows(flat)
    const { presence, uuid } = [...(await byName()).values()].find((row) => row.uuid === held.deployable_uuid)!
    expect(presence).toBe('missing')
    // what it stands below stays with it, and what is not used has left
    expect([...(await byName()).keys()].toSorted()).toEqual(['h1_r', 'h1_r_pf_1', 'h1_r_vf_1'])
    value(await world.control.arqs.removeByInstance(NOVA, held.instance_uuid!))
    await seen.shows(TREE)
    expect((await byName()).get('h1_r_vf_1')).toMatchObject({ uuid, presence: 'present' })
  })
  it('counts what is recorded of it, when a request still uses what another part of it attaches (I12)', async () => {
    await seen.shows(of(node('h1_r', null, { handles: [{ type: 'PCI', info: slot(0x3b, 1) }] })))
    const { instance_uuid } = await bound()
    const tree = of(node('h1_r', null), node('h1_pf', 'h1_r', { kind: 'pf' }), vf('h1_vf_1', 'h1_pf', 1))
    await seen.shows(tree)
    expect((await byName()).get('h1_pf')).toMatchObject({ num_accelerators: 0 })
    value(await world.control.arqs.removeByInstance(NOVA, instance_uuid!))
    await seen.shows(tree)
    expect((await byName()).get('h1_pf')).toMatchObject({ num_accelerators: 1 })
  })
  it('is not grown from what a request uses: a root stays one until it is free (GROW-1)', async () => {
    const lone = node('h1_r_vf_1', null, { handles: [{ type: 'PCI', info: slot(0x3b, 1) }] })
    const region = node('h1_r', null, { handles: [{ type: 'PCI', info: slot(0x3b, 3) }] })
    await seen.shows(of(region, lone))
    const { rp_uuid } = (await byName()).get('h1_r_vf_1')!
    const { outcome } = await bind({ deviceRpUuid: rp_uuid })
    value(outcome)
    const below = of({ ...region, numAccelerators: 2 }, vf('h1_r_vf_1', 'h1_r', 1))
    await seen.shows(below)
    expect((await byName()).get('h1_r_vf_1')).toMatchObject({ parent_uuid: null, rp_uuid })
    expect((await byName()).get('h1_r')).toMatchObject({ num_accelerators: 1 })
    const [{ instance_uuid } = { instance_uuid: null }] = value(await world.control.arqs.list(NOVA, {}, {})).items
    value(await world.control.arqs.removeByInstance(NOVA, instance_uuid!))
    await seen.shows(below)
    expect((await byName()).get('h1_r_vf_1')).toMatchObject({ parent_uuid: await uuidOf('h1_r'), rp_uuid: null })
    expect(await wanted()).toEqual([{ name: 'h1_r', FPGA: '2 of 2' }])
  })
})

describe('a device is refused', () => {
  it.each<[string, RegExp, readonly ReportedDeployable[]]>([
    [
      'whose deployable stands below none of its own',
      /stands below elsewhere, which is not a deployable/,
      [node('h1_r', null), vf('a', 'elsewhere', 1)],
    ],
    ['whose tree has no top', /leads to no root/, [node('h1_r', null), vf('a', 'b', 1), vf('b', 'a', 2)]],
    [
      'that counts its tree wrongly',
      /says 5 accelerators, and its tree has handles for 1/,
      [node('h1_r', null, { numAccelerators: 5 }), vf('a', 'h1_r', 1)],
    ],
    [
      'that hands a name of Placement to an attribute',
      /trait9 must not describe/,
      [
        node('h1_r', null, {
          attributes: [
            { key: 'rc', value: 'FPGA' },
            { key: 'trait9', value: 'X', parent: 0 },
          ],
        }),
      ],
    ],
    [
      'whose attribute describes a later one',
      /does not stand before it/,
      [
        node('h1_r', null, {
          attributes: [
            { key: 'rc', value: 'FPGA' },
            { key: 'a', value: 'X', parent: 1 },
          ],
        }),
      ],
    ],
    [
      'with a key twice at one place',
      /two attributes a \/ b/,
      [
        node('h1_r', null, {
          attributes: [
            { key: 'rc', value: 'FPGA' },
            { key: 'a', value: '1' },
            { key: 'b', value: '2', parent: 1 },
            { key: 'b', value: '3', parent: 1 },
          ],
        }),
      ],
    ],
    [
      'with attributes that are nested too deep',
      /nested more than 8 deep/,
      [
        node('h1_r', null, {
          attributes: [
            { key: 'rc', value: 'FPGA' },
            ...Array.from({ length: 9 }, (_, at) => ({ key: `a${at}`, value: '', ...(at > 0 ? { parent: at } : {}) })),
          ],
        }),
      ],
    ],
  ])('%s', async (_, reason, deployables) => {
    const refused: object[] = []
    await world.plane.stop()
    const log = { ...silentLog, warn: (detail: object) => void refused.push(detail) }
    world = await openPlane({ log })
    seen = inventoryOf(world)
    await seen.shows(card(1), of(...deployables))
    expect((await seen.deployables()).map(({ name }) => name)).toEqual(['h1_1'])
    expect(refused).toContainEqual(expect.objectContaining({ reason: expect.stringMatching(reason) }))
  })
})
it('compares the number of accelerators only where others stand below', async () => {
  const leaf = node('h1_r_leaf', 'h1_r', { kind: 'vf', numAccelerators: 3 })
  const alone = node('h1_alone', null, { numAccelerators: 2, handles: [{ type: 'PCI', info: slot(0x3b, 2) }] })
  await seen.shows(of(node('h1_r', null), vf('h1_r_vf_1', 'h1_r', 1), leaf, alone))
  expect([...(await byName()).keys()].toSorted()).toEqual(['h1_alone', 'h1_r', 'h1_r_leaf', 'h1_r_vf_1'])
})
const silentLog = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

describe('programming the root', () => {
  const program = () => uuidOf('h1_r').then((uuid) => world.control.deployables.program(NOVA, uuid, IMAGE))
  const last = async () => {
    await world.pump()
    return world.orders.at(-1)!
  }
  it('is refused while a function is held, and nothing is programmed (C7)', async () => {
    await seen.shows(TREE)
    const held = await bound()
    expect(await program()).toMatchObject(conflict(/r_vf_\d: a request uses it/))
    await world.pump()
    expect(world.orders.filter(({ type }) => type === 'Program')).toEqual([])
    expect((await byName()).get('h1_r_vf_2')).toMatchObject({ presence: 'present' })
    value(await world.control.arqs.removeByInstance(NOVA, held.instance_uuid!))
    value(await program())
  })
  it('takes its functions away until the host shows them again, the same ones as before', async () => {
    await seen.shows(TREE)
    const before = await uuidOf('h1_r_vf_1')
    await bound().then(({ instance_uuid }) => world.control.arqs.removeByInstance(NOVA, instance_uuid!))
    value(await program())
    expect(await wanted()).toEqual([{ name: 'h1_r', FPGA: '0 of 2' }])
    // a report that was made before the programming
    await seen.shows(TREE)
    expect((await byName()).get('h1_r_vf_1')).toMatchObject({ presence: 'missing' })
    expect((await bind()).outcome).toMatchObject({ ok: false, fault: { kind: 'conflict' } })
    await world.answer(await last())
    await seen.shows(TREE)
    expect((await byName()).get('h1_r_vf_1')).toMatchObject({ presence: 'present', uuid: before })
    await bound()
  })
  it('is refused while an operator withholds a handle below it', async () => {
    await seen.shows(TREE)
    const { uuid } = (await seen.handles()).find(({ state }) => state === 'free')!
    value(await world.control.handles.quarantine(NOVA, uuid, { by: 'o', reason: 'broken' }))
    expect(await program()).toMatchObject(conflict(/r_vf_\d: a handle of it is quarantined/))
    value(await world.control.handles.release(NOVA, uuid, { by: 'o', reason: 'mended' }))
    value(await program())
  })
  it('is asked of the root only', async () => {
    await seen.shows(TREE)
    const uuid = await uuidOf('h1_r_vf_1')
    expect(await world.control.deployables.program(NOVA, uuid, IMAGE)).toMatchObject(conflict(/cannot be programmed/))
  })
  it('is not done by a bind once the card is divided, unless it holds the image already', async () => {
    await seen.shows(TREE)
    for (const [name, image] of [
      ['same', IMAGE],
      ['other', '90000000-0000-4000-8000-00000000000b'],
    ] as const) {
      const groups = [{ 'resources:FPGA': '1', 'accel:bitstream_id': image }]
      value(await world.control.profiles.create(NOVA, { name, description: null, groups }))
    }
    const with_ = async (profile: string) => {
      const [arq] = value(await world.control.arqs.create(TENANT, profile))
      const { rp_uuid } = (await byName()).get('h1_r')!
      return world.control.arqs.bind(NOVA, [
        { arq: arq!.uuid, hostname: 'h1', deviceRpUuid: rp_uuid!, instanceUuid: randomUUID() },
      ])
    }
    expect(await with_('other')).toMatchObject(conflict(/an operator has to program it/))
    value(await with_('same'))
  })
})

describe('an attribute that describes another one', () => {
  const create = (uuid: string, key: string, parent?: string) =>
    world.control.attributes.create(NOVA, uuid, key, 'v', parent)
  const nested = of(
    node('h1_r', null, {
      handles: [{ type: 'PCI', info: slot(0x3b) }],
      attributes: [
        { key: 'rc', value: 'FPGA' },
        { key: 'function', value: 'nic-40' },
        { key: 'kpi', value: '40G', parent: 1 },
      ],
    }),
  )
  it('is shown with its parent, and keeps its UUID with its place', async () => {
    await seen.shows(nested)
    const rows = async () => value(await world.control.attributes.list({}, {})).items
    const [, fn, kpi] = await rows()
    expect(kpi).toMatchObject({ key: 'kpi', parent_uuid: fn!.uuid })
    const more = nested.deployables[0]!.attributes.toSpliced(1, 0, { key: 'kpi', value: 'none' })
    const moved = more.map((one) => (one.parent === undefined ? one : { ...one, parent: 2 }))
    await seen.shows(of({ ...nested.deployables[0]!, attributes: moved }))
    expect((await rows()).find(({ value: said }) => said === '40G')).toMatchObject({
      uuid: kpi!.uuid,
      parent_uuid: fn!.uuid,
    })
  })
  it('is added by an operator below one of the same deployable only (C15), and leaves with it', async () => {
    await seen.shows(nested, card(1))
    const [r, other] = [await uuidOf('h1_r'), await uuidOf('h1_1')]
    const top = value(await create(r, 'rack'))
    const below = value(await create(r, 'row', top.uuid))
    expect(below).toMatchObject({ parent_uuid: top.uuid })
    expect(await create(other, 'row', top.uuid)).toMatchObject({
      ok: false,
      fault: { kind: 'invalid', field: 'parent_uuid' },
    })
    expect(await create(r, 'trait5', top.uuid)).toMatchObject({ ok: false, fault: { kind: 'invalid', field: 'key' } })
    expect(await create(r, 'row', top.uuid)).toMatchObject({ ok: false, fault: { kind: 'exists' } })
    value(await create(r, 'row'))
    value(await world.control.attributes.remove(NOVA, top.uuid))
    const left = value(await world.control.attributes.list({}, {})).items.map(({ uuid }) => uuid)
    expect(left).not.toContain(below.uuid)
  })
})
