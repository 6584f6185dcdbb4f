/**
 * The quota of a project holds whoever creates, however many at once; what nobody binds is deleted in time, and never
 * while it is bound.
 */
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Caller } from '../../src/actors/control.ts'
import { memoryStore, memoryStores } from '../support/memoryStore/memory.ts'
import { openStore } from '../../src/persistence/open.ts'
import type { Store } from '../../src/persistence/store.ts'
import { handClock, memoryLog } from '../support/lab.ts'
import { describeWith } from '../support/needs.ts'
import { freshDatabase } from '../support/postgres.ts'
import { NOVA, TENANT, openPlane, value } from '../support/plane.ts'
import { openCloud } from './cloud.ts'

const HOUR = 3_600_000
const tenant = (projectId: string): Caller => ({ ...TENANT, projectId })
const profile = (name: string, amount: number) => ({
  name,
  description: null,
  groups: [{ 'resources:PGPU': String(amount) }],
})
/** Controls over one journal, each with this limit. */
const openControls = async (
  count: number,
  arqsPerProject: number,
  stores: () => Store | Promise<Store> = memoryStores({ exclusive: false }),
) => {
  const planes = await Promise.all(
    Array.from({ length: count }, async () => openPlane({ options: { arqsPerProject } }, await stores())),
  )
  const [{ control, store }] = planes as [Awaited<ReturnType<typeof openPlane>>]
  for (const amount of [1, 4]) value(await control.profiles.create(NOVA, profile(`of-${amount}`, amount)))
  const rows = async (project: string) => value(await control.arqs.list(tenant(project), {}, {})).items
  const stop = () => Promise.all(planes.map(({ plane }) => plane.stop()))
  const quotaRows = async () => (await store.journal.feed('', 10_000)).filter(({ key }) => key.startsWith('quota/'))
  return { controls: planes.map((plane) => plane.control), control, rows, quotaRows, stores, stop }
}
const EXCEEDED = {
  kind: 'forbidden',
  rule: expect.stringMatching(/quota of the project is \d+ .*quota\.arqs_per_project/),
}

/** Sixty creations at once, through three controls: ten fit. */
const crowd = async (world: Awaited<ReturnType<typeof openControls>>) => {
  const create = async (n: number) => {
    for (;;) {
      const made = await world.controls[n % 3]!.arqs.create(tenant('p'), 'of-1')
      // the number of requests kept changing meanwhile: the client is told to come again
      if (made.ok || made.fault.kind !== 'unavailable') return made
    }
  }
  const made = await Promise.all(Array.from({ length: 60 }, (_, n) => create(n)))
  expect(made.filter(({ ok }) => ok)).toHaveLength(10)
  for (const one of made) if (!one.ok) expect(one.fault).toMatchObject(EXCEEDED)
  expect(await world.rows('p')).toHaveLength(10)
}

describeWith('postgres', 'over PostgreSQL', (bin) => {
  test('the quota of a project is never exceeded, whatever many controls create at the same time', async () => {
    const database = await freshDatabase(bin)
    const stores: Store[] = []
    const world = await openControls(3, 10, async () => {
      const store = await openStore({ kind: 'postgres', url: database.url })
      stores.push(store)
      return store
    })
    await crowd(world)
    await world.stop()
    await Promise.all(stores.map((store) => store.close()))
    await database.drop()
  })
})

