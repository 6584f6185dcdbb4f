/** Requests that nobody binds for too long, page by page; and those of servers that Nova does not know, by memory. */
import { describe, expect, test } from 'vitest'
import type { Work } from '../../src/actors/runtime/commit.ts'
import type { Draft } from '../../src/actors/runtime/draft.ts'
import type { NovaServer } from '../../src/actors/neighbours.ts'
import { noCounts } from '../../src/actors/runtime/counts.ts'
import { type Fault, type Outcome, done, refuse } from '../../src/fault.ts'
import type { EntityKey } from '../../src/identifiers.ts'
import { createUnboundTtl } from '../../src/services/arqs/unboundTtl.ts'
import type { Kernel } from '../../src/services/kernel/kernel.ts'
import { createOrphanRound } from '../../src/services/nova/orphanRound.ts'
import { handClock, memoryLog } from '../support/lab.ts'
import { KNOWN, novaServersOf } from '../support/novaServers.ts'

const AWAY: Fault = { kind: 'unavailable', reason: 'away', retryAfterSeconds: 1 }
const TTL = 5000
const PAGE = 200

describe('requests that were not bound for too long', () => {
  type Row = { readonly uuid: string; readonly created_at: number; readonly updated_at: number | null }
  const opened = (pages: readonly (readonly Row[])[], unboundTtlMs = TTL) => {
    const [clock, log, counts] = [handClock(), memoryLog(), noCounts()]
    const [asked, leases, removed]: readonly [unknown[], unknown[], EntityKey[]] = [[], [], []]
    const left = [...pages]
    const world = { lease: true, refuses: '', states: {} as Readonly<Record<string, object>> }
    const tell = async (key: EntityKey, { plan, cause, at }: Work<unknown>) => {
      if (world.refuses === key) return refuse(AWAY)
      const decide = (_: unknown, of: EntityKey, { type }: { type: string }) =>
        removed.push(`${of} ${type} ${cause.by}`)
      const usual = { status: 'Initial', createdAt: clock.now() - TTL, updatedAt: null }
      const state = () => ({ ...usual, ...world.states[key] })
      return done(plan({ at, decide, state } as unknown as Draft))
    }
    const ttl = createUnboundTtl({
      ...{ clock, log, counts, options: { unboundTtlMs }, ids: { uuid: () => 'me' }, region: { tell } },
      reads: { page: async (query: object) => (asked.push(query), left.shift() ?? null) },
      sharing: { acquire: async (...lease: unknown[]) => (leases.push(lease), world.lease ? { epoch: 1 } : null) },
    } as unknown as Kernel)
    return { clock, log, counts, asked, leases, removed, world, now: ttl.now }
  }
  const NOW = handClock().now()
  const rowAt = (uuid: string, at: number, updated: number | null = null): Row => ({
    uuid,
    created_at: at,
    updated_at: updated,
  })
  const whole = (at: number, name = 'u') => Array.from({ length: PAGE }, (_, n) => rowAt(`${name}${n}`, at))
  const QUERY = { view: 'arqs', where: { state: ['Initial', 'Unbound'] }, sort: 'created_at', limit: PAGE }

  test('are looked for by the holder of a lease, if there is a limit at all', async () => {
    const off = opened([], 0)
    await off.now()
    const { world, asked, leases, now } = opened([])
    world.lease = false
    await now()
    expect([off.leases, leases, asked]).toEqual([[], [['unbound', 'me', 30_000]], []])
    world.lease = true
    await now()
    expect(asked).toEqual([QUERY])
  })
  test('are deleted from the very moment of the limit on, by their last change', async () => {
    const before = NOW - TTL
    const rows = [rowAt('a', before), rowAt('b', before + 1), rowAt('c', 0, before), rowAt('d', 0, before + 1)]
    const { removed, counts, log, now } = opened([rows])
    await now()
    expect(removed).toEqual(['arq/a Remove unbound_ttl', 'arq/c Remove unbound_ttl'])
    expect(counts.unboundDeleted).toBe(2)
    expect(log.said[1]).toEqual({ level: 'info', message: 'arq.unbound_too_long', detail: { arq: 'c' } })
  })
  test('are judged again as they are when they are deleted', async () => {
    const one = opened([['a', 'b', 'c', 'd', 'e'].map((uuid) => rowAt(uuid, 0))])
    one.world.states = {
      'arq/a': { status: 'Bound' },
      'arq/b': { createdAt: NOW - TTL + 1 },
      'arq/c': { updatedAt: NOW },
      'arq/d': { status: 'Unbound', createdAt: NOW, updatedAt: NOW - TTL },
    }
    one.world.refuses = 'arq/e'
    await one.now()
    expect([one.removed, one.counts.unboundDeleted]).toEqual([['arq/d Remove unbound_ttl'], 1])
  })
  test('are deleted in five pages a round, and the next round goes on after them, until one is not full', async () => {
    const { asked, removed, now } = opened([
      ...Array.from({ length: 6 }, (_, n) => whole(n, `p${n} `)),
      [rowAt('last', 9)],
    ])
    await now()
    expect([asked.length, removed.length]).toEqual([5, 1000])
    await now()
    const after = (n: number) => ({ ...QUERY, after: { value: n, key: `p${n} 199` } })
    expect(asked).toEqual([QUERY, after(0), after(1), after(2), after(3), after(4), after(5)])
    expect(removed).toHaveLength(1201)
    await now()
    expect(asked.slice(7)).toEqual([QUERY])
  })
  test('end with a page whose last request is not old enough', async () => {
    const limit = NOW - TTL
    const { asked, now } = opened([whole(limit), whole(limit + 1), []])
    await now()
    await now()
    expect(asked).toEqual([QUERY, { ...QUERY, after: { value: limit, key: 'u199' } }, QUERY])
  })
})

