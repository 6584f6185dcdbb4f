/**
 * What the overview says of the service itself: every state that is planted is told, and nothing where nothing is
 * wrong. Over all stores.
 */
import type { ControlPlaneParts } from '../../src/services/controlPlane.ts'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { put } from '../../src/actors/runtime/views.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { handClock } from '../support/lab.ts'
import { describeWith } from '../support/needs.ts'
import { value } from '../support/plane.ts'
import { type Pool, pglitePool, ownPostgresPool } from '../support/storePools.ts'
import { openCloud } from './cloud.ts'

const CARD = { seed: 1, devices: [{ kind: 'fpga' as const, handles: 4, hostWork: true }] }
const DEADLINE_MS = 120_000
const NEVER = { count: 0, lastAt: null }
const DAY = 24 * 3_600_000
const WAIT = { timeout: 20_000, interval: 50 }

const open = async (pool: Pool, around: Partial<NonNullable<ControlPlaneParts['surroundings']>> = {}) => {
  const clock = handClock()
  const store = await pool.take(clock.now)
  const surroundings = { relay: 'relay', isStopped: async () => false, deadLetters: () => NEVER, ...around }
  // nothing is looked after by itself: what is planted stays as it is
  const options = { sweepEveryMs: DAY, bindDeadlineMs: DEADLINE_MS }
  const cloud = await openCloud(
    CARD,
    { 'resources:FPGA': '1' },
    { clock, options, surroundings, landmarks: store.landmarks },
    store,
    'when told',
  )
  const publish = async () => store.journal.saveCheckpoint('relay', await store.journalEnd())
  /** It is counted at most once a second. */
  const counted = async () => {
    await clock.pass(1100)
    return value(await cloud.control.overview())
  }
  await publish()
  const close = async () => {
    await cloud.plane.stop()
    await store.close()
  }
  return { ...cloud, clock, store, publish, counted, close }
}

const over = (pool: Pool): void => {
  beforeAll(async () => (await pool.take(Date.now)).close())
  afterAll(pool.end)

  test('where nothing is wrong, nothing is told but the last event', async () => {
    const cloud = await open(pool)
    const { failingDevices, placement, progress } = await cloud.counted()
    expect([failingDevices, placement]).toEqual([0, {}])
    const newestAt = expect.any(Number)
    expect(progress).toMatchObject({
      binds: { late: 0, nextAt: null },
      overdueSince: null,
      journal: { newestAt, untoldSince: null, isStopped: false },
      found: { viewsDiffer: NEVER, orphans: NEVER, slotDifferences: NEVER, refusedReports: NEVER, deadLetters: NEVER },
    })
    await cloud.close()
  })

  test('a bind is late when half of its time is over, and overdue after it', async () => {
    const cloud = await open(pool)
    await cloud.start()
    const began = cloud.clock.now()
    expect((await cloud.counted()).progress.binds).toEqual({ late: 0, nextAt: null })
    await cloud.clock.pass(DEADLINE_MS / 2)
    const { progress } = await cloud.counted()
    expect(progress.binds).toEqual({ late: 1, nextAt: began + DEADLINE_MS })
    expect(progress.overdueSince).toBeNull()
    await cloud.clock.pass(DEADLINE_MS / 2)
    expect((await cloud.counted()).progress.overdueSince).toBe(began + DEADLINE_MS)
    await cloud.close()
  })

  test('a row that is not on the bus is told with its age, until it is', async () => {
    const cloud = await open(pool)
    await cloud.create()
    const at = cloud.clock.now()
    const journal = async () => (await cloud.counted()).progress.journal
    // another test on the same server may have a transaction open, which hides the last rows from the feed until it
    // ends
    await vi.waitFor(async () => expect(await journal()).toMatchObject({ untoldSince: at, newestAt: at }), WAIT)
    await cloud.publish()
    await vi.waitFor(async () => expect(await journal()).toMatchObject({ untoldSince: null, newestAt: at }), WAIT)
    await cloud.close()
  })

  test('hosts that differ in Placement are counted by their state', async () => {
    const cloud = await open(pool)
    const due = (name: string, state: string) =>
      put('due', { entity: `placement/${name}`, kind: `placement ${state}`, at: cloud.clock.now() + DAY })
    const row = {
      key: `arq/${randomUUID()}`,
      version: 1,
      commandId: randomUUID(),
      events: [],
      at: 1,
      cause: {},
    } as const
    const changes = [due('a', 'unreachable'), due('b', 'unreachable'), due('c', 'in_sync')]
    expect(await cloud.store.journal.append({ rows: [row], changes })).toBe('appended')
    expect((await cloud.counted()).placement).toEqual({ unreachable: 2, in_sync: 1 })
    await cloud.close()
  })

  test('writing that is stopped, and dead letters, are told', async () => {
    const deadLetters = { count: 3, lastAt: 17 }
    const cloud = await open(pool, { isStopped: async () => true, deadLetters: () => deadLetters })
    const { journal, found } = (await cloud.counted()).progress
    expect([journal.isStopped, found.deadLetters]).toEqual([true, deadLetters])
    await cloud.close()
  })

  test('a failing device is counted, and found among those that fail', async () => {
    const cloud = await open(pool)
    const { uuid } = await cloud.device()
    const held = { ...(await cloud.device()), failing: 'too hot' }
    const row = {
      key: `arq/${randomUUID()}`,
      version: 1,
      commandId: randomUUID(),
      events: [],
      at: 1,
      cause: {},
    } as const
    await cloud.store.journal.append({ rows: [row], changes: [put('devices', held)] })
    expect((await cloud.counted()).failingDevices).toBe(1)
    const listed = async (failing: boolean) =>
      value(await cloud.control.devices.list({ failing }, { limit: 1 })).items.map((one) => one.uuid)
    expect([await listed(true), await listed(false)]).toEqual([[uuid], []])
    await cloud.close()
  })
}

describe('in memory', () => over({ take: async (now) => memoryStore({ now }), end: async () => {} }))
describe('PGlite', () => over(pglitePool()))
describeWith('postgres', 'PostgreSQL', (bin) => over(ownPostgresPool(bin)))
