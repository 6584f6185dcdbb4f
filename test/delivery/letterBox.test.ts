/** Dead letters while they are read: their marks, their times, and how many are kept. */
import { expect, test } from 'vitest'
import { letterBox, uuidOf } from '../../src/delivery/deadLetters/box.ts'
import { handledRecord } from '../../src/wire/handledLetter.ts'
import { deadLetterRecord } from '../../src/wire/message.ts'

const OF = { topic: 'host.reports.v1', key: 'h1', value: 'no JSON', headers: {} }
const letterOf = (id: string, time: number, more: Partial<typeof OF> = {}) => ({
  ...deadLetterRecord({ ...OF, ...more }, 'bad', { id, time }),
  time,
})
const markOf = (id: string, time: number, how: 'replayed' | 'dropped' = 'replayed') =>
  handledRecord({ ...OF, reason: '' }, { id, time }, { how, by: 'a', reason: 'b', command: `c${time}` })
const idsOf = (box: ReturnType<typeof letterBox>) => box.all().map(({ id }) => id)

test('BOX-1 of too many the oldest is forgotten, in whatever order they are read', () => {
  const box = letterBox(3)
  for (const [id, time] of [
    ['d', 40],
    ['b', 20],
    ['e', 50],
    ['c', 30],
    ['a', 10],
  ] as const)
    box.take(letterOf(id, time))
  expect(idsOf(box)).toEqual(['c', 'd', 'e'])
  expect(box.get(uuidOf({ id: 'b' }))).toBe(null)
})
test.each(['value', 'key'] as const)('BOX-1 so are those that have too many characters together, in the %s', (part) => {
  const box = letterBox(10, 2500)
  for (const n of [2, 3, 1]) box.take(letterOf(`${n}`, n, { [part]: 'x'.repeat(900) }))
  expect(idsOf(box)).toEqual(['2', '3'])
})
test('BOX-1 a letter that is read again is kept once, at the time that was read last', () => {
  const box = letterBox(3)
  for (const time of [10, 10, 30]) {
    box.take(letterOf('a', time))
    box.take(letterOf('b', 20))
  }
  expect(idsOf(box)).toEqual(['b', 'a'])
})
test('BOX-2 marks that are read before their letter hold for it', () => {
  const box = letterBox()
  box.take(markOf('a', 5, 'dropped'))
  box.take(markOf('a', 6))
  expect(box.all()).toEqual([])
  box.take(letterOf('a', 1))
  expect(box.all()).toMatchObject([{ id: 'a', retriedAt: '1970-01-01T00:00:00.006Z', handled: { how: 'replayed' } }])
  expect(['c5', 'c6', 'c7'].map((command) => box.isDone(uuidOf({ id: 'a' }), command))).toEqual([true, true, false])
})
test('BOX-2 such marks are bounded: the first that were read are forgotten', () => {
  const box = letterBox(10, 1000, 2)
  for (const id of ['0', '1', '2']) box.take(markOf(id, 5))
  for (const id of ['0', '1']) box.take(letterOf(id, 1))
  expect(box.all().map(({ retriedAt }) => retriedAt === null)).toEqual([true, false])
})
test.each([
  [Number.NaN, 0],
  [-1, 0],
  [1e300, Date.UTC(9999, 11, 31, 23, 59, 59, 999)],
])('BOX-3 a letter with the time %s is kept at one that can be shown', (time, shown) => {
  const box = letterBox()
  box.take({ ...letterOf('a', 1), time })
  expect(box.all()).toMatchObject([{ time: shown }])
})
test('letters before a moment are forgotten', () => {
  const box = letterBox()
  for (const n of [3, 1, 2]) box.take(letterOf(`${n}`, n))
  box.forget(2)
  expect(idsOf(box)).toEqual(['2', '3'])
})
