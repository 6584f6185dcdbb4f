/** Work on whole tables, statement by statement: what is sent together, and where a page ends. */
import { expect, test } from 'vitest'
import type { Append } from '../../src/actors/runtime/ports.ts'
import { drop, put } from '../../src/actors/runtime/views.ts'
import { bulkLoad, dumpViews, journalEnd, loadWhole, rebuildViews } from '../../src/persistence/bulk.ts'
import { cloudIn } from '../../src/persistence/cloud.ts'
import { dumpedViews, dumpLine, viewNames } from '../../src/persistence/rules.ts'
import type { Database, Rows, Run, Statement } from '../../src/persistence/sql.ts'
import * as sample from './samples.ts'

type Sent = readonly [by: string, Statement]
const opened = (
  answer: (statement: Statement) => Rows | Promise<Rows> = () => [],
  kind: Database['kind'] = 'postgres',
) => {
  const sent: Sent[] = []
  const by =
    (name: string): Run =>
    async (statement) => {
      sent.push([name, statement])
      return answer(statement)
    }
  const transaction: Database['transaction'] = async (work) => {
    const result = await work(by('transaction'))
    sent.push(['commit', { text: '', params: [] }])
    return result
  }
  const database = { kind, read: by('read'), write: by('write'), transaction } as Database
  /** Who sent it: an append with its first and last position and the rows of its views, or the first words of it. */
  const told = () =>
    sent.map(([name, { text, params }]) => {
      if (!text.startsWith('with j as')) return `${name} ${text.split('\n')[0]}`.trim()
      const positions = (JSON.parse(params[0] as string) as { readonly pos: number }[]).map(({ pos }) => pos)
      const views = params.slice(3).map((param) => (JSON.parse(param as string) as unknown[]).length)
      const range = `${Math.min(...positions)} to ${Math.max(...positions)}`
      return [`${name} ${positions.length} rows from ${range}`, ...views].join(', ')
    })
  return { database, sent, told }
}
const ROW = sample.journalRow('', 1)
const of = (rows: number, changes = 0): Append => ({
  rows: Array.from({ length: rows }, (_, at) => ({ ...ROW, key: `arq/${at}` })),
  changes: Array.from({ length: changes }, (_, at) => drop('due', `arq/${at}`)),
})

test('histories are loaded in portions that reach 4,000 rows of journal and views, each from position 1', async () => {
  const { database, told } = opened()
  const loaded = await bulkLoad(database, [of(3_000, 999), of(1), of(1, 1), of(2, 3_998), of(7)])
  expect(loaded).toEqual({ journalRows: 3_011, viewRows: 4_998 })
  expect(told()).toEqual([
    'write 3001 rows from 1 to 3001, 999',
    'write 3 rows from 1 to 3, 3998',
    'write 7 rows from 1 to 7',
    'transaction analyze',
    'commit',
  ])
})
test('loaded as a whole all is one transaction, in which the positions go on', async () => {
  const { database, told } = opened(undefined, 'pglite')
  expect(await loadWhole(database, [of(4_000), of(2, 1)])).toEqual({ journalRows: 4_002, viewRows: 1 })
  expect(told()).toEqual([
    'transaction 4000 rows from 1 to 4000',
    'transaction 2 rows from 4001 to 4002, 1',
    'commit',
    'transaction analyze',
    'commit',
    'write checkpoint',
  ])
})
test('nothing is loaded of nothing', async () => {
  const { database, told } = opened()
  expect(await bulkLoad(database, [])).toEqual({ journalRows: 0, viewRows: 0 })
  expect(told()).toEqual(['transaction analyze', 'commit'])
})
test('a portion that cannot be written ends the work, also when it is the last', async () => {
  const full = () => Promise.reject(new Error('disk full'))
  for (const appends of [[of(1)], [of(4_000), of(1)]]) {
    const { database, told } = opened(full)
    await expect(loadWhole(database, appends)).rejects.toThrow('disk full')
    expect(told()).not.toContain('commit')
  }
})

