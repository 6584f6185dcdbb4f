/**
 * Cards of which several functions are one accelerator (C11, I6): the whole card is given to one instance, or nothing
 * of it.
 */
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import { type Fact, described, recorded } from '../audit/cases/scene.ts'
import type { ReportedHandle } from '../../src/vocabulary/hardware.ts'
import { NOVA, openPlane, TENANT, value } from '../support/plane.ts'
import { card, inventoryOf, part, slot } from './cards.ts'
import { deciding } from './decided.ts'
import { expectRebuilt } from './rebuilt.ts'

const IMAGE = '90000000-0000-4000-8000-00000000000a'
const PAIR = { 'trait:CUSTOM_FPGA_XILINX': 'required' }
const attributes = [
  { key: 'rc', value: 'FPGA' },
  { key: 'trait0', value: 'CUSTOM_FPGA_XILINX' },
]
/** A card with so many accelerators, each of two functions. */
const pairs = (bus: number, count = 1, more: Partial<ReturnType<typeof part>> = {}) => {
  const handles = Array.from({ length: 2 * count }, (_, fn): ReportedHandle => {
    return { type: 'PCI', info: slot(bus, fn), set: fn >> 1 }
  })
  return card(bus, {
    deployables: [part(`h1_${bus}`, { numAccelerators: count, attributes, handles, ...more })],
  })
}