describe('servers that Nova does not know', () => {
  const MINUTE = 60_000
  const OLD = handClock().now() - 600_000
  const held = (instance: string, more: object = {}) => ({
    ...{ uuid: `of ${instance}`, instance_uuid: instance, state: 'Bound', hostname: 'h1', project_id: 'p1' },
    ...{ created_at: OLD, updated_at: null, ...more },
  })
  const opened = (rows: readonly ReturnType<typeof held>[], collectOrphansMs = MINUTE) => {
    const [clock, log] = [handClock(), memoryLog()]
    const said = new Map<string, NovaServer>([['well', KNOWN]])
    for (const row of rows) if (row.instance_uuid !== 'well') said.set(row.instance_uuid, { is: 'unknown' })
    const nova = novaServersOf(said)
    const leases: unknown[] = []
    const world = { rows, away: false, lease: true }
    const list = async (_: string, where: { readonly instance_uuid?: string }): Promise<Outcome<object>> => {
      if (world.away) return refuse(AWAY)
      const { instance_uuid: only } = where
      const items = only === undefined ? world.rows : world.rows.filter((row) => row.instance_uuid === only)
      return done({ items, next: null })
    }
    const round = createOrphanRound({
      ...{ clock, log, novaServers: nova.servers, options: { collectOrphansMs }, ids: { uuid: () => 'me' } },
      readers: { list },
      sharing: { acquire: async (...lease: unknown[]) => (leases.push(lease), world.lease ? { epoch: 1 } : null) },
      // what is to be deleted is refused, and named in the log
      region: { readCached: async () => refuse(AWAY) },
    } as unknown as Kernel)
    /** The instances whose requests would be deleted by a round. */
    const deleted = async () => {
      log.said.length = 0
      await round()
      return log.said.map(({ message, detail }) =>
        message === 'orphans.refused' ? detail['instance'] : [message, detail],
      )
    }
    return { clock, log, nova, leases, world, deleted }
  }
  const TWO = [held('gone'), held('well')]

  test('lose their requests when that is so for the whole time, which is a minute at least', async () => {
    const { clock, nova, leases, deleted } = opened(TWO, 1)
    expect(await deleted()).toEqual([])
    await clock.pass(MINUTE - 1)
    expect([await deleted(), nova.asked.length]).toEqual([[], 2])
    await clock.pass(1)
    expect(await deleted()).toEqual(['gone'])
    expect(leases).toEqual([
      ['orphans', 'me', 30_000],
      ['orphans', 'me', 30_000],
    ])
    // what could not be deleted is tried again
    await clock.pass(MINUTE)
    expect(await deleted()).toEqual(['gone'])
  })
  test.each([
    ['another request', [held('gone'), { ...held('gone'), uuid: 'new' }, held('well')]],
    ['changed', [held('gone', { updated_at: OLD - 1 }), held('well')]],
  ])('keep them for the whole time again when they have %s', async (_, rows) => {
    const { clock, world, deleted } = opened(TWO)
    await deleted()
    await clock.pass(MINUTE)
    world.rows = rows
    expect(await deleted()).toEqual([])
    await clock.pass(MINUTE)
    expect(await deleted()).toEqual(['gone'])
  })
  test('keep them for the whole time again when another process has had the lease', async () => {
    const { clock, world, nova, deleted } = opened(TWO)
    await deleted()
    await clock.pass(MINUTE)
    world.lease = false
    expect(await deleted()).toEqual([])
    world.lease = true
    await clock.pass(MINUTE - 1)
    expect([await deleted(), nova.asked.length]).toEqual([[], 2])
    await clock.pass(1)
    expect([await deleted(), nova.asked.length]).toEqual([[], 4])
    await clock.pass(MINUTE)
    expect(await deleted()).toEqual(['gone'])
  })
  test('keep them when the requests cannot be read, or Nova shows none that it knows', async () => {
    const { clock, world, nova, deleted } = opened(TWO)
    world.away = true
    expect(await deleted()).toEqual([['orphans.not_asked', { reason: AWAY }]])
    world.away = false
    await clock.pass(MINUTE)
    nova.blind = 'no role admin'
    expect(await deleted()).toEqual([['orphans.not_asked', { reason: 'no role admin' }]])
    nova.blind = null
    world.rows = [held('gone')]
    await clock.pass(MINUTE)
    expect(await deleted()).toEqual([])
    await clock.pass(MINUTE)
    expect(await deleted()).toEqual([['orphans.none_known', { unknown: 1 }]])
  })
})
