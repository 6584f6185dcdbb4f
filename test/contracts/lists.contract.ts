/**
 * What every store must answer to every list: all views, filter columns, sort keys, directions, markers and limits, as
 * VIEWS has them.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PageQuery, Scalar } from '../../src/actors/runtime/ports.ts'
import { VIEWS, drop, put, type Kind, type View, type ViewName } from '../../src/actors/runtime/views.ts'
import type { Store } from '../../src/persistence/store.ts'
import { one, newKey } from '../persistence/samples.ts'

type Cells = Readonly<Record<string, unknown>>
type Base = 'uuid' | 'text' | 'int' | 'bigint' | 'json' | 'bool'
const viewNames = Object.keys(VIEWS) as readonly ViewName[]
const viewOf = (name: ViewName): View => VIEWS[name]
const baseOf = (kind: Kind) => kind.replace('?', '') as Base

const ROWS = 9
const uuidOf = (n: number): string => `0000000${n % 10}-0000-4000-8000-${String(n).padStart(12, '0')}`
/** Upper case sorts before lower case, and both before what is not ASCII, whatever the language of the database. */
const WORDS = ['b', 'B', 'ä', 'a b']

const VALUES: Readonly<Record<Base, (n: number) => unknown>> = {
  uuid: uuidOf,
  text: (n) => `${WORDS[n % WORDS.length]!}${Math.floor(n / WORDS.length)}`,
  int: (n) => n - 3,
  bigint: (n) => 1_790_000_000_000 + n,
  bool: (n) => n % 2 === 0,
  json: (n) => ({ n, list: [null, 'x'] }),
}
/** Of the right kind, and in no row. */
const ABSENT: Readonly<Record<Base, Scalar>> = {
  uuid: uuidOf(99),
  text: 'absent',
  int: 99,
  bigint: 99,
  bool: true,
  json: null,
}
/** The column could not hold them. */
const ALIEN: Readonly<Record<Base, readonly Scalar[]>> = {
  uuid: ['no uuid', '', 7],
  text: ['nul \u0000', 'half a pair \ud83d', 7],
  int: [2 ** 31, 1.5, '1'],
  bigint: [2 ** 63, 0.5, '1'],
  bool: ['true', 1],
  json: [],
}

const columnsOf = (view: ViewName) =>
  Object.entries(viewOf(view).columns).map(([name, kind]) => ({
    name,
    base: baseOf(kind),
    nullable: kind.endsWith('?'),
  }))
const sortKeys = (view: ViewName): readonly string[] =>
  columnsOf(view).flatMap(({ name, base, nullable: empty }) => (empty || base === 'json' ? [] : [name]))

/** Values that several rows share, where the column allows it; every fourth is null, where the column allows it. */
const rowOf = (view: ViewName, index: number): Cells => {
  const { key, unique } = viewOf(view)
  const lone = new Set([key, ...unique.flat()])
  return Object.fromEntries(
    columnsOf(view).map(({ name, base, nullable: empty }, column) => {
      const turned = (index * 5 + column) % ROWS
      if (empty && turned % 4 === 0) return [name, null]
      return [name, VALUES[base](lone.has(name) ? turned : turned % 4)]
    }),
  )
}
const rowsOf = (view: ViewName): readonly Cells[] => Array.from({ length: ROWS }, (_, index) => rowOf(view, index))
const keyIn = (view: ViewName, row: Cells): string => String(row[viewOf(view).key])

const compare = (a: unknown, b: unknown): number => (a === b ? 0 : (a as string) < (b as string) ? -1 : 1)
const holds = (cell: unknown, wanted: unknown): boolean =>
  Array.isArray(wanted) ? wanted.includes(cell) : cell === wanted

type Asked = Omit<PageQuery<ViewName>, 'where' | 'visible' | 'sort'> & {
  readonly where: Cells
  readonly visible?: Cells
  readonly sort: string
}
/** The answer, worked out in the simplest way there is. */
const expected = (rows: readonly Cells[], asked: Asked) => {
  const { view, where, visible = {}, sort, descending, marker, after, limit } = asked
  const { key } = viewOf(view)
  const sign = descending ? -1 : 1
  const order = (a: Cells, b: Cells) => sign * (compare(a[sort], b[sort]) || compare(a[key], b[key]))
  const place =
    marker === undefined ? after && { [sort]: after.value, [key]: after.key } : rows.find((row) => row[key] === marker)
  const fulfils = (row: Cells, wanted: Cells) =>
    Object.entries(wanted).every(([column, each]) => holds(row[column], each))
  if (marker !== undefined && (!place || !fulfils(place, visible))) return null
  return rows
    .filter((row) => fulfils(row, where) && fulfils(row, visible))
    .filter((row) => !place || order(row, place) > 0)
    .toSorted(order)
    .slice(0, limit)
}

/** Hands out the items in turn, again and again. */
const inTurn = <Item>(items: readonly Item[]): (() => Item) => {
  let at = 0
  return () => items[at++ % items.length]!
}

