/** A case for each condition of the invariants of `src/audit/handles.ts`. */
import type { Evidence } from '../../../src/audit/evidence.ts'
import type { Finding } from '../../../src/audit/history.ts'
import {
  type Case,
  type Fact,
  arq,
  bindFailed,
  bindStarted,
  binding,
  board,
  card,
  deployable,
  described,
  entry,
  granted,
  baseline,
  here,
  isBound,
  of,
  order,
  recorded,
  released,
  unbound,
} from './scene.ts'

const takes = (uuid: string, handle = 'h1') => arq(uuid, bindStarted(handle))
const leaves = (uuid: string, handle = 'h1') => arq(uuid, { type: 'Unbound', was: bindStarted(handle)['bond'] })
const two = (rowCount: number, uuid: string, other: string) =>
  here(rowCount, [`arq/${uuid}`, `arq/${other}`], `handle h1 went to arq/${uuid} while arq/${other} has it`)
const exclusive: readonly Case[] = [
  ['S1', 'each has its own', of(takes('a1'), takes('a2', 'h2')), []],
  ['S1', 'two have one handle', of(takes('a1'), takes('a2')), [two(2, 'a2', 'a1')]],
  [
    'S1',
    'two have one handle, as one of them is Bound',
    of(takes('a1'), arq('a1', isBound), takes('a2')),
    [two(3, 'a2', 'a1')],
  ],
  ['S1', 'one after the other', of(takes('a1'), leaves('a1'), takes('a2')), []],
  [
    'S1',
    'one leaves in the append that gives the handle to the next',
    of(takes('a1'), [takes('a2'), leaves('a1')]),
    [],
  ],
  ['S1', 'one that failed has it no more', of(takes('a1'), arq('a1', bindFailed), takes('a2')), []],
  ['S1', 'the same one goes on', of(takes('a1'), arq('a1', isBound)), []],
  ['S1', 'one is Bound with nothing', of(arq('a1', isBound)), []],
  [
    'S1',
    'one that lost it to another does not free it by leaving',
    of(takes('a1'), takes('a2'), leaves('a1'), takes('a3')),
    [two(2, 'a2', 'a1'), two(4, 'a3', 'a2')],
  ],
  ['S1', 'the second of two in one append', of([takes('a1'), takes('a2')]), [two(2, 'a2', 'a1')]],
]

const few = (numAccelerators: number) =>
  deployable('d1', recorded({ description: described(['h1', 'h2'], { numAccelerators }) }))
const shows = (handles: readonly string[], numAccelerators: number) =>
  deployable('d1', { type: 'DeployableDescribed', description: described(handles, { numAccelerators }) })
const capacity: readonly Case[] = [
  [
    'S2',
    'one more than there are, and something else in the same row',
    of(
      few(1),
      deployable('d1', granted()),
      deployable('d1', granted('h2', 'a2'), { type: 'StatusSet', status: 'enabled' }),
    ),
    [here(3, ['deployable/d1'], 'deployable/d1 gave 2 of 1')],
  ],
  ['S2', 'as many as there are', of(few(2), deployable('d1', granted()), deployable('d1', granted('h2', 'a2'))), []],
  [
    'S2',
    'one more than there are',
    of(few(1), deployable('d1', granted()), deployable('d1', granted('h2', 'a2'))),
    [here(3, ['deployable/d1'], 'deployable/d1 gave 2 of 1')],
  ],
  [
    'S2',
    'one that was given back does not count',
    of(few(1), deployable('d1', granted()), deployable('d1', released(), granted('h2', 'a2'))),
    [],
  ],
  [
    'S2',
    'what the host shows no more is none of those that there are',
    of(few(2), deployable('d1', granted()), shows(['h2'], 1), deployable('d1', granted('h2', 'a2'))),
    [],
  ],
  ['S2', 'there are less afterwards', of(few(1), deployable('d1', granted()), shows(['h1'], 0)), []],
]

