/** When hosts were last heard from: what is stored for other processes, what these have stored, what is recorded. */
import { describe, expect, test } from 'vitest'
import type { Work } from '../../src/actors/runtime/commit.ts'
import type { Draft } from '../../src/actors/runtime/draft.ts'
import type { Silence } from '../../src/actors/runtime/sharing.ts'
import { type Fault, type Outcome, done, refuse } from '../../src/fault.ts'
import type { EntityKey } from '../../src/identifiers.ts'
import { createLiveness } from '../../src/services/hosts/liveness.ts'
import type { Kernel } from '../../src/services/kernel/kernel.ts'
import { handClock, memoryLog } from '../support/lab.ts'

const HOUR = 3_600_000
const AWAY: Fault = { kind: 'unavailable', reason: 'away', retryAfterSeconds: 1 }
type Row = { readonly name: string; readonly liveness: string; readonly updated_at: number | null }
const row = (name: string, liveness = 'up', at: number | null = 7): Row => ({ name, liveness, updated_at: at })

const opened = (rows: readonly Row[] = []) => {
  const [clock, log] = [handClock(), memoryLog()]
  const silences = new Map<string, Silence>()
  const [noted, forgets, recorded]: readonly [(readonly string[])[], number[], unknown[]] = [[], [], []]
  const world = {
    rows: done({ items: rows, next: null }) as Outcome<object>,
    whileNoting: () => {},
    forgotten: 0 as number | Error,
    refuses: (() => false) as (keys: readonly EntityKey[]) => boolean,
    absent: '',
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
  const together = async (keys: readonly EntityKey[], { plan, cause }: Work<unknown>) => {
    if (world.refuses(keys)) return (recorded.push(`${keys.length} refused`), refuse(AWAY))
    const decide = (_: unknown, key: EntityKey, command: object) => {
      if (keys.length < 3) recorded.push([key, cause, command])
      return [command]
    }
    const state = (_: unknown, key: EntityKey) => ({ exists: key !== world.absent })
    const value = plan({ decide, state } as unknown as Draft)
    if (keys.length > 2) recorded.push(keys.length)
    return done(value)
  }
  const options = { noteSeenEveryMs: 2000, staleAfterMs: 15_000, downAfterMs: 60_000 }
  const liveness = createLiveness({
    ...{ clock, log, sharing, options, units: { together }, ids: { uuid: () => 'made' } },
    readers: { list: async () => world.rows },
  } as unknown as Kernel)
  return { clock, log, silences, noted, forgets, recorded, world, liveness, start: clock.now() }
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
  test('is forgotten after an hour if it is no host, which is looked for once a minute', async () => {
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

describe('a sweep', () => {
  test('records what has changed, and leaves hosts alone that wait, are removed, or are new to this process', async () => {
    const { clock, log, recorded, liveness, world } = opened([
      row('h1', 'up', 5),
      row('h2', 'stale', null),
      row('h3', 'pending'),
      row('h4', 'removed'),
    ])
    await clock.pass(14_999)
    await liveness.sweep()
    expect([recorded, log.said]).toEqual([[], []])
    expect([liveness.changedAt('h1'), liveness.changedAt('h2'), liveness.changedAt('h9')]).toEqual([5, null, null])
    await clock.pass(1)
    liveness.seen('h2')
    liveness.seen('h3')
    await liveness.sweep()
    const set = (name: string, liveness: string) => [
      `host/${name}`,
      { by: 'liveness' },
      { type: 'SetLiveness', liveness, by: 'silence' },
    ]
    expect(recorded).toEqual([set('h1', 'stale'), set('h2', 'up')])
    expect(log.said.map(({ message, detail }) => [message, detail])).toEqual([
      ['host.liveness', { host: 'h1', liveness: 'stale' }],
      ['host.liveness', { host: 'h2', liveness: 'up' }],
    ])
    world.absent = 'host/h1'
    await liveness.sweep()
    expect(recorded.slice(2)).toEqual([set('h2', 'up')])
    world.rows = refuse(AWAY)
    await liveness.sweep()
    expect(recorded).toHaveLength(3)
  })
  test('records in portions, of half the size after a failed one, and of twice the size after others', async () => {
    const rows = Array.from({ length: 900 }, (_, n) => row(`h${n}`))
    const { clock, log, recorded, liveness, world } = opened(rows)
    await clock.pass(15_000)
    let failures = 2
    world.refuses = () => failures-- > 0
    await liveness.sweep()
    expect(recorded).toEqual(['256 refused', '128 refused', 64, 128, 256, 68])
    const detail = { hosts: 256, first: 'h0', fault: AWAY }
    expect(log.said[0]).toEqual({ level: 'warn', message: 'liveness.refused', detail })
    recorded.length = 0
    world.refuses = (keys) => keys.includes('host/h5')
    await liveness.sweep()
    expect(recorded).toEqual(['256 refused', 128, 256, 256, 4])
  })
  test('records hosts one by one while nothing can be recorded', async () => {
    const { clock, recorded, liveness, world } = opened(['h1', 'h2', 'h3', 'h4'].map((name) => row(name)))
    await clock.pass(15_000)
    world.refuses = () => true
    await liveness.sweep()
    await liveness.sweep()
    expect(recorded).toEqual(['4 refused', '2 refused', '1 refused', '1 refused'])
  })
})