/** What may be asked of one column: a value, null, several values, none, and what no cell of that type can hold. */
const wishesFor = (base: Base): readonly (Scalar | readonly Scalar[])[] => {
  if (base === 'json') return [null]
  const [some, other] = [1, 2].map((n) => VALUES[base](n) as Scalar)
  return [
    some!,
    null,
    [some!, other!, ABSENT[base]],
    [some!, null],
    [],
    ...ALIEN[base],
    ALIEN[base],
    ABSENT[base],
    [null],
  ]
}
type Place = Pick<Asked, 'marker' | 'after'>
const placesOf = (view: ViewName, sort: string): readonly Place[] => {
  const { key, unique, columns } = viewOf(view)
  const rows = rowsOf(view).filter((_, index) => index % 3 === 0)
  const byKey = baseOf(columns[key]!)
  const lone = [[key], ...unique].some((rule) => rule.length === 1 && rule[0] === sort)
  const base = baseOf(columns[sort]!)
  // a row that is not there any more: between others where values may repeat, else behind them all
  const gone = { value: lone ? ABSENT[base] : (VALUES[base](2) as Scalar), key: String(ABSENT[byKey]) }
  return [
    {},
    ...rows.map((row) => ({ marker: keyIn(view, row) })),
    { marker: String(ABSENT[byKey]) },
    ...ALIEN[byKey].filter((alien) => typeof alien === 'string').map((marker) => ({ marker })),
    ...rows.map((row) => ({ after: { value: row[sort] as Scalar, key: keyIn(view, row) } })),
    { after: sort === key ? { value: gone.key, key: gone.key } : gone },
  ]
}
const LIMITS = [1, 2, 1000]

type Order = Pick<Asked, 'sort' | 'descending'>
/**
 * Every sort key and direction with every filter column and with every place; what may be asked of a column, and
 * limits, take turns.
 */
const questionsOf = (view: ViewName): readonly Asked[] => {
  const limit = inTurn(LIMITS)
  const orders = sortKeys(view).flatMap((sort): Order[] => [false, true].map((descending) => ({ sort, descending })))
  const filtered = columnsOf(view).flatMap(({ name, base }) => {
    const wishes = wishesFor(base)
    return Array.from({ length: Math.max(orders.length, wishes.length) }, (_, index) => ({
      view,
      where: { [name]: wishes[index % wishes.length] },
      limit: limit(),
      ...orders[index % orders.length]!,
    }))
  })
  const filter = inTurn(filtered.map(({ where }) => where))
  const filters = inTurn<() => Pick<Asked, 'where' | 'visible'>>([
    () => ({ where: {} }),
    () => ({ where: {}, visible: filter() }),
    () => ({ where: {} }),
    () => ({ where: filter() }),
    () => ({ where: filter(), visible: filter() }),
  ])
  const placed = orders.flatMap((order) =>
    placesOf(view, order.sort).map((place) => ({ view, limit: limit(), ...filters()(), ...order, ...place })),
  )
  return [...filtered, ...placed]
}

const AT_ONCE = 8

export const listsContract = (storeOf: () => Store): void => {
  describe('lists', () => {
    const every = viewNames.flatMap((view) => rowsOf(view).map((row) => ({ view, row })))
    beforeAll(async () => {
      const changes = every.map(({ view, row }) => put(view, row as never))
      expect(await storeOf().journal.append(one(newKey(), 1, changes))).toBe('appended')
    })
    afterAll(async () => {
      const changes = every.map(({ view, row }) => drop(view, keyIn(view, row)))
      expect(await storeOf().journal.append(one(newKey(), 1, changes))).toBe('appended')
    })

    test.each(viewNames)('%s: every filter, order and place', async (view) => {
      const [rows, questions] = [rowsOf(view), questionsOf(view)]
      const answers: (readonly unknown[] | null)[] = []
      // A few at a time: a store answers only so many at once, and lets a caller wait for its turn only so long.
      for (let from = 0; from < questions.length; from += AT_ONCE) {
        const some = questions.slice(from, from + AT_ONCE)
        answers.push(...(await Promise.all(some.map((question) => storeOf().reads.page(question as never)))))
      }
      const wrong = questions.flatMap((question, index) => {
        const wanted = expected(rows, question)
        return JSON.stringify(answers[index]) === JSON.stringify(wanted)
          ? []
          : [{ question, wanted, got: answers[index] }]
      })
      expect(wrong.slice(0, 3)).toEqual([])
      // a question that no row answers proves little
      expect(answers.filter((answer) => answer !== null && answer.length > 0).length).toBeGreaterThan(
        questions.length / 6,
      )
    })

    test.each(viewNames)('%s: rows are counted by every column, where it is not null', async (view) => {
      for (const { name, base } of columnsOf(view)) {
        if (base === 'json') continue
        const there = rowsOf(view).filter((row) => row[name] !== null)
        const counted = Map.groupBy(there, (row) => String(row[name]))
        const wanted = [...counted].map(([value, rows]) => [value, rows.length] as const)
        expect(await storeOf().reads.tally(view, name as never)).toEqual(new Map(wanted))
      }
    })

    test('a column that the view lacks is a lasting failure', async () => {
      const asked = { view: 'handles', where: {}, sort: 'created_at', limit: 1 } as never
      await expect(storeOf().reads.page(asked)).rejects.toMatchObject({
        name: 'Unreadable',
        permanent: true,
        message: expect.stringMatching(/^the view handles cannot be read: .*created_at/),
      })
    })
  })
}