/** The report says of a handle what no report may say. */
const claims = (more: object): Fact => ({
  type: 'DeployableDescribed',
  description: described([{ uuid: 'h1', ...more }, 'h2']),
})
const handleIs = (rowCount: number, keys: readonly string[], line: string) =>
  here(rowCount, ['deployable/d1', ...keys], `handle h1 is ${line}`)
const itsHandle = (rowCount: number, keys: readonly string[], line: string) => here(rowCount, keys, line)
const AT = { domain: '0000', bus: '07', device: '00', function: '1' }
const WHERE = '{"bus":"07","device":"00","domain":"0000","function":"1"}'
const handleMoves = deployable('d1', {
  type: 'Relocated',
  localName: 'c1_moved',
  handles: [{ uuid: 'h1', info: AT, canonical: `PCI:${WHERE}` }],
})
const requestMoves = arq('a1', { type: 'HandleRelocated', handle: 'h1', info: AT })
const mutual: readonly Case[] = [
  ['I1', 'both are at another address', of(...baseline, binding, [handleMoves, requestMoves]), []],
  [
    'I1',
    'its card is at another address, and the ARQ names the former one',
    of(...baseline, binding, handleMoves),
    [handleIs(8, ['arq/a1'], `at ${WHERE}, and its ARQ has it at {}`)],
  ],
  [
    'I1',
    'the ARQ names another address',
    of(...baseline, binding, requestMoves),
    [itsHandle(8, ['arq/a1'], `handle h1 is at {}, and its ARQ has it at ${WHERE}`)],
  ],
  [
    'I1',
    'an ARQ that failed and kept it leaves: it was found before',
    of(...baseline, binding, arq('a1', bindFailed), arq('a1', unbound)),
    [itsHandle(8, ['arq/a1', 'deployable/d1'], 'arq/a1 is BindFailed, its handle h1 is held for it')],
  ],
  ['I1', 'held by the ARQ that has it', of(...baseline, binding), []],
  ['I1', 'free again', of(...baseline, binding, [arq('a1', unbound), deployable('d1', released())]), []],
  [
    'I1',
    'free, yet named',
    of(board, deployable('d1', claims({ arq: 'a1' }))),
    [handleIs(2, ['arq/a1'], 'free, yet it names a1')],
  ],
  [
    'I1',
    'held by nobody',
    of(...baseline, binding, deployable('d1', claims({ arq: null }))),
    [handleIs(8, [], 'held by nobody')],
  ],
  [
    'I1',
    'held for an ARQ that is not being bound',
    of(...baseline, deployable('d1', granted())),
    [handleIs(5, ['arq/a1'], 'held for a1, which is Initial')],
  ],
  [
    'I1',
    'held for an ARQ that has another one',
    of(...baseline, [takes('a1', 'h2'), deployable('d1', granted(), granted('h2'))]),
    [handleIs(6, ['arq/a1'], 'held for a1, which has h2')],
  ],
  [
    'I1',
    'held for an ARQ that has none',
    of(...baseline, [arq('a1', isBound), deployable('d1', granted())]),
    [
      handleIs(6, ['arq/a1'], 'held for a1, which has none'),
      itsHandle(6, ['arq/a1'], 'arq/a1 is Bound, its handle  is nowhere'),
    ],
  ],
  [
    'I1',
    'held for an ARQ that has it of another deployable',
    of(...baseline, [arq('a1', bindStarted('h1', { deployable: 'd2' })), deployable('d1', granted())]),
    [
      handleIs(6, ['arq/a1'], 'held for a1, which has h1'),
      itsHandle(6, ['arq/a1', 'deployable/d2'], 'arq/a1 is BindStarted, its handle  is nowhere'),
    ],
  ],
  [
    'I1',
    'an ARQ has one that is free',
    of(...baseline, takes('a1')),
    [itsHandle(5, ['arq/a1', 'deployable/d1'], 'arq/a1 is BindStarted, its handle h1 is free')],
  ],
  [
    'I1',
    'an ARQ that left has not given it back',
    of(...baseline, binding, arq('a1', unbound)),
    [itsHandle(8, ['arq/a1', 'deployable/d1'], 'arq/a1 is Unbound, its handle h1 is held for it')],
  ],
  [
    'I1',
    'an ARQ that failed has not given it back',
    of(...baseline, binding, arq('a1', bindFailed)),
    [itsHandle(8, ['arq/a1', 'deployable/d1'], 'arq/a1 is BindFailed, its handle h1 is held for it')],
  ],
  [
    'I1',
    'an ARQ leaves and the next has it in the same append',
    of(...baseline, binding, [arq('a1', unbound), takes('a2'), deployable('d1', released(), granted('h1', 'a2'))]),
    [],
  ],
  [
    'I1',
    'what is wrong is told once',
    of(...baseline, deployable('d1', granted()), deployable('d1', granted('h2'), released('h2'))),
    [handleIs(5, ['arq/a1'], 'held for a1, which is Initial')],
  ],
]

