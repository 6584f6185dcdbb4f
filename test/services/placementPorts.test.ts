/** What stands between a pass and Placement: the counting of troubles, and the answers to writes that are not made. */
import { describe, expect, test } from 'vitest'
import { noPlacementCounts } from '../../src/actors/placement/counts.ts'
import type { Placement, PlacementFault, PlacementResult } from '../../src/actors/placement/port.ts'
import { inventoriesOf } from '../../src/actors/placement/wanted.ts'
import { countedPort } from '../../src/services/placement/counted.ts'
import { unwritten } from '../../src/services/placement/fence.ts'
import { CARD, GPU, NODE, id, setUp, wantedCard, wantedGpu } from '../actors/placementScenes.ts'
import { placementInMemory } from '../support/placement.ts'

const failing = (error: PlacementFault['error'], reason = 'no'): PlacementFault => ({ ok: false, error, reason })
const well = (value: unknown) => ({ ok: true, value })

type Call = Exclude<keyof Placement, 'longestCallMs'>
/** What no pass over a host asks. */
const NOT_COUNTED: readonly Call[] = ['owned', 'ofNova', 'candidates']
const calls = Object.entries(placementInMemory().placement).flatMap(([name, call]) =>
  typeof call === 'function' ? [[name as Call, NOT_COUNTED.includes(name as Call) ? 0 : 1] as const] : [],
)
test.each(calls)(
  'of a trouble and an answer of the call %s, %i are counted, and both are passed on',
  async (name, n) => {
    const counts = noPlacementCounts()
    const given: unknown[] = []
    let answer: PlacementResult<never> = failing('stale')
    const call = async (argument?: unknown) => (given.push(argument), answer)
    const port = countedPort({ ...placementInMemory().placement, [name]: call }, counts)
    const asked = port[name] as typeof call
    expect(await asked('x')).toBe(answer)
    answer = { ok: true, value: 7 as never }
    expect(await asked('y')).toBe(answer)
    expect(given).toEqual(['x', 'y'])
    expect(counts).toEqual({ ...noPlacementCounts(), troubles: { ...noPlacementCounts().troubles, stale: n } })
  },
)

const OTHER = id(2)
/** A compute node with a card, of which a server has a unit, and with a GPU. */
const opened = () => {
  const cloud = placementInMemory()
  const at = setUp(cloud)
  at.node()
  at.provider(OTHER, 'h2')
  at.stands(wantedCard)
  at.stands(wantedGpu)
  at.allocates(id(90), CARD, { FPGA: 1 })
  const { placement: port } = cloud
  /** What is answered where nothing is written, and by Placement, which is asked after that. */
  const both = async <Value>(write: (some: Placement) => Promise<PlacementResult<Value>>) => {
    const would = await write(unwritten(port))
    return { would, really: await write(port) }
  }
  const generationOf = async (uuid: string) => {
    const read = await port.provider(uuid)
    return read.ok ? read.value.generation : NaN
  }
  return { port, both, generationOf, units: inventoriesOf(wantedCard), allocates: at.allocates }
}
const NEW = { uuid: id(3), name: 'h1_new', parent: NODE }

