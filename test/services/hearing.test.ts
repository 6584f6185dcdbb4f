/** When hosts were last heard from: what is stored for other processes, what these have stored. */
import { describe, expect, test } from 'vitest'
import type { Silence } from '../../src/actors/runtime/sharing.ts'
import { done } from '../../src/fault.ts'
import { createLiveness } from '../../src/services/hosts/liveness.ts'
import type { Kernel } from '../../src/services/kernel/kernel.ts'
import { handClock, memoryLog } from '../support/lab.ts'

const HOUR = 3_600_000

/** What sweeps record of hosts is tried over real actors, in `silentFleet.test.ts`. */
const opened = (rows: readonly { readonly name: string; readonly updated_at: number | null }[] = []) => {
  const [clock, log] = [handClock(), memoryLog()]
  const silences = new Map<string, Silence>()
  const [noted, forgets]: readonly [(readonly string[])[], number[]] = [[], []]
  const world = {
    whileNoting: () => {},
    forgotten: 0 as number | Error,
  }
  const sharing = {
    noteSeen: async (names: readonly string[]) => (noted.push(names), world.whileNoting()),
    silences: async () => new Map(silences),
    forgetSeen: async (ms: number) => {
      forgets.push(ms)
      if (world.forgotten instanceof Error) throw world.forgotten
      return world.forgotten
    },
  }
  const options = { noteSeenEveryMs: 2000, staleAfterMs: 15_000, downAfterMs: 60_000 }
  const liveness = createLiveness({
    ...{ clock, log, sharing, options },
    readers: { list: async () => done({ items: rows.map((row) => ({ ...row, liveness: 'up' })), next: null }) },
  } as unknown as Kernel)
  return { clock, log, silences, noted, forgets, world, liveness, start: clock.now() }
}

describe('the hosts that a process has heard from', () => {
  test('are stored together, every two seconds at most, and only when there are some', async () => {
    const { clock, noted, liveness } = opened()
    await liveness.note()
    liveness.seen('h1')
    liveness.seen('h2')
    liveness.seen('h1')
    await liveness.note()
    expect(noted).toEqual([['h1', 'h2']])
    liveness.seen('h3')
    await clock.pass(1999)
    await liveness.note()
    expect(noted).toHaveLength(1)
    await clock.pass(1)
    await liveness.note()
    await clock.pass(2000)
    await liveness.note()
    expect(noted.slice(1)).toEqual([['h3']])
  })
  test('are stored again when they are heard from while they are stored', async () => {
    const { clock, noted, liveness, world } = opened()
    liveness.seen('h1')
    liveness.seen('h2')
    await clock.pass(1)
    world.whileNoting = () => liveness.seen('h1')
    await liveness.note()
    world.whileNoting = () => {}
    await clock.pass(2000)
    await liveness.note()
    expect(noted).toEqual([['h1', 'h2'], ['h1']])
  })
  test('are not stored any more when that was long ago, but this process knows it', async () => {
    const { clock, noted, liveness, start } = opened()
    liveness.seen('h1')
    await clock.pass(1)
    liveness.seen('h2')
    await clock.pass(3999)
    await liveness.note()
    expect(noted).toEqual([['h2']])
    expect([liveness.lastSeen('h1'), liveness.lastSeen('h2')]).toEqual([start, start + 1])
    await clock.pass(5000)
    liveness.seen('h3')
    await clock.pass(4000)
    await liveness.note()
    expect([noted.length, liveness.lastSeen('h3')]).toEqual([1, start + 9000])
  })
  test('are a hundred thousand at most, and each of those may be heard from again', async () => {
    const { clock, noted, liveness, start } = opened()
    for (let n = 0; n <= 100_000; n++) liveness.seen(`h${n}`)
    await clock.pass(5)
    liveness.seen('h0')
    await liveness.note()
    expect(noted.map((names) => names.length)).toEqual([100_000])
    expect([liveness.lastSeen('h0'), liveness.lastSeen('h99999'), liveness.lastSeen('h100000')]).toEqual([
      start + 5,
      start,
      null,
    ])
  })
})

describe('what other processes have stored', () => {
  test('counts from when it changes, and not by the clock of the store any more', async () => {
    const { clock, silences, liveness, start } = opened()
    silences
      .set('h1', { ms: 4000.4, mark: 'a' })
      .set('h2', { ms: -1000, mark: 'a' })
      .set('h3', { ms: -1001, mark: 'a' })
    await liveness.sweep()
    const seen = () => ['h1', 'h2', 'h3', 'h4'].map((name) => liveness.lastSeen(name))
    expect(seen()).toEqual([start - 4000, start, null, null])
    // the clock of the store is set
    silences.set('h1', { ms: 0, mark: 'a' }).set('h3', { ms: 0, mark: 'a' })
    await clock.pass(1000)
    await liveness.sweep()
    expect(seen()).toEqual([start - 4000, start, null, null])
    silences.set('h1', { ms: 9000, mark: 'b' }).set('h2', { ms: 300, mark: 'b' })
    await liveness.sweep()
    expect(seen()).toEqual([start - 4000, start + 700, null, null])
    // a name that was forgotten and comes back is new
    silences.delete('h3')
    await liveness.sweep()
    silences.set('h3', { ms: 0, mark: 'a' })
    await liveness.sweep()
    expect(seen()[2]).toBe(start + 1000)
  })
  test('is remembered for an hour after the store has forgotten it', async () => {
    const { clock, silences, liveness, start } = opened()
    silences.set('h1', { ms: 0, mark: 'a' })
    await liveness.sweep()
    silences.clear()
    await clock.pass(HOUR - 1)
    await liveness.sweep()
    expect(liveness.lastSeen('h1')).toBe(start)
    await clock.pass(1)
    await liveness.sweep()
    expect(liveness.lastSeen('h1')).toBe(null)
  })
  test('the store is asked once a minute to forget names that it has not heard for an hour', async () => {
    const { clock, log, forgets, liveness, world } = opened()
    await clock.pass(59_999)
    await liveness.sweep()
    expect(forgets).toEqual([])
    await clock.pass(1)
    await liveness.sweep()
    await liveness.sweep()
    expect([forgets, log.said]).toEqual([[HOUR], []])
    for (const forgotten of [3, new Error('not allowed')]) {
      world.forgotten = forgotten
      await clock.pass(60_000)
      await liveness.sweep()
    }
    expect(log.said).toEqual([
      { level: 'info', message: 'host.forgotten', detail: { names: 3 } },
      { level: 'warn', message: 'host.notForgotten', detail: { error: 'not allowed' } },
    ])
  })
})

test('the moment when the state of a host has last changed is known from the last sweep', async () => {
  const { liveness } = opened([
    { name: 'h1', updated_at: 5 },
    { name: 'h2', updated_at: null },
  ])
  expect(liveness.changedAt('h1')).toBe(null)
  await liveness.sweep()
  expect(['h1', 'h2', 'h3'].map(liveness.changedAt)).toEqual([5, null, null])
})
