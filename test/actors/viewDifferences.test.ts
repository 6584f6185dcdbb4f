import { expect, it } from 'vitest'
import { differencesOf, rowsToRead } from '../../src/services/overview/viewChecks.ts'
import type { ViewName } from '../../src/actors/runtime/views.ts'

type Rows = Readonly<Record<string, Readonly<Record<string, unknown>>>>
const views = (given: Partial<Record<ViewName, Rows>>) =>
  new Map(Object.entries(given).map(([view, rows]) => [view as ViewName, new Map(Object.entries(rows))]))

const row = { uuid: 'a', state: 'free' }

it.each([
  ['nothing', {}, {}, []],
  [
    'the same rows, whatever the order of their columns',
    { handles: { a: row } },
    { handles: { a: { state: 'free', uuid: 'a' } } },
    [],
  ],
  ['another value', { handles: { a: row } }, { handles: { a: { ...row, state: 'held' } } }, ['handles a differs']],
  ['a row that the journal does not make', {}, { handles: { a: row } }, ['handles a spare']],
  [
    'a row that the journal does not make, in a view that it fills',
    { handles: { a: row } },
    { handles: { a: row, b: row } },
    ['handles b spare'],
  ],
  ['a row that is not there', { handles: { a: row, b: row } }, { handles: { b: row } }, ['handles a missing']],
  ['a view that is empty', { handles: { a: row }, arqs: { b: row } }, { arqs: { b: row } }, ['handles a missing']],
  [
    'another time at which an order was sent',
    { pending_orders: { a: { slot: 'a', sent_at: 1 } } },
    { pending_orders: { a: { slot: 'a', sent_at: 2 } } },
    [],
  ],
  [
    'another time at which a host is compared with Placement',
    { due: { a: { entity: 'placement/a', kind: 'placement in_sync', at: 1 } } },
    { due: { a: { entity: 'placement/a', kind: 'placement in_sync', at: 2 } } },
    [],
  ],
  [
    'another time at which something else is due',
    { due: { a: { entity: 'instance/a', kind: 'instance', at: 1 } } },
    { due: { a: { entity: 'instance/a', kind: 'instance', at: 2 } } },
    ['due a differs'],
  ],
  [
    'another kind of due work, which an older release records',
    { due: { a: { entity: 'instance/a', kind: 'instance', at: 1 } } },
    { due: { a: { entity: 'instance/a', kind: 'nova', at: 1 } } },
    [],
  ],
  [
    'another time in another view',
    { handles: { a: { sent_at: 1 } } },
    { handles: { a: { sent_at: 2 } } },
    ['handles a differs'],
  ],
] as const)('a view compared with the fold of the journal: %s', (_, folded, found, expected) => {
  const differences = differencesOf(views(folded), views(found)).map(
    ({ view, row: key, what }) => `${view} ${key} ${what}`,
  )
  expect(differences).toEqual(expected)
})

it.each<
  readonly [
    string,
    Parameters<typeof views>[0],
    Parameters<typeof rowsToRead>[1],
    readonly (readonly [ViewName, readonly string[]])[],
  ]
>([
  ['none', {}, [], []],
  [
    'those of the fold',
    { handles: { a: row, b: row }, arqs: { c: row } },
    [],
    [
      ['handles', ['a', 'b']],
      ['arqs', ['c']],
    ],
  ],
  [
    'sampled ones in a view that the fold does not fill',
    {},
    [
      ['handles', 'x'],
      ['arqs', 'y'],
    ],
    [
      ['handles', ['x']],
      ['arqs', ['y']],
    ],
  ],
  [
    'each once',
    { handles: { a: row } },
    [
      ['handles', 'a'],
      ['handles', 'x'],
      ['handles', 'x'],
    ],
    [['handles', ['a', 'x']]],
  ],
])('rows to read: %s', (_, folded, sampled, expected) => {
  expect([...rowsToRead(views(folded), sampled)]).toEqual(expected)
})
