/**
 * A control has recorded due work by a wrong clock and is gone: another control, with the right clock, does the work in
 * a bounded time, and no sooner than it may. The same for each kind of due work, on each store.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Placement } from '../../src/actors/placement/port.ts'
import { shifted } from '../../src/vocabulary/clock.ts'
import { memoryStores } from '../support/memoryStore/memory.ts'
import { handClock, quiet } from '../support/lab.ts'
import { catalogueOf } from '../support/images.ts'
import { describeWith } from '../support/needs.ts'
import { placementInMemory } from '../support/placement.ts'
import { NOVA, TENANT, openPlane, value } from '../support/plane.ts'
import { type Pool, pglitePool, postgresPool } from '../support/storePools.ts'
import type { Source } from '../support/stores.ts'
import { openCloud } from './cloud.ts'

const [HOUR, DAY, STEP] = [3_600_000, 86_400_000, 10_000]
const [BIND, PROGRAM, TTL] = [120_000, 200_000, 300_000]
/** The rounds come every ten seconds, and some of the work is looked for in every eighth of them. */
const LOOK = 8 * STEP
const CARD = { seed: 2, devices: [{ kind: 'fpga' as const, handles: 4, hostWork: true }] }
const ROOT = '7d2cd0a4-0f3c-4d0e-8d7f-2f1f1d2b1a01'
const OPTIONS = {
  ...{ bindDeadlineMs: BIND, programDeadlineMs: PROGRAM, programWaitMs: 1, unboundTtlMs: TTL },
  ...{ staleAfterMs: 1e9, downAfterMs: 2e9, sweepEveryMs: 10 * 365 * DAY },
  // a database measures claims by its own time, which passes more slowly than the clock of the test
  claimMs: 1,
}
/** Who asks it waits for ever, from the moment on in which `world.hangs` is set. */
const HUNG = new Promise<never>(() => {})
const hanging = (port: Placement, world: { readonly hangs: boolean }): Placement => ({
  ...port,
  tree: (uuid) => (world.hangs ? HUNG : port.tree(uuid)),
})

const opened = async (source: Source) => {
  const clock = handClock()
  const given = await source(clock.now)
  // two controls use it, as no embedded database allows
  const store = { ...given, journal: { ...given.journal, exclusive: false } }
  const placed = placementInMemory()
  const told: string[] = []
  const nova = (outcome: 'delivered' | 'retry') => ({
    notify: async (events: readonly { readonly tag: string }[]) => {
      if (outcome === 'delivered') told.push(...events.map(({ tag }) => tag))
      return events.map(({ tag }) => ({ tag, outcome, code: 200 }) as const)
    },
  })
  const parts = { clock, options: OPTIONS, placement: placed.placement, images: catalogueOf() }
  placed.ask('POST', '/resource_providers', { uuid: ROOT, name: 'h1' })
  const right = await openCloud(
    CARD,
    { 'resources:FPGA': '1' },
    { ...parts, nova: nova('delivered') },
    store,
    'when told',
  )
  const round = async () => {
    await clock.pass(STEP)
    await right.plane.sweeper.round()
    await right.plane.sweeper.idle()
  }
  for (let n = 0; n < 8; n++) await round()
  await right.pump()
  const { rp_uuid: rp } = right.deployable
  const reserved = () => {
    const { inventories } = placed.ask('GET', `/resource_providers/${rp}/inventories`) as {
      readonly inventories: Readonly<Record<string, { readonly reserved: number }>>
    }
    return inventories['FPGA']!.reserved
  }
  expect(reserved()).toBe(0)
  /** A control whose clock is wrong by so much. */
  const wrong = async (ms: number) => {
    const state = { hangs: false }
    const its = {
      ...parts,
      clock: shifted(clock, ms),
      nova: nova('retry'),
      placement: hanging(placed.placement, state),
    }
    const plane = await openPlane(its, store, 'when told')
    const start = async () => {
      const [arq] = value(await plane.control.arqs.create(TENANT, 'p'))
      value(await plane.control.arqs.bind(NOVA, [right.bindingOf(arq!.uuid, crypto.randomUUID())]))
      return arq!.uuid
    }
    return { ...plane, state, start }
  }
  /** Time passes until the work is done. A database answers when it likes, so it is asked between two steps. */
  const passing = async <Value>(work: Promise<Value>): Promise<Value> => {
    let over = false
    const ended = () => void (over = true)
    void work.then(ended, ended)
    for (let n = 0; n < 300 && !over; n++) {
      await clock.pass(100)
      await store.reads.page({ view: 'due', where: {}, sort: 'entity', limit: 1 })
    }
    return work
  }
  const close = async () => {
    await Promise.all([right.plane.stop(), clock.pass(HOUR)])
    await store.close()
  }
  return { ...right, clock, passing, round, reserved, told, wrong, close }
}
type World = Awaited<ReturnType<typeof opened>>
type Wrong = Awaited<ReturnType<World['wrong']>>

/**
 * `record`: what the wrong control does before it is gone; returns whether the work is done. `within`: how long that
 * takes at most. `after`: it must take as long as this, if the wrong clock is ahead.
 */
