/** Hosts that go silent at once are recorded together, and keep nobody waiting. */
import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import type { Append, Journal } from '../../src/actors/runtime/ports.ts'
import { Unreadable } from '../../src/actors/runtime/unreadable.ts'
import { PORTION_MAX } from '../../src/services/hosts/liveness.ts'
import { memoryStore } from '../../src/persistence/memory/memory.ts'
import { handClock, quiet } from '../support/lab.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'

const HOUR = 3_600_000
const STALE = 15_000
const options = { sweepEveryMs: 250, bindDeadlineMs: STALE + 1000, staleAfterMs: STALE }

let close = async () => {}
afterEach(() => close())

type Ways = { beforeAppend: (append: Append) => Promise<void>; unreadable: string }
/** `beforeAppend` may hold an append back, `unreadable` names an entity that cannot be read. */
const opened = async (hosts: number) => {
  const appends: Append[] = []
  const ways: Ways = { beforeAppend: async () => {}, unreadable: '' }
  const clock = handClock()
  const store = memoryStore({ now: clock.now })
  const journal: Journal = {
    ...store.journal,
    append: async (append) => {
      appends.push(append)
      await ways.beforeAppend(append)
      return store.journal.append(append)
    },
    recall: async (keys) => {
      if (keys.some(({ key }) => key === ways.unreadable)) throw new Unreadable('damaged', { permanent: true })
      return store.journal.recall(keys)
    },
  }
  const world = await openPlane({ clock, options, journal }, store, 'when told')
  close = async () => void (await Promise.all([world.plane.stop(), clock.pass(HOUR)]))
  for (let n = 0; n < hosts; n++) await world.report(`h${n}`, [])
  /** As the view says: a list asks the hosts' actors as well. */
  const liveness = async () => {
    const rows = await store.reads.page({ view: 'hosts', where: {}, sort: 'name', limit: Infinity })
    return Map.groupBy(rows ?? [], ({ liveness: is }) => is)
  }
  const inMemory = () => world.plane.region.residents().filter((key) => key.startsWith('host/'))
  appends.length = 0
  return { ...world, clock, appends, ways, liveness, inMemory }
}
const setsLiveness = ({ rows }: Append) => rows.some(({ key }) => key.startsWith('host/'))

describe('a fleet that goes silent at once', () => {
  it('of 2,001 hosts is recorded in a few appends', async () => {
    const world = await opened(2001)
    await world.clock.pass(STALE + 2000)
    expect((await world.liveness()).get('stale')).toHaveLength(2001)
    expect(world.appends.filter(setsLiveness)).toHaveLength(Math.ceil(2001 / PORTION_MAX))
  }, 60_000)
  it('keeps no deadline waiting, not even while its record is on its way', async () => {
    const world = await opened(300)
    await world.shows('dead', { seed: 2, devices: [{ kind: 'fpga', handles: 4, hostWork: true }] })
    value(
      await world.control.profiles.create(NOVA, { name: 'f', description: null, groups: [{ 'resources:FPGA': '1' }] }),
    )
    const [arq] = value(await world.control.arqs.create(NOVA, 'f'))
    const [deployable] = value(await world.control.deployables.list({}, {})).items
    const instanceUuid = randomUUID()
    const binding = { arq: arq!.uuid, hostname: 'dead', deviceRpUuid: deployable!.rp_uuid!, instanceUuid }
    value(await world.control.arqs.bind(NOVA, [binding]))
    let held = 0
    world.ways.beforeAppend = async (append) => {
      if (!setsLiveness(append)) return
      held++
      await new Promise<void>((resolve) => void world.clock.after(5000, resolve))
    }
    await world.clock.pass(options.bindDeadlineMs + 2 * options.sweepEveryMs)
    expect(held).toBeGreaterThan(0)
    expect(value(await world.control.arqs.get(NOVA, arq!.uuid)).state).toBe('BindFailed')
    expect((await world.liveness()).has('stale')).toBe(false)
  }, 60_000)
  it('is recorded but for the one host whose journal cannot be read (LIVENESS-3, L7)', async () => {
    const world = await opened(300)
    for (const key of world.inMemory()) world.plane.region.kill(key)
    world.ways.unreadable = 'host/h7'
    await world.clock.pass(STALE + 60_000)
    const found = await world.liveness()
    expect(found.get('stale')).toHaveLength(299)
    expect(found.get('up')).toMatchObject([{ name: 'h7' }])
    await quiet()
  }, 60_000)
})

describe('a record of a host that lies ahead of the clock of the store', () => {
  const livenessAfter = async (ms: number) => {
    const clock = handClock()
    const store = memoryStore({ now: clock.now })
    let mark = 'first'
    const sharing = { ...store.sharing, silences: async () => new Map([['h1', { ms, mark }]]) }
    const world = await openPlane({ clock, options, sharing }, store, 'when told')
    close = async () => void (await Promise.all([world.plane.stop(), clock.pass(HOUR)]))
    await world.report('h1', [])
    await clock.pass(STALE - 4000)
    mark = 'second'
    await clock.pass(8000)
    const rows = await store.reads.page({ view: 'hosts', where: {}, sort: 'name', limit: 1 })
    return rows![0]!.liveness
  }
  it.each([
    [0, 'up'],
    [-1000, 'up'],
    [-1001, 'stale'],
  ])('counts as a word of that host up to a second, not above: %i ms', async (ms, liveness) => {
    expect(await livenessAfter(ms)).toBe(liveness)
  })
})
