/** What a simulation may do to the store in memory. */
import { expect, test } from 'vitest'
import { NOVA_UNDELIVERED } from '../../src/actors/runtime/dueKinds.ts'
import type { FeedRow } from '../../src/actors/runtime/ports.ts'
import { Unreadable } from '../../src/actors/runtime/unreadable.ts'
import { put } from '../../src/actors/runtime/views.ts'
import { type MemoryOptions, memoryStore, memoryStores } from '../../src/persistence/memory/memory.ts'
import * as sample from './samples.ts'

const memoryJournal = (options?: MemoryOptions) => memoryStore(options).journal

test('a commit that fails before leaves nothing, one that fails after leaves all, and both are unknown', async () => {
  const key = sample.newKey()
  const fail = () => Promise.reject(new Error('as told'))
  const before = memoryJournal({ beforeCommit: fail })
  const after = memoryJournal({ afterCommit: fail })
  expect(await before.append(sample.one(key, 1))).toBe('unknown')
  expect(await sample.versionsOf(before, key)).toEqual([])
  expect(await after.append(sample.one(key, 1))).toBe('unknown')
  expect(await sample.versionsOf(after, key)).toEqual([1])
})

test('a read fails when it is told to', async () => {
  const journal = memoryJournal({ beforeRead: () => Promise.reject(new Error('as told')) })
  await expect(journal.recall([])).rejects.toThrow('as told')
  await expect(journal.feed('', 1)).rejects.toThrow('as told')
})

test('what is kept shares nothing with what was handed in', async () => {
  const journal = memoryJournal()
  const key = sample.newKey()
  const wanted = sample.one(key, 1, [sample.arqChange(sample.arqRow())])
  await journal.append(wanted)
  const [row] = (await journal.recall([{ key, after: 0 }])).get(key)!.rows
  expect(row).toEqual(expect.objectContaining(wanted.rows[0]!))
  expect(row!.events).not.toBe(wanted.rows[0]!.events)
})

test('it says whether it may be written by others', () => {
  expect([memoryJournal().exclusive, memoryJournal({ exclusive: false }).exclusive]).toEqual([true, false])
})

test('a read that fails says so as any other store, and what is said already stays', async () => {
  const failing = (cause: Error) => memoryJournal({ beforeRead: () => Promise.reject(cause) }).checkpoint('r')
  await expect(failing(new Error('as told'))).rejects.toEqual(
    new Unreadable('the journal cannot be read: Error: as told', { permanent: false }),
  )
  const own = new Unreadable('as it is', { permanent: true })
  await expect(failing(own)).rejects.toBe(own)
})

test('it is one store: its journal, its lists and its places, whoever opens it', async () => {
  const open = memoryStores({ exclusive: false })
  const [store, other] = [open(), open()]
  const heard: unknown[] = []
  const stop = store.journal.onAppended((appends) => heard.push(appends))
  const [first, second] = [sample.one('arq/1', 1), sample.one('arq/2', 1)]
  for (const append of [first, second]) expect(await store.journal.append(append)).toBe('appended')
  expect(await other.journal.append(first)).toBe('seen')
  stop()
  expect(await store.journal.append(sample.one('arq/1', 2))).toBe('appended')
  expect(heard).toEqual([[first], [second]])
  const brief = (rows: readonly FeedRow[]) => rows.map(({ key, version, position }) => `${key} ${version} ${position}`)
  const all = ['arq/1 1 1', 'arq/2 1 2', 'arq/1 2 3']
  expect(brief(await other.journal.feed('', 9))).toEqual(all)
  expect(brief(await other.journal.feed('1', 1))).toEqual(all.slice(1, 2))
  expect(brief(await other.journal.history(['arq/1'], 9))).toEqual([all[0], all[2]])
  expect(brief(await other.journal.history(['arq/1'], 1))).toEqual([all[0]])
  expect(await other.journalEnd()).toBe('3')
  const { landmarks } = other
  expect(brief([(await landmarks.newest())!, (await landmarks.at('2'))!])).toEqual([all[2], all[1]])
  for (const none of ['0', '4', '', '2x', 'x2', '2'.padStart(16, '0')])
    expect([none, await landmarks.at(none)]).toEqual([none, null])
  expect((await landmarks.at('2'.padStart(15, '0')))!.key).toBe('arq/2')
  expect([await landmarks.horizon(), landmarks.isBefore('9', '10'), landmarks.isBefore('9', '9')]).toEqual([
    '',
    true,
    false,
  ])
  const keys = ['one', 'two']
  const cloud = await Promise.all([store, other].map(({ cloud: of }) => of(() => keys.shift()!)))
  expect(cloud[1]).toEqual(cloud[0])
  expect([cloud[0]!.privateKey, (await open().cloud(() => 'three')).privateKey]).toEqual(['one', 'one'])
  await store.close()
  expect([await store.journal.append(second), await other.journal.append(second)]).toEqual(['busy', 'seen'])
  const facts = [store.kind, store.newer, store.schema, await store.isStopped(), await store.expectWriting()]
  expect(facts).toEqual(['memory', [], null, false, undefined])
})

