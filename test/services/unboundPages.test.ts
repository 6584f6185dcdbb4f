/** Requests that nobody binds for too long: which pages of them a round reads, and which it tries to delete. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { noCounts } from '../../src/actors/runtime/counts.ts'
import type { Journal, PageQuery } from '../../src/actors/runtime/ports.ts'
import { systemIds } from '../../src/clock.ts'
import type { EntityKey } from '../../src/identifiers.ts'
import { memoryStore } from '../../src/persistence/memory/memory.ts'
import { createUnboundTtl } from '../../src/services/arqs/unboundTtl.ts'
import type { Kernel } from '../../src/services/kernel/kernel.ts'
import { openCloud } from '../actors/cloud.ts'
import { handClock, memoryLog } from '../support/lab.ts'
import { NOVA, TENANT, value } from '../support/plane.ts'

const DAY = 86_400_000
const TTL = 5000
const PAGE = 200
const CARD = { seed: 1, devices: [{ kind: 'gpu' as const, handles: 8 }] }
const QUERY = { view: 'arqs', where: { state: ['Initial', 'Unbound'] }, sort: 'created_at', limit: PAGE }

/** Those that a clock that was ahead has dated are asked for by themselves. */
const isAhead = ({ after }: { readonly after?: PageQuery<'arqs'>['after'] }, now: number): boolean =>
  Number(after?.value) > now

const opened = async (unboundTtlMs = TTL) => {
  const clock = handClock()
  const store = memoryStore({ now: clock.now })
  const world = { isLeaseElsewhere: false, unwritable: '', aheadMs: 0 }
  const journal: Journal = {
    ...store.journal,
    append: async (wanted) =>
      wanted.rows.some(({ key }) => key === world.unwritable) ? 'busy' : store.journal.append(wanted),
  }
  const wrong = { ...clock, now: () => clock.now() + world.aheadMs }
  const parts = { clock: wrong, journal, options: { sweepEveryMs: DAY } }
  const cloud = await openCloud(CARD, { 'resources:PGPU': '1' }, parts, store)
  const { control, plane } = cloud
  value(
    await control.profiles.create(NOVA, {
      name: 'page',
      description: null,
      groups: [{ 'resources:PGPU': String(PAGE) }],
    }),
  )
  const counts = noCounts()
  const [asked, leases, tried]: readonly [unknown[], unknown[], EntityKey[]] = [[], [], []]
  const reads: Pick<Kernel['reads'], 'page'> = {
    page: async (query) => {
      if (!isAhead(query, clock.now())) asked.push(query)
      return store.reads.page(query)
    },
  }
  const sharing: Pick<Kernel['sharing'], 'acquire'> = {
    acquire: async (name, holder, forMs) => {
      leases.push([name, forMs])
      return world.isLeaseElsewhere ? null : store.sharing.acquire(name, holder, forMs)
    },
  }
  const region: Pick<Kernel['region'], 'tell'> = {
    tell: async (key, work) => (tried.push(key), plane.region.tell(key, work)),
  }
  const options = { unboundTtlMs } as Kernel['options']
  const kernel = { clock, log: memoryLog(), counts, ids: systemIds, options, reads, sharing, region }
  const { now } = createUnboundTtl(kernel as unknown as Kernel)
  /** As many requests of this moment as one page has. The moment, and the last of them in the order of pages. */
  const createPage = async (): Promise<PageQuery<'arqs'>['after'] & object> => {
    const uuids = value(await control.arqs.create(TENANT, 'page')).map(({ uuid }) => uuid)
    return { value: clock.now(), key: uuids.toSorted().at(-1)! }
  }
  return { ...cloud, clock, counts, asked, leases, tried, world, now, createPage }
}

test('they are looked for by the holder of a lease of thirty seconds, if there is a limit at all', async () => {
  const off = await opened(0)
  await off.now()
  expect([off.leases, off.asked]).toEqual([[], []])
  await off.stop()
  const { world, asked, leases, now, stop } = await opened()
  world.isLeaseElsewhere = true
  await now()
  expect([leases, asked]).toEqual([[['unbound', 30_000]], []])
  world.isLeaseElsewhere = false
  await now()
  expect(asked).toEqual([QUERY])
  await stop()
})
test('they are deleted in five pages a round, and the next round goes on after them, until one is not full', async () => {
  const { clock, asked, counts, control, now, createPage, stop } = await opened()
  const ends: Awaited<ReturnType<typeof createPage>>[] = []
  for (let n = 0; n < 6; n++) {
    ends.push(await createPage())
    await clock.pass(1)
  }
  value(await control.arqs.create(TENANT, 'p'))
  await clock.pass(TTL)
  await now()
  expect([asked.length, counts.unboundDeleted]).toEqual([5, 1000])
  await now()
  expect(asked).toEqual([QUERY, ...ends.map((after) => ({ ...QUERY, after }))])
  expect(counts.unboundDeleted).toBe(1201)
  await now()
  expect(asked.slice(7)).toEqual([QUERY])
  await stop()
})
test('a round ends with a page whose last request is not old enough, and tries to delete none of that page', async () => {
  const { clock, asked, tried, now, createPage, stop } = await opened()
  const after = await createPage()
  await clock.pass(1)
  await createPage()
  await clock.pass(TTL - 1)
  await now()
  expect([asked, tried.length]).toEqual([[QUERY, { ...QUERY, after }], PAGE])
  await now()
  expect([asked.slice(2), tried.length]).toEqual([[QUERY], PAGE])
  await stop()
})
test('a request is tried from the very moment of the limit on, by its last change', async () => {
  const { clock, tried, now, create, bind, control, stop } = await opened()
  const [[changed], [other]] = [await create(), await create()]
  await clock.pass(1)
  value(await bind([changed!], randomUUID()))
  value(await control.arqs.unbind(NOVA, [changed!]))
  await clock.pass(TTL - 2)
  await now()
  expect(tried).toEqual([])
  await clock.pass(1)
  await now()
  expect(tried).toEqual([`arq/${other}`])
  await clock.pass(1)
  await now()
  expect(tried).toEqual([`arq/${other}`, `arq/${changed}`])
  await stop()
})
test('a request that a clock ahead has dated is found behind however many younger ones', async () => {
  const { clock, tried, world, now, create, createPage, stop } = await opened()
  world.aheadMs = DAY
  const [[ahead]] = [await create()]
  world.aheadMs = 0
  await createPage()
  await now()
  await clock.pass(TTL)
  await createPage()
  await now()
  expect(tried).toContain(`arq/${ahead}`)
  await stop()
})
test('a request that the store does not delete is counted by nobody, keeps no other back, and is tried again', async () => {
  const { clock, counts, tried, world, now, create, control, stop } = await opened()
  const left = async () => value(await control.arqs.list(NOVA, {}, {})).items.map(({ uuid }) => uuid)
  const [[kept], [deleted]] = [await create(), await create()]
  await clock.pass(TTL)
  world.unwritable = `arq/${kept}`
  await now()
  expect([tried.length, counts.unboundDeleted, await left()]).toEqual([2, 1, [kept]])
  expect(tried).toContain(`arq/${deleted}`)
  world.unwritable = ''
  await now()
  expect([counts.unboundDeleted, await left()]).toEqual([2, []])
  await stop()
})
