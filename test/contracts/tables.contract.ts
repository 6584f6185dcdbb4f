/** What every store must do with whole tables. */
import { expect, test } from 'vitest'
import { drop, put } from '../../src/actors/runtime/views.ts'
import * as sample from '../persistence/samples.ts'
import type { Opened } from './journal.contract.ts'

/** On a store of its own, as it looks at all of it. */
export const wholeTablesContract = (open: () => Promise<Opened>): void => {
  test('the cloud has an id and a key, which stay the same; of those who ask first at once, one makes the key', async () => {
    const { store, dispose } = await open()
    const asked = await Promise.all(['one', 'two', 'three'].map((key) => store.cloud(() => key)))
    const [{ id, privateKey }] = asked as [(typeof asked)[0]]
    expect(id).toMatch(/^[0-9a-f-]{36}$/)
    expect(['one', 'two', 'three']).toContain(privateKey)
    expect(asked).toEqual(asked.map(() => ({ id, privateKey })))
    expect(await store.cloud(() => 'late')).toEqual({ id, privateKey })
    await dispose()
  })
  test('loaded in bulk, folded anew, closed to more: journal and views stay one', async () => {
    const { store, dispose } = await open()
    const rows = Array.from({ length: 300 }, (_, index) => sample.arqRow({ created_at: sample.AT + index }))
    const changed = new Map(rows.map((row) => [`arq/${row.uuid}`, { ...row, state: 'Bound', updated_at: sample.AT }]))
    const history = rows.flatMap((row) => [
      sample.one(`arq/${row.uuid}`, 1, [sample.arqChange(row)]),
      sample.one(`arq/${row.uuid}`, 2, [sample.arqChange(changed.get(`arq/${row.uuid}`)!)]),
    ])
    expect(await store.journalEnd()).toBe('')
    expect(await store.bulkLoad(history)).toEqual({ journalRows: 600, viewRows: 600 })
    const fed = await sample.fedWhole(store.journal, 600)
    expect(await store.journalEnd()).toBe(fed.at(-1)!.position)
    const dump = async () => {
      const lines: string[] = []
      for await (const line of store.dumpViews()) lines.push(line)
      return lines
    }
    const before = await dump()
    expect(before).toHaveLength(300)
    await store.journal.append({ rows: [], changes: [put('profiles', sample.profileRow('of nobody'))] })
    const seen: number[] = []
    const rebuilt = await store.rebuildViews((key, of) => {
      seen.push(...of.map(({ version }) => version))
      return [sample.arqChange(changed.get(key)!)]
    })
    expect(rebuilt).toEqual({ journalRows: 600, viewRows: 300 })
    expect(seen).toEqual(rows.flatMap(() => [1, 2]))
    expect(await dump()).toEqual(before)
    await expect(store.bulkLoad([history[0]!])).rejects.toThrow(/stale|seen|journal/)
    await store.journal.close()
    expect(await store.journal.append(sample.one(sample.newKey(), 1))).toBe('busy')
    await dispose()
  })

  test('folded anew, no entity takes away a row that another one has written', async () => {
    const { store, dispose } = await open()
    const mark = { entity: 'placement-mark/h1', kind: 'placement-mark', at: sample.AT } as const
    await store.journal.append(sample.one('host/h1', 1, [put('due', mark)]))
    await store.journal.append(sample.one('placement/h1', 1, [drop('due', mark.entity)]))
    const fold = (key: string) => (key === 'host/h1' ? [put('due', mark)] : [drop('due', mark.entity)])
    expect(await store.rebuildViews(fold)).toEqual({ journalRows: 2, viewRows: 1 })
    expect(await store.reads.page({ view: 'due', where: {}, sort: 'entity', limit: 9 })).toEqual([mark])
    await dispose()
  })

  test('loaded as a whole: all of it, or nothing when one of it cannot be', async () => {
    const { store, dispose } = await open()
    const rows = Array.from({ length: 5000 }, (_, index) => sample.arqRow({ created_at: sample.AT + index }))
    const history = rows.map((row) => sample.one(`arq/${row.uuid}`, 1, [sample.arqChange(row)]))
    const profiles = [{ rows: [], changes: [put('profiles', sample.profileRow('kept'))] }]
    await store.loadWhole(profiles)
    // its version exists already, some thousand rows later
    await expect(store.loadWhole([...history, history[0]!])).rejects.toThrow(/stale|seen|journal/)
    expect(await store.journalEnd()).toBe('')
    const dumped: string[] = []
    for await (const line of store.dumpViews()) dumped.push(line)
    expect(dumped).toHaveLength(1)
    expect(await store.loadWhole(history)).toEqual({ journalRows: 5000, viewRows: 5000 })
    // also where it took several statements, each row has a place of its own, in the order in which they were given
    const fed = await sample.fedWhole(store.journal, 5000)
    expect(fed.map(({ key }) => key)).toEqual(rows.map(({ uuid }) => `arq/${uuid}`))
    expect(new Set(fed.map(({ position }) => position)).size).toBe(5000)
    await dispose()
  })

  test('a list goes on from the place of a row that is gone', async () => {
    const { store, dispose } = await open()
    const rows = Array.from({ length: 6 }, (_, index) => sample.arqRow({ created_at: sample.AT + (index >> 1) }))
    await store.journal.append({ rows: [], changes: rows.map(sample.arqChange) })
    const query = { view: 'arqs', where: {}, sort: 'created_at', limit: 3 } as const
    for (const descending of [false, true]) {
      const all = (await store.reads.page({ ...query, descending, limit: 10 }))!
      const last = all[2]!
      const removed = [{ view: 'arqs', key: last.uuid, row: null } as const]
      await store.journal.append({ rows: [], changes: removed })
      const after = { value: last.created_at, key: last.uuid }
      expect(await store.reads.page({ ...query, descending, after })).toEqual(all.slice(3))
      expect(await store.reads.page({ ...query, descending, marker: last.uuid })).toBe(null)
      await store.journal.append({ rows: [], changes: [sample.arqChange(last)] })
    }
    await dispose()
  })

  test('a list along a column that is unique by itself goes on from a place too', async () => {
    const { store, dispose } = await open()
    const rows = ['a', 'b', 'c', 'd'].map((name) => sample.profileRow(name))
    await store.journal.append({ rows: [], changes: rows.map((row) => put('profiles', row)) })
    const query = { view: 'profiles', where: {}, sort: 'name', limit: 10 } as const
    const after = { value: 'b', key: rows[1]!.uuid }
    expect(await store.reads.page({ ...query, after })).toEqual(rows.slice(2))
    expect(await store.reads.page({ ...query, after, descending: true })).toEqual(rows.slice(0, 1))
    await dispose()
  })
}
