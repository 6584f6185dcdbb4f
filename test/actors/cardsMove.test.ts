/**
 * A device is its card, not its address: what is decided of a card and who has it goes where the card goes (data-model
 * 11.4).
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest'
import { check } from '../../src/audit/check.ts'
import type { ReportedDevice, ReportedHandle } from '../../src/vocabulary/hardware.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { openStore } from '../../src/persistence/open.ts'
import type { Store } from '../../src/persistence/store.ts'
import { embeddedStoreIn } from '../support/embedded.ts'
import { NOVA, TENANT, openPlane, value } from '../support/plane.ts'
import { card, failed, inventoryOf, shown, slot } from './cards.ts'
import { expectRebuilt } from './rebuilt.ts'

let world: Awaited<ReturnType<typeof openPlane>>
let seen: ReturnType<typeof inventoryOf>
const open = async (store: Store = memoryStore()) => {
  world = await openPlane({}, store)
  seen = inventoryOf(world)
  const groups = [{ 'resources:FPGA': '1' }]
  value(await world.control.profiles.create(NOVA, { name: 'p', description: null, groups }))
}
type Marks = Readonly<Record<string, string>>
const kindOf = (id: string) => ({ pci: `8086:${id}` })
const nameAt = (bus: number) => `h1_0000:${slot(bus).bus}:00.0`
/** A card with two handles, at that bus, named after its address as drivers do. */
const at = (bus: number, marks: Marks | string, more: Partial<ReportedDevice> = {}): ReportedDevice => {
  const [part] = card(bus).deployables
  return card(bus, {
    deployables: [{ ...part!, name: nameAt(bus) }],
    card: { kind: kindOf('0001'), marks: typeof marks === 'string' ? { serial_number: marks } : marks },
    ...more,
  })
}
const ofKind = (bus: number, id: string) => at(bus, {}, { card: { kind: kindOf(id), marks: {} } })

const byUuid = async () => new Map((await seen.devices()).map((one) => [one.uuid, one]))
const deployableOf = async (device: string) => (await seen.deployables()).find((one) => one.device_uuid === device)!
const handlesOf = async (device: string) => {
  const { uuid } = await deployableOf(device)
  return (await seen.handles())
    .filter((one) => one.deployable_uuid === uuid)
    .map((one) => ({ ...one, info: JSON.parse(one.canonical.slice(one.canonical.indexOf(':') + 1)) as object }))
}
const arqAt = async (rp: string) => {
  const [arq] = value(await world.control.arqs.create(TENANT, 'p'))
  const binding = { arq: arq!.uuid, hostname: 'h1', deviceRpUuid: rp, instanceUuid: crypto.randomUUID() }
  return { uuid: arq!.uuid, bound: await world.control.arqs.bind(NOVA, [binding]) }
}
const boundTo = async (device: string) => {
  const { uuid, bound } = await arqAt((await deployableOf(device)).rp_uuid!)
  expect(bound).toMatchObject({ ok: true })
  return uuid
}
const arqNow = async (uuid: string) => value(await world.control.arqs.get(TENANT, uuid))
const infoOf = async (uuid: string) => (await arqNow(uuid)).handle_info
const WORD = { by: 'operator', reason: 'smells' }
/** The devices by the order in which they were recorded. */
const uuids = async () => (await seen.devices()).toSorted((one, other) => one.id - other.id).map(({ uuid }) => uuid)
const expectSound = async () =>
  expect(check({ journal: await world.store.journal.feed('', 10_000), now: Date.now() })).toEqual([])

const stores: readonly (readonly [string, () => Promise<{ readonly store: Store; readonly close: () => void }>])[] = [
  ['in memory', async () => ({ store: memoryStore(), close: () => {} })],
  [
    'on PGlite',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'cards-'))
      await embeddedStoreIn(folder)
      const store = await openStore({ kind: 'pglite', dir: folder })
      return { store, close: () => rmSync(folder, { recursive: true }) }
    },
  ],
]

