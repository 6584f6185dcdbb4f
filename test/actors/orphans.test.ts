/**
 * Accelerator requests of servers that Nova does not know any more: found, and deleted, and never for another reason.
 */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { NovaServer } from '../../src/actors/neighbours.ts'
import { Unreadable } from '../../src/actors/runtime/unreadable.ts'
import { memoryStores } from '../support/memoryStore/memory.ts'
import type { Store } from '../../src/persistence/store.ts'
import { handClock, memoryLog } from '../support/lab.ts'
import { KNOWN, novaServersOf } from '../support/novaServers.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { openCloud } from './cloud.ts'

const MINUTE = 60_000
const SETTLED = 10 * MINUTE
const UNKNOWN: NovaServer = { is: 'unknown' }
const UNCLEAR: NovaServer = { is: 'unclear', reason: 'Nova answered 500: no' }
const CARD = { seed: 1, devices: [{ kind: 'gpu' as const, handles: 4 }] }

type Ways = { unreadable: boolean; unwritable: boolean; isLeaseElsewhere: boolean; terms: number[] }
const isForHolders = ({ view, where }: { readonly view: string; readonly where: object }) =>
  view === 'arqs' && 'state' in where && Array.isArray(where.state) && where.state.includes('BindFailed')
const wrapped = ({ journal, reads, sharing }: Store, ways: Ways): Pick<Store, 'journal' | 'reads' | 'sharing'> => ({
  journal: {
    ...journal,
    append: async (wanted) => (ways.unwritable ? 'unknown' : journal.append(wanted)),
  },
  reads: {
    ...reads,
    page: async (query) => {
      if (ways.unreadable && isForHolders(query)) throw new Unreadable('damaged')
      return reads.page(query)
    },
  },
  sharing: {
    ...sharing,
    acquire: async (name, holder, forMs) => {
      if (name !== 'orphans') return sharing.acquire(name, holder, forMs)
      ways.terms.push(forMs)
      return ways.isLeaseElsewhere ? null : sharing.acquire(name, holder, forMs)
    },
  },
})
const opened = async (options: object = {}) => {
  const clock = handClock()
  const said = new Map<string, NovaServer>()
  const nova = novaServersOf(said)
  const log = memoryLog()
  const stores = memoryStores({ exclusive: false, now: clock.now })
  const parts = { clock, log, novaServers: nova.servers, options: { sweepEveryMs: 24 * 60 * MINUTE, ...options } }
  const store = stores()
  /** What is wrong with the store of the first control, and the terms of the leases that it has asked for. */
  const ways = { unreadable: false, unwritable: false, isLeaseElsewhere: false, terms: [] as number[] }
  const cloud = await openCloud(
    CARD,
    { 'resources:PGPU': '1' },
    { ...parts, ...wrapped(store, ways) },
    store,
    'at once',
  )
  const { control, plane } = cloud
  const bound = async (answer: NovaServer) => {
    const { arq, instance } = await cloud.start()
    await cloud.pump()
    said.set(instance, answer)
    return { arq, instance }
  }
  const sweep = async (some = plane) => {
    for (let n = 0; n < 8; n++) await some.sweeper.round()
    await some.sweeper.idle()
    await cloud.pump()
  }
  const collect = async (...instances: readonly string[]) => {
    const collected = control.orphans.collect(NOVA, instances)
    await clock.pass(10_000)
    await cloud.pump()
    return collected
  }
  const left = async () => value(await control.arqs.list(NOVA, {}, {})).items.map(({ uuid }) => uuid)
  const another = () => openPlane(parts, stores())
  const about = () => log.said.filter(({ message }) => /^orphans|server_gone/.test(message))
  const warned = () => about().map((one) => one.message)
  return { ...cloud, clock, ways, about, said, nova, bound, sweep, collect, left, another, warned }
}