const cells = (key: string, version: number) => {
  const { commandId, events, ...row } = sample.journalRow(key, version, 'c')
  return { ...row, command: commandId, data: events }
}
test('views are emptied and filled from whole histories, and the last change of a row counts', async () => {
  const journal = [cells('arq/1', 1), cells('arq/1', 2), cells('arq/2', 1), cells('arq/3', 1)]
  const { database, sent, told } = opened(({ text, params }) =>
    text.startsWith('select key') && params[0] === '' ? journal : [],
  )
  const [gone, kept] = [sample.profileRow('gone'), sample.profileRow('kept')]
  const folded: unknown[] = []
  const rebuilt = await rebuildViews(database, (key, rows) => {
    folded.push([key, rows.map(({ version, commandId, at }) => [version, commandId, at])])
    if (key === 'arq/1')
      return [put('profiles', gone), put('due', { entity: key, kind: 'x', at: 1 }), drop('profiles', gone.uuid)]
    return key === 'arq/2' ? [put('profiles', kept)] : []
  })
  expect(folded).toEqual([
    ['arq/1', [1, 2].map((version) => [version, 'c', sample.AT + version])],
    ['arq/2', [[1, 'c', sample.AT + 1]]],
    ['arq/3', [[1, 'c', sample.AT + 1]]],
  ])
  expect(rebuilt).toEqual({ journalRows: 4, viewRows: 2 })
  const inserted = sent.filter(([, { text }]) => text.startsWith('insert'))
  expect(inserted.map(([, { params }]) => JSON.parse(params[0] as string))).toEqual([
    [kept],
    [{ entity: 'arq/1', kind: 'x', at: 1 }],
  ])
  expect(told()[0]).toBe(`transaction truncate ${viewNames.map((name) => `"${name}"`).join(', ')}`)
  expect(told().slice(-3)).toEqual(['commit', 'transaction analyze', 'commit'])
  expect(told().filter((line) => line.startsWith('transaction insert'))).toHaveLength(2)
})
test('a long journal is read on after its last row, and a view is written when 4,000 rows of it are there', async () => {
  const PAGE = 10_000
  const page = (from: number, count: number) => Array.from({ length: count }, (_, at) => cells(`arq/${from + at}`, 1))
  const pages = [page(10_000, PAGE), [cells('arq/19999', 2), ...page(20_000, 1)]]
  const asked: unknown[] = []
  const { database, sent } = opened(({ text, params }) => {
    if (!text.startsWith('select key')) return []
    asked.push(params)
    return pages[asked.length - 1] ?? []
  })
  const versions = new Map<string, number>()
  const rebuilt = await rebuildViews(database, (key, rows) => {
    versions.set(key, rows.length)
    return [put('due', { entity: key, kind: 'x', at: 1 })]
  })
  expect(asked).toEqual([
    ['', 0],
    ['arq/19999', 1],
  ])
  expect(rebuilt).toEqual({ journalRows: PAGE + 2, viewRows: PAGE + 1 })
  expect([versions.size, versions.get('arq/19999'), versions.get('arq/20000')]).toEqual([PAGE + 1, 2, 1])
  const sizes = sent.flatMap(([, { text, params }]) =>
    text.startsWith('insert') ? [(JSON.parse(params[0] as string) as unknown[]).length] : [],
  )
  expect(sizes).toEqual([4_000, 4_000, 2_001])
})
test('nothing is folded of an empty journal', async () => {
  const { database, told } = opened()
  expect(await rebuildViews(database, () => expect.unreachable())).toEqual({ journalRows: 0, viewRows: 0 })
  expect(told().filter((line) => line.includes('insert'))).toEqual([])
})

test('all views but the snapshots are dumped, page by page', async () => {
  const PAGE = 10_000
  const full = Array.from({ length: PAGE }, (_, at) => ({ entity: `arq/${at}`, at: 1, kind: 'x' }))
  const asked: (readonly [string, unknown])[] = []
  const { database } = opened(({ text, params }) => {
    const view = /from "(\w+)"/.exec(text)![1]!
    asked.push([view, params[0]])
    if (view === 'profiles') return [sample.profileRow('p')]
    return view === 'due' && params[0] === null ? full : []
  })
  const lines: string[] = []
  for await (const line of dumpViews(database)) lines.push(line)
  expect(lines).toHaveLength(PAGE + 1)
  expect(lines[0]!.startsWith('profiles {"created_at":')).toBe(true)
  expect(lines.at(-1)).toBe(dumpLine('due', full.at(-1)!))
  expect(asked).toEqual(
    dumpedViews.flatMap((view): [string, unknown][] =>
      view === 'due'
        ? [
            [view, null],
            [view, `arq/${PAGE - 1}`],
          ]
        : [[view, null]],
    ),
  )
})

test('the end of the journal is the position of its last row', async () => {
  expect(await journalEnd(opened(() => [{ xid: '12', pos: 3 }]).database)).toBe('12.3')
  expect(await journalEnd(opened().database)).toBe('')
})

/** The table has this id and key; what is written into it decides what it has afterwards. */
const cloud = (rows: readonly (Rows[number] | undefined)[]) => {
  const written: unknown[] = []
  const left = [...rows]
  const read = async (): Promise<Rows> => {
    const row = left.shift()
    return row === undefined ? [] : [row]
  }
  const write = async ({ params }: Statement): Promise<Rows> => (written.push(...params), [])
  return { written, identity: cloudIn({ read, write }, () => 'new') }
}
test('the key of the cloud is made once; of several programs that make one, the first to write decides', async () => {
  const known = cloud([{ id: 'i', private_key: 'old' }])
  expect([await known.identity, known.written]).toEqual([{ id: 'i', privateKey: 'old' }, []])
  const made = cloud([
    { id: 'i', private_key: null },
    { id: 'i', private_key: 'of another' },
  ])
  expect([await made.identity, made.written]).toEqual([{ id: 'i', privateKey: 'of another' }, ['new']])
})
test('a database that has lost the identity of its cloud, or keeps no key, is not used', async () => {
  await expect(cloud([]).identity).rejects.toThrow('this database has lost the identity of its cloud')
  const none = { id: 'i', private_key: null }
  await expect(cloud([none, none]).identity).rejects.toThrow('does not keep the key of the cloud')
})
