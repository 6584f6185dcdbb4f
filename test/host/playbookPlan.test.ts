/** Which playbooks are due, for whatever a host remembers and finds. */
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Kept,
  NOTHING_KEPT,
  OUTPUT_MAX,
  type Present,
  type Run,
  begun,
  due,
  enabledBy,
  heldBack,
  keptIn,
  over,
  withRun,
} from '../../src/host/playbookPlan.ts'

const BOTH = { digest: 'd1', has: ['setup', 'teardown'] as const }
const run = (more: Partial<Run> = {}): Run => ({
  playbook: 'setup',
  digest: 'd1',
  machine: 'm1',
  status: 'done',
  startedAt: 1,
  finishedAt: 2,
  reason: null,
  output: '',
  ...more,
})
const present = (drivers: readonly string[], more: Partial<Present> = {}): Present => ({
  drivers,
  folders: new Map(['a', 'b'].map((name) => [name, BOTH])),
  machine: 'm1',
  ...more,
})
const named = (kept: Kept, now: Present) => due(kept, now).map(({ driver, playbook }) => `${driver} ${playbook}`)

describe('a set-up (PLAYBOOK-2)', () => {
  const after = (last: Partial<Run>, now: Partial<Present> = {}) =>
    named({ enabled: ['a'], runs: { a: run(last) } }, present(['a'], now))
  test('that was carried out well is not due again', () => expect(after({})).toEqual([]))
  test.each([
    ['failed', { status: 'failed' }, {}],
    ['was interrupted', { status: 'running' }, {}],
    ['has another content now', {}, { folders: new Map([['a', { ...BOTH, digest: 'd2' }]]) }],
    ['has a content that cannot be read', {}, { folders: new Map([['a', 'EACCES']]) }],
    ['was before a restart of the machine', {}, { machine: 'm2' }],
    ['was undone by a tear-down', { playbook: 'teardown' }, {}],
  ] as const)('is due again when it %s', (_why, last, now) => expect(after(last, now)).toEqual(['a setup']))
  test('is not due for a driver without one', () =>
    expect(after({ status: 'failed' }, { folders: new Map([['a', { digest: 'd1', has: ['teardown'] }]]) })).toEqual([]))
})

test('a driver without a tear-down is forgotten, one with a tear-down counts as enabled until that was carried out (PLAYBOOK-1)', () => {
  const before: Kept = { enabled: ['a', 'b'], runs: { a: run() } }
  const now = present([], { folders: new Map([['a', BOTH]]) })
  const tasks = due(before, now)
  const kept = enabledBy(before, [], tasks)
  expect([named(before, now), kept.enabled]).toEqual([['a teardown'], ['a']])
  const failed = withRun(kept, 'a', run({ playbook: 'teardown', status: 'failed' }))
  expect([failed.enabled, named(failed, now)]).toEqual([['a'], ['a teardown']])
  const done = withRun(kept, 'a', run({ playbook: 'teardown' }))
  expect([done.enabled, named(done, now)]).toEqual([[], []])
})

test('while nothing else changes, what was carried out well is never due again, whatever else is remembered', () => {
  const status = fc.constantFrom('running' as const, 'done' as const, 'failed' as const)
  const playbook = fc.constantFrom('setup' as const, 'teardown' as const)
  const some = fc.subarray(['a', 'b', 'c'])
  const runs = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.record({ status, playbook }))
  fc.assert(
    fc.property(some, runs, some, (enabled, last, drivers) => {
      const all = Object.fromEntries(Object.entries(last).map(([name, one]) => [name, run(one)]))
      const now = present(drivers)
      const before: Kept = { enabled, runs: all }
      const tasks = due(before, now)
      const after = tasks.reduce(
        (kept, task) => withRun(kept, task.driver, over(begun(task, 'm1', 5), 6, null, { output: '', cut: 0 })),
        enabledBy(before, drivers, tasks),
      )
      expect(due(after, now)).toEqual([])
      expect(after.enabled.toSorted()).toEqual(drivers.toSorted())
      expect(keptIn(JSON.stringify(after))).toEqual(after)
    }),
  )
})

test('of any output what is told fits, and is text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 6000 }), fc.nat(), (output, cut) => {
      const told = over(run(), 3, 'exit status 2', { output, cut }).output
      expect(told.length).toBeLessThanOrEqual(OUTPUT_MAX)
      expect(told.isWellFormed() && !told.includes('\0')).toBe(true)
    }),
  )
})

test('a file that cannot be read is told from one that is not there', () => {
  expect(keptIn(null)).toEqual(NOTHING_KEPT)
  for (const text of ['', '{', '[]', '{"enabled":1,"runs":{}}', '{"enabled":[],"runs":{"a":{}}}'])
    expect(keptIn(text)).toBe(null)
})

test('why a driver is not asked yet', () => {
  expect(heldBack(undefined)).toEqual({ reason: 'its set-up playbook has not been run yet', isOver: false })
  expect(heldBack(run({ playbook: 'teardown', status: 'failed' }))).toMatchObject({ isOver: false })
  expect(heldBack(run({ status: 'running' }))).toEqual({ reason: 'its set-up playbook is running', isOver: false })
  expect(heldBack(run({ status: 'failed', reason: 'exit status 2', output: 'a\nb\nc\nd\n' }))).toEqual({
    reason: 'its set-up playbook failed: exit status 2\nb\nc\nd',
    isOver: true,
  })
})

