/** What a process remembers of rows that are stored, and what it does with each session: without a database. */
import { expect, test } from 'vitest'
import type { Journal, JournalRow, Recalled, Verdict } from '../../src/actors/runtime/ports.ts'
import {
  GRACE_MS,
  type IncarnationRecords,
  openIncarnation,
  REASON,
  remembering,
  REMEMBERED_MAX,
} from '../../src/persistence/incarnation.ts'
import * as sample from './samples.ts'

const CUT = `${REASON}. More rows are gone than this control remembers, so the list is not complete`
const rowsOf = (count: number, key = 'arq/1'): readonly JournalRow[] =>
  Array.from({ length: count }, (_, at) => sample.journalRow(key, at + 1, 'c'))
const versions = (rows: readonly JournalRow[]) => rows.map(({ version }) => version)

/** A database in which the keys of `gone` are lost; `asked` is what it was asked, in order. */
const database = (over: Partial<IncarnationRecords> = {}, gone: readonly string[] = []) => {
  const asked: unknown[] = []
  const looked: (readonly JournalRow[])[] = []
  const records: IncarnationRecords = {
    isThere: async () => true,
    cloud: async () => 'cloud-1',
    noteServer: async (graceMs) => void asked.push(['server', graceMs]),
    keepLost: async (rows) => {
      looked.push(rows)
      asked.push('lost')
      return rows.filter(({ key }) => gone.includes(key)).length
    },
    stop: async (reason, counts) => void asked.push(['stop', reason, counts]),
    look: async () => {
      asked.push('look')
      return { reason: null, at: 1n }
    },
    wait: async (graceMs) => void asked.push(['wait', graceMs]),
    ...over,
  }
  return { asked, looked, records }
}

test('INCARNATION-2 a session notes its server, looks, and asks for what was written and what was read', async () => {
  const incarnation = openIncarnation()
  incarnation.wrote(rowsOf(2, 'arq/w'))
  incarnation.read(rowsOf(3, 'arq/r'))
  incarnation.wrote(rowsOf(1, 'arq/later'))
  const { asked, looked, records } = database()
  await incarnation.checkSession(records)
  expect(asked).toEqual([['server', GRACE_MS], 'look', 'lost', 'lost'])
  expect(looked).toEqual([[...rowsOf(2, 'arq/w'), ...rowsOf(1, 'arq/later')], rowsOf(3, 'arq/r')])
})

test('who finds that writing is stopped is told what to do', () => {
  expect(REASON).toMatch(/^the database has lost rows .*accelerando migrate --adopt$/)
})

test('before the first migration nothing is asked', async () => {
  const { asked, records } = database({ isThere: async () => false })
  await openIncarnation().checkSession(records)
  expect(asked).toEqual([])
})

test.each([
  ['written', 'arq/w'],
  ['read', 'arq/r'],
])('a row that was %s and is gone stops all writing', async (_, gone) => {
  const incarnation = openIncarnation(7)
  incarnation.wrote(rowsOf(2, 'arq/w'))
  incarnation.read(rowsOf(2, 'arq/r'))
  const { asked, records } = database({}, [gone])
  await incarnation.checkSession(records)
  expect(asked).toEqual([['server', 7], 'look', 'lost', 'lost', ['stop', REASON, false]])
})

test('of the rows of a process the last are remembered, and when all of these are gone, more may be', async () => {
  const incarnation = openIncarnation()
  incarnation.wrote(rowsOf(2 * REMEMBERED_MAX))
  incarnation.wrote(rowsOf(2 * REMEMBERED_MAX + 1).slice(-1))
  const { asked, looked, records } = database({}, ['arq/1'])
  await incarnation.checkSession(records)
  expect(versions(looked[0]!)).toEqual(Array.from({ length: REMEMBERED_MAX }, (_, at) => REMEMBERED_MAX + 2 + at))
  expect(asked.at(-1)).toEqual(['stop', CUT, true])
})

test.each([
  ['one less than a process remembers, all gone', REMEMBERED_MAX - 1, 0, REASON],
  ['as many as a process remembers, all gone', REMEMBERED_MAX, 0, CUT],
  ['as many as a process remembers, one of them there', REMEMBERED_MAX - 1, 1, REASON],
  ['more than a process remembers, one of the last there', REMEMBERED_MAX + 5, 1, REASON],
])('the list of lost rows is whole unless there may be more: %s', async (_, lost, there, reason) => {
  const incarnation = openIncarnation()
  incarnation.wrote(rowsOf(lost))
  incarnation.wrote(rowsOf(there, 'arq/there'))
  const { asked, records } = database({}, ['arq/1'])
  await incarnation.checkSession(records)
  expect(asked.at(-1)).toEqual(['stop', reason, reason === CUT])
})