describe.each(stores)('cards that change places, %s', (_name, opened) => {
  let close: () => void
  beforeEach(async () => {
    const { store, close: closing } = await opened()
    close = closing
    await open(store)
  })
  afterEach(async () => {
    await expectSound()
    await expectRebuilt(world.store)
    await world.plane.stop()
    close()
  })

  it('keep their devices, their requests and what was decided of them when a card is added in front', async () => {
    await seen.shows(at(2, 'a'), at(3, 'b'), at(4, 'c'))
    const [a, b, c] = await uuids()
    const arq = await boundTo(b!)
    value(await world.control.devices.setStatus(NOVA, a!, 'maintaining'))
    const [dirty] = await handlesOf(c!)
    value(await world.control.handles.quarantine(NOVA, dirty!.uuid, WORD))
    const before = await seen.deployables()
    await seen.shows(at(2, 'new'), at(3, 'a'), at(4, 'b'), at(5, 'c'))
    const now = await byUuid()
    expect(now.size).toBe(4)
    expect(now.get(a!)).toMatchObject({ status: 'maintaining', presence: 'present' })
    expect(await arqNow(arq)).toMatchObject({ state: 'Bound', handle_info: slot(4, 1) })
    expect((await handlesOf(b!)).map(({ state, info }) => [state, info])).toEqual([
      ['held', slot(4, 1)],
      ['free', slot(4, 2)],
    ])
    expect((await handlesOf(c!)).find(({ uuid }) => uuid === dirty!.uuid)).toMatchObject({
      state: 'quarantined',
      info: slot(5, 1),
    })
    // what Placement knows of them stays: names and providers are those of the cards
    const after = await seen.deployables()
    for (const one of before)
      expect(after.find(({ uuid }) => uuid === one.uuid)).toMatchObject({ name: one.name, rp_uuid: one.rp_uuid })
    const [added] = after.filter(({ uuid }) => !before.some((one) => one.uuid === uuid))
    expect(added!.name).toMatch(/^h1_0000:02:00\.0_[0-9a-f]{8}$/)
    // orders name the address at which the host finds the card now
    expect(new Set(after.map(({ name }) => name)).size).toBe(4)
  })

  it('may exchange their places, and go back', async () => {
    await seen.shows(at(2, 'a'), at(3, 'b'))
    const [a, b] = await uuids()
    const [ofA, ofB] = [await boundTo(a!), await boundTo(b!)]
    await seen.shows(at(2, 'b'), at(3, 'a'))
    expect([await infoOf(ofA), await infoOf(ofB)]).toEqual([slot(3, 1), slot(2, 1)])
    await expectSound()
    const rows = await seen.rows()
    await seen.shows(at(2, 'b'), at(3, 'a'))
    expect(await seen.rows()).toBe(rows)
    await seen.shows(at(2, 'a'), at(3, 'b'))
    expect([await infoOf(ofA), await infoOf(ofB)]).toEqual([slot(2, 1), slot(3, 1)])
    expect(await uuids()).toEqual([a, b])
  })
})

test('a card whose part goes to another request while its move is being recorded takes that one with it', async () => {
  const store = memoryStore()
  let meanwhile: (() => Promise<unknown>) | null = null
  const page: Store['reads']['page'] = async (query) => {
    const found = await store.reads.page(query)
    const now = query.view === 'deployables' ? meanwhile : null
    if (now) meanwhile = null
    await now?.()
    return found
  }
  await open({ ...store, reads: { ...store.reads, page } })
  await seen.shows(at(2, 'a'))
  const [a] = await uuids()
  const first = await boundTo(a!)
  let arq = ''
  meanwhile = async () => {
    value(await world.control.arqs.unbind(NOVA, [first]))
    arq = await boundTo(a!)
  }
  // its name is looked for after the handles were read
  await seen.shows(at(3, 'a'), at(2, 'new'))
  expect(arq).not.toBe('')
  expect(await infoOf(arq)).toEqual(slot(3, 1))
  expect((await handlesOf(a!)).map(({ state, info }) => [state, info])).toEqual([
    ['held', slot(3, 1)],
    ['free', slot(3, 2)],
  ])
  await expectSound()
  await world.plane.stop()
})

