/** Trees of deployables that change while a request uses a part of them (GROW-1). */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { ReportedDeployable, ReportedDevice } from '../../src/vocabulary/hardware.ts'
import { catalogueOf } from '../support/images.ts'
import { NOVA, TENANT, openPlane, value } from '../support/plane.ts'
import { card, inventoryOf, part, slot } from './cards.ts'
import { expectRebuilt } from './rebuilt.ts'

let world: Awaited<ReturnType<typeof openPlane>>
let seen: ReturnType<typeof inventoryOf>
beforeEach(async () => {
  world = await openPlane({}, undefined, 'at once')
  seen = inventoryOf(world)
  value(
    await world.control.profiles.create(NOVA, { name: 'f', description: null, groups: [{ 'resources:FPGA': '1' }] }),
  )
})
afterEach(async () => {
  await expectRebuilt(world.store)
  await world.plane.stop()
})

const node = (name: string, parent: string | null, handle?: number, count = 1): ReportedDeployable => ({
  ...part(name, { handles: handle === undefined ? [] : [{ type: 'PCI', info: slot(0x3b, handle) }] }),
  numAccelerators: count,
  ...(parent === null ? {} : { parent, attributes: [] }),
})
const of = (...deployables: readonly ReportedDeployable[]): ReportedDevice => card(0x3b, { deployables })
/** Name and number of accelerators of each deployable that is recorded, and what is above it. */
const recorded = async () => {
  const rows = await seen.deployables()
  const names = new Map(rows.map(({ uuid, name }) => [uuid, name]))
  return rows
    .map(({ name, parent_uuid, presence, num_accelerators }) => [
      name,
      parent_uuid === null ? null : names.get(parent_uuid),
      presence,
      num_accelerators,
    ])
    .toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1))
}
const bound = async () => {
  const [arq] = value(await world.control.arqs.create(TENANT, 'f'))
  const root = (await seen.deployables()).find(({ name }) => name === 'h1_r')!
  const one = { arq: arq!.uuid, hostname: 'h1', deviceRpUuid: root.rp_uuid!, instanceUuid: randomUUID() }
  value(await world.control.arqs.bind(NOVA, [one]))
  return async () => value(await world.control.arqs.removeByInstance(NOVA, one.instanceUuid))
}

it('what attaches hardware that is used elsewhere is left out, with all that stands below it, until it is free', async () => {
  await seen.shows(of(node('h1_r', null, 1)))
  const free = await bound()
  const shown = of(
    node('h1_r', null, undefined, 3),
    node('h1_a', 'h1_r', 1, 2),
    node('h1_a1', 'h1_a', 2),
    node('h1_b', 'h1_r', undefined, 1),
    node('h1_b1', 'h1_b', 3),
  )
  await seen.shows(shown)
  expect(await recorded()).toEqual([
    ['h1_b', 'h1_r', 'present', 1],
    ['h1_b1', 'h1_b', 'present', 1],
    ['h1_r', null, 'present', 1],
  ])
  await free()
  await seen.shows(shown)
  expect(await recorded()).toEqual([
    ['h1_a', 'h1_r', 'present', 2],
    ['h1_a1', 'h1_a', 'present', 1],
    ['h1_b', 'h1_r', 'present', 1],
    ['h1_b1', 'h1_b', 'present', 1],
    ['h1_r', null, 'present', 3],
  ])
})

it('what is shown below another one stays where it is recorded while its tree is used, and moves afterwards', async () => {
  const shown = (parent: string) =>
    of(
      node('h1_r', null, undefined, 1),
      node('h1_a', 'h1_r', undefined, parent === 'h1_a' ? 1 : 0),
      node('h1_b', 'h1_r', undefined, parent === 'h1_b' ? 1 : 0),
      node('h1_leaf', parent, 1),
    )
  await seen.shows(shown('h1_a'))
  const free = await bound()
  await seen.shows(shown('h1_b'))
  const before = [
    ['h1_a', 'h1_r', 'present', 1],
    ['h1_b', 'h1_r', 'present', 0],
    ['h1_leaf', 'h1_a', 'present', 1],
    ['h1_r', null, 'present', 1],
  ]
  expect(await recorded()).toEqual(before)
  await free()
  await seen.shows(shown('h1_b'))
  expect(await recorded()).toEqual([
    ['h1_a', 'h1_r', 'present', 0],
    ['h1_b', 'h1_r', 'present', 1],
    ['h1_leaf', 'h1_b', 'present', 1],
    ['h1_r', null, 'present', 1],
  ])
})

it('what changes of a part that is used is recorded where it stands', async () => {
  const shown = (trait: string) => {
    const attributes = [
      { key: 'rc', value: 'FPGA' },
      { key: 'trait0', value: trait },
    ]
    return of({ ...node('h1_r', null, undefined, 1), attributes }, { ...node('h1_a', 'h1_r', 1), driverName: trait })
  }
  await seen.shows(shown('CUSTOM_A'))
  await bound()
  await seen.shows(shown('CUSTOM_B'))
  const told = (await seen.deployables()).map(({ name, attributes, driver_name }) => [name, attributes, driver_name])
  expect(told.toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1))).toEqual([
    ['h1_a', [], 'CUSTOM_B'],
    ['h1_r', [{ rc: 'FPGA' }, { trait0: 'CUSTOM_B' }], 'some'],
  ])
})