test('a database of another cloud is not used, nor one that has lost its id', async () => {
  const incarnation = openIncarnation()
  await incarnation.checkSession(database({ cloud: async () => null }).records)
  await incarnation.checkSession(database().records)
  await incarnation.checkSession(database().records)
  const check = (cloud: string | null) => incarnation.checkSession(database({ cloud: async () => cloud }).records)
  await expect(check('cloud-2')).rejects.toThrow(
    'the database that answers belongs to another cloud (cloud-2, not cloud-1)',
  )
  await expect(check(null)).rejects.toThrow('belongs to another cloud (none, not cloud-1)')
  await check('cloud-1')
})

test('INCARNATION-3 nobody writes for a time after the log of the server was found behind what was seen', async () => {
  const incarnation = openIncarnation(7)
  const waits = async (at: bigint) => {
    const { asked, records } = database({ look: async () => ({ reason: null, at }) })
    await incarnation.look(records)
    return asked
  }
  expect(await waits(5n)).toEqual([])
  expect(await waits(5n)).toEqual([])
  expect(await waits(4n)).toEqual([['wait', 7]])
  // what counts is the last look, not the highest
  expect(await waits(4n)).toEqual([])
  expect(await waits(9n)).toEqual([])
})

test('while writing is stopped a session can be read, and says why it is not written', async () => {
  const { asked, records } = database({ look: async () => ({ reason: 'rows are gone', at: 1n }) })
  const incarnation = openIncarnation()
  await incarnation.checkSession(records)
  expect(asked).toEqual([['server', GRACE_MS], 'lost', 'lost'])
  await expect(incarnation.look(records)).rejects.toThrow('writing is stopped: rows are gone')
  const broken = new Error('Connection terminated')
  const away = database({ look: () => Promise.reject(broken) }).records
  await expect(incarnation.checkSession(away)).rejects.toBe(broken)
  const standby = database({ look: async () => ({ reason: 'a standby', at: 1n }) })
  await incarnation.checkSession(standby.records)
  await expect(incarnation.look(standby.records)).rejects.toThrow('a standby')
})

test('a journal remembers what it has appended, recalled and fed', async () => {
  const remembered: unknown[] = []
  const incarnation = {
    ...openIncarnation(),
    wrote: (rows: readonly JournalRow[]) => void remembered.push(['wrote', versions(rows)]),
    read: (rows: readonly JournalRow[]) => void remembered.push(['read', versions(rows)]),
  }
  const verdicts: Verdict[] = ['stale', 'seen', 'unknown', 'busy', 'appended']
  const found: ReadonlyMap<string, Recalled> = new Map([
    ['arq/1', { snapshot: null, rows: rowsOf(9) }],
    ['arq/2', { snapshot: null, rows: rowsOf(8) }],
  ])
  const fed = rowsOf(12).map((row) => ({ ...row, position: '1' }))
  const inner = {
    append: async () => verdicts.shift(),
    recall: async () => found,
    feed: async (after: string, limit: number) => (after === 'here' ? fed.slice(0, limit) : []),
    exclusive: true,
  } as unknown as Journal
  const journal = remembering(inner, incarnation)
  const said: Verdict[] = []
  for (let version = 1; version <= 5; version++) said.push(await journal.append(sample.one('arq/1', version)))
  expect(said).toEqual(['stale', 'seen', 'unknown', 'busy', 'appended'])
  expect(await journal.recall([])).toBe(found)
  expect(await journal.feed('here', 11)).toEqual(fed.slice(0, 11))
  expect(remembered).toEqual([
    ['wrote', [5]],
    // of each entity the last eight
    ['read', [2, 3, 4, 5, 6, 7, 8, 9]],
    ['read', [1, 2, 3, 4, 5, 6, 7, 8]],
    ['read', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]],
  ])
  expect([journal.exclusive, journal.incarnation]).toEqual([true, 0])
  const later = { ...inner, exclusive: false, incarnation: 3 }
  const other = remembering(later, incarnation)
  expect([other.exclusive, other.incarnation]).toEqual([false, 3])
  // both may change while the journal is open
  Object.assign(later, { exclusive: true, incarnation: 4 })
  expect([other.exclusive, other.incarnation]).toEqual([true, 4])
})