describe('another card at the address of a known one', () => {
  beforeEach(() => open())
  afterEach(async () => {
    await expectSound()
    await expectRebuilt(world.store)
    await world.plane.stop()
  })

  it.each([
    ['by its marks', at(2, 'a'), at(2, 'b')],
    ['by its kind', ofKind(2, '0001'), ofKind(2, '0002')],
    [
      'by what a host of before says',
      card(2, { vendor: '10de' }),
      card(2, { stdBoardInfo: '{"product_id": "0002"}', vendor: '10de' }),
    ],
  ])('%s is a new device, and no request for the first names it', async (_name, first, other) => {
    await seen.shows(first)
    const [known] = await uuids()
    const arq = await boundTo(known!)
    await seen.shows(other)
    const all = await uuids()
    expect(all).toHaveLength(2)
    expect((await byUuid()).get(known!)).toMatchObject({ presence: 'missing' })
    expect(await arqNow(arq)).toMatchObject({ state: 'Bound', handle_info: { away: expect.any(String) } })
    expect(Object.keys((await infoOf(arq))!)).toEqual(['away'])
    const own = await boundTo(all[1]!)
    expect(await infoOf(own)).toEqual(slot(2, 1))
    // the first comes back while the other one is pulled
    await seen.shows(first)
    expect(await infoOf(arq)).toEqual(slot(2, 1))
    expect((await byUuid()).get(known!)).toMatchObject({ presence: 'present' })
    expect(Object.keys((await infoOf(own))!)).toEqual(['away'])
  })

  it('does not get the quarantine of the first, which has it when it returns elsewhere', async () => {
    await seen.shows(at(2, 'a'))
    const [known] = await uuids()
    const [dirty] = await handlesOf(known!)
    value(await world.control.handles.quarantine(NOVA, dirty!.uuid, WORD))
    for (let n = 0; n < 4; n++) await seen.shows(at(2, 'b'))
    const [other] = (await uuids()).filter((uuid) => uuid !== known)
    expect((await handlesOf(other!)).map(({ state }) => state)).toEqual(['free', 'free'])
    await seen.shows(at(2, 'b'), at(7, 'a'))
    expect((await handlesOf(known!)).map(({ state, info }) => [state, info])).toEqual([
      ['quarantined', slot(7, 1)],
      ['free', slot(7, 2)],
    ])
  })

  it('does not make it forgotten when it is retired by the same report', async () => {
    await seen.shows(at(2, 'a'))
    const [known] = await uuids()
    value(await world.control.devices.setStatus(NOVA, known!, 'maintaining'))
    await seen.shows()
    expect(await uuids()).toContain(known)
    await seen.shows(at(2, 'b'))
    expect(await uuids()).not.toContain(known)
    await seen.shows(at(2, 'b'), at(7, 'a'))
    expect((await byUuid()).get(known!)).toMatchObject({ status: 'maintaining', presence: 'present' })
    expect((await handlesOf(known!)).map(({ info }) => info)).toEqual([slot(7, 1), slot(7, 2)])
  })

  it('is told apart also where the first had been retired', async () => {
    await seen.shows(at(2, 'a'))
    const [known] = await uuids()
    value(await world.control.devices.setStatus(NOVA, known!, 'maintaining'))
    for (let n = 0; n < 3; n++) await seen.shows()
    expect(await uuids()).toEqual([])
    await seen.shows(at(2, 'b'))
    expect((await byUuid()).values().next().value).toMatchObject({ status: 'enabled' })
    await seen.shows(at(2, 'b'), at(3, 'a'))
    expect((await byUuid()).get(known!)).toMatchObject({ status: 'maintaining', presence: 'present' })
    // the other one is still known at the address from which the first came back
    const [other] = (await uuids()).filter((uuid) => uuid !== known)
    await seen.shows(at(5, 'b'), at(4, 'a'))
    expect((await handlesOf(other!)).map(({ info }) => info)).toEqual([slot(5, 1), slot(5, 2)])
  })
})

