/** A case for each condition of S4, S13 and of the invariants of `src/audit/inventory.ts`. */
import { remember, viewRowsOf } from '../../../src/actors/entities.ts'
import type { Evidence } from '../../../src/audit/evidence.ts'
import type { Finding } from '../../../src/audit/history.ts'
import { snapshotSchemaOf } from '../../../src/actors/runtime/snapshots.ts'
import type { ViewName } from '../../../src/actors/runtime/views.ts'
import {
  type Case,
  type Entry,
  accepted,
  arq,
  bindStarted,
  board,
  created,
  deployable,
  entry,
  described,
  granted,
  here,
  instance,
  journalOf,
  of,
  order,
  recorded,
  canonicalJson,
} from './scene.ts'

const version = (row: Entry, n: number): Entry => ({ ...row, version: n })
const command = (row: Entry, id: string): Entry => ({ ...row, command: id })
const start = arq('a1', bindStarted())
const single: readonly Case[] = [
  ['S4', 'rows are numbered', of(created('a1'), created('a2'), start), []],
  [
    'S4',
    'a row is missing',
    of(created('a1'), version(start, 3), version(start, 4)),
    [here(2, ['arq/a1'], 'arq/a1 has version 3 after 1')],
  ],
  ['S4', 'the first row is missing', of(version(start, 2)), [here(1, ['arq/a1'], 'arq/a1 has version 2 after 0')]],
  [
    'S4',
    'a row is there twice',
    of(created('a1'), version(start, 1)),
    [here(2, ['arq/a1'], 'arq/a1 has version 1 after 1')],
  ],
  [
    'S4',
    'a command is carried out twice',
    of(command(created('a1'), 'c'), created('a2'), command(start, 'c')),
    [here(3, ['arq/a1'], 'arq/a1 carried out command c again')],
  ],
  ['S4', 'a command is carried out by two', of(command(created('a1'), 'c'), command(created('a2'), 'c')), []],
]

const waiting = [
  board,
  deployable('d1', granted('h1', 'a1', order('h1', 1))),
  deployable('d1', { type: 'PresenceSet', presence: 'missing' }),
]
const changes = viewRowsOf('deployable/d1', journalOf(...waiting))
const rowsOf = (view: ViewName) => changes.filter((one) => one.view === view).map(({ row }) => row as object)
const VIEWED = ['deployables', 'handles', 'pending_orders'] as const
type Viewed = (typeof VIEWED)[number]
const views = (more: { readonly [N in Viewed]?: readonly object[] } = {}): Partial<Evidence> => ({
  ...of(...waiting),
  views: { ...Object.fromEntries(VIEWED.map((name) => [name, rowsOf(name)])), ...more } as never,
})
const differs = (view: Viewed, key: string, line: string, keys: readonly string[] = ['deployable/d1']): Finding => ({
  found: `view: ${view}/${key} is ${line}`,
  keys,
  proof: [{ of: 'view', view, key }],
})
const json = (row: object) => canonicalJson({ ...row, sent_at: undefined })
const [shown] = rowsOf('deployables')
const [first] = rowsOf('handles')
const foreign = { ...first, uuid: 'h9' }
const memory = remember('deployable/d1', journalOf(...waiting))
const remembers = (more: object): Partial<Evidence> => ({ ...of(...waiting), memories: [{ ...memory, ...more }] })
const forgot = (key: string, is: object, fold: object): Finding => ({
  found: `the memory of ${key} is ${canonicalJson(is)}, its fold is ${canonicalJson(fold)}`,
  keys: [key],
})
/** A host that was compared with Placement, and an instance whose bind has a deadline. */
const compared = entry('placement/h1', { type: 'PassBegun', host: 'h1', number: 1, until: 7 })
const accepting = instance('i1', accepted())
const dueOf = (row: Entry) =>
  viewRowsOf(row.key, journalOf(row)).find(({ view, row: is }) => view === 'due' && is !== null)?.row