describe('runs that are remembered', () => {
  const kept = (count: number): Kept => ({
    enabled: [],
    runs: Object.fromEntries(Array.from({ length: count }, (_, n) => [`driver-${n}`, run({ startedAt: count - n })])),
  })
  const names = (of: Kept) => Object.keys(of.runs)
  test('are those of a hundred drivers; further ones are forgotten, those that began first before others', () => {
    expect(names(enabledBy(kept(100), [], []))).toEqual(names(kept(100)))
    expect(names(enabledBy(kept(102), [], []))).toEqual(names(kept(102)).slice(0, 100))
  })
  test('are kept of a driver that is enabled, or is to be torn down, whenever it ran', () => {
    const tasks = [{ driver: 'driver-100', playbook: 'teardown' as const, folder: '' }]
    const left = enabledBy(kept(102), ['driver-101'], tasks)
    expect(left.enabled).toEqual(['driver-101', 'driver-100'])
    expect(names(left)).toEqual([...names(kept(102)).slice(0, 98), 'driver-100', 'driver-101'])
  })
})

describe('a run', () => {
  const task = (folder: Present['folders'] extends ReadonlyMap<string, infer One> ? One : never) =>
    ({ driver: 'a', playbook: 'teardown', folder }) as const
  test('is recorded when it begins, with the content that it has, if that can be read', () => {
    const recorded = {
      playbook: 'teardown',
      digest: 'd1',
      machine: 'm7',
      status: 'running',
      startedAt: 5,
      finishedAt: null,
      reason: null,
      output: '',
    }
    expect(begun(task(BOTH), 'm7', 5)).toStrictEqual(recorded)
    expect(begun(task('EACCES'), 'm7', 5)).toStrictEqual({ ...recorded, digest: '' })
  })
  test('is recorded when it has ended, with its reason up to 1,000 characters', () => {
    const last = run({ status: 'running', finishedAt: null })
    const ended = (reason: string | null) => over(last, 9, reason, { output: 'out\n', cut: 0 })
    expect(ended(null)).toStrictEqual({ ...last, status: 'done', finishedAt: 9, reason: null, output: 'out\n' })
    expect(ended('exit status 2')).toStrictEqual({
      ...last,
      status: 'failed',
      finishedAt: 9,
      reason: 'exit status 2',
      output: 'out\n',
    })
    expect(ended(`${'x'.repeat(1000)}y`).reason).toBe('x'.repeat(1000))
  })
  test('is told with the end of its output, and how much is missing', () => {
    const told = (output: string, cut = 0) => over(run(), 9, null, { output, cut }).output
    const [whole, mark] = [
      'x'.repeat(4000),
      (bytes: number) => `[${bytes} bytes or more before this are on the host]\n`,
    ]
    expect(told(whole)).toBe(whole)
    expect(told(`y${whole}`)).toBe(`${mark(1)}${'x'.repeat(4000 - mark(1).length)}`)
    expect(told(`yyy${whole}`, 20)).toBe(`${mark(23)}${'x'.repeat(4000 - mark(23).length)}`)
    expect(told(`${'y'.repeat(mark(5).length)}end`, 5)).toBe(`${mark(5)}end`)
    expect(told('a\0b\uD800c')).toBe('ab\uFFFDc')
  })
})

test('each part of what is kept is read again, and needed', () => {
  const all = {
    a: run({ status: 'running', finishedAt: null }),
    b: run({ playbook: 'teardown', status: 'failed', reason: 'no', output: 'out', startedAt: 0 }),
    c: run(),
  }
  const kept = { enabled: ['a', 'b'], runs: all }
  expect(keptIn(JSON.stringify(kept))).toEqual(kept)
  const isRead = (one: object) => keptIn(JSON.stringify({ enabled: [], runs: { a: one } })) !== null
  for (const name of Object.keys(all.c)) {
    const { [name]: _, ...others } = all.c as unknown as Record<string, unknown>
    expect([name, isRead(others)]).toEqual([name, false])
  }
  expect(
    [{ playbook: 'other' }, { status: 'other' }, { startedAt: -1 }].map((more) => isRead(run(more as Partial<Run>))),
  ).toEqual([false, false, false])
  expect(NOTHING_KEPT).toEqual({ enabled: [], runs: {} })
})

test('why a driver is not asked: a set-up that failed is told with the last three lines, or without any', () => {
  const told = (more: Partial<Run>) => heldBack(run({ status: 'failed', ...more })).reason
  expect(told({ reason: 'exit status 2', output: '' })).toBe('its set-up playbook failed: exit status 2')
  expect(told({ reason: null, output: ' \n' })).toBe('its set-up playbook failed: ')
  expect(told({ reason: 'no', output: '\n\nb\nc' })).toBe('its set-up playbook failed: no\nb\nc')
  expect(heldBack(run())).toEqual({ reason: 'its set-up playbook has not been run yet', isOver: false })
  expect(heldBack(run({ playbook: 'teardown', status: 'running' })).reason).toBe(
    'its set-up playbook has not been run yet',
  )
})

test('a folder that cannot be read is due for both, and tear-downs come first', () => {
  const folders = new Map<string, string>([
    ['b', 'EACCES'],
    ['a', 'EIO'],
  ])
  expect(due({ enabled: ['b', 'c'], runs: {} }, { drivers: ['a', 'c'], folders, machine: 'm1' })).toEqual([
    { driver: 'b', playbook: 'teardown', folder: 'EACCES' },
    { driver: 'a', playbook: 'setup', folder: 'EIO' },
  ])
})
