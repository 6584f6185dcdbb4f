/** Which rows of the views are compared with the journal, and how often: a few at a time, one process at a time. */
import { expect, test } from 'vitest'
import { noCounts } from '../../src/actors/runtime/counts.ts'
import { refuse } from '../../src/fault.ts'
import type { Kernel } from '../../src/services/kernel/kernel.ts'
import { createViewChecks } from '../../src/services/overview/viewChecks.ts'
import { AWAY } from '../support/kernelParts.ts'
import { handClock, memoryLog } from '../support/lab.ts'

const EVERY = 60_000
const VIEWS = 'arqs attributes deployables devices due handles hosts ignored_drift pending_orders profiles'.split(' ')
type Query = {
  readonly view: string
  readonly where: Readonly<Record<string, unknown>>
  readonly sort: string
  readonly limit: number
  readonly after?: { readonly value: string; readonly key: string }
}
const uuid = (n: number) => `u${String(n).padStart(3, '0')}`

/** `rows`: how many requests, and how many held handles, there are. */
const opened = (rows = 0, checkEveryMs = EVERY) => {
  const [clock, counts] = [handClock(), noCounts()]
  const [asked, leases, recalled, read]: readonly [Query[], unknown[], string[], string[]] = [[], [], [], []]
  const world = { lease: true }
  const page = async (query: Query) => {
    if ('uuid' in query.where) return []
    asked.push(query)
    const isHeld = query.view === 'handles' && 'state' in query.where
    if (query.view !== 'arqs' && !isHeld) return null
    const all = Array.from({ length: rows }, (_, n) => ({ uuid: uuid(n), deployable_uuid: `d${n}` }))
    return all.filter((row) => row.uuid > (query.after?.value ?? '')).slice(0, query.limit)
  }
  const checks = createViewChecks({
    ...{ clock, counts, log: memoryLog(), ids: { uuid: () => 'me' }, options: { checkEveryMs }, reads: { page } },
    sharing: { acquire: async (...lease: unknown[]) => (leases.push(lease), world.lease ? { epoch: 1 } : null) },
    journal: {
      recall: async ([{ key, after }]: [{ key: string; after: number }]) => {
        recalled.push(`${key} ${after}`)
        return new Map()
      },
    },
    region: { readCurrent: async (_: unknown, key: string) => (read.push(key), refuse(AWAY)) },
  } as unknown as Kernel)
  const check = async () => {
    for (const one of [asked, recalled, read]) one.length = 0
    await clock.pass(EVERY)
    await checks.now()
  }
  return { clock, counts, asked, leases, recalled, read, world, check, now: checks.now }
}

test('nothing is compared before the time is over, by a process without the lease, or if there is no time', async () => {
  const { clock, asked, leases, world, now } = opened()
  await clock.pass(EVERY - 1)
  await now()
  expect(leases).toEqual([])
  await clock.pass(1)
  world.lease = false
  await now()
  await now()
  expect([leases, asked]).toEqual([[['checks', 'me', 2 * EVERY]], []])
  await clock.pass(EVERY - 1)
  await now()
  expect(leases).toHaveLength(1)
  world.lease = true
  await clock.pass(1)
  await now()
  expect(asked).toHaveLength(11)
  const never = opened(0, 0)
  await never.check()
  expect(never.leases).toEqual([])
})
test('ten rows of each view and fifty held handles are compared, in the order of their keys', async () => {
  const { asked, recalled, read, counts, check } = opened(9)
  await check()
  expect(asked.map(({ view }) => view).toSorted()).toEqual([...VIEWS, 'handles'].toSorted())
  expect(asked.find(({ view }) => view === 'arqs')).toEqual({ view: 'arqs', where: {}, sort: 'uuid', limit: 10 })
  expect(asked.find(({ view }) => view === 'hosts')).toEqual({ view: 'hosts', where: {}, sort: 'name', limit: 10 })
  expect(asked.at(-1)).toEqual({ view: 'handles', where: { state: 'held' }, sort: 'uuid', limit: 50 })
  // the journal is read before and after the row
  expect(recalled).toEqual(Array.from({ length: 9 }, (_, n) => [`arq/${uuid(n)} 0`, `arq/${uuid(n)} 0`]).flat())
  expect(read).toEqual(Array.from({ length: 9 }, (_, n) => `deployable/d${n}`))
  expect([counts.viewsChecked, counts.viewsDiffer, counts.orphans]).toEqual([9, 0, 0])
})
test('the next round goes on after the last row, and begins anew after the last of all', async () => {
  const { asked, read, check } = opened(60)
  const place = (view: string, at = 0) => asked.filter((query) => query.view === view).at(at)!.after?.key
  const places: unknown[] = []
  for (let n = 0; n < 8; n++) {
    await check()
    places.push([place('arqs'), place('handles', -1), read.length])
  }
  expect(places).toEqual([
    [undefined, undefined, 50],
    ['u009', 'u049', 10],
    ['u019', undefined, 50],
    ['u029', 'u049', 10],
    ['u039', undefined, 50],
    ['u049', 'u049', 10],
    ['u059', undefined, 50],
    [undefined, 'u049', 10],
  ])
})
