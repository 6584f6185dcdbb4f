/** Why no host fits: each obstacle by its code and its sentence, as the API answers it for a draft of a profile. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ReportedDevice } from '../../src/vocabulary/hardware.ts'
import { createTestApp } from '../http/app.ts'
import { NOVA, TENANT, openPlane, value } from '../support/plane.ts'
import { card, failed, part, shown, slot } from './cards.ts'

type Plane = Awaited<ReturnType<typeof openPlane>>
type Group = Readonly<Record<string, string>>
type Obstacle = { readonly code: string; readonly reason: string; readonly change: string; readonly stops: string[] }
type Judged = {
  readonly fits: boolean
  readonly groups: readonly { readonly devices: number; readonly removed: object }[]
  readonly hosts: readonly {
    readonly fits: boolean
    readonly obstacles: readonly Obstacle[]
    readonly groups: readonly { readonly devices: readonly { readonly obstacles: readonly Obstacle[] }[] }[]
  }[]
}
const NOTE = { by: 'op', reason: 'smells' }
const ONE: Group = { 'resources:FPGA': '1' }
const inSet = (bus: number): ReportedDevice =>
  card(bus, {
    deployables: [
      part(`h1_${bus}`, { handles: [1, 2].map((fn) => ({ type: 'PCI' as const, info: slot(bus, fn), set: 0 })) }),
    ],
  })

let world: Plane
beforeEach(async () => (world = await openPlane()))
afterEach(async () => {
  await world.plane.stop()
  await world.store.close()
})

const explained = async (...groups: readonly Group[]): Promise<Judged> => {
  const answered = await createTestApp(world.control).request('http://127.0.0.1/v2/profile_checks', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify([{ name: 'draft', groups }]),
  })
  expect(answered.status).toBe(200)
  return (await answered.json()) as Judged
}
const told = ({ hosts }: Judged) =>
  hosts.flatMap(({ obstacles, groups }) =>
    [...obstacles, ...groups.flatMap(({ devices }) => devices.flatMap((one) => one.obstacles))].map(
      ({ code, reason, stops }) => [code, reason, stops.join(' ')],
    ),
  )

const device = async () => value(await world.control.devices.list({}, {})).items[0]!
const handles = async () => value(await world.control.handles.list(NOVA, {}, {})).items
const bound = async (count: number) => {
  const groups = [{ 'resources:FPGA': String(count) }]
  value(await world.control.profiles.create(NOVA, { name: 'p', description: null, groups }))
  const [deployable] = value(await world.control.deployables.list({}, {})).items
  const arqs = value(await world.control.arqs.create(TENANT, 'p'))
  const at = { hostname: 'h1', deviceRpUuid: deployable!.rp_uuid!, instanceUuid: crypto.randomUUID() }
  value(
    await world.control.arqs.bind(
      NOVA,
      arqs.map(({ uuid }) => ({ arq: uuid, ...at })),
    ),
  )
}
const CAN = 'attach handles that are asked for can be granted; it has:'

type Scene = () => Promise<unknown>
const nothing: Scene = async () => {}
describe('one card', () => {
  test.each<[string, Scene, Group, readonly (readonly string[])[]]>([
    ['that fits', nothing, ONE, []],
    [
      'of another class',
      nothing,
      { 'resources:PGPU': '1' },
      [['resource_class', 'it offers FPGA, the request asks for PGPU', 'bind']],
    ],
    [
      'with one trait too few and one too many',
      nothing,
      { ...ONE, 'trait:CUSTOM_A': 'forbidden', 'trait:CUSTOM_B': 'required' },
      [
        ['trait_missing', 'it lacks CUSTOM_B', 'bind'],
        ['trait_forbidden', 'it has the forbidden CUSTOM_A', 'bind'],
      ],
    ],
    [
      'of too few handles',
      nothing,
      { 'resources:FPGA': '3' },
      [['no_free_handle', `2 of the 3 ${CAN} 2 free`, 'bind']],
    ],
    [
      'that a server has in part',
      () => bound(1),
      { 'resources:FPGA': '2' },
      [['no_free_handle', `1 of the 2 ${CAN} 1 free, 1 held`, 'bind']],
    ],
    [
      'with a handle in quarantine',
      async () => value(await world.control.handles.quarantine(NOVA, (await handles())[0]!.uuid, NOTE)),
      { 'resources:FPGA': '2' },
      [['no_free_handle', `1 of the 2 ${CAN} 1 free, 1 quarantined`, 'bind']],
    ],
    [
      'that is disabled',
      async () => value(await world.control.devices.setStatus(NOVA, (await device()).uuid, 'maintaining')),
      ONE,
      [['device_disabled', 'its device is in maintenance', 'bind']],
    ],
    [
      'that its host shows no more, while a server has it',
      async () => {
        await bound(1)
        await world.report('h1', [shown()])
      },
      ONE,
      [['device_missing', 'its device is missing', 'bind']],
    ],
    [
      'that is given as a whole',
      () => world.report('h1', [shown(inSet(2))]),
      ONE,
      [
        [
          'whole_unit',
          'it is given as a whole: its 2 functions need 2 accelerator requests of one instance, not 1',
          'bind',
        ],
      ],
    ],
    ['of a driver that fails for a time', () => world.report('h1', [failed]), ONE, []],
  ])('%s', async (_name, scene, group, obstacles) => {
    await world.report('h1', [shown(card(2))])
    await scene()
    const judged = await explained(group)
    expect(told(judged)).toEqual(obstacles)
    expect(judged.fits).toBe(obstacles.length === 0)
  })
})

test('a device of a host that was retired counts as missing, also while a server has it', async () => {
  await world.report('h1', [shown(card(2))])
  await bound(1)
  value(await world.control.hosts.retire(NOVA, 'h1', NOTE))
  expect(told(await explained(ONE))).toEqual([['device_missing', 'its device is missing', 'bind']])
})

test('each group fits alone, and both together do not', async () => {
  await world.report('h1', [shown(card(2))])
  const both = await explained({ 'resources:FPGA': '2' }, ONE)
  expect([both.fits, told(both).map(([code]) => code)]).toEqual([false, ['not_together']])
  expect(both.groups.map(({ devices, removed }) => [devices, removed])).toEqual([
    [1, {}],
    [1, {}],
  ])
  await world.report('h1', [shown(card(2), card(3))])
  expect((await explained({ 'resources:FPGA': '2' }, ONE)).fits).toBe(true)
})

test('a part of a divided card counts for the card, whose other parts are what is left', async () => {
  const root = part('h1_2', { numAccelerators: 2, handles: [] })
  const below = [1, 2].map((fn) =>
    part(`h1_2_${fn}`, {
      numAccelerators: 1,
      parent: 'h1_2',
      handles: [{ type: 'PCI', info: slot(2, fn) }],
      attributes: [{ key: 'rc', value: 'FPGA' }],
    }),
  )
  await world.report('h1', [shown(card(2, { deployables: [root, ...below] }))])
  expect((await explained({ 'resources:FPGA': '2' })).fits).toBe(true)
  await bound(1)
  expect(told(await explained({ 'resources:FPGA': '2' }))).toEqual([
    ['no_free_handle', `1 of the 2 ${CAN} 1 free, 1 held`, 'bind'],
  ])
})

test('each host is judged, and where none has a device that is said', async () => {
  await world.report('h1', [shown()])
  expect(told(await explained(ONE))).toMatchObject([['no_device', expect.any(String), expect.any(String)]])
})