describe('the quota of a project', () => {
  test('is never exceeded, whatever many controls create at the same time, and is reached', async () => {
    const world = await openControls(3, 10)
    await crowd(world)
    await world.stop()
  })
  test('counts what a creation makes as a whole: all of it or nothing', async () => {
    const world = await openControls(1, 10)
    const create = () => world.control.arqs.create(tenant('p'), 'of-4')
    for (const _ of [1, 2]) expect(value(await create())).toHaveLength(4)
    expect(await create()).toMatchObject({ ok: false, fault: EXCEEDED })
    expect(await world.rows('p')).toHaveLength(8)
    for (const _ of [1, 2]) value(await world.control.arqs.create(tenant('p'), 'of-1'))
    expect(await world.control.arqs.create(tenant('p'), 'of-1')).toMatchObject({ ok: false, fault: EXCEEDED })
    await world.stop()
  })
  test('is one of each project, and what is deleted by another control may be created anew', async () => {
    const world = await openControls(2, 2)
    const [one, other] = world.controls as [typeof world.control, typeof world.control]
    const create = async (project: string) => value(await one.arqs.create(tenant(project), 'of-1'))[0]!
    const [first] = [await create('p'), await create('p'), await create('q')]
    expect(await one.arqs.create(tenant('p'), 'of-1')).toMatchObject({ ok: false, fault: EXCEEDED })
    value(await other.arqs.remove(tenant('p'), [first.uuid]))
    await create('p')
    expect(await other.arqs.create(tenant('p'), 'of-1')).toMatchObject({ ok: false, fault: EXCEEDED })
    await create('q')
    await world.stop()
  })
  test('counts what was created before there was a quota', async () => {
    const world = await openControls(1, 0)
    for (let n = 0; n < 5; n++) value(await world.control.arqs.create(tenant('p'), 'of-1'))
    expect(await world.quotaRows()).toEqual([])
    const limited = await openPlane({ options: { arqsPerProject: 6 } }, await world.stores())
    value(await limited.control.arqs.create(tenant('p'), 'of-1'))
    expect(await limited.control.arqs.create(tenant('p'), 'of-1')).toMatchObject({ ok: false, fault: EXCEEDED })
    expect(await world.quotaRows()).toHaveLength(1)
    await limited.plane.stop()
    await world.stop()
  })
})

const CARD = { seed: 1, devices: [{ kind: 'gpu' as const, handles: 8 }] }
const options = { sweepEveryMs: 24 * HOUR, unboundTtlMs: HOUR }
const openAged = async (more: object = {}) => {
  const clock = handClock()
  const stores = memoryStores({ exclusive: false, now: clock.now })
  const log = memoryLog()
  const parts = { clock, log, options: { ...options, ...more } }
  const store = stores()
  /** `afterPage`: happens between the reading of requests that may be too old, and their deletion. */
  const ways = { afterPage: async () => {} }
  const reads: Store['reads'] = {
    ...store.reads,
    page: async (query) => {
      const rows = await store.reads.page(query)
      if (query.view === 'arqs') await ways.afterPage()
      return rows
    },
  }
  const cloud = await openCloud(CARD, { 'resources:PGPU': '1' }, { ...parts, reads }, store, 'at once')
  const create = async () => value(await cloud.control.arqs.create(TENANT, 'p'))[0]!.uuid
  const left = async () => value(await cloud.control.arqs.list(NOVA, {}, {})).items.map(({ uuid }) => uuid)
  /** Enough rounds that each kind of work has its turn. */
  const sweep = async (plane = cloud.plane) => {
    for (let n = 0; n < 8; n++) await plane.sweeper.round()
  }
  const another = () => openPlane(parts, stores())
  const deleted = () => log.said.filter(({ message }) => message === 'arq.unbound_too_long')
  return { ...cloud, clock, ways, create, left, sweep, deleted, another }
}