type Work = {
  readonly record: (wrong: Wrong, world: World) => Promise<() => boolean | Promise<boolean>>
  readonly within: number
  readonly after?: number
}
/** The passes over the host that have begun. */
const begins = async ({ journal }: World['store']): Promise<number> => {
  const rows = await journal.history(['placement/h1'], 100)
  return rows.flatMap(({ events }) => events).filter(({ type }) => type === 'PassBegun').length
}
const KINDS: Readonly<Record<string, Work>> = {
  'a change is shown in Placement': {
    record: async ({ control }, { deployable, reserved }) => {
      value(await control.devices.setStatus(NOVA, deployable.device_uuid, 'maintaining'))
      return () => reserved() === 4
    },
    within: 60_000,
  },
  'a host is compared with Placement by another control than the one that died at it': {
    record: async ({ control, plane, state, store }, { deployable, reserved }) => {
      value(await control.devices.setStatus(NOVA, deployable.device_uuid, 'maintaining'))
      await plane.sweeper.idle()
      state.hangs = true
      const before = await begins(store)
      void plane.sweeper.placer!.now('h1')
      for (let tries = 0; tries < 200 && (await begins(store)) === before; tries++) await quiet(5)
      return () => reserved() === 4
    },
    within: 200_000,
  },
  'Nova is told how a bind ended': {
    record: async ({ start, answer }, { store, told }) => {
      const arq = await start()
      const [order] = (await store.reads.page({ view: 'pending_orders', where: {}, sort: 'slot', limit: 1 }))!
      await answer(order!.body)
      await quiet(50)
      return () => told.includes(arq)
    },
    within: 120_000,
  },
  'an order is sent again': {
    record: async ({ start }, { orders }) => {
      await start()
      return () => orders.length > 0
    },
    within: 60_000,
  },
  'a bind ends that no host answers': {
    record: async ({ start }, { states }) => {
      const arq = await start()
      return async () => (await states([arq]))[0] === 'BindFailed'
    },
    within: 2 * BIND + LOOK,
    after: BIND,
  },
  'a programming ends that its host does not answer': {
    record: async ({ control }, { deployable, pending, passing }) => {
      value(await passing(control.deployables.program(NOVA, deployable.uuid, crypto.randomUUID())))
      return async () => (await pending()).length === 0
    },
    within: 2 * PROGRAM + LOOK,
    after: PROGRAM,
  },
  'a release that failed is ordered again': {
    record: async ({ start, answer, control }, { store, pending }) => {
      const arq = await start()
      const next = async () =>
        (await store.reads.page({ view: 'pending_orders', where: {}, sort: 'slot', limit: 1 }))![0]!
      await answer((await next()).body)
      value(await control.arqs.unbind(NOVA, [arq]))
      const { body } = await next()
      await answer(body, { status: 'failed', reason: 'busy', final: true })
      return async () => (await pending()).some(({ number }) => number > body.number)
    },
    within: 1_500_000,
    after: 300_000,
  },
  'a request that nobody binds is deleted': {
    record: async ({ control }, { control: right }) => {
      const [arq] = value(await control.arqs.create(TENANT, 'p'))
      return async () => !(await right.arqs.get(NOVA, arq!.uuid)).ok
    },
    within: 2 * TTL + LOOK,
    after: TTL,
  },
}
const CLOCKS = [
  ['an hour ahead', () => HOUR],
  ['an hour behind', () => -HOUR],
  ['in 2099', (now: number) => Date.UTC(2099, 0, 1) - now],
] as const

const over = (source: Source, prepare: () => Promise<unknown> = async () => {}, end = async () => {}) => {
  // the first store of a pool takes longer than a test may
  beforeAll(prepare)
  afterAll(end)
  describe.each(CLOCKS)('by a control whose clock was %s', (_, offset) => {
    test.each(Object.entries(KINDS))('%s', async (_name, { record, within, after }) => {
      const world = await opened(source)
      const wrong = await world.wrong(offset(world.clock.now()))
      const isDone = await record(wrong, world)
      const start = world.clock.monotonic()
      const passed = () => world.clock.monotonic() - start
      while (passed() < within && !(await isDone())) await world.round()
      expect(await isDone()).toBe(true)
      if (after !== undefined && offset(world.clock.now()) > 0) expect(passed()).toBeGreaterThanOrEqual(after)
      await world.close()
    })
    test('an operator has a host compared at once, whoever died at it', async () => {
      const world = await opened(source)
      const wrong = await world.wrong(offset(world.clock.now()))
      await KINDS['a host is compared with Placement by another control than the one that died at it']!.record(
        wrong,
        world,
      )
      const healed = await world.passing(world.control.drift.heal(NOVA, 'h1'))
      expect(healed).toMatchObject({ ok: true, value: { items: [{ host: 'h1', ended: true }] } })
      expect(world.reserved()).toBe(4)
      await world.close()
    })
  })
}
const onPool = (pool: Pool) => over(pool.take, async () => (await pool.take(Date.now)).close(), pool.end)

describe('due work on the store in memory', () => over(async (now) => memoryStores({ exclusive: false, now })()))
describe('due work on the embedded database', () => onPool(pglitePool()))
describeWith('postgres', 'due work on PostgreSQL', (bin) => onPool(postgresPool(bin)))