/** The row of due work of this entity has another moment. */
const dueAt = (row: Entry, at: number): Partial<Evidence> => ({
  ...of(row),
  views: { due: [{ ...dueOf(row), at }] as never },
})
const early = remember('deployable/d1', journalOf(board))
const OWN = snapshotSchemaOf('deployable/d1')
const snapshot = (n: number, frozen: object, schema = OWN): Partial<Evidence> => ({
  ...of(...waiting),
  views: { snapshots: [{ entity: 'deployable/d1', version: n, memory: frozen, schema }] },
})
const stale: Finding = {
  found: 'view: the snapshot of deployable/d1 at 1 is not what the journal folds to',
  keys: ['deployable/d1'],
  proof: [{ of: 'view', view: 'snapshots', key: 'deployable/d1' }],
}
const replay: readonly Case[] = [
  [
    'S13',
    'a row of an unknown kind says nothing',
    { ...views(), journal: journalOf(...waiting, entry('thing/x')) },
    [],
  ],
  ['S13', 'views are what the journal folds to', views(), []],
  [
    'S13',
    'when an order was sent is not folded',
    views({ pending_orders: rowsOf('pending_orders').map((row) => ({ ...row, sent_at: 77 })) }),
    [],
  ],
  ['S13', 'to when a comparison with Placement was put off is not folded', dueAt(compared, 99), []],
  [
    'S13',
    'when a bind has to end is folded',
    dueAt(accepting, 99),
    [
      {
        found: `view: due/instance/i1 is ${canonicalJson({ ...dueOf(accepting), at: 99 })}, its fold is ${canonicalJson(dueOf(accepting)!)}`,
        keys: ['instance/i1'],
        proof: [{ of: 'view', view: 'due', key: 'instance/i1' }],
      },
    ],
  ],
  [
    'S13',
    'a view shows something else',
    views({ deployables: [{ ...shown, name: 'x' }] }),
    [differs('deployables', 'd1', `${json({ ...shown, name: 'x' })}, its fold is ${json(shown!)}`)],
  ],
  [
    'S13',
    'a view lacks a row',
    views({ deployables: [] }),
    [differs('deployables', 'd1', `absent, its fold is ${json(shown!)}`)],
  ],
  [
    'S13',
    'a view has a row too many',
    views({ handles: [...rowsOf('handles'), foreign] }),
    [differs('handles', 'h9', `${json(foreign)}, its fold is absent`, [])],
  ],
  ['S13', 'a view is not known', { ...of(...waiting), views: { arqs: [] } }, []],
  [
    'S13',
    'a row cannot be folded',
    { ...of(deployable('d1', granted())), views: { deployables: [] }, memories: [memory] },
    [],
  ],
  ['S13', 'a memory is what the journal folds to', remembers({}), []],
  ['S13', 'a memory is older', remembers({ version: 1 }), [forgot('deployable/d1', { ...memory, version: 1 }, memory)]],
  [
    'S13',
    'a memory is of nothing',
    { ...of(board), memories: [{ ...memory, key: 'deployable/d9' }] },
    [forgot('deployable/d9', { ...memory, key: 'deployable/d9' }, remember('deployable/d9', []))],
  ],
  [
    'S13',
    'a snapshot and its tail are what the journal folds to',
    snapshot(1, { state: early.state, recent: early.recent }),
    [],
  ],
  [
    'S13',
    'a snapshot of the end is what the journal folds to',
    snapshot(3, { state: memory.state, recent: memory.recent, at: memory.at }),
    [],
  ],
  [
    'S13',
    'a snapshot whose last row was decided at another time',
    snapshot(3, { state: memory.state, recent: memory.recent, at: memory.at! + 1 }),
    [{ ...stale, found: stale.found.replace('at 1 ', 'at 3 ') }],
  ],
  ['S13', 'a snapshot is of another state', snapshot(1, { state: memory.state, recent: memory.recent }), [stale]],
  ['S13', 'a snapshot of another release is not read', snapshot(1, { of: 'another' }, OWN - 1), []],
  ['S13', 'a snapshot knows other commands', snapshot(1, { state: early.state, recent: [] }), [stale]],
]

const of2 = (more: object = {}, identity: object = {}) => deployable('d2', recorded(more, { uuid: 'd2', ...identity }))
const taken = (rowCount: number) =>
  here(rowCount, ['deployable/d2', 'deployable/d1'], 'provider rp1 of deployable/d2 is that of deployable/d1')