const views = (arqs: readonly object[] | null, handles: readonly object[] | null): Partial<Evidence> => ({
  ...of(card),
  views: { ...(arqs ? { arqs: arqs as never } : {}), ...(handles ? { handles: handles as never } : {}) },
})
const inArqs = (line: string): Finding => ({
  found: `view: ARQ a1 has handle h1, which names ${line}`,
  keys: ['arq/a1'],
  proof: [{ of: 'view', view: 'arqs', key: 'a1' }],
})
const namesIt = (rowCount: number, line: string, of = 'd1') =>
  here(rowCount, ['arq/a1', `deployable/${of}`], `arq/a1 has handle h1, which names ${line}`)
const HAS = { uuid: 'a1', handle_uuid: 'h1' }
const backReference: readonly Case[] = [
  ['I2', 'it names the ARQ', of(...baseline, binding), []],
  [
    'I2',
    'it names another ARQ',
    of(...baseline, [takes('a1'), deployable('d1', granted('h1', 'a2'))]),
    [namesIt(6, 'a2')],
  ],
  ['I2', 'it names nobody', of(...baseline, takes('a1')), [namesIt(5, 'nobody')]],
  [
    'I2',
    'there is no such handle',
    of(...baseline, arq('a1', bindStarted('h1', { deployable: 'd2' }))),
    [namesIt(5, 'nobody', 'd2')],
  ],
  [
    'I2',
    'an ARQ that failed need not be named',
    of(...baseline, binding, [arq('a1', bindFailed), deployable('d1', released())]),
    [],
  ],
  ['I2', 'an ARQ has nothing', of(arq('a1', isBound)), []],
  ['I2', 'the views agree', views([HAS], [{ uuid: 'h1', arq_uuid: 'a1' }]), []],
  ['I2', 'the view of handles names another', views([HAS], [{ uuid: 'h1', arq_uuid: 'a2' }]), [inArqs('a2')]],
  ['I2', 'the view of handles names nobody', views([HAS], [{ uuid: 'h1', arq_uuid: null }]), [inArqs('nobody')]],
  ['I2', 'the view of handles lacks it', views([HAS], [{ uuid: 'h2', arq_uuid: 'a1' }]), [inArqs('nobody')]],
  ['I2', 'an ARQ in the view has no handle', views([{ uuid: 'a1', handle_uuid: null }], []), []],
  ['I2', 'there is no view of handles', views([HAS], null), []],
  ['I2', 'there is no view of ARQs', views(null, [{ uuid: 'h1', arq_uuid: 'a1' }]), []],
]

const notOf = (rowCount: number, handle: string, of = 'd1') =>
  here(rowCount, ['arq/a1', `deployable/${of}`], `arq/a1 was given ${handle}, which is not of deployable ${of}`)
