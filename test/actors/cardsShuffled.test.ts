/**
 * Cards of a host change places at random, leave and come back, while requests are bound and given up: no request ever
 * names another card than the one it was bound to (data-model 11.7).
 */
import { describe, expect, test } from 'vitest'
import { check } from '../../src/audit/check.ts'
import type { ReportedDevice } from '../../src/vocabulary/hardware.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { seeded } from '../sim/random.ts'
import { NOVA, TENANT, openPlane, value } from '../support/plane.ts'
import { card, inventoryOf, slot } from './cards.ts'

const BUSES = [2, 3, 4, 5, 6]
const CARDS = ['a', 'b', 'c', 'd']
const STEPS = 25
const SEEDS = 12

/** A card with two functions of its own; `d` has virtual functions, on the next bus. */
const shownAt = (bus: number, name: string, saysMarks: boolean): ReportedDevice => {
  const [part] = card(bus).deployables
  const physfn = `0000:${slot(bus).bus}:00.0`
  const handles = [1, 2].map((fn) =>
    name === 'd'
      ? { type: 'PCI' as const, info: slot(bus + 0x40, fn), physfn }
      : { type: 'PCI' as const, info: slot(bus, fn) },
  )
  return card(bus, {
    deployables: [{ ...part!, name: `h1_${physfn}`, handles }],
    card: { kind: { pci: '8086:0001' }, marks: saysMarks ? { serial_number: name } : {} },
  })
}
const busIn = (info: Readonly<Record<string, string>>) =>
  info['bus'] === undefined ? null : Number.parseInt(info['bus'], 16) % 0x40

type Layout = ReadonlyMap<number, string>
const play = async (seed: number, saysMarks = true): Promise<readonly string[]> => {
  const random = seeded(`cards ${seed}`)
  const world = await openPlane({}, memoryStore())
  const seen = inventoryOf(world)
  const { control } = world
  const groups = [{ 'resources:FPGA': '1' }]
  value(await control.profiles.create(NOVA, { name: 'p', description: null, groups }))
  let layout: Layout = new Map(CARDS.map((name, at) => [BUSES[at]!, name]))
  const bound = new Map<string, string>()
  const quarantined = new Map<string, string>()
  const wrong: string[] = []
  const infoOf = (canonical: string) =>
    JSON.parse(canonical.slice(canonical.indexOf(':') + 1)) as Record<string, string>
  const cardOf = (info: Readonly<Record<string, string>>) => {
    const bus = busIn(info)
    return bus === null ? null : (layout.get(bus) ?? null)
  }

  const shuffle = async (): Promise<void> => {
    const cards = CARDS.filter(() => random.chance(0.85))
    const free = [...BUSES]
    const taken = () => free.splice(random.below(free.length), 1)[0]!
    layout = new Map(cards.map((name) => [taken(), name]))
    const rounds = random.chance(0.2) ? 4 : 1
    for (let n = 0; n < rounds; n++)
      await seen.shows(...[...layout].map(([bus, name]) => shownAt(bus, name, saysMarks)))
  }
  const bind = async (): Promise<void> => {
    const places = await seen.deployables()
    const [arq] = value(await control.arqs.create(TENANT, 'p'))
    const { rp_uuid: rp } = random.pick(places)
    const binding = { arq: arq!.uuid, hostname: 'h1', deviceRpUuid: rp!, instanceUuid: crypto.randomUUID() }
    if (!(await control.arqs.bind(NOVA, [binding])).ok) return
    await world.pump()
    const name = cardOf(value(await control.arqs.get(TENANT, arq!.uuid)).handle_info ?? {})
    if (name === null) wrong.push(`${arq!.uuid} was bound to a card that is not there`)
    else bound.set(arq!.uuid, name)
  }
  const unbind = async (): Promise<void> => {
    if (bound.size === 0) return
    const arq = random.pick([...bound.keys()])
    value(await control.arqs.unbind(NOVA, [arq]))
    await world.pump()
    bound.delete(arq)
  }
  const quarantine = async (): Promise<void> => {
    const handles = (await seen.handles()).filter(
      ({ state, canonical }) => state === 'free' && cardOf(infoOf(canonical)),
    )
    if (handles.length === 0) return
    const { uuid, canonical } = random.pick(handles)
    value(await control.handles.quarantine(NOVA, uuid, { by: 'operator', reason: 'smells' }))
    quarantined.set(uuid, cardOf(infoOf(canonical))!)
  }
  const judge = async (): Promise<void> => {
    const named = new Set<string>()
    for (const [arq, name] of bound) {
      const info = value(await control.arqs.get(TENANT, arq)).handle_info ?? {}
      const is = cardOf(info)
      if (is !== null && is !== name) wrong.push(`${arq} of card ${name} names card ${is}`)
      if (is === null && [...layout.values()].includes(name)) wrong.push(`${arq} does not name its card ${name}`)
      const text = JSON.stringify(info)
      if (named.has(text)) wrong.push(`two requests name ${text}`)
      named.add(text)
    }
    for (const { uuid, canonical, state } of await seen.handles()) {
      const name = quarantined.get(uuid)
      if (name === undefined) continue
      const is = cardOf(infoOf(canonical))
      if (is !== null && is !== name) wrong.push(`the quarantine of a handle of ${name} is on ${is}`)
      if (state !== 'quarantined') wrong.push(`the quarantine of a handle of ${name} is lost`)
    }
  }

  await seen.shows(...[...layout].map(([bus, name]) => shownAt(bus, name, saysMarks)))
  for (let step = 0; step < STEPS; step++) {
    await random.pick([shuffle, shuffle, bind, bind, unbind, quarantine])()
    await judge()
  }
  const audited = check({ journal: await world.store.journal.feed('', 100_000), now: Date.now() })
  await world.plane.stop()
  return [...wrong, ...audited.map(({ invariant, found }) => `${invariant} ${found}`)]
}

describe('cards that change places at random', () => {
  test.each(Array.from({ length: SEEDS }, (_, seed) => seed))('keep what was decided of them, seed %i', async (seed) =>
    expect(await play(seed)).toEqual([]),
  )
  test('are confused where they say nothing of themselves, which is found', async () => {
    expect(await play(1, false)).toContainEqual(expect.stringMatching(/names card/))
  })
})
