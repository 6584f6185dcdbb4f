/** What a relay's states record of what may come late, and when they tell it once more: call by call. */
import { expect, test } from 'vitest'
import type { Latest } from '../../src/actors/latest.ts'
import type { FeedRow } from '../../src/actors/runtime/ports.ts'
import { SetAside } from '../../src/delivery/relay/setAside.ts'
import { States } from '../../src/delivery/relay/states.ts'
import { handClock, memoryLog, quiet } from '../support/lab.ts'

const GRACE_MS = 1000
const row = (entity: string, position: number): FeedRow => ({
  key: `arq/${entity}`,
  version: position,
  commandId: `${position}`,
  events: [],
  at: position,
  cause: {},
  position: String(position),
})
const opened = ({ kept = '', rowsMax = 2, rows = [] as readonly FeedRow[] } = {}) => {
  const [clock, log] = [handClock(), memoryLog()]
  const said: string[] = []
  const way = { fails: false, saves: true, trusted: true, during: (): void => {} }
  const source: Latest = {
    tells: (key) => !key.includes('untold'),
    read: async (keys) => new Map(keys.map((key) => [key, `state of ${key}`])),
    record: ({ key, version }, latest, id) => ({
      topic: 'arq.state.v1',
      key,
      value: `${latest} ${version}`,
      headers: { id },
    }),
  }
  const publish = async (records: readonly { readonly value: string; readonly headers: object }[]) => {
    const text = records.map(({ value, headers }) => `${value} (${Object.values(headers).join()})`).join(', ')
    said.push(`${way.fails ? 'fails' : 'publishes'} ${text}`)
    way.during()
    if (way.fails) throw new Error('no way to the bus')
  }
  const states = new States({
    source,
    journal: {
      feed: async (after, limit) => {
        said.push(`reads after ${after}, at most ${limit}`)
        return rows.filter(({ position }) => Number(position) > Number(after)).slice(0, limit)
      },
      checkpoint: async (reader) => (reader === 'relay.unsettled' ? kept : '5'),
    },
    setAside: new SetAside({ bus: { publish }, clock, log, stuckAfterMs: 1e9 }),
    clock,
    log,
    reader: 'relay',
    holder: 'one',
    graceMs: GRACE_MS,
    rowsMax,
    save: async (reader, position) => {
      said.push(`saves ${reader}: ${position}`)
      return way.saves
    },
    wake: () => void said.push('wakes'),
  })
  const flush = () => states.flush(() => way.trusted)
  /** What was said since this was asked last. */
  const now = () => [...said.splice(0), ...(states.waiting ? ['waits'] : [])]
  return { states, flush, now, clock, way, log }
}

/** A tenure that has published everything once more, so that nothing is kept of what may come late. */
const settled = async () => {
  const it = opened({ kept: 'settled' })
  await it.states.begin('5')
  it.states.noted([], true)
  await it.clock.pass(GRACE_MS)
  await it.flush()
  expect(it.now()).toEqual(['saves relay.unsettled: from 5', 'wakes', 'saves relay.unsettled: settled'])
  return it
}

test('a tenure begins where the states were published last, and keeps that until all is told once more', async () => {
  const { states, flush, now, clock } = opened({ rows: [row('a', 4), row('b', 5), row('c', 6), row('a', 7)] })
  await states.begin('5')
  expect(now()).toEqual(['saves relay.unsettled: from 5'])
  states.noted([row('c', 6)], false)
  expect(now()).toEqual(['waits'])
  expect(await flush()).toBe(true)
  // nothing more is kept: where it began is kept already
  expect(now()).toEqual(['publishes state of arq/c 6 (one.1)'])
  states.noted([row('a', 7), row('untold', 8)], true)
  expect(await flush()).toBe(true)
  expect(now()).toEqual(['publishes state of arq/a 7 (one.2)'])
  await clock.pass(GRACE_MS - 1)
  expect(now()).toEqual([])
  await clock.pass(1)
  expect(now()).toEqual(['wakes', 'waits'])
  expect(await flush()).toBe(true)
  expect(now()).toEqual([
    'publishes state of arq/c 6 (one.3), state of arq/a 7 (one.4)',
    'saves relay.unsettled: settled',
  ])
  await flush()
  await clock.pass(10 * GRACE_MS)
  expect([now(), states.published]).toEqual([[], 4])
})

test('a tenure after one that never settled begins where that one began, and reads no further than its own beginning', async () => {
  const rows = [row('a', 2), row('b', 3), row('c', 4), row('d', 5), row('e', 6)]
  for (const [rowsMax, reads] of [
    [2, ['reads after 1, at most 2', 'reads after 3, at most 2']],
    [3, ['reads after 1, at most 3', 'reads after 4, at most 3']],
    [10, ['reads after 1, at most 10']],
  ] as const) {
    const { states, flush, now, clock } = opened({ kept: 'from 1', rowsMax, rows })
    await states.begin('5')
    expect(now()).toEqual(reads)
    states.noted([], true)
    await flush()
    expect(now()).toEqual([])
    await clock.pass(GRACE_MS)
    await flush()
    expect(now()).toEqual([
      'wakes',
      `publishes ${['a 2', 'b 3', 'c 4', 'd 5'].map((one, n) => `state of arq/${one} (one.${n + 1})`).join(', ')}`,
      'saves relay.unsettled: settled',
    ])
  }
})