const retires = { type: 'PresenceSet', presence: 'retired' }
const deployables = (...rows: readonly object[]): Partial<Evidence> => ({
  ...of(created('a1')),
  views: { deployables: rows as never },
})
const node = (uuid: string, more: object = {}) => ({
  uuid,
  rp_uuid: null,
  device_uuid: 'c1',
  parent_uuid: null,
  root_uuid: null,
  ...more,
})
const inTree = (uuid: string, line: string): Finding => ({
  found: `view: deployable ${uuid} ${line}`,
  keys: [],
  proof: [{ of: 'view', view: 'deployables', key: uuid }],
})
const below = (parentUuid: string) => ({ parentUuid, parentId: 2, rootUuid: 'd1', rootId: 2 })
const provider: readonly Case[] = [
  ['I7', 'each has its own', of(board, of2({}, { rpUuid: 'rp2' })), []],
  ['I7', 'two have one', of(board, of2()), [taken(2)]],
  ['I7', 'one below another is bound by its provider', of(board, of2({}, { tree: below('d1') })), []],
  ['I7', 'one that changes keeps its own', of(board, deployable('d1', granted())), []],
  ['I7', 'one has it after the other was retired', of(board, deployable('d1', retires), of2()), []],
  [
    'I7',
    'one has it after the other got another',
    of(board, deployable('d1', recorded({}, { rpUuid: 'rp2' })), of2()),
    [],
  ],
  [
    'I7',
    'one that is not recorded has none',
    of(
      deployable('d1', retires),
      deployable('d2', { type: 'StatusSet', status: 'enabled' }),
      deployable('d3', { type: 'StatusSet', status: 'enabled' }),
    ),
    [],
  ],
  [
    'I7',
    'one that took it from another has it',
    of(board, of2(), deployable('d1', retires), deployable('d3', recorded({}, { uuid: 'd3' }))),
    [taken(2), here(4, ['deployable/d3', 'deployable/d2'], 'provider rp1 of deployable/d3 is that of deployable/d2')],
  ],
  [
    'I7',
    'a root has a provider, its child has none',
    deployables(node('d1', { rp_uuid: 'rp1' }), node('d2', { parent_uuid: 'd1' })),
    [],
  ],
  [
    'I7',
    'a child has a provider',
    deployables(node('d2', { rp_uuid: 'rp1', parent_uuid: 'd1' })),
    [inTree('d2', 'has a provider and a parent')],
  ],
]
const child = (uuid: string, parent: string, more: object = {}) =>
  node(uuid, { parent_uuid: parent, root_uuid: 'd1', ...more })
const tree: readonly Case[] = [
  ['I8', 'a tree of three', deployables(node('d1'), child('d2', 'd1'), child('d3', 'd2')), []],
  [
    'I8',
    'one has a root and no parent',
    deployables(node('d2', { root_uuid: 'd1' })),
    [inTree('d2', 'has one of parent and root')],
  ],
  [
    'I8',
    'one has a parent and no root',
    deployables(node('d1'), child('d2', 'd1', { root_uuid: null })),
    [inTree('d2', 'has one of parent and root'), inTree('d2', 'is not of the tree of its parent')],
  ],
  [
    'I8',
    'one has another root than its parent',
    deployables(node('d1'), child('d2', 'd1'), child('d3', 'd2', { root_uuid: 'd2' })),
    [inTree('d3', 'is not of the tree of its parent')],
  ],
  [
    'I8',
    'one is of another device than its parent',
    deployables(node('d1'), child('d2', 'd1', { device_uuid: 'c2' })),
    [inTree('d2', 'is not of the tree of its parent')],
  ],
  [
    'I8',
    'the parent of one is not there',
    deployables(child('d2', 'd1')),
    [inTree('d2', 'is not of the tree of its parent')],
  ],
  ['I8', 'nothing is known', of(board), []],
]

const rc = (uuid: string, key = 'rc') => ({ uuid, key, value: 'FPGA', origin: 'driver', createdAt: 0 })
const withAttributes = (...attributes: readonly object[]) =>
  deployable('d1', recorded({ description: described(['h1', 'h2'], { attributes }) }))