describe('a write that is not made is answered as Placement would', () => {
  test('when a provider is made: in its first generation', async () => {
    const { both } = opened()
    const made = well({ ...NEW, root: NODE, generation: 0 })
    expect(await both((port) => port.create(NEW))).toEqual({ would: made, really: made })
  })
  test('when a provider has another name, or another parent', async () => {
    const { both, generationOf } = opened()
    const renamed = { uuid: CARD, name: 'h1_renamed', parent: NODE }
    const moved = { uuid: CARD, name: 'h1_renamed', parent: OTHER }
    for (const it of [renamed, moved]) {
      const generation = await generationOf(CARD)
      expect(generation).toBeGreaterThan(0)
      const expected = well({ ...it, root: it.parent, generation })
      expect(await both((port) => port.update(it))).toEqual({ would: expected, really: expected })
    }
  })
  test('when there is no such provider any more', async () => {
    const { both } = opened()
    const gone = { ok: false, error: 'gone' }
    expect(await both((port) => port.update(NEW))).toMatchObject({ would: gone, really: gone })
  })
  test.each<readonly [what: string, reason: string, write: (port: Placement) => Promise<PlacementResult<unknown>>]>([
    ['a provider that exists is made', `the provider ${CARD} exists`, (port) => port.create({ ...NEW, uuid: CARD })],
    [
      'a name is taken by another one that is made',
      `the name h1_card belongs to the provider ${CARD}`,
      (port) => port.create({ ...NEW, name: 'h1_card' }),
    ],
    [
      'a name is given to another one',
      `the name h1_card belongs to the provider ${CARD}`,
      (port) => port.update({ ...NEW, uuid: GPU, name: 'h1_card' }),
    ],
  ])('when %s', async (_, reason, write) => {
    const { both } = opened()
    const { would, really } = await both(write)
    expect(would).toEqual(failing('duplicate', reason))
    expect(really).toMatchObject({ ok: false, error: 'duplicate' })
  })
  test('when a class leaves an inventory of which units are allocated', async () => {
    const { both, generationOf, units } = opened()
    const generation = await generationOf(CARD)
    const { would, really } = await both((port) => port.setInventories({ uuid: CARD, generation, inventories: {} }))
    expect(would).toEqual(failing('inUse', 'units of FPGA are allocated'))
    expect(really).toMatchObject({ ok: false, error: 'inUse' })
    // beside a class that is not used
    const added = { ...units, PGPU: units['FPGA']! }
    const set = await both((port) => port.setInventories({ uuid: CARD, generation, inventories: added }))
    expect(set).toEqual({ would: well(generation), really: well(generation + 1) })
    const again = { uuid: CARD, generation: generation + 1 }
    expect(
      await both((port) => port.setInventories({ ...again, inventories: { PGPU: units['FPGA']! } })),
    ).toMatchObject({
      would: failing('inUse', 'units of FPGA are allocated'),
      really: { ok: false, error: 'inUse' },
    })
    expect(await both((port) => port.setInventories({ ...again, inventories: units }))).toEqual({
      would: well(generation + 1),
      really: well(generation + 2),
    })
  })
  test('when several classes leave an inventory of which units are allocated', async () => {
    const { port, both, generationOf, units, allocates } = opened()
    const inventories = { ...units, PGPU: units['FPGA']! }
    expect(await port.setInventories({ uuid: CARD, generation: await generationOf(CARD), inventories })).toMatchObject({
      ok: true,
    })
    allocates(id(91), CARD, { PGPU: 1 })
    const none = { uuid: CARD, generation: await generationOf(CARD), inventories: {} }
    expect(await both((some) => some.setInventories(none))).toMatchObject({
      would: failing('inUse', 'units of FPGA, PGPU are allocated'),
      really: { ok: false, error: 'inUse' },
    })
  })
  test('when traits are set, names are made known, and a provider is deleted', async () => {
    const { both, generationOf } = opened()
    for (const write of [
      (port: Placement) => port.ensureTrait('CUSTOM_B'),
      (port: Placement) => port.ensureClass('CUSTOM_C'),
    ])
      expect(await both(write)).toEqual({ would: well(null), really: well(null) })
    const generation = await generationOf(GPU)
    expect(await both((port) => port.setTraits({ uuid: GPU, generation, traits: ['CUSTOM_B'] }))).toEqual({
      would: well(generation),
      really: well(generation + 1),
    })
    expect(await both((port) => port.remove(GPU))).toEqual({ would: well(null), really: well(null) })
  })
})

test('a provider that would be made has nothing, and takes what is set; what was refused was not made', async () => {
  const { port, units } = opened()
  const dry = unwritten(port)
  expect(await dry.create({ ...NEW, name: 'h1_card' })).toMatchObject({ ok: false })
  expect([await dry.inventories(NEW.uuid), await dry.traits(NEW.uuid)]).toMatchObject([
    { ok: false, error: 'gone' },
    { ok: false, error: 'gone' },
  ])
  await dry.create(NEW)
  expect(await dry.inventories(NEW.uuid)).toEqual(well({ generation: 0, inventories: {} }))
  expect(await dry.traits(NEW.uuid)).toEqual(well({ generation: 0, traits: [] }))
  expect(await dry.setInventories({ uuid: NEW.uuid, generation: 3, inventories: {} })).toEqual(well(3))
  expect(await dry.setTraits({ uuid: NEW.uuid, generation: 5, traits: ['CUSTOM_A'] })).toEqual(well(5))
  // others are read as they are
  expect(await dry.inventories(CARD)).toMatchObject(well({ inventories: units }))
  expect(await dry.traits(CARD)).toMatchObject(well({ traits: wantedCard.traits }))
})
test('a write that is not made writes nothing, and only those ask that depend on what there is', async () => {
  const cloud = placementInMemory()
  const dry = unwritten(cloud.placement)
  await dry.create(NEW)
  await dry.update(NEW)
  expect(cloud.asked.filter((line) => !line.startsWith('GET'))).toEqual([])
  cloud.asked.length = 0
  await dry.remove(NEW.uuid)
  await dry.ensureTrait('CUSTOM_A')
  await dry.ensureClass('CUSTOM_B')
  await dry.setTraits({ uuid: CARD, generation: 9, traits: [] })
  expect(cloud.asked).toEqual([])
})
test('a question that fails is the answer to the write', async () => {
  const { port, generationOf } = opened()
  const away = failing('unanswered', 'away')
  const without = (...names: readonly Call[]) =>
    unwritten({ ...port, ...Object.fromEntries(names.map((name) => [name, async () => away])) })
  const renamed = { uuid: CARD, name: 'h1_renamed', parent: NODE }
  expect(await without('provider').create(NEW)).toEqual(away)
  expect(await without('named').create(NEW)).toEqual(away)
  expect(await without('provider').update(renamed)).toEqual(away)
  expect(await without('named').update(renamed)).toEqual(away)
  const emptied = { uuid: CARD, generation: await generationOf(CARD), inventories: {} }
  expect(await without('inventories').setInventories(emptied)).toEqual(away)
  expect(await without('allocations').setInventories(emptied)).toEqual(away)
})