test('what is due comes oldest first, up to the moment asked for, without what only an operator can do', async () => {
  const store = memoryStore()
  const due = (entity: string, at: number, kind = 'x') => put('due', { entity, kind, at })
  const changes = [due('a', 30), due('b', 10), due('c', 20), due('d', 31), due('e', 5, NOVA_UNDELIVERED)]
  await store.journal.append(sample.unit([], changes))
  const found = async (now: number, limit: number) =>
    (await store.reads.dueBefore(now, limit)).map(({ entity }) => entity)
  expect([await found(30, 9), await found(30, 2), await found(9, 9)]).toEqual([['b', 'c', 'a'], ['b', 'c'], []])
})

test('rows are counted by a value, and those without one are not', async () => {
  const store = memoryStore()
  const arqs = ['h1', 'h2', 'h1', null].map((hostname) => sample.arqChange(sample.arqRow({ hostname })))
  await store.journal.append(sample.unit([], arqs))
  expect(await store.reads.tally('arqs', 'hostname')).toEqual(
    new Map([
      ['h1', 2],
      ['h2', 1],
    ]),
  )
  const page = store.reads.page({ view: 'arqs', where: {}, sort: 'none' as never, limit: 1 })
  await expect(page).rejects.toEqual(
    new Unreadable('the view arqs cannot be read: it has no column none', { permanent: true }),
  )
  const visible = store.reads.page({ view: 'arqs', where: {}, visible: { other: 1 } as never, sort: 'uuid', limit: 1 })
  await expect(visible).rejects.toThrow('it has no column other')
})

test('what cannot be loaded, or folded, says which rule it breaks and where', async () => {
  const store = memoryStore()
  const twice = ['a', 'b'].map(() => put('profiles', sample.profileRow('same')))
  const broken = 'profiles_name_unique'
  await expect(store.bulkLoad([sample.unit([], twice)])).rejects.toThrow(
    `bulk load: {"conflict":"${broken}"} at a view row`,
  )
  expect(await store.bulkLoad([sample.one('arq/1', 1, twice.slice(1))])).toEqual({ journalRows: 1, viewRows: 1 })
  await expect(store.bulkLoad([sample.one('arq/1', 3)])).rejects.toThrow('bulk load: "stale" at arq/1')
  await expect(store.rebuildViews(() => twice)).rejects.toThrow(`rebuild of the views: the journal breaks ${broken}`)
  expect(await store.rebuildViews((_key, rows) => twice.slice(0, rows.length))).toEqual({ journalRows: 1, viewRows: 1 })
  const lines: string[] = []
  for await (const line of store.dumpViews()) lines.push(line)
  expect(lines).toEqual([expect.stringContaining(`"uuid":"${twice[0]!.key}"`)])
})