const classed: readonly Case[] = [
  ['I11', 'it has one class, and traits', of(withAttributes(rc('1'), rc('2', 'trait1'))), []],
  [
    'I11',
    'it has none',
    of(withAttributes(rc('2', 'trait1'))),
    [here(1, ['deployable/d1'], 'deployable/d1 has 0 resource classes')],
  ],
  [
    'I11',
    'it has two',
    of(withAttributes(rc('1'), rc('2'))),
    [here(1, ['deployable/d1'], 'deployable/d1 has 2 resource classes')],
  ],
  [
    'I11',
    'it is retired',
    of([deployable('d1', recorded({ description: described([], { attributes: [], numAccelerators: 0 }) }), retires)]),
    [],
  ],
  ['I11', 'it is not recorded', of(deployable('d1', { type: 'StatusSet', status: 'enabled' })), []],
]

const mdev = (uuid: string) => ({ uuid, type: 'MDEV' })
const counts = (handles: readonly (string | object)[], numAccelerators: number) =>
  deployable('d1', recorded({ description: described(handles, { numAccelerators }) }))
const has = (rowCount: number, accelerators: number, handles: number) =>
  here(rowCount, ['deployable/d1'], `deployable/d1 has ${accelerators} accelerators and ${handles} handles`)
const again = (handles: readonly string[], numAccelerators: number) =>
  deployable('d1', { type: 'DeployableDescribed', description: described(handles, { numAccelerators }) })
const part = (uuid: string, parent: string, handles: readonly string[], more: object = {}) =>
  deployable(
    uuid,
    recorded(
      { description: described(handles, { numAccelerators: handles.length, ...more }) },
      { uuid, rpUuid: 'rp1', tree: below(parent) },
    ),
  )
const counted: readonly Case[] = [
  [
    'I12',
    'it is described and more in one row',
    of(deployable('d1', recorded({ description: described(['h1']) }), granted())),
    [has(1, 2, 1)],
  ],
  ['I12', 'as many handles as accelerators', of(counts(['h1', 'h2'], 2)), []],
  ['I12', 'a handle too few', of(counts(['h1'], 2)), [has(1, 2, 1)]],
  ['I12', 'a handle too many', of(counts(['h1', 'h2'], 1)), [has(1, 1, 2)]],
  ['I12', 'handles on demand are fewer', of(counts([mdev('h1')], 2)), []],
  ['I12', 'handles on demand are as many', of(counts([mdev('h1'), mdev('h2')], 2)), []],
  ['I12', 'handles on demand are too many', of(counts([mdev('h1'), mdev('h2')], 1)), [has(1, 1, 2)]],
  ['I12', 'some of the handles are on demand', of(counts(['h1', mdev('h2')], 3)), []],
  ['I12', 'a handle that is not shown any more does not count', of(board, again(['h2'], 1)), []],
  ['I12', 'a later description does not fit', of(board, again(['h2'], 2)), [has(2, 2, 1)]],
  [
    'I12',
    'the handles of all that is below it are counted',
    of([counts(['h1'], 4), part('d2', 'd1', ['h2'], { numAccelerators: 3 }), part('d3', 'd2', ['h3', 'h4'])]),
    [],
  ],
  ['I12', 'too few below it', of([counts(['h1'], 4), part('d2', 'd1', ['h2', 'h3'])]), [has(2, 4, 3)]],
  ['I12', 'what was below it before counts', of(part('d2', 'd1', ['h2']), counts(['h1'], 1)), [has(2, 1, 2)]],
  [
    'I12',
    'what was below it and has left does not count',
    of(part('d2', 'd1', ['h2']), deployable('d2', { type: 'PresenceSet', presence: 'missing' }), counts(['h1'], 1)),
    [],
  ],
  [
    'I12',
    'what is as missing as itself counts',
    of(
      [part('d2', 'd1', ['h2']), counts(['h1'], 2)],
      deployable('d2', { type: 'PresenceSet', presence: 'missing' }),
      deployable('d1', { type: 'PresenceSet', presence: 'missing' }),
      again(['h1'], 2),
    ),
    [],
  ],
  ['I12', 'it is found once', of(counts(['h1'], 2), deployable('d1', granted())), [has(1, 2, 1)]],
]

export const journalCases: readonly Case[] = [...single, ...replay, ...provider, ...tree, ...classed, ...counted]