test('STATES-5 a portion that may come late is recorded before the next, and told once more after the grace', async () => {
  const { states, flush, now, clock, way } = await settled()
  states.noted([row('a', 6)], true)
  way.fails = true
  await expect(flush()).rejects.toThrow('no way to the bus')
  expect(now()).toEqual(['fails state of arq/a 6 (one.1)', 'waits'])
  way.fails = false
  await flush()
  expect(now()).toEqual(['saves relay.unsettled: from 5', 'publishes state of arq/a 6 (one.2)'])
  states.noted([row('b', 7)], true)
  await flush()
  expect(now()).toEqual(['publishes state of arq/b 7 (one.3)'])
  await clock.pass(GRACE_MS)
  way.saves = false
  await flush()
  // it could not be recorded that this is over: it is tried again
  expect(now()).toEqual(['wakes', 'publishes state of arq/a 6 (one.4)', 'saves relay.unsettled: settled', 'waits'])
  way.saves = true
  await flush()
  expect(now()).toEqual(['saves relay.unsettled: settled'])
})

test('a tenure that ends forgets what it had to tell, and tells no more of it', async () => {
  const { states, flush, now, clock } = opened()
  await states.begin('5')
  states.noted([row('a', 6)], true)
  states.forget()
  await clock.pass(10 * GRACE_MS)
  await flush()
  expect(now()).toEqual(['saves relay.unsettled: from 5'])
})

test('STATES-4 what was published after the trust had ended is told until it is still true, and whoever is not trusted tells nothing', async () => {
  const { states, flush, now, clock, way, log } = opened()
  await states.begin('5')
  states.noted([row('a', 6)], false)
  way.trusted = false
  expect(await flush()).toBe(false)
  expect(now().slice(1)).toEqual(['waits'])
  let asked = 0
  // trusted before it publishes, and not any more when that has ended
  expect(await states.flush(() => ++asked < 2)).toBe(true)
  await quiet()
  expect(now()).toEqual(['publishes state of arq/a 6 (one.1)', 'publishes state of arq/a 6 (one.2)'])
  expect(log.said).toContainEqual({ level: 'warn', detail: { entities: 1 }, message: 'relay.statesLate' })
  states.noted([row('b', 7)], false)
  way.fails = true
  asked = 0
  await expect(states.flush(() => ++asked < 2)).rejects.toThrow('no way')
  await quiet()
  expect(now()).toEqual(['fails state of arq/b 7 (one.3)', 'fails state of arq/b 7 (one.4)', 'waits'])
  way.fails = false
  await clock.pass(1000)
  expect(now()).toEqual(['wakes', 'publishes state of arq/b 7 (one.5)', 'waits'])
  // it may have been stored after all, and late: once more
  await clock.pass(GRACE_MS)
  expect(now()).toEqual(['publishes state of arq/b 7 (one.6)', 'waits'])
  await states.stop()
})

test('STATES-5 the same holds for a portion that failed while the lease was not trusted, if the lease is renewed afterwards', async () => {
  const { states, flush, now, clock, way } = await settled()
  states.noted([row('a', 6)], true)
  way.fails = true
  way.during = () => void (way.trusted = false)
  await expect(flush()).rejects.toThrow('no way to the bus')
  Object.assign(way, { fails: false, trusted: true, during: () => {} })
  now()
  await flush()
  expect(now()).toContain('saves relay.unsettled: from 5')
  await clock.pass(GRACE_MS)
  await flush()
  // once since it may have come late (STATES-4), and once since it may still come
  expect(now()).toEqual([
    'wakes',
    'publishes state of arq/a 6 (one.4)',
    'publishes state of arq/a 6 (one.5)',
    'saves relay.unsettled: settled',
  ])
})

test('states are read and published five hundred at a time, each portion after the one before', async () => {
  const { states, flush, now } = opened()
  states.noted(
    Array.from({ length: 1001 }, (_, n) => row(`${n}`, n)),
    true,
  )
  expect(await flush()).toBe(true)
  expect([now().map((one) => one.split(', ').length), states.published]).toEqual([[500, 500, 1], 1001])
})

test('STATES-4 what came late is told thirty times at most, and noted then; what comes late afterwards is told again', async () => {
  const { states, flush, now, clock, way, log } = opened()
  const late = async (entity: string, position: number) => {
    let asked = 0
    states.noted([row(entity, position)], false)
    await states.flush(() => ++asked < 2).catch(() => {})
    await quiet()
  }
  way.fails = true
  await late('a', 6)
  await clock.pass(100_000)
  expect(now().filter((one) => one.startsWith('fails')).length).toBeGreaterThan(30)
  expect(log.said.filter(({ message }) => message === 'relay.statesLateAgain')).toHaveLength(30)
  expect(log.said.filter(({ level }) => level === 'error')).toEqual([
    { level: 'error', message: 'relay.statesOld', detail: { entities: 1 } },
  ])
  way.fails = false
  await flush()
  now()
  await late('b', 7)
  expect(now().filter((one) => one.startsWith('publishes'))).toEqual([
    expect.stringMatching(/^publishes state of arq\/b 7 /),
    expect.stringMatching(/^publishes state of arq\/b 7 /),
  ])
  await states.stop()
})

test('the entities whose states are to be published are bounded: further ones are noted, known ones are not', async () => {
  const { states, log } = opened()
  const rows = Array.from({ length: 200_000 }, (_, n) => row(`${n}`, n))
  states.noted([...rows, row('0', 200_001)], false)
  expect(log.said).toEqual([])
  states.noted([row('further', 200_002), row('1', 200_003)], false)
  expect(log.said).toEqual([
    { level: 'error', message: 'relay.stateUntold', detail: { key: 'arq/further', version: 200_002 } },
  ])
})
