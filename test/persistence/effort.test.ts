/** The limits of the persistence that need no database: sizes of batches, searches for a fault, records of others. */
import { expect, test, vi } from 'vitest'
import { createPrepared } from '../../src/persistence/prepared.ts'
import { pickBatch } from '../../src/persistence/batch.ts'
import { openEffort } from '../../src/persistence/effort.ts'
import { createObserver } from '../../src/observer.ts'
import { drop } from '../../src/actors/runtime/views.ts'
import * as sample from './samples.ts'

test('a fault that never passes is searched for to the end, one that passes in 23 statements, others not at all', () => {
  const effort = openEffort()
  const refused = Array.from({ length: 100 }, () => effort.worth('refused', 2))
  expect(new Set(refused)).toEqual(new Set([true]))
  expect(effort.worth('refused', 1)).toBe(false)
  // a single part cannot be halved, and is not counted
  expect(effort.worth('rolled back', 1)).toBe(false)
  const passing = Array.from({ length: 30 }, () => effort.worth('rolled back', 2))
  expect(passing).toEqual(passing.map((_, at) => at < 23))
  expect(effort.worth('refused', 2)).toBe(true)
  for (const failure of ['fenced', 'again', 'late', 'stopped', 'not sent', 'unknown'] as const)
    expect([failure, openEffort().worth(failure, 512)]).toEqual([failure, false])
})

test('a fault that passes is searched for two and a half seconds at most', () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(1_000)
  try {
    const effort = openEffort()
    const worth = (at: number) => {
      now.mockReturnValue(at)
      return [effort.worth('rolled back', 2), effort.worth('refused', 2)]
    }
    expect([1_000, 3_499, 3_500, 3_501].map(worth)).toEqual([
      [true, true],
      [true, true],
      [false, true],
      [false, true],
    ])
  } finally {
    now.mockRestore()
  }
})

const ROW = sample.journalRow('', 1)
const CHANGE = drop('due', 'x')
let keys = 0
/** With keys of its own. */
const waiting = (rows: number, changes = 0) => ({
  append: {
    rows: Array.from({ length: rows }, () => ({ ...ROW, key: `arq/${++keys}` })),
    changes: Array.from({ length: changes }, () => CHANGE),
  },
})
const sizes = (all: readonly ReturnType<typeof waiting>[]) => {
  const { batch, left } = pickBatch(all)
  return [batch.length, left.length]
}

test('a statement has at most 4,000 rows of journal and views, unless one append alone has more', () => {
  expect(sizes([waiting(1_999, 1), waiting(1_000, 1_000)])).toEqual([2, 0])
  expect(sizes([waiting(1_999, 1), waiting(1_000, 1_001)])).toEqual([1, 1])
  expect(sizes([waiting(4_001, 4_001), waiting(1)])).toEqual([1, 1])
  // what does not fit makes place for what does
  expect(sizes([waiting(1), waiting(4_000), waiting(3_999), waiting(1)])).toEqual([2, 2])
  expect(sizes([])).toEqual([0, 0])
})

test('512 appends are one statement, and one more waits', () => {
  const many = Array.from({ length: 513 }, () => waiting(1))
  expect(sizes(many.slice(1))).toEqual([512, 0])
  expect(pickBatch(many).left).toEqual([many[512]])
})

test('what another renews has ended when it stood unchanged for its time, as this process saw it', () => {
  let now = 1_000
  const observer = createObserver(() => now)
  const isOver = (mark: string, name = 'lease') => observer.isOver(name, mark, 500)
  expect(isOver('a')).toBe(false)
  now += 499
  expect(isOver('a')).toBe(false)
  now += 1
  expect([isOver('a'), isOver('a', 'another')]).toEqual([true, false])
  // renewed: it counts anew
  expect(isOver('b')).toBe(false)
  now += 500
  expect(isOver('b')).toBe(true)
  expect(observer.isOver('lease', 'b', 501)).toBe(false)
})

test('of what nobody has asked about for more than a minute nothing is remembered', () => {
  let now = 0
  const observer = createObserver(() => now)
  const isOver = (name: string) => observer.isOver(name, 'mark', 10)
  for (const name of ['old', 'kept', 'asked']) isOver(name)
  now = 5
  isOver('kept')
  now = 50_000
  isOver('asked')
  now = 60_005
  // the thousandth question looks for what is forgotten
  for (let asked = 5; asked < 999; asked++) isOver('another')
  expect(isOver('another')).toBe(false)
  expect(['kept', 'asked', 'old'].map(isOver)).toEqual([true, true, false])
})

test('statements of one shape share a name, those of another kind have another; only so many have one', () => {
  const prepared = createPrepared(4)
  const kind = 'test'
  const [one, same, other] = ['a', 'a', 'b'].map((shape, at) => prepared(kind, shape, `select ${shape}`, [at]))
  expect(one).toEqual({ text: 'select a', params: [0], name: 'test_0' })
  expect(same).toEqual({ ...one, params: [1] })
  expect(other).toEqual({ text: 'select b', params: [2], name: 'test_1' })
  const further = ['a', 'c', 'd'].map((shape) => prepared('kind', shape, '', []))
  expect(further.map(({ name }) => name)).toEqual(['kind_2', 'kind_3', undefined])
  expect(prepared(kind, 'a', 'select a', [0])).toEqual(one)
})