describe('the list of orphans', () => {
  test('names the requests of servers that Nova does not know, and those of which Nova says nothing', async () => {
    const world = await opened()
    const [gone, well, odd] = [await world.bound(UNKNOWN), await world.bound(KNOWN), await world.bound(UNCLEAR)]
    await world.clock.pass(SETTLED)
    const before = world.clock.now()
    expect(value(await world.control.orphans.list(null))).toEqual({
      orphans: [{ instance: gone.instance, arqs: [gone.arq], host: 'h1', project: 'p1', changedAt: before - SETTLED }],
      unclear: [{ instance: odd.instance, reason: 'Nova answered 500: no' }],
      asked: 3,
      next: null,
    })
    expect((await world.left()).toSorted()).toEqual([gone.arq, well.arq, odd.arq].toSorted())
    await world.stop()
  })
  test('leaves out what changed lately: Nova may be about to make the server', async () => {
    const world = await opened()
    await world.bound(UNKNOWN)
    await world.clock.pass(SETTLED - 1)
    expect(value(await world.control.orphans.list(null))).toMatchObject({ orphans: [], asked: 0 })
    expect(world.nova.asked).toEqual([])
    await world.stop()
  })
  test('is refused where Nova does not show all servers, or cannot be asked', async () => {
    const world = await opened()
    await world.bound(UNKNOWN)
    await world.clock.pass(SETTLED)
    world.nova.blind = 'the account for Nova needs the role admin'
    for (const asked of [world.control.orphans.list(null), world.collect(randomUUID())])
      expect(await asked).toMatchObject({ fault: { kind: 'conflict', reason: expect.stringContaining('role admin') } })
    expect(world.nova.asked).toEqual([])
    await world.stop()
    const alone = await openPlane()
    const refusal = { fault: { kind: 'conflict', reason: expect.stringContaining('nova.url') } }
    expect(await alone.control.orphans.list(null)).toMatchObject(refusal)
    expect(await alone.control.orphans.collect(NOVA, [randomUUID()])).toMatchObject(refusal)
    await alone.plane.stop()
  })
})

describe('collecting by an operator', () => {
  test('deletes what Nova does not know twice, as any deletion: the handle is free again', async () => {
    const world = await opened()
    const [gone, well] = [await world.bound(UNKNOWN), await world.bound(KNOWN)]
    await world.clock.pass(SETTLED)
    const other = randomUUID()
    world.said.set(other, UNKNOWN)
    const { orphans, kept } = value(await world.collect(gone.instance, well.instance, other, gone.instance))
    expect(orphans).toMatchObject([{ instance: gone.instance, arqs: [gone.arq] }])
    expect(kept).toEqual([
      { instance: well.instance, reason: 'Nova knows the server, in the state ACTIVE' },
      { instance: other, reason: 'it has no accelerator requests' },
    ])
    expect(world.nova.asked).toEqual([gone.instance, well.instance, other, gone.instance])
    expect(await world.left()).toEqual([well.arq])
    expect(await world.handleStates()).toEqual(['free', 'free', 'free', 'held'])
    expect(world.plane.counts().orphansDeleted).toBe(1)
    await world.stop()
  })
  test.each<readonly [what: string, then: NovaServer, reason: string]>([
    ['knows it the second time', KNOWN, 'Nova knows the server, in the state ACTIVE'],
    ['gives no clear answer the second time', UNCLEAR, 'Nova answered 500: no'],
  ])('deletes nothing when Nova %s', async (_, then, reason) => {
    const world = await opened()
    const { arq, instance } = await world.bound(UNKNOWN)
    await world.clock.pass(SETTLED)
    const collecting = world.control.orphans.collect(NOVA, [instance])
    await world.clock.pass(9999)
    world.said.set(instance, then)
    await world.clock.pass(1)
    expect(value(await collecting)).toEqual({ orphans: [], kept: [{ instance, reason }] })
    expect(await world.left()).toEqual([arq])
    await world.stop()
  })
  test('deletes nothing of a request that was bound anew between the two questions', async () => {
    const world = await opened()
    const { arq, instance } = await world.bound(UNKNOWN)
    await world.clock.pass(SETTLED)
    const collecting = world.control.orphans.collect(NOVA, [instance])
    await world.clock.pass(5000)
    value(await world.control.arqs.unbind(NOVA, [arq]))
    value(await world.bind([arq], instance))
    await world.clock.pass(5000)
    expect(value(await collecting)).toMatchObject({ orphans: [], kept: [{ instance }] })
    expect(await world.states([arq])).toEqual(['Bound'])
    await world.stop()
  })
})

