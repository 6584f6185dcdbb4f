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
