/** What stands between a pass and Placement: the counting of troubles, and the answers to writes that are not made. */
import { expect, test } from 'vitest'
import { noPlacementCounts } from '../../src/actors/placement/counts.ts'
import type { Inventories, Placement, PlacementFault, PlacementResult } from '../../src/actors/placement/port.ts'
import { countedPort } from '../../src/services/placement/counted.ts'
import { unwritten } from '../../src/services/placement/fence.ts'

const CALLS = [
  'named',
  'provider',
  'tree',
  'ownedIn',
  'create',
  'update',
  'remove',
  'inventories',
  'setInventories',
  'traits',
  'setTraits',
  'allocations',
  'ensureTrait',
  'ensureClass',
] as const satisfies readonly (keyof Placement)[]
type Loose = Readonly<Record<string, (given: unknown) => Promise<PlacementResult<unknown>>>>
const failing = (error: PlacementFault['error'], reason = 'no'): PlacementFault => ({ ok: false, error, reason })
const well = (value: unknown) => ({ ok: true, value })

test.each(CALLS)(
  'a trouble with %s is counted by its meaning, an answer is not, and both are passed on',
  async (name) => {
    const counts = noPlacementCounts()
    const given: unknown[] = []
    let answer: PlacementResult<unknown> = failing('stale')
    const call = async (argument: unknown) => (given.push(argument), answer)
    const port = countedPort({ [name]: call } as unknown as Placement, counts) as unknown as Loose
    expect(await port[name]!('x')).toBe(answer)
    answer = { ok: true, value: 7 }
    expect(await port[name]!('y')).toBe(answer)
    expect(given).toEqual(['x', 'y'])
    expect(counts).toEqual({ ...noPlacementCounts(), troubles: { ...noPlacementCounts().troubles, stale: 1 } })
  },
)

const units = { total: 2, reserved: 0, min_unit: 1, max_unit: 2, step_size: 1, allocation_ratio: 1 }
const here = { uuid: 'here', name: 'h1_here', generation: 4, parent: 'root', root: 'root' }
/** One provider, which holds two classes; `more` replaces calls. */
const dry = (more: Partial<Placement> = {}) => {
  const inventories: Inventories = { FPGA: units, VGPU: units }
  const port = {
    named: async (name: string) => well(name === here.name ? here : null),
    provider: async (uuid: string) => (uuid === here.uuid ? well(here) : failing('gone')),
    inventories: async () => well({ generation: 4, inventories }),
    traits: async () => well({ generation: 4, traits: ['OWNER_CYBORG'] }),
    allocations: async () => well({ generation: 4, consumers: { c1: { VGPU: 1 }, c2: { FPGA: 1 } } }),
    ...more,
  }
  return unwritten(port as unknown as Placement)
}

test('a provider that would be made is shown as it would be: in its first generation, with nothing', async () => {
  const port = dry()
  expect(await port.create({ uuid: 'new', name: 'h1_new', parent: 'root' })).toEqual(
    well({ uuid: 'new', name: 'h1_new', generation: 0, parent: 'root', root: 'root' }),
  )
  expect(await port.inventories('new')).toEqual(well({ generation: 0, inventories: {} }))
  expect(await port.traits('new')).toEqual(well({ generation: 0, traits: [] }))
  expect(await port.setInventories({ uuid: 'new', generation: 3, inventories: {} })).toEqual(well(3))
  expect(await port.setTraits({ uuid: 'new', generation: 5, traits: ['CUSTOM_A'] })).toEqual(well(5))
})
test('a provider that exists, and a name of another one, cannot be given away', async () => {
  const port = dry()
  const taken = failing('duplicate', 'the name h1_here belongs to the provider here')
  expect(await port.create({ ...here, parent: 'root' })).toEqual(failing('duplicate', 'the provider here exists'))
  expect(await port.create({ uuid: 'new', name: 'h1_here', parent: 'root' })).toEqual(taken)
  expect(await port.update({ uuid: 'new', name: 'h1_here', parent: 'root' })).toEqual(taken)
  expect(await port.update({ uuid: 'here', name: 'h1_here', parent: 'other' })).toEqual(
    well({ uuid: 'here', name: 'h1_here', generation: 0, parent: 'other', root: 'other' }),
  )
  // what was refused was not made
  expect(await port.traits('new')).toEqual(well({ generation: 4, traits: ['OWNER_CYBORG'] }))
})
test('a class leaves an inventory only while nobody has units of it', async () => {
  const set = (inventories: Inventories, port = dry()) =>
    port.setInventories({ uuid: 'here', generation: 4, inventories })
  expect(await set({ FPGA: units, VGPU: units })).toEqual(well(4))
  expect(await set({ FPGA: units })).toEqual(failing('inUse', 'units of VGPU are allocated'))
  expect(await set({})).toEqual(failing('inUse', 'units of FPGA, VGPU are allocated'))
  const consumers = { c1: { FPGA: 1 } }
  const port = dry({ allocations: async () => ({ ok: true, value: { generation: 4, consumers } }) })
  expect(await set({ FPGA: units }, port)).toEqual(well(4))
})
test('other writes are answered as done, without a question', async () => {
  const port = unwritten({} as Placement)
  expect(await port.remove('here')).toEqual(well(null))
  expect(await port.ensureTrait('CUSTOM_A')).toEqual(well(null))
  expect(await port.ensureClass('CUSTOM_B')).toEqual(well(null))
  expect(await port.setTraits({ uuid: 'here', generation: 9, traits: [] })).toEqual(well(9))
})
test('a question that fails is the answer to the write', async () => {
  const away = failing('unanswered', 'away')
  const port = dry({ named: async () => away, inventories: async () => away })
  const unknown = dry({ provider: async () => away })
  const unread = dry({ allocations: async () => away })
  const it = { uuid: 'new', name: 'h1_new', parent: 'root' }
  expect(await port.create(it)).toEqual(away)
  expect(await unknown.create(it)).toEqual(away)
  expect(await port.update(it)).toEqual(away)
  expect(await port.setInventories({ uuid: 'here', generation: 4, inventories: {} })).toEqual(away)
  expect(await unread.setInventories({ uuid: 'here', generation: 4, inventories: {} })).toEqual(away)
})