describe('collecting by itself', () => {
  const EVERY = 5 * MINUTE
  const options = { collectOrphansMs: EVERY }

  test('is off unless an operator has set a time', async () => {
    const world = await opened()
    await world.bound(UNKNOWN)
    await world.bound(KNOWN)
    for (let n = 0; n < 5; n++) {
      await world.clock.pass(SETTLED)
      await world.sweep()
    }
    expect(world.nova.asked).toEqual([])
    expect(await world.left()).toHaveLength(2)
    await world.stop()
  })
  test('deletes what Nova has not known for that time, and nothing else', async () => {
    const world = await opened(options)
    const [gone, well] = [await world.bound(UNKNOWN), await world.bound(KNOWN)]
    await world.clock.pass(SETTLED)
    await world.sweep()
    expect(world.nova.asked.toSorted()).toEqual([gone.instance, well.instance].toSorted())
    await world.clock.pass(EVERY - 1)
    await world.sweep()
    expect([world.nova.asked.length, await world.left()]).toMatchObject([2, [expect.anything(), expect.anything()]])
    await world.clock.pass(1)
    await world.sweep()
    expect(await world.left()).toEqual([well.arq])
    expect(await world.handleStates()).toEqual(['free', 'free', 'free', 'held'])
    expect(world.warned()).toEqual(['arq.server_gone'])
    await world.stop()
  })
  test.each<readonly [what: string, between: NovaServer]>([
    ['knew it in between', KNOWN],
    ['gave no clear answer in between', UNCLEAR],
  ])('begins anew when Nova %s', async (_, between) => {
    const world = await opened(options)
    const [gone] = [await world.bound(UNKNOWN), await world.bound(KNOWN)]
    await world.clock.pass(SETTLED)
    for (const answer of [UNKNOWN, between, UNKNOWN]) {
      world.said.set(gone.instance, answer)
      await world.sweep()
      expect(await world.left()).toHaveLength(2)
      await world.clock.pass(EVERY)
    }
    await world.sweep()
    expect(await world.left()).toHaveLength(1)
    await world.stop()
  })
  test('begins anew when this service is not shown all servers in between', async () => {
    const world = await opened(options)
    await world.bound(UNKNOWN)
    await world.bound(KNOWN)
    await world.clock.pass(SETTLED)
    for (const blind of [null, 'no role admin', null]) {
      world.nova.blind = blind
      await world.sweep()
      expect(await world.left()).toHaveLength(2)
      await world.clock.pass(EVERY)
    }
    const detail = { reason: 'no role admin' }
    expect(world.about()).toEqual([{ level: 'warn', message: 'orphans.not_asked', detail }])
    await world.stop()
  })
  test('begins anew when the requests could not be read in between', async () => {
    const world = await opened(options)
    await world.bound(UNKNOWN)
    await world.bound(KNOWN)
    await world.clock.pass(SETTLED)
    for (const unreadable of [false, true, false]) {
      world.ways.unreadable = unreadable
      await world.sweep()
      world.ways.unreadable = false
      expect(await world.left()).toHaveLength(2)
      await world.clock.pass(EVERY)
    }
    expect(world.warned()).toEqual(['orphans.not_asked'])
    await world.sweep()
    expect(await world.left()).toHaveLength(1)
    await world.stop()
  })
  test('waits for a minute at least, under a lease of thirty seconds', async () => {
    const world = await opened({ collectOrphansMs: 1 })
    await world.bound(UNKNOWN)
    await world.bound(KNOWN)
    await world.clock.pass(SETTLED)
    world.ways.terms.length = 0
    await world.sweep()
    await world.clock.pass(MINUTE - 1)
    await world.sweep()
    expect([world.nova.asked.length, (await world.left()).length, world.ways.terms]).toEqual([2, 2, [30_000]])
    await world.clock.pass(1)
    await world.sweep()
    expect([world.nova.asked.length, (await world.left()).length, world.ways.terms]).toEqual([4, 1, [30_000, 30_000]])
    await world.stop()
  })
  test('is tried again when the requests could not be deleted', async () => {
    const world = await opened(options)
    const [gone] = [await world.bound(UNKNOWN), await world.bound(KNOWN)]
    await world.clock.pass(SETTLED)
    await world.sweep()
    await world.clock.pass(EVERY)
    world.ways.unwritable = true
    await world.sweep()
    world.ways.unwritable = false
    expect(world.about()).toMatchObject([{ message: 'orphans.refused', detail: { instance: gone.instance } }])
    expect(await world.left()).toHaveLength(2)
    await world.clock.pass(EVERY)
    await world.sweep()
    expect(await world.left()).toHaveLength(1)
    await world.stop()
  })
  type World = Awaited<ReturnType<typeof opened>>
  type Change = (world: World, arqs: readonly string[], instance: string) => Promise<void>
  const oneIsDeleted: Change = async ({ control }, [, second]) => void value(await control.arqs.remove(NOVA, [second!]))
  const bothAreBoundAnew: Change = async ({ control, bind }, arqs, instance) => {
    value(await control.arqs.unbind(NOVA, arqs))
    value(await bind(arqs, instance))
  }
  test.each([
    ['one of them is deleted', oneIsDeleted],
    ['both are bound anew', bothAreBoundAnew],
  ])('begins anew for two requests of one server when %s', async (_, change) => {
    const every = 2 * SETTLED
    const world = await opened({ collectOrphansMs: every })
    await world.bound(KNOWN)
    const [arqs, instance] = [[...(await world.create()), ...(await world.create())], randomUUID()]
    value(await world.bind(arqs, instance))
    await world.pump()
    world.said.set(instance, UNKNOWN)
    await world.clock.pass(SETTLED)
    await world.sweep()
    await change(world, arqs, instance)
    await world.pump()
    const kept = await world.left()
    await world.clock.pass(every)
    await world.sweep()
    expect(await world.left()).toEqual(kept)
    await world.clock.pass(every)
    await world.sweep()
    expect(await world.left()).toHaveLength(1)
    await world.stop()
  })
  test('begins anew when another process has had the lease in between', async () => {
    const world = await opened(options)
    await world.bound(UNKNOWN)
    await world.bound(KNOWN)
    await world.clock.pass(SETTLED)
    await world.sweep()
    await world.clock.pass(EVERY)
    world.ways.isLeaseElsewhere = true
    await world.sweep()
    world.ways.isLeaseElsewhere = false
    await world.clock.pass(EVERY - 1)
    await world.sweep()
    expect(world.nova.asked).toHaveLength(2)
    await world.clock.pass(1)
    await world.sweep()
    expect([world.nova.asked.length, (await world.left()).length]).toEqual([4, 2])
    await world.clock.pass(EVERY)
    await world.sweep()
    expect(await world.left()).toHaveLength(1)
    await world.stop()
  })
  test('deletes nothing while Nova knows none of the servers: it may be the wrong one', async () => {
    const world = await opened(options)
    const arqs = [(await world.bound(UNKNOWN)).arq, (await world.bound(UNKNOWN)).arq]
    await world.clock.pass(SETTLED)
    for (let n = 0; n < 4; n++) {
      await world.sweep()
      await world.clock.pass(EVERY)
    }
    expect((await world.left()).toSorted()).toEqual(arqs.toSorted())
    expect(world.about().at(-1)).toEqual({ level: 'warn', message: 'orphans.none_known', detail: { unknown: 2 } })
    await world.stop()
  })
  test('is done by one control at a time, and another begins anew when the first is gone', async () => {
    const world = await opened(options)
    await world.bound(UNKNOWN)
    await world.bound(KNOWN)
    const { plane: second } = await world.another()
    await world.clock.pass(SETTLED)
    await world.sweep()
    await world.sweep(second)
    expect(world.nova.asked).toHaveLength(2)
    await world.stop()
    await world.clock.pass(EVERY)
    await world.sweep(second)
    expect(await world.left()).toHaveLength(2)
    await world.clock.pass(EVERY)
    await world.sweep(second)
    expect(await world.left()).toHaveLength(1)
    await second.stop()
  })
})
