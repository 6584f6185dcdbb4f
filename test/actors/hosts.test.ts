import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { handClock } from '../support/lab.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { hostRow, one } from '../persistence/samples.ts'
import { GPU, openCloud } from './cloud.ts'
import { expectRebuilt } from './rebuilt.ts'

const HOUR = 3_600_000
const options = { sweepEveryMs: 24 * HOUR }
const beat = (host: string) =>
  ({
    type: 'Heartbeat',
    host,
    bootId: randomUUID(),
    observedAt: 1,
    status: { drivers: {}, ordersInHand: 0, resultsWaiting: 0 },
  }) as const

const opened = async () => {
  const clock = handClock()
  const world = await openPlane({ clock, options })
  await world.shows('h1', GPU)
  /** Silent hosts are looked at every few rounds. */
  const sweep = async () => {
    for (let n = 0; n < 8; n++) await world.plane.sweeper.round()
  }
  const host = async () => value(await world.control.hosts.list({})).items[0]!
  return { ...world, clock, sweep, host, stop: () => Promise.all([world.plane.stop(), clock.pass(HOUR)]) }
}

describe('a host', () => {
  it('that is silent is stale, then down, and up as soon as it is heard of (Q10)', async () => {
    const world = await opened()
    await world.sweep()
    expect((await world.host()).liveness).toBe('up')
    await world.clock.pass(15_000)
    await world.sweep()
    expect((await world.host()).liveness).toBe('stale')
    await world.clock.pass(1_800_000)
    await world.sweep()
    expect((await world.host()).liveness).toBe('down')
    await world.plane.reports.take(beat('h1'), 'b1')
    await world.sweep()
    expect(await world.host()).toMatchObject({ liveness: 'up', last_seen_at: world.clock.now() })
    await world.stop()
  })
  it('that an operator took out of service is listed and counted as retired, also when it is switched off', async () => {
    const world = await opened()
    await world.shows('h2', GPU)
    const listed = async (as?: Parameters<typeof world.control.hosts.list>[1]) =>
      value(await world.control.hosts.list({}, as)).items.map(({ name, liveness }) => [name, liveness])
    const counted = async () => {
      await world.clock.pass(60_000)
      return value(await world.control.overview()).hosts
    }
    expect(await counted()).toEqual({ up: 2 })
    value(await world.control.hosts.retire(NOVA, 'h2', { by: 'op', reason: 'sold' }))
    expect(await counted()).toEqual({ up: 1, retired: 1 })
    expect([await listed('up'), await listed('retired')]).toEqual([[['h1', 'up']], [['h2', 'up']]])
    await world.clock.pass(1_900_000)
    await world.sweep()
    expect(await listed()).toEqual([
      ['h1', 'down'],
      ['h2', 'down'],
    ])
    expect(await counted()).toEqual({ down: 1, retired: 1 })
    expect([await listed('down'), await listed('retired')]).toEqual([[['h1', 'down']], [['h2', 'down']]])
    value(await world.control.hosts.restore(NOVA, 'h2', { by: 'op', reason: 'kept' }))
    expect(await counted()).toEqual({ down: 2 })
    value(await world.control.hosts.retire(NOVA, 'h2', { by: 'op', reason: 'sold' }))
    value(await world.control.hosts.remove(NOVA, 'h2', { by: 'op', reason: 'sold' }, true))
    expect(await counted()).toEqual({ down: 1, removed: 1 })
    expect([await listed('removed'), await listed('retired')]).toEqual([[['h2', 'removed']], []])
    await expectRebuilt(world.store)
    await world.stop()
  })
  it('that a control of 0.2.0 removed, which leaves the mark of the retired, is listed and counted as removed', async () => {
    const store = memoryStore()
    const marked = { ...one('host/h1', 1).rows[0]!, events: [] }
    const put = (name: string, liveness: 'up' | 'removed') =>
      ({ view: 'hosts', op: 'put', key: name, row: { ...hostRow(name, liveness), out_of_service: true } }) as const
    const changes = [put('h1', 'removed'), put('h2', 'up')]
    expect(await store.journal.append({ rows: [marked], changes })).toBe('appended')
    const { control, plane } = await openPlane({}, store)
    const listed = async (as: 'removed' | 'retired' | 'up') =>
      value(await control.hosts.list({}, as)).items.map(({ name }) => name)
    expect([await listed('removed'), await listed('retired'), await listed('up')]).toEqual([['h1'], ['h2'], []])
    await plane.stop()
    await store.close()
  })
  it('that beats stays up and writes nothing', async () => {
    const world = await opened()
    const rows = async () => (await world.store.journal.feed('', 1000)).length
    const before = await rows()
    for (let n = 0; n < 10; n++) {
      await world.clock.pass(10_000)
      await world.plane.reports.take(beat('h1'), `b${n}`)
      await world.sweep()
    }
    expect(await rows()).toBe(before)
    expect((await world.host()).liveness).toBe('up')
    await world.stop()
  })
  it('that nobody knows may beat', async () => {
    const world = await opened()
    await world.plane.reports.take(beat('stranger'), 'b1')
    await world.sweep()
    expect(value(await world.control.hosts.list({})).items.map(({ name }) => name)).toEqual(['h1'])
    await world.stop()
  })
})

describe('a result', () => {
  const result = (more: object) =>
    ({
      type: 'OrderResult',
      host: 'h1',
      bootId: randomUUID(),
      order: 'PrepareSlot',
      slot: randomUUID(),
      deployableUuid: randomUUID(),
      number: 1,
      startedAt: 1,
      finishedAt: 2,
      result: { status: 'done' },
      ...more,
    }) as const
  it('for an unknown deployable, or for another order of a known one, is taken and changes nothing', async () => {
    const cloud = await openCloud(GPU, { 'resources:PGPU': '1' })
    const { arq } = await cloud.start()
    const rows = async () => (await cloud.store.journal.feed('', 1000)).length
    const before = await rows()
    const { uuid } = cloud.deployable
    for (const more of [
      {},
      { arq: randomUUID() },
      { arq },
      { arq, deployableUuid: uuid },
      { deployableUuid: uuid },
      { deployableUuid: uuid, slot: uuid, order: 'Program' },
    ]) {
      const taken = await cloud.plane.reports.take(result(more), randomUUID())
      expect(taken).toEqual({ ok: true, value: null })
    }
    expect(await rows()).toBe(before)
    expect(await cloud.states([arq])).toEqual(['Bound'])
    await cloud.stop()
  })
  it('that cannot be recorded now is to come again', async () => {
    let broken = false
    const store = memoryStore({ beforeRead: async () => { if (broken) throw new Error('no connection') } }) // prettier-ignore
    const world = await openPlane({}, store)
    broken = true
    expect(await world.plane.reports.take(result({}), 'm1')).toMatchObject({
      ok: false,
      fault: { kind: 'unavailable' },
    })
    broken = false
    expect(await world.plane.reports.take(result({}), 'm1')).toEqual({ ok: true, value: null })
    expect(value(await world.control.arqs.list(NOVA, {}, {})).items).toEqual([])
    await world.plane.stop()
  })
})
