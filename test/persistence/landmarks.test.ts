/** Positions in commit order, alone and at the end of what a reader keeps; and the rows that are found by them. */
import { expect, test } from 'vitest'
import { isBefore, partsOfPosition, positionIn, sqlLandmarks } from '../../src/persistence/landmarks.ts'
import type { Database, Rows, Statement } from '../../src/persistence/sql.ts'
import { journalRow } from './samples.ts'

test('a position is found at the end of a text, and nowhere else', () => {
  expect(['12.3', 'from 12.3', 'told 1.2 and 34.56', 'x7.8'].map(positionIn)).toEqual(['12.3', '12.3', '34.56', '7.8'])
  expect(['', 'settled', '12.3 settled', '12', '12.', 'a.3', '12.3\n'].map(positionIn)).toEqual(
    Array(7).fill(undefined),
  )
})

test('a position has two numbers, of which either may be absent', () => {
  expect(['12.3', '12', '', '.3'].map(partsOfPosition)).toEqual([
    ['12', 3],
    ['12', 0],
    ['0', 0],
    ['0', 3],
  ])
})

test('positions are in the order of their numbers, not of their digits', () => {
  // the last two differ only beyond the numbers that a program counts exactly
  const sorted = ['', '0.1', '9.2', '9.10', '10.1', '999.1', '1000.1', '9007199254740992.1', '9007199254740993.1']
  for (const [one, a] of sorted.entries())
    for (const [other, b] of sorted.entries()) expect([a, b, isBefore(a, b)]).toEqual([a, b, one < other])
})

const over = (rows: Rows) => {
  const asked: Statement[] = []
  const read = async (statement: Statement): Promise<Rows> => {
    asked.push(statement)
    return rows
  }
  return { asked, landmarks: sqlLandmarks({ read } as Database) }
}
const STORED = journalRow('arq/1', 2, '00000000-0000-4000-8000-000000000001')
const { commandId, events, ...rest } = STORED
const CELLS = { ...rest, command: commandId, data: events, xid: '12', pos: 3 }

test('a row is found at its position, and the server is not asked for what cannot be one', async () => {
  const { asked, landmarks } = over([CELLS])
  const fed = { ...STORED, position: '12.3' }
  const edges = ['12.3', `${'9'.repeat(19)}.1`, `1.${'9'.repeat(9)}`]
  for (const position of edges) expect(await landmarks.at(position)).toEqual(fed)
  expect(asked.map(({ params }) => params)).toEqual([
    ['12', 3],
    ['9'.repeat(19), 1],
    ['1', 999_999_999],
  ])
  for (const none of ['x12.3', '12.3x', '12', '12.', '.3', `${'9'.repeat(20)}.1`, `1.${'9'.repeat(10)}`, ''])
    expect([none, await landmarks.at(none)]).toEqual([none, null])
  expect(asked).toHaveLength(edges.length)
  expect(await landmarks.newest()).toEqual(fed)
  expect(new Set(asked.map(({ name }) => name))).toEqual(new Set(['at', 'newest']))
})

test('nothing is found in an empty journal, and nothing in the archive before its first run', async () => {
  const { asked, landmarks } = over([])
  expect([await landmarks.newest(), await landmarks.at('12.3'), await landmarks.horizon()]).toEqual([null, null, ''])
  expect(asked.at(-1)).toMatchObject({ params: ['archive'], name: 'horizon' })
  expect(await over([{ position: '12.3' }]).landmarks.horizon()).toBe('12.3')
})