it('what is shown below another root stays where it is while the root above it is being programmed', async () => {
  await world.plane.stop()
  world = await openPlane({ images: catalogueOf(), options: { programWaitMs: 0 } }, undefined, 'when told')
  seen = inventoryOf(world)
  const shown = (parent: string) =>
    of(
      node('h1_r', null, undefined, parent === 'h1_r' ? 1 : 0),
      node('h1_s', null, 2, parent === 'h1_s' ? 2 : 1),
      node('h1_leaf', parent, 1),
    )
  await seen.shows(shown('h1_r'))
  const root = (await seen.deployables()).find(({ name }) => name === 'h1_r')!
  value(await world.control.deployables.program(NOVA, root.uuid, '90000000-0000-4000-8000-00000000000a'))
  await seen.shows(shown('h1_s'))
  expect(await recorded()).toEqual([
    ['h1_leaf', 'h1_r', 'missing', 1],
    ['h1_r', null, 'present', 1],
    ['h1_s', null, 'present', 1],
  ])
})

it('a root is not programmed, neither for an operator nor by a bind, while a part is used that is shown no more', async () => {
  await world.plane.stop()
  world = await openPlane({ images: catalogueOf(), options: { programWaitMs: 0 } }, undefined, 'at once')
  seen = inventoryOf(world)
  const groups = [{ 'resources:FPGA': '1', 'accel:bitstream_id': '90000000-0000-4000-8000-00000000000b' }]
  value(
    await world.control.profiles.create(NOVA, { name: 'f', description: null, groups: [{ 'resources:FPGA': '1' }] }),
  )
  value(await world.control.profiles.create(NOVA, { name: 'other', description: null, groups }))
  await seen.shows(of(node('h1_r', null, undefined, 1), node('h1_leaf', 'h1_r', 1)))
  const free = await bound()
  await seen.shows(of(node('h1_r', null, 0)))
  const root = (await seen.deployables()).find(({ name }) => name === 'h1_r')!
  const refusal = (reason: string) => ({ ok: false, fault: { kind: 'conflict', reason } })
  expect(await world.control.deployables.program(NOVA, root.uuid, '90000000-0000-4000-8000-00000000000a')).toEqual(
    refusal('deployable h1_leaf: a request uses it, so its root cannot be programmed now'),
  )
  const another = async () => {
    const [arq] = value(await world.control.arqs.create(TENANT, 'other'))
    const one = { arq: arq!.uuid, hostname: 'h1', deviceRpUuid: root.rp_uuid!, instanceUuid: randomUUID() }
    return world.control.arqs.bind(NOVA, [one])
  }
  const why = 'another request uses a part of it, so it cannot be programmed now'
  expect(await another()).toEqual(refusal(`deployable h1_r: ${why}`))
  const { hosts } = value(await world.control.profiles.check({ groups, host: 'h1', limit: 1 }))
  const told = hosts[0]!.groups[0]!.devices[0]!.obstacles.map(({ code, reason, stops }) => [code, reason, stops])
  expect([hosts[0]!.bind, told]).toEqual([false, [['in_use', why, ['bind']]]])
  await free()
  value(await another())
})

it('a card whose parts are used is recorded as it is shown after it was written by others: its traits, and what is free of it', async () => {
  const shown = (image: string, trait: string, ...deployables: readonly ReportedDeployable[]) =>
    of(
      ...deployables.map((one) =>
        one.name === 'h1_r'
          ? {
              ...one,
              bitstreamId: image,
              attributes: [
                { key: 'rc', value: 'FPGA' },
                { key: 'trait0', value: trait },
              ],
            }
          : one,
      ),
    )
  const vfs = [node('h1_vf1', 'h1_r', 1), node('h1_vf2', 'h1_r', 2)]
  await seen.shows(shown('old', 'CUSTOM_OLD', node('h1_r', null, undefined, 2), ...vfs))
  const free = await bound()
  const whole = part('h1_r', { handles: [1, 2].map((n) => ({ type: 'PCI' as const, info: slot(0x3b, n) })) })
  const rewritten = shown('new', 'CUSTOM_NEW', { ...whole, numAccelerators: 2 })
  await seen.shows(rewritten)
  expect(await recorded()).toEqual([
    ['h1_r', null, 'present', 1],
    ['h1_vf1', 'h1_r', 'missing', 1],
  ])
  const root = (await seen.deployables()).find(({ name }) => name === 'h1_r')!
  expect(root.attributes).toEqual([{ rc: 'FPGA' }, { trait0: 'CUSTOM_NEW' }])
  // the function that nobody uses is given, the one that is used is not given twice
  const states = value(await world.control.handles.list(NOVA, {}, {})).items.map(({ state }) => state)
  expect(states.filter((state) => state !== 'missing').toSorted()).toEqual(['free', 'held'])
  await bound()
  const [arq] = value(await world.control.arqs.create(TENANT, 'f'))
  const one = { arq: arq!.uuid, hostname: 'h1', deviceRpUuid: root.rp_uuid!, instanceUuid: randomUUID() }
  expect(await world.control.arqs.bind(NOVA, [one])).toMatchObject({
    fault: { reason: 'deployable h1_r: no free attach handle' },
  })
  await free()
  await seen.shows(rewritten)
  expect(await recorded()).toEqual([['h1_r', null, 'present', 2]])
})
