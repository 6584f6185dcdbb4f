/** What every store must do. A store of its own per suite, keys of its own per test. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Append, FeedRow, Verdict } from '../../src/actors/runtime/ports.ts'
import { snapshotSchemaOf } from '../../src/actors/runtime/snapshots.ts'
import { drop, put } from '../../src/actors/runtime/views.ts'
import type { Store } from '../../src/persistence/store.ts'
import * as sample from '../persistence/samples.ts'
import { chainContract } from './chain.contract.ts'
import { listsContract } from './lists.contract.ts'

export type Opened = { readonly store: Store; readonly dispose: () => Promise<void> }

export const journalContract = (open: () => Promise<Opened>): void => {
  let opened: Opened
  const journal = () => opened.store.journal
  const reads = () => opened.store.reads
  const append = (wanted: Append): Promise<Verdict> => journal().append(wanted)
  const profileNamed = (name: string) =>
    reads().page({ view: 'profiles', where: { name }, sort: 'created_at', limit: 9 })

  beforeAll(async () => {
    opened = await open()
  })
  afterAll(() => opened.dispose())

  listsContract(() => opened.store)
  chainContract(journal)

  test('a row comes back as it was written', async () => {
    const key = sample.newKey()
    const wanted = sample.one(key, 1)
    expect(await append(wanted)).toBe('appended')
    const recalled = (await journal().recall([{ key, after: 0 }])).get(key)
    expect(recalled).toEqual({ snapshot: null, rows: [expect.objectContaining(wanted.rows[0]!)] })
    expect(JSON.stringify(recalled!.rows[0]!.events)).toBe(JSON.stringify(wanted.rows[0]!.events))
  })

  test('an unknown key recalls nothing', async () => {
    const key = sample.newKey()
    expect((await journal().recall([{ key, after: 0 }])).get(key)).toEqual({ snapshot: null, rows: [] })
  })

  test('a version that exists, and one that leaves a gap, are stale', async () => {
    const key = sample.newKey()
    expect(await append(sample.one(key, 1))).toBe('appended')
    expect(await append(sample.one(key, 1))).toBe('stale')
    expect(await append(sample.one(key, 3))).toBe('stale')
    expect(await append(sample.one(sample.newKey(), 2))).toBe('stale')
    expect(await sample.versionsOf(journal(), key)).toEqual([1])
  })

  test('a command said twice is seen, whatever version it claims', async () => {
    const key = sample.newKey()
    const command = randomUUID()
    const first = sample.unit([[key, 1]], [], command)
    expect(await append(first)).toBe('appended')
    expect(await append(first)).toBe('seen')
    expect(await append(sample.unit([[key, 2]], [], command))).toBe('seen')
    expect(await Promise.all([append(first), append(first)])).toEqual(['seen', 'seen'])
  })

  test('the same append twice at once is written once', async () => {
    const wanted = sample.unit([
      [sample.newKey(), 1],
      [sample.newKey(), 1],
    ])
    expect(await Promise.all([append(wanted), append(wanted)])).toEqual(['appended', 'seen'])
  })

  test('a unit fenced in the middle of a batch leaves no row and no view behind, and holds nobody up', async () => {
    const keys = Array.from({ length: 5 }, sample.newKey)
    const shared = sample.newKey()
    expect(await append(sample.one(shared, 1))).toBe('appended')
    const rows = keys.map(() => sample.arqRow())
    const units = keys.map((key, index) =>
      sample.unit(
        index === 2
          ? [
              [key, 1],
              [shared, 1],
            ]
          : [[key, 1]],
        [sample.arqChange(rows[index]!)],
      ),
    )
    expect(await Promise.all(units.map(append))).toEqual(['appended', 'appended', 'stale', 'appended', 'appended'])
    expect(await sample.versionsOf(journal(), keys[2]!)).toEqual([])
    const uuids = rows.map(({ uuid }) => uuid)
    const page = await reads().page({ view: 'arqs', where: { uuid: uuids }, sort: 'created_at', limit: 9 })
    expect(page!.map(({ uuid }) => uuid).toSorted()).toEqual(uuids.toSpliced(2, 1).toSorted())
  })

  test('of two appends that share a key the later waits, and the order of a key is kept', async () => {
    const key = sample.newKey()
    const verdicts = await Promise.all([1, 2, 3, 4].map((version) => append(sample.one(key, version))))
    expect(verdicts).toEqual(['appended', 'appended', 'appended', 'appended'])
    expect(await sample.versionsOf(journal(), key)).toEqual([1, 2, 3, 4])
  })

  test('the feed gives every row once, in an order that agrees with the versions, and pages', async () => {
    const mark = sample.newKey()
    await append(sample.one(mark, 1))
    const [{ position: start }] = (await journal().history([mark], 1)) as [FeedRow]
    const keys = Array.from({ length: 7 }, sample.newKey)
    for (const version of [1, 2, 3]) await Promise.all(keys.map((key) => append(sample.one(key, version))))
    await sample.fedWhole(journal(), 21, start)
    const first = await journal().feed(start, 10)
    const fed = [...first, ...(await sample.fedAll(journal(), first.at(-1)!.position))]
    expect(first).toHaveLength(10)
    for (const key of keys)
      expect(fed.filter((row) => row.key === key).map(({ version }) => version)).toEqual([1, 2, 3])
    expect(fed).toHaveLength(21)
    expect(await journal().feed(fed.at(-1)!.position, 10)).toEqual([])
  })

  test('history is of the given keys only, oldest first, within the limit', async () => {
    const [a, b, c] = [sample.newKey(), sample.newKey(), sample.newKey()]
    for (const [key, version] of [
      [a, 1],
      [b, 1],
      [c, 1],
      [a, 2],
    ] as const)
      await append(sample.one(key, version))
    const rows = await journal().history([a, b], 10)
    expect(rows.map(({ key, version }) => [key, version])).toEqual([
      [a, 1],
      [b, 1],
      [a, 2],
    ])
    expect(await journal().history([a, b], 2)).toEqual(rows.slice(0, 2))
  })

  test('a checkpoint is kept by reader', async () => {
    const reader = randomUUID()
    expect(await journal().checkpoint(reader)).toBe('')
    await journal().saveCheckpoint(reader, '12.3')
    await journal().saveCheckpoint(reader, '14.1')
    expect(await journal().checkpoint(reader)).toBe('14.1')
  })

  test('a snapshot shortens the recall of those who know less', async () => {
    const key = sample.newKey()
    for (const version of [1, 2, 3]) await append(sample.one(key, version))
    const memory = { zeta: 1, alpha: 2 }
    const snapshot = put('snapshots', { entity: key, version: 2, memory, schema: snapshotSchemaOf(key) })
    expect(await append({ rows: [], changes: [snapshot] })).toBe('appended')
    const [cold, warm] = await Promise.all(
      [0, 2].map(async (after) => (await journal().recall([{ key, after }])).get(key)!),
    )
    expect(cold!.snapshot).toEqual({ version: 2, memory: { zeta: 1, alpha: 2 } })
    expect(cold!.rows.map(({ version }) => version)).toEqual([3])
    expect(warm).toEqual({ snapshot: null, rows: cold!.rows })
  })

  test.each([-1, 1])('a snapshot of an older or newer program is not read: %d', async (by) => {
    const key = sample.newKey()
    for (const version of [1, 2, 3]) await append(sample.one(key, version))
    const row = { entity: key, version: 2, memory: { of: 'another' }, schema: snapshotSchemaOf(key) + by }
    expect(await append({ rows: [], changes: [put('snapshots', row)] })).toBe('appended')
    const recalled = (await journal().recall([{ key, after: 0 }])).get(key)!
    expect(recalled.snapshot).toBe(null)
    expect(recalled.rows.map(({ version }) => version)).toEqual([1, 2, 3])
  })

  test('a broken rule of the views names itself and leaves the others of the batch standing', async () => {
    const name = randomUUID()
    const [first, second, other] = [sample.newKey(), sample.newKey(), sample.newKey()]
    const taken = { conflict: 'profiles_name_unique' }
    expect(await append(sample.one(first, 1, [put('profiles', sample.profileRow(name))]))).toBe('appended')
    const verdicts = await Promise.all([
      append(sample.one(other, 1, [put('profiles', sample.profileRow(randomUUID()))])),
      append(sample.one(second, 1, [put('profiles', sample.profileRow(name))])),
      append(sample.one(sample.newKey(), 1)),
    ])
    expect(verdicts).toEqual(['appended', taken, 'appended'])
    expect(await sample.versionsOf(journal(), second)).toEqual([])
    expect(await profileNamed(name)).toHaveLength(1)
  })

  test('of two that claim one name at once the first has it', async () => {
    const name = randomUUID()
    const claim = () => append(sample.one(sample.newKey(), 1, [put('profiles', sample.profileRow(name))]))
    expect(await Promise.all([claim(), claim()])).toEqual(['appended', { conflict: 'profiles_name_unique' }])
  })

  test('an append that no store can hold is refused by itself, with the field and the rule', async () => {
    const [good, bad, other] = [sample.newKey(), sample.newKey(), sample.newKey()]
    const row = { ...sample.arqRow(), group_id: 3_000_000_000 }
    const verdicts = await Promise.all([
      append(sample.one(good, 1, [sample.arqChange(sample.arqRow())])),
      append(sample.one(bad, 1, [sample.arqChange(row)])),
      append(sample.one(other, 1)),
    ])
    const rule = 'must be a whole number from -2147483648 to 2147483647'
    expect(verdicts).toEqual(['appended', { refused: { kind: 'invalid', field: 'arqs.group_id', rule } }, 'appended'])
    expect(await sample.versionsOf(journal(), bad)).toEqual([])
  })

  test('a fenced append and one that no store can hold, in one batch, get a verdict each', async () => {
    const taken = sample.newKey()
    await append(sample.one(taken, 1))
    const nul = sample.one('arq/\u0000', 1)
    const verdicts = await Promise.all([
      append(sample.one(sample.newKey(), 1)),
      append(sample.one(taken, 1)),
      append(nul),
      append(sample.one(sample.newKey(), 1)),
    ])
    expect(verdicts.map((verdict) => (typeof verdict === 'string' ? verdict : Object.keys(verdict)[0]))).toEqual([
      'appended',
      'stale',
      'refused',
      'appended',
    ])
  })

  test('a read that the store refuses fails for nobody else', async () => {
    const keys = Array.from({ length: 40 }, sample.newKey)
    await Promise.all(keys.map((key) => append(sample.one(key, 1))))
    const reading = keys.map((key) => journal().recall([{ key, after: 0 }]))
    const poisons = [
      journal().recall([{ key: 'host/\u0000', after: 0 }]),
      journal().recall([{ key: keys[0]!, after: 2 ** 40 }]),
    ]
    const all = await Promise.allSettled([...poisons, ...reading])
    expect(all.slice(2).map((one) => one.status)).toEqual(keys.map(() => 'fulfilled'))
    expect(all[0]).toEqual({
      status: 'fulfilled',
      value: new Map([['host/\u0000', { snapshot: null, rows: [] }]]),
    })
  })

  test('an empty value where none may be is a broken rule', async () => {
    const row = { ...sample.profileRow(randomUUID()), name: null } as unknown as ReturnType<typeof sample.profileRow>
    const change = { view: 'profiles', key: row.uuid, row } as const
    expect(await append(sample.one(sample.newKey(), 1, [change]))).toEqual({
      refused: { kind: 'invalid', field: 'profiles.name', rule: 'must not be empty' },
    })
  })

  test.each(['nul \u0000', 'half a pair \ud83d', 'half a pair \ude00.'])(
    'text that is no Unicode is a broken rule: %j',
    async (name) => {
      const change = put('profiles', sample.profileRow(name))
      expect(await append(sample.one(sample.newKey(), 1, [change]))).toEqual({
        refused: {
          kind: 'invalid',
          field: 'profiles.name',
          rule: 'must not hold a NUL character or half of a surrogate pair',
        },
      })
    },
  )

  test('a unique value freed and taken again in one append is no conflict', async () => {
    const [arq, name] = [randomUUID(), randomUUID()]
    const [a, b] = [sample.handleRow(arq), sample.handleRow(null)]
    const old = sample.profileRow(name)
    const before = [put('handles', a), put('handles', b), put('profiles', old)]
    expect(await append(sample.one(sample.newKey(), 1, before))).toBe('appended')
    const after = [
      put('handles', { ...b, arq_uuid: arq }),
      put('handles', { ...a, arq_uuid: null }),
      put('profiles', sample.profileRow(name)),
      drop('profiles', old.uuid),
    ]
    expect(await append(sample.one(sample.newKey(), 1, after))).toBe('appended')
    expect(await profileNamed(name)).toEqual([expect.not.objectContaining({ uuid: old.uuid })])
  })

  test('the last change of a row counts', async () => {
    const row = sample.profileRow(randomUUID())
    await append(
      sample.one(sample.newKey(), 1, [put('profiles', row), drop('profiles', row.uuid), put('profiles', row)]),
    )
    expect(await profileNamed(row.name)).toEqual([row])
    await append(
      sample.one(sample.newKey(), 1, [put('profiles', { ...row, description: 'x' }), drop('profiles', row.uuid)]),
    )
    expect(await profileNamed(row.name)).toEqual([])
  })

  test('pages follow the marker in both directions and know an unknown one', async () => {
    const instance = randomUUID()
    const rows = Array.from({ length: 7 }, (_, index) =>
      sample.arqRow({
        instance_uuid: instance,
        created_at: sample.AT + (index >> 1),
        state: index === 0 ? 'Bound' : 'Initial',
      }),
    )
    await append(sample.one(sample.newKey(), 1, rows.map(sample.arqChange)))
    const query = { view: 'arqs', where: { instance_uuid: instance }, sort: 'created_at', limit: 3 } as const
    const walk = async (descending: boolean, marker?: string): Promise<readonly string[]> => {
      const page = await reads().page({ ...query, descending, ...(marker === undefined ? {} : { marker }) })
      const uuids = page!.map(({ uuid }) => uuid)
      return uuids.length < 3 ? uuids : [...uuids, ...(await walk(descending, uuids.at(-1)))]
    }
    const order = rows
      .toSorted((a, b) => a.created_at - b.created_at || (a.uuid < b.uuid ? -1 : 1))
      .map(({ uuid }) => uuid)
    expect(await walk(false)).toEqual(order)
    expect(await walk(true)).toEqual(order.toReversed())
    expect(await reads().page({ ...query, marker: order.at(-1)! })).toEqual([])
    expect(await reads().page({ ...query, marker: randomUUID() })).toBeNull()
    expect(await reads().page({ ...query, marker: 'no uuid' })).toBeNull()
    const some = { ...query.where, state: ['Bound', 'Unbound'], hostname: null }
    expect((await reads().page({ ...query, where: some }))!.map(({ uuid }) => uuid)).toEqual([rows[0]!.uuid])
    expect(await reads().page({ ...query, where: { ...query.where, state: [] } })).toEqual([])
  })

  test('a marker that is not visible is as unknown as one that does not exist', async () => {
    const instance = randomUUID()
    const rows = ['p1', 'p2', 'p1', 'p2', 'p1'].map((project_id, index) =>
      sample.arqRow({ instance_uuid: instance, project_id, created_at: sample.AT + index, state: 'Initial' }),
    )
    await append(sample.one(sample.newKey(), 1, rows.map(sample.arqChange)))
    const visible = { project_id: 'p1' }
    const query = { view: 'arqs', where: { instance_uuid: instance }, visible, limit: 3 } as const
    const [first, foreign, second, , third] = rows.map(({ uuid }) => uuid)
    for (const sort of ['created_at', 'uuid', 'state'] as const)
      for (const descending of [false, true]) {
        const page = (marker: string) => reads().page({ ...query, sort, descending, marker })
        expect(await page(foreign!)).toBeNull()
        expect(await page(randomUUID())).toBeNull()
        expect(await page(first!)).not.toBeNull()
      }
    const seen = async (marker?: string, where: object = {}) => {
      const more = marker === undefined ? {} : { marker }
      const page = await reads().page({ ...query, where: { ...query.where, ...where }, sort: 'created_at', ...more })
      return page!.map(({ uuid }) => uuid)
    }
    expect(await seen()).toEqual([first, second, third])
    expect(await seen(first)).toEqual([second, third])
    expect(await seen(third)).toEqual([])
    // a filter is no question of what may be seen: the marker may have changed its state since it was read
    expect(await seen(third, { state: 'Bound' })).toEqual([])
  })

  test('a page holds whole rows', async () => {
    const row = sample.arqRow({ handle_info: { bus: '0c', domain: '0000' }, updated_at: sample.AT + 1 })
    await append(sample.one(sample.newKey(), 1, [sample.arqChange(row)]))
    const page = await reads().page({ view: 'arqs', where: { uuid: row.uuid }, sort: 'created_at', limit: 1 })
    expect(JSON.stringify(page)).toBe(JSON.stringify([row]))
  })

  test('what is due comes oldest first', async () => {
    const [a, b, c] = [sample.newKey(), sample.newKey(), sample.newKey()]
    const early = 1_000_000_000_000
    const due = [a, b, c].map((entity, index) => put('due', { entity, kind: 'arq', at: early + 10 - index }))
    await append(sample.one(sample.newKey(), 1, due))
    expect((await reads().dueBefore(early + 9, 5)).map(({ entity }) => entity)).toEqual([c, b])
    expect((await reads().dueBefore(early + 9, 1)).map(({ at }) => at)).toEqual([early + 8])
    const forOperators = put('due', { entity: sample.newKey(), kind: 'nova-undelivered', at: early })
    await append(sample.one(sample.newKey(), 1, [forOperators]))
    expect((await reads().dueBefore(early + 9, 1)).map(({ at }) => at)).toEqual([early + 8])
  })

  test('the rows of a view are counted for each value of a column', async () => {
    const kind = `kind-${randomUUID()}`
    const due = (at: number) => put('due', { entity: sample.newKey(), kind, at })
    await append(sample.one(sample.newKey(), 1, [due(9e12), due(9e12)]))
    const counted = await reads().tally('due', 'kind')
    expect(counted.get(kind)).toBe(2)
    expect(counted.has('no such kind')).toBe(false)
  })

  test('who listens hears of each append, until it stops', async () => {
    let heard = 0
    const stop = journal().onAppended(() => heard++)
    await append(sample.one(sample.newKey(), 1))
    expect(heard).toBe(1)
    stop()
    await append(sample.one(sample.newKey(), 1))
    expect(heard).toBe(1)
  })

  test('a thousand appends at once are all written', async () => {
    const keys = Array.from({ length: 1_000 }, sample.newKey)
    const verdicts = await Promise.all(
      keys.map((key) => append(sample.one(key, 1, [sample.arqChange(sample.arqRow())]))),
    )
    expect(new Set(verdicts)).toEqual(new Set(['appended']))
    const recalls = await Promise.all(keys.map((key) => journal().recall([{ key, after: 0 }])))
    expect(recalls.every((answer, index) => answer.get(keys[index]!)!.rows.length === 1)).toBe(true)
  })
}