describe('a card of two functions', () => {
  let world: Awaited<ReturnType<typeof openPlane>>
  let seen: ReturnType<typeof inventoryOf>
  beforeEach(async () => {
    world = await openPlane()
    seen = inventoryOf(world)
    const profiles = {
      pair: { ...PAIR, 'resources:FPGA': '1' },
      half: { 'resources:FPGA': '1' },
    }
    for (const [name, group] of Object.entries(profiles))
      value(await world.control.profiles.create(NOVA, { name, description: null, groups: [group] }))
  })
  afterEach(async () => {
    await expectRebuilt(world.store)
    await world.plane.stop()
  })

  const requests = async (profile: string) =>
    value(await world.control.arqs.create(TENANT, profile)).map(({ uuid }) => uuid)
  const providerOf = async (name: string) => (await seen.deployables()).find((one) => one.name === name)!.rp_uuid!
  const bind = async (
    arqs: readonly string[],
    names: readonly string[],
    instanceUuid: string = crypto.randomUUID(),
  ) => {
    const providers = await Promise.all(names.map(providerOf))
    const bindings = arqs.map((arq, n) => ({
      arq,
      hostname: 'h1',
      deviceRpUuid: providers[n % providers.length]!,
      instanceUuid,
    }))
    return world.control.arqs.bind(NOVA, bindings)
  }
  /** The numbers of the functions that they have. */
  const functionsOf = async (arqs: readonly string[]) => {
    const handles = await seen.handles()
    const textOf = (arq: string) => handles.find(({ arq_uuid }) => arq_uuid === arq)?.canonical ?? ''
    return arqs.map((arq) => /"function":"(\d)"/.exec(textOf(arq))?.[1])
  }
  const taken = async () => (await seen.handles()).filter(({ state }) => state !== 'free').length
  const AS_A_WHOLE = 'it is given as a whole: its 2 functions need 2 accelerator requests of one instance, not 1'

  it('is given to the two requests of one group', async () => {
    await seen.shows(pairs(1))
    const arqs = await requests('pair')
    expect(arqs).toHaveLength(2)
    expect(await bind(arqs, ['h1_1'])).toMatchObject({ ok: true })
    expect(await functionsOf(arqs)).toEqual(['0', '1'])
  })

  it('is not given in part: one request gets nothing, and the reason says what is missing', async () => {
    await seen.shows(pairs(1))
    expect(await bind(await requests('half'), ['h1_1'])).toMatchObject({
      ok: false,
      fault: { kind: 'conflict', reason: `deployable h1_1: ${AS_A_WHOLE}` },
    })
    expect(await taken()).toBe(0)
  })

  it('is not mixed with another card', async () => {
    await seen.shows(pairs(1), pairs(2))
    expect(await bind(await requests('pair'), ['h1_1', 'h1_2'])).toMatchObject({
      ok: false,
      fault: { reason: `deployable h1_1: ${AS_A_WHOLE}` },
    })
    expect(await taken()).toBe(0)
  })

  it('of which one function is withheld gives nothing', async () => {
    await seen.shows(pairs(1))
    const handle = (await seen.handles())[1]!.uuid
    value(await world.control.handles.quarantine(NOVA, handle, { by: 'operator', reason: 'looked at' }))
    const arqs = await requests('pair')
    expect(await bind(arqs, ['h1_1'])).toMatchObject({
      ok: false,
      fault: { reason: 'deployable h1_1: no free attach handle' },
    })
    value(await world.control.handles.release(NOVA, handle, { by: 'operator', reason: 'fine' }))
    expect(await bind(arqs, ['h1_1'])).toMatchObject({ ok: true })
  })

  it('whose one function is still being released gives nothing until both are free', async () => {
    await seen.shows(pairs(1))
    const [first, second] = [await requests('pair'), await requests('pair')]
    const instance = crypto.randomUUID()
    value(await bind(first, ['h1_1'], instance))
    value(await world.control.arqs.remove(NOVA, [first[0]!]))
    expect(await taken()).toBe(1)
    expect(await bind(second, ['h1_1'])).toMatchObject({ ok: false })
    value(await world.control.arqs.remove(NOVA, [first[1]!]))
    expect(await bind(second, ['h1_1'])).toMatchObject({ ok: true })
  })

  it('with two accelerators gives each instance one, and both to one that asks for both', async () => {
    await seen.shows(pairs(1, 2))
    const [first, second] = [await requests('pair'), await requests('pair')]
    value(await bind(first, ['h1_1']))
    value(await bind(second, ['h1_1']))
    expect(await functionsOf([...first, ...second])).toEqual(['0', '1', '2', '3'])
    value(await world.control.arqs.remove(NOVA, [...first, ...second]))
    const all = [...(await requests('pair')), ...(await requests('pair'))]
    value(await bind(all, ['h1_1']))
    expect(await functionsOf(all)).toEqual(['0', '1', '2', '3'])
  })

  it('keeps its attach handles when their numbers are reported later, as by a host that was upgraded', async () => {
    const [{ handles }] = [pairs(1).deployables[0]!]
    await seen.shows(pairs(1, 1, { numAccelerators: 2, handles: handles.map(({ type, info }) => ({ type, info })) }))
    const before = (await seen.handles()).map(({ uuid }) => uuid)
    await seen.shows(pairs(1))
    expect((await seen.handles()).map(({ uuid }) => uuid)).toEqual(before)
    expect(await bind(await requests('half'), ['h1_1'])).toMatchObject({ ok: false })
    expect(await bind(await requests('pair'), ['h1_1'])).toMatchObject({ ok: true })
  })

  it('of which the host then gives one function only keeps its requests, and afterwards goes to single ones', async () => {
    await seen.shows(pairs(1))
    const arqs = await requests('pair')
    const instance = crypto.randomUUID()
    value(await bind(arqs, ['h1_1'], instance))
    const [, user] = pairs(1).deployables[0]!.handles
    const single = pairs(1, 1, { handles: [{ type: user!.type, info: user!.info }], attributes: [attributes[0]!] })
    await seen.shows(single)
    expect(await functionsOf(arqs)).toEqual(['0', '1'])
    expect(await bind(await requests('half'), ['h1_1'])).toMatchObject({ ok: false })
    value(await world.control.arqs.removeByInstance(NOVA, instance))
    const next = await requests('half')
    expect(await bind(next, ['h1_1'])).toMatchObject({ ok: true })
    expect(await functionsOf(next)).toEqual(['1'])
    expect(await bind(await requests('half'), ['h1_1'])).toMatchObject({ ok: false })
  })

  it('whose requests want the same image is programmed for all of them, also for those of another bind', async () => {
    await world.plane.stop()
    world = await openPlane({}, undefined, 'when told')
    seen = inventoryOf(world)
    const groups = [{ ...PAIR, 'resources:FPGA': '1', 'accel:bitstream_id': IMAGE }]
    value(await world.control.profiles.create(NOVA, { name: 'loaded', description: null, groups }))
    await seen.shows(pairs(1, 2, { hostWork: true }))
    const [first, second] = [await requests('loaded'), await requests('loaded')]
    expect(await bind(first, ['h1_1'])).toMatchObject({ ok: true })
    expect(await bind(second, ['h1_1'])).toMatchObject({ ok: true })
    await world.pump()
    expect(world.orders).toMatchObject(
      [...first, ...second].map((arq) => ({ type: 'PrepareSlot', arq, bitstream: IMAGE })),
    )
  })
})