/** A card of which both handles are one accelerator. */
const pair = deployable(
  'd1',
  recorded({
    description: described(
      ['h1', 'h2'].map((uuid) => ({ uuid, set: 0 })),
      { numAccelerators: 1 },
    ),
  }),
)
const both = (instanceUuid: string) => [
  [takes('a1'), deployable('d1', granted())],
  [arq('a2', bindStarted('h2', { instanceUuid })), deployable('d1', granted('h2', 'a2'))],
]
const shared = [here(6, ['deployable/d1'], 'deployable/d1 gave the handles of one accelerator to several instances')]
const together: readonly Case[] = [
  ['I6', 'one instance has both handles of an accelerator', of(card, pair, ...both('i1')), []],
  ['I6', 'two instances have one handle each', of(card, pair, ...both('i2')), shared],
  ['I6', 'they have the handles of two accelerators', of(card, board, ...both('i2')), []],
  ['S2', 'both handles of an accelerator count as one', of(card, pair, ...both('i1')), []],
  ['I12', 'both handles of an accelerator count as one', of(card, pair), []],
  ['I6', 'it is of the deployable', of(...baseline, binding), []],
  ['I6', 'it is not', of(...baseline, takes('a1', 'h9')), [notOf(5, 'h9')]],
  ['I6', 'it is only since the append that gave it', of(card, [board, takes('a1')]), [notOf(3, 'h1')]],
  [
    'I6',
    'it is of another deployable',
    of(...baseline, arq('a1', bindStarted('h1', { deployable: 'd2' }))),
    [notOf(5, 'h1', 'd2')],
  ],
  ['I6', 'it is found once', of(...baseline, takes('a1', 'h9'), arq('a1', isBound)), [notOf(5, 'h9')]],
  ['I6', 'an ARQ leaves', of(...baseline, binding, arq('a1', unbound)), []],
]

const retires: Fact = { type: 'PresenceSet', presence: 'retired' }
const misses: Fact = { type: 'PresenceSet', presence: 'missing' }
const other = deployable(
  'd2',
  recorded({ description: described(['h3']) }, { uuid: 'd2', deviceUuid: 'c2', rpUuid: 'rp2' }),
)
const retired: readonly Case[] = [
  ['I9', 'a retired deployable holds nothing', of(card, board, deployable('d1', retires)), []],
  [
    'I9',
    'a missing deployable holds a handle',
    of(card, board, deployable('d1', granted()), deployable('d1', misses)),
    [],
  ],
  [
    'I9',
    'a missing device holds a handle',
    of(card, board, deployable('d1', granted()), entry('device/c1', misses)),
    [],
  ],
  [
    'I9',
    'a deployable that holds a handle is retired',
    of(card, board, deployable('d1', granted()), deployable('d1', retires)),
    [here(4, ['deployable/d1'], 'deployable/d1 is retired and holds h1')],
  ],
  [
    'I9',
    'a handle of a retired device is granted',
    of(card, board, entry('device/c1', retires), deployable('d1', granted('h2'))),
    [here(4, ['deployable/d1'], 'deployable/d1 is retired and holds h2')],
  ],
  [
    'I9',
    'a device is retired whose deployable holds a handle',
    of(card, board, deployable('d1', granted()), entry('device/c1', retires)),
    [here(4, ['device/c1', 'deployable/d1'], 'device/c1 is retired, its deployable d1 holds a handle')],
  ],
  [
    'I9',
    'a device is retired, and the deployable of another one holds a handle',
    of(card, board, other, deployable('d2', granted('h3')), entry('device/c1', retires)),
    [],
  ],
  [
    'I9',
    'a device is retired after its handle was given back',
    of(
      card,
      board,
      deployable('d1', granted()),
      deployable('d1', released('h1', 'a1', order('h1', 1))),
      entry('device/c1', retires),
    ),
    [],
  ],
]

export const handleCases: readonly Case[] = [
  ...exclusive,
  ...capacity,
  ...mutual,
  ...backReference,
  ...together,
  ...retired,
]