describe('a card that is divided', () => {
  beforeEach(() => open())
  afterEach(async () => {
    await expectSound()
    await world.plane.stop()
  })
  const handles = (bus: number, ...all: readonly ReportedHandle[]): ReportedDevice => {
    const device = at(bus, 'a')
    const one = { ...device.deployables[0]!, numAccelerators: all.length, handles: [...all] }
    return { ...device, deployables: [one] }
  }
  const mdev = (bus: number, n: number): ReportedHandle => ({
    type: 'MDEV',
    info: { ...slot(bus), asked_type: 'nvidia-223', vgpu_mark: `nvidia-223_${n}` },
  })

  it('is not given whole while a part of it is held, also where its division is forgotten', async () => {
    await seen.shows(handles(2, mdev(2, 0), mdev(2, 1)))
    const [known] = await uuids()
    const arq = await boundTo(known!)
    await seen.shows(handles(3, { type: 'PCI', info: slot(3) }))
    expect(await uuids()).toEqual([known])
    expect(await infoOf(arq)).toMatchObject({ ...slot(3), vgpu_mark: 'nvidia-223_0' })
    const { bound } = await arqAt((await deployableOf(known!)).rp_uuid!)
    expect(bound).toMatchObject({ ok: false, fault: { kind: 'conflict' } })
  })

  it('keeps each part when it moves, also parts on another bus than its first function', async () => {
    const vf = (bus: number, fn: number): ReportedHandle => ({
      type: 'PCI',
      info: slot(bus + 1, fn),
      physfn: nameAt(bus).slice(3),
    })
    await seen.shows(handles(2, vf(2, 0), vf(2, 1)))
    const [known] = await uuids()
    const [one, other] = [await boundTo(known!), await boundTo(known!)]
    await seen.shows(handles(9, vf(9, 1), vf(9, 0)))
    expect([await infoOf(one), await infoOf(other)]).toEqual([slot(10, 0), slot(10, 1)])
    expect((await handlesOf(known!)).map(({ state }) => state)).toEqual(['held', 'held'])
  })
})

describe('what cards say of themselves', () => {
  beforeEach(() => open())
  afterEach(async () => {
    await expectSound()
    await world.plane.stop()
  })

  it('identifies none of two that claim the same, also after one of them has left', async () => {
    await seen.shows(at(2, 'same'), at(3, 'same'))
    const [a, b] = await uuids()
    const arq = await boundTo(a!)
    await seen.shows(at(3, 'same'))
    expect(await uuids()).toEqual([a, b])
    expect(await infoOf(arq)).toEqual(slot(2, 1))
    expect((await byUuid()).get(a!)).toMatchObject({ presence: 'missing' })
  })

  it('identifies none of two that claim the same, also while one of them is not described', async () => {
    await seen.shows(at(2, 'same'))
    const [a] = await uuids()
    const arq = await boundTo(a!)
    await seen.shows(at(2, 'same', { stub: true }), at(3, 'same'))
    expect(await uuids()).toEqual([a, expect.any(String)])
    expect(await infoOf(arq)).toEqual(slot(2, 1))
  })

  it('is taken over from the first host that tells it', async () => {
    await seen.shows(card(2, { deployables: at(2, 'a').deployables }))
    const [known] = await uuids()
    await seen.shows(at(2, 'a'))
    await seen.shows(at(5, 'a'))
    expect(await uuids()).toEqual([known])
    expect((await handlesOf(known!))[0]).toMatchObject({ info: slot(5, 1) })
  })

  it('may be less for a time, and is remembered', async () => {
    await seen.shows(at(2, { gpu: 'x', serial_number: 'a' }))
    await seen.shows(at(2, { serial_number: 'a' }))
    await seen.shows(at(2, {}))
    const rows = await seen.rows()
    await seen.shows(at(2, { gpu: 'x' }))
    expect(await seen.rows()).toBe(rows)
    const [known] = await uuids()
    await seen.shows(at(6, { gpu: 'x' }))
    expect(await uuids()).toEqual([known])
  })

  it('does not depend on the name of its model', async () => {
    await seen.shows(at(2, {}, { model: 'Device 0001' }))
    const [known] = await uuids()
    for (let n = 0; n < 3; n++) await seen.shows()
    await seen.shows(at(2, {}, { model: 'A name from a newer list' }))
    expect(await uuids()).toEqual([known])
  })

  it('has parts of names that no other has, also where several cards at one address say little of themselves', async () => {
    const empty = { deployables: [] }
    const { card: _card, ...silent } = at(2, {}, empty)
    const names = new Set<string>()
    for (const now of [
      ofKind(2, '0001'),
      ofKind(2, '0002'),
      { ...ofKind(2, '0003'), ...empty },
      silent,
      ofKind(2, '0002'),
    ]) {
      await seen.shows(now)
      for (const { name } of await seen.deployables()) names.add(name)
    }
    expect(names.size).toBe(3)
  })

  it('moves no device of a driver that fails', async () => {
    await seen.shows(at(2, 'a'))
    const before = await seen.devices()
    await world.report('h1', [failed])
    await world.report('h1', [failed, { ...shown(), driver: 'another' }])
    expect((await seen.devices()).map(({ uuid, presence }) => [uuid, presence])).toEqual(
      before.map(({ uuid }) => [uuid, 'present']),
    )
  })
})