const { after, decide } = deciding('deployable')
const handlesOf = (sets: readonly (number | undefined)[]) =>
  sets.map((set, n) => ({ uuid: `h${n}`, ...(set === undefined ? {} : { set }) }))

describe('images of requests that are bound together', () => {
  const IMAGES = ['x', 'y'] as const
  const mates = ['r0', 'r1']
  /** What is granted when two requests of one bind want these images, one after the other. */
  const granted = (loaded: string | null, ...wanted: readonly (string | null)[]) => {
    const facts: Fact[] = [recorded({ bitstreamId: loaded, description: described(handlesOf([undefined, undefined])) })]
    return wanted.map((bitstream, n) => {
      const command = { type: 'Grant', arq: mates[n]!, bitstream, deadline: 9, requestId: 'r', mates }
      const events = decide(facts, command)
      if (!Array.isArray(events)) return 'refused'
      facts.push(...(events as readonly Fact[]))
      const { bitstream: load, expects } = (events[0] as { order?: Readonly<Record<string, string>> }).order ?? {}
      return load ?? expects ?? 'as it is'
    })
  }
  test.each([
    [null, ['x', 'x'], ['x', 'x']],
    ['x', ['x', 'x'], ['x', 'x']],
    ['x', [null, null], ['as it is', 'as it is']],
    // one of them would lose what it was granted with
    [null, ['x', 'y'], ['x', 'refused']],
    ['x', ['x', 'y'], ['x', 'refused']],
    ['x', [null, 'y'], ['as it is', 'refused']],
    [null, ['x', null], ['x', 'refused']],
  ])('with %s loaded, %j are given %j', (loaded, wanted, expected) =>
    expect(granted(loaded, ...wanted)).toEqual(expected),
  )
  test('of any images, no two are loaded', () => {
    const image = fc.constantFrom(null, ...IMAGES)
    fc.assert(
      fc.property(image, image, image, (loaded, one, other) => {
        const loads = granted(loaded, one, other).filter((what) => IMAGES.some((each) => each === what))
        expect(new Set(loads).size).toBeLessThanOrEqual(1)
      }),
    )
  })
})

test('whatever is held and given up, two instances never share a unit, and none is given in part', () => {
  const SIZE = 2
  const step = fc.record({
    give: fc.boolean(),
    instance: fc.nat(5),
    units: fc.integer({ min: 1, max: 2 }),
    of: fc.nat(7),
  })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 30 }), (count, steps) => {
      const sets = Array.from({ length: SIZE * count }, (_, n) => Math.floor(n / SIZE))
      let facts: readonly Fact[] = [recorded({ description: described(handlesOf(sets), { hostWork: false }) })]
      const held = (): readonly { readonly arq: string | null; readonly set: number }[] =>
        Object.values(after(...facts).handles)
      let names = 0
      for (const { give, instance, units, of } of steps) {
        const mates = Array.from({ length: units * SIZE }, () => `${instance}.${names++}`)
        const { arq } = held()[of % sets.length]!
        const commands = give
          ? mates.map((one) => ({ type: 'Grant', arq: one, bitstream: null, deadline: 9, requestId: 'r', mates }))
          : [{ type: 'Release', arq: arq ?? 'nobody', deadline: 9 }]
        const before = facts
        for (const command of commands) {
          const events = decide(facts, command)
          facts = Array.isArray(events) ? [...facts, ...(events as readonly Fact[])] : before
          // one of them has none: nothing is recorded of such a bind
          if (!Array.isArray(events)) break
        }
        for (const [, unit] of Map.groupBy(held(), ({ set }) => set))
          expect(new Set(unit.flatMap((one) => one.arq?.split('.')[0] ?? [])).size).toBeLessThanOrEqual(1)
      }
    }),
  )
})
