/** Hosts that go silent at once are recorded together, and keep nobody waiting. */
import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import type { Append, Journal, Reads } from '../../src/actors/runtime/ports.ts'
import { Unreadable } from '../../src/actors/runtime/unreadable.ts'
import type { Row } from '../../src/actors/runtime/views.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'

const HOUR = 3_600_000
const STALE = 15_000
const options = { sweepEveryMs: 250, bindDeadlineMs: STALE + 1000, staleAfterMs: STALE }

let close = async () => {}
afterEach(() => close())

type Ways = {
  beforeAppend: (append: Append) => Promise<void>
  isBusy: (append: Append) => boolean
  unreadable: string
  isListUnreadable: boolean
  listed: (rows: readonly Row<'hosts'>[]) => readonly Row<'hosts'>[]
}
/**
 * `beforeAppend` may hold an append back, `isBusy` keep it from being written; `unreadable` names an entity that cannot
 * be read, and `listed` is what the view of hosts shows instead of its rows.
 */
const opened = async (hosts: number, more: object = {}) => {
  const appends: Append[] = []
  const ways: Ways = {
    beforeAppend: async () => {},
    isBusy: () => false,
    unreadable: '',
    isListUnreadable: false,
    listed: (rows) => rows,
  }
  const [clock, log] = [handClock(), memoryLog()]
  const store = memoryStore({ now: clock.now })
  const journal: Journal = {
    ...store.journal,
    append: async (append) => {
      appends.push(append)
      await ways.beforeAppend(append)
      return ways.isBusy(append) ? 'busy' : store.journal.append(append)
    },
    recall: async (keys) => {
      if (keys.some(({ key }) => key === ways.unreadable)) throw new Unreadable('damaged', { permanent: true })
      return store.journal.recall(keys)
    },
  }
  const page: Reads['page'] = async (query) => {
    const rows = await store.reads.page(query)
    if (query.view !== 'hosts' || rows === null) return rows
    if (ways.isListUnreadable) throw new Unreadable('away')
    return ways.listed(rows as readonly Row<'hosts'>[]) as unknown as typeof rows
  }
  const reads = { ...store.reads, page }
  const world = await openPlane({ clock, log, options: { ...options, ...more }, journal, reads }, store, 'when told')
  close = async () => void (await Promise.all([world.plane.stop(), clock.pass(HOUR)]))
  for (let n = 0; n < hosts; n++) await world.report(`h${n}`, [])
  /** As the view says: a list asks the hosts' actors as well. */
  const liveness = async () => {
    const rows = await store.reads.page({ view: 'hosts', where: {}, sort: 'name', limit: Infinity })
    return Map.groupBy(rows ?? [], ({ liveness: is }) => is)
  }
  const inMemory = () => world.plane.region.residents().filter((key) => key.startsWith('host/'))
  appends.length = 0
  /** What sweeps have said of the liveness of hosts since the last time. */
  const said = () =>
    log.said
      .splice(0)
      .filter(({ message }) => message.includes('liveness'))
      .map(({ message, detail }) => ({ message, ...detail }))
  return { ...world, clock, appends, ways, liveness, inMemory, said }
}
const setsLiveness = ({ rows }: Append) => rows.some(({ key }) => key.startsWith('host/'))

describe('a fleet that goes silent at once', () => {
  it('of 2,001 hosts is recorded in a few appends', async () => {
    const world = await opened(2001)
    await world.clock.pass(STALE + 2000)
    expect((await world.liveness()).get('stale')).toHaveLength(2001)
    expect(world.appends.filter(setsLiveness)).toHaveLength(Math.ceil(2001 / 256))
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

describe('a sweep', () => {
  const NOTE = { by: 'op', reason: 'sold' }
  const now = (host: string, liveness: string) => ({ message: 'host.liveness', host, liveness })
  const [SWEEP, DOWN] = [1000, 60_000]
  /** Liveness is swept in each eighth round. */
  const swept = (hosts: number) => opened(hosts, { sweepEveryMs: SWEEP / 8, downAfterMs: DOWN })
  it('records which hosts have gone silent or come back', async () => {
    const world = await swept(2)
    await world.clock.pass(STALE)
    await world.report('h1', [])
    expect([world.said(), world.appends.filter(setsLiveness)]).toEqual([[], []])
    await world.clock.pass(SWEEP)
    expect(world.said()).toEqual([now('h0', 'stale')])
    const recorded = world.appends.flatMap(({ rows }) => rows).filter(({ key }) => key.startsWith('host/'))
    expect(recorded.map(({ key, cause, events }) => [key, cause, events])).toEqual([
      ['host/h0', { by: 'liveness' }, [{ type: 'LivenessSet', liveness: 'stale', by: 'silence' }]],
    ])
    await world.report('h0', [])
    await world.clock.pass(SWEEP)
    expect(world.said()).toEqual([now('h0', 'up')])
  })
  it('records nothing of hosts that wait for an operator, are removed, or are not in the journal', async () => {
    const world = await swept(3)
    value(await world.control.hosts.remove(NOVA, 'h1', NOTE, true))
    world.appends.length = 0
    world.ways.listed = (rows) => [
      ...rows.map((row) => (row.name === 'h2' ? { ...row, liveness: 'pending' } : row)),
      { ...rows[0]!, name: 'unrecorded' },
    ]
    await world.clock.pass(STALE + SWEEP)
    expect(world.said()).toEqual([now('h0', 'stale')])
    expect(world.appends.filter(setsLiveness).flatMap(({ rows }) => rows.map(({ key }) => key))).toEqual(['host/h0'])
  })
  it('records nothing while hosts cannot be listed, and the next one does', async () => {
    const world = await swept(1)
    world.ways.isListUnreadable = true
    await world.clock.pass(STALE + SWEEP)
    expect(world.said()).toEqual([])
    world.ways.isListUnreadable = false
    await world.clock.pass(SWEEP)
    expect(world.said()).toEqual([now('h0', 'stale')])
  })
  it('records in portions, of half the size after a failed one, and of twice the size after others', async () => {
    const world = await swept(900)
    const sizes = () => world.appends.splice(0).flatMap((one) => (setsLiveness(one) ? [one.rows.length] : []))
    let failures = 2
    world.ways.isBusy = () => failures-- > 0
    await world.clock.pass(STALE + SWEEP)
    expect(sizes()).toEqual([256, 128, 64, 128, 256, 68])
    const refused = { message: 'liveness.refused', hosts: 256, first: 'h0' }
    expect(world.said()[0]).toEqual({ ...refused, fault: expect.objectContaining({ kind: 'unavailable' }) })
    await world.clock.pass(SWEEP)
    expect(sizes()).toEqual([256, 128])
    world.ways.isBusy = ({ rows }) => rows.some(({ key }) => key === 'host/h5')
    await world.clock.pass(DOWN - STALE - SWEEP)
    expect(sizes()).toEqual([256, 256, 128, 256, 4])
    expect((await world.liveness()).get('stale')).toHaveLength(256)
  }, 60_000)
  it('records hosts one by one while nothing can be recorded', async () => {
    const world = await swept(4)
    world.ways.isBusy = () => true
    await world.clock.pass(STALE + 2 * SWEEP)
    expect(world.appends.filter(setsLiveness).map(({ rows }) => rows.length)).toEqual([4, 2, 1, 1])
  })
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