describe('an accelerator request that nobody binds', () => {
  test('is deleted when its time is over, by the journal as any other deletion', async () => {
    const world = await openAged()
    const old = await world.create()
    await world.clock.pass(HOUR - 1)
    await world.sweep()
    expect(await world.left()).toEqual([old])
    const young = await world.create()
    await world.clock.pass(1)
    await world.sweep()
    expect(await world.left()).toEqual([young])
    const { steps, deleted } = value(await world.control.arqs.timeline(NOVA, old))
    expect([deleted, steps.at(-1)]).toMatchObject([true, { step: 'deleted', cause: 'unbound_ttl' }])
    expect(world.plane.counts().unboundDeleted).toBe(1)
    expect(world.deleted()).toEqual([{ level: 'info', message: 'arq.unbound_too_long', detail: { arq: old } }])
    await world.stop()
  })
  test('is judged again as it is when it is deleted', async () => {
    const world = await openAged()
    const [bound, again, old] = [await world.create(), await world.create(), await world.create()]
    await world.clock.pass(HOUR)
    world.ways.afterPage = async () => {
      world.ways.afterPage = async () => {}
      for (const arq of [bound, again]) value(await world.control.arqs.bind(NOVA, [world.bindingOf(arq, randomUUID())]))
      value(await world.control.arqs.unbind(NOVA, [again]))
    }
    await world.sweep()
    expect((await world.left()).toSorted()).toEqual([bound, again].toSorted())
    expect(world.deleted().map(({ detail }) => detail)).toEqual([{ arq: old }])
    expect(world.plane.counts().unboundDeleted).toBe(1)
    await world.stop()
  })
  test('stays for ever when no limit is set', async () => {
    const world = await openAged({ unboundTtlMs: 0 })
    const arq = await world.create()
    await world.clock.pass(1000 * HOUR)
    await world.sweep()
    expect(await world.left()).toEqual([arq])
    await world.stop()
  })
  test('and one that is bound stays; after it was unbound its time begins anew', async () => {
    const world = await openAged()
    const arq = await world.create()
    value(await world.control.arqs.bind(NOVA, [world.bindingOf(arq, randomUUID())]))
    await world.clock.pass(3 * HOUR)
    await world.sweep()
    expect(await world.left()).toEqual([arq])
    value(await world.control.arqs.unbind(NOVA, [arq]))
    await world.clock.pass(HOUR - 1)
    await world.sweep()
    expect(await world.left()).toEqual([arq])
    await world.clock.pass(1)
    await world.sweep()
    expect(await world.left()).toEqual([])
    await world.stop()
  })
  test('is found behind many that are old and were unbound a moment ago', async () => {
    const world = await openAged()
    const [many, arqs] = [await Promise.all(Array.from({ length: 450 }, world.create)), await world.left()]
    for (const uuid of arqs.slice(0, 30)) {
      value(await world.control.arqs.bind(NOVA, [world.bindingOf(uuid, randomUUID())]))
      await world.clock.pass(1)
      value(await world.control.arqs.unbind(NOVA, [uuid]))
    }
    await world.clock.pass(HOUR - 15)
    for (let n = 0; n < 3; n++) await world.sweep()
    const kept = await world.left()
    expect(kept.length).toBeGreaterThan(0)
    expect(arqs.slice(0, 30)).toEqual(expect.arrayContaining(kept))
    expect(many).toHaveLength(450)
    await world.stop()
  })
  test('is deleted with at most 999 others in one round; the next round goes on', async () => {
    const world = await openAged()
    const groups = [{ 'resources:PGPU': '200' }]
    value(await world.control.profiles.create(NOVA, { name: 'many', description: null, groups }))
    for (let n = 0; n < 6; n++) value(await world.control.arqs.create(TENANT, 'many'))
    await world.clock.pass(HOUR)
    const deleted: number[] = []
    for (let n = 0; n < 24; n++) {
      await world.plane.sweeper.round()
      const now = world.plane.counts().unboundDeleted
      if (now !== (deleted.at(-1) ?? 0)) deleted.push(now)
    }
    expect(deleted).toEqual([1000, 1200])
    await world.stop()
  })
  test.each([0, 1, 2, 3])('is either bound or deleted when both are wanted in the same moment (%#)', async (turns) => {
    const world = await openAged()
    const other = await world.another()
    const arqs = await Promise.all(Array.from({ length: 8 }, world.create))
    await world.clock.pass(HOUR)
    const instances = arqs.map(() => randomUUID())
    const sweeping = world.sweep(turns % 2 === 0 ? world.plane : other.plane)
    for (let n = 0; n < turns; n++) await Promise.resolve()
    const bound = await Promise.all(
      arqs.map((arq, n) =>
        (n % 2 === 0 ? world : other).control.arqs.bind(NOVA, [world.bindingOf(arq, instances[n]!)]),
      ),
    )
    await sweeping
    const left = await world.left()
    for (const [n, arq] of arqs.entries()) {
      const one = bound[n]!
      expect(left.includes(arq)).toBe(one.ok)
      if (one.ok) expect(value(await world.control.arqs.get(NOVA, arq))).toMatchObject({ state: 'Bound' })
      else expect(one.fault).toMatchObject({ kind: 'not_found' })
    }
    await other.plane.stop()
    await world.stop()
  })
})

test('a memory that is alone in its store keeps quotas as well', async () => {
  const { control, plane } = await openPlane({ options: { arqsPerProject: 3 } }, memoryStore({ exclusive: true }))
  value(await control.profiles.create(NOVA, profile('one', 1)))
  const made = await Promise.all(Array.from({ length: 9 }, () => control.arqs.create(TENANT, 'one')))
  expect(made.filter(({ ok }) => ok).length).toBeLessThanOrEqual(3)
  const rows = value(await control.arqs.list(TENANT, {}, {})).items
  expect(rows.length).toBe(made.filter(({ ok }) => ok).length)
  await plane.stop()
})
