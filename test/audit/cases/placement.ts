/** A case for each condition of the invariants of `src/audit/placement.ts`. */
import type { PlacementSeen } from '../../../src/audit/evidence.ts'
import type { Finding } from '../../../src/audit/history.ts'
import {
  type Append,
  type Case,
  arq,
  bindStarted,
  board,
  created,
  deployable,
  described,
  entry,
  granted,
  of,
  recorded,
} from './scene.ts'

type Provider = PlacementSeen['providers'][number]
type Write = PlacementSeen['writes'][number]

const host = entry('host/host1', {
  type: 'PictureRecorded',
  name: 'host1',
  picture: { bootId: 'b', number: 1, digest: '', aliases: [], drivers: {} },
  devices: {},
})
const inventory = { total: 2, reserved: 0, min_unit: 1, max_unit: 2, step_size: 1, allocation_ratio: 1 }
const shown = (more: Partial<Provider> = {}): Provider => ({
  uuid: 'rp1',
  name: 'board',
  inventories: { FPGA: inventory },
  traits: ['OWNER_CYBORG'],
  allocated: {},
  ...more,
})
const seen = (
  providers: readonly Provider[],
  writes: readonly Write[] = [],
  quiet = true,
  ...more: readonly Append[]
) => ({
  ...of(host, board, ...more),
  quiet,
  placement: { providers, writes, reserveSilent: 'down' as const },
})
const found = (of: Provider | Write | null, line: string, uuid = 'rp1'): readonly Finding[] => [
  { found: `provider ${uuid} ${line}`, proof: [{ of: 'placement', uuid, seen: of }] },
]
const written = (more: Partial<Write> = {}): Write => ({
  uuid: 'rp1',
  what: 'PUT',
  foreign: false,
  allocated: false,
  ...more,
})
const foreign = written({ foreign: true })
const deleted = written({ uuid: 'rp9', what: 'DELETE' })
const removed = written({ what: 'DELETE', allocated: true })

const less = shown({ inventories: { FPGA: { ...inventory, total: 1 } } })
const renamed = shown({ name: 'other' })
const bound: readonly Append[] = [created('a1'), [arq('a1', bindStarted()), deployable('d1', granted())]]
const withheld = shown({ inventories: { FPGA: { ...inventory, reserved: 1 } } })
const allocated = shown({ allocated: { i1: 1 } })
const reserving = (reserved: number, has: Provider['allocated'] = { i1: 1 }): Provider =>
  shown({ inventories: { FPGA: { ...inventory, reserved } }, allocated: has })
const scarce = reserving(1, { i1: 2 })
const both: readonly Append[] = [
  ...bound,
  created('a2'),
  [arq('a2', bindStarted('h2')), deployable('d1', granted('h2', 'a2'))],
]
const disabled = deployable('d1', { type: 'StatusSet', status: 'maintaining' })
const pair = described(
  [
    { uuid: 'h1', set: 0 },
    { uuid: 'h2', set: 0 },
  ],
  { numAccelerators: 1 },
)
const single = shown({
  inventories: { FPGA: { ...inventory, total: 1, max_unit: 1, reserved: 1 } },
  allocated: { i1: 1 },
})
const bare = shown({ traits: [] })
const stray = shown({ uuid: 'rp9', name: 'stray' })
const takenOver = (ordered: object): Append =>
  entry(
    'placement/host1',
    { type: 'PassBegun', host: 'host1', number: 1, until: 9, ...ordered },
    {
      type: 'ProviderReconciled',
      provider: { uuid: 'rp9', deployable: null, state: 'pending', reason: null, ours: true, reserving: [] },
      did: ['adopted'],
    },
  )

const reconciled = (state: 'in_sync' | 'placement_conflict') => ({
  type: 'ProviderReconciled',
  provider: { uuid: 'rp1', deployable: 'd1', state, reason: state === 'in_sync' ? null : 'not known to be ours' },
  did: [],
})
const judgedAs = (state: 'in_sync' | 'placement_conflict') => entry('placement/host1', reconciled(state))
const lost = [
  {
    rows: [
      { key: 'placement/host1', version: 1, commandId: 'c', events: [reconciled('in_sync')], at: 1, cause: {} },
      { key: 'arq/a1', version: 1, commandId: 'd', events: [{ type: 'ArqRemoved' }], at: 1, cause: {} },
    ],
    fromMs: 0,
    toMs: 10,
  },
]

export const placementCases: readonly Case[] = [
  ['S11', 'what is ours is written', seen([], [written()]), []],
  ['S11', 'ours is written while it is allocated', seen([], [written({ allocated: true })]), []],
  ['S11', 'ours is deleted', seen([], [written({ what: 'DELETE' })]), []],
  ['S11', 'what is not ours is written', seen([], [foreign]), found(foreign, 'is not ours, and was written: PUT')],
  [
    'S11',
    'what nothing recorded says to be ours is deleted, whatever its traits say',
    seen([], [deleted]),
    found(deleted, 'is not ours, and was written: DELETE', 'rp9'),
  ],
  ['S11', 'an operator has ordered that it is taken over', seen([], [deleted], true, takenOver({ ordered: true })), []],
  [
    'S11',
    'it is taken over without an order',
    seen([], [deleted], true, takenOver({})),
    found(deleted, 'is not ours, and was written: DELETE', 'rp9'),
  ],
  [
    'S11',
    'ours is deleted while it is allocated',
    seen([], [removed]),
    found(removed, 'was to be deleted although units are allocated'),
  ],
  ['S11', 'nobody has seen Placement', of(host, board), []],

  ['L3', 'Placement shows what is recorded', seen([shown()]), []],
  ['L3', 'traits of others stay', seen([shown({ traits: ['CUSTOM_A', 'OWNER_CYBORG'] })]), []],
  ['L3', 'there is work left', seen([], [], false), []],
  ['L3', 'nobody has seen Placement', { ...of(host, board), quiet: true }, []],
  ['L3', 'a provider is missing', seen([]), found(null, 'of board: it does not exist')],
  ['L3', 'it has another name', seen([renamed]), found(renamed, 'of board: its name is other')],
  [
    'L3',
    'it has another name, and the row that said it is ours is lost: it is a conflict, which an operator ends',
    { ...seen([renamed], [], true, judgedAs('placement_conflict')), lost },
    [],
  ],
  [
    'L3',
    'it has another name and is a conflict, and no row of it is lost',
    {
      ...seen([renamed], [], true, judgedAs('placement_conflict')),
      lost: [{ ...lost[0]!, rows: [lost[0]!.rows[1]!] }],
    },
    found(renamed, 'of board: its name is other'),
  ],
  [
    'L3',
    'it has another name, and is said to be in step',
    { ...seen([renamed], [], true, judgedAs('in_sync')), lost },
    found(renamed, 'of board: its name is other'),
  ],
  ['L3', 'it lacks a trait', seen([bare]), found(bare, 'of board: it lacks OWNER_CYBORG')],
  [
    'L3',
    'its inventory differs',
    seen([less]),
    found(less, `of board: its inventory is ${JSON.stringify(less.inventories)}, not FPGA 2 with 0 reserved`),
  ],
  ['L3', 'what is bound has its allocation', seen([allocated], [], true, ...bound), []],
  ['L3', 'what is bound without an allocation is withheld', seen([withheld], [], true, ...bound), []],
  [
    'L3',
    'what is bound without an allocation can be had by others',
    seen([shown()], [], true, ...bound),
    found(shown(), `of board: its inventory is ${JSON.stringify(shown().inventories)}, not FPGA 2 with 1 reserved`),
  ],
  [
    'L3',
    'the allocation of another is none',
    seen([shown({ allocated: { i2: 1 } })], [], true, ...bound),
    found(
      shown({ allocated: { i2: 1 } }),
      `of board: its inventory is ${JSON.stringify(shown().inventories)}, not FPGA 2 with 1 reserved`,
    ),
  ],
  ['L3', 'somebody else has claimed it', seen([shown({ name: 'other', traits: ['OWNER_CYBORG', 'OWNER_NOVA'] })]), []],
  [
    'L3',
    'one of ours belongs to nothing',
    seen([shown(), stray], [], true, takenOver({})),
    found(stray, '(stray) is ours, and nothing recorded wants it', 'rp9'),
  ],
  ['L3', 'one that only its trait says to be ours', seen([shown(), stray]), []],
  ['L3', 'one of another belongs to nothing', seen([shown(), { ...stray, traits: ['OWNER_NOVA'] }]), []],
  ['I16', 'nothing is reserved beside what requests hold', seen([allocated], [], true, ...bound), []],
  ['I16', 'what requests leave is reserved', seen([reserving(1)], [], true, ...bound), []],
  [
    'I16',
    'more is reserved than requests leave',
    seen([reserving(2)], [], true, ...bound),
    found(reserving(2), 'of board: 2 of 2 are reserved, and requests hold 1'),
  ],
  ['I16', 'what is held without an allocation is reserved', seen([reserving(2, {})], [], true, ...bound), []],
  ['I16', 'all of it is reserved', seen([reserving(2)], [], true, ...bound, disabled), []],
  ['I16', 'it is not quiet', seen([reserving(2)], [], false, ...bound), []],
  ['I16', 'somebody else has claimed it', seen([{ ...reserving(2), traits: ['OWNER_NOVA'] }], [], true, ...bound), []],
  ['I16', 'it has an inventory of another class', seen([shown({ inventories: {} })], [], true, ...bound), []],
  ['S2 placement', 'the rest covers what is allocated', seen([reserving(1)], [], true, ...bound), []],
  [
    'S2 placement',
    'its device is disabled, and Placement still offers it, too little of it',
    seen([scarce], [], true, ...both, disabled),
    found(scarce, 'of board: 2 less 1 reserved do not cover 2 allocated'),
  ],
  ['S2 placement', 'all of it is reserved', seen([reserving(2)], [], true, ...bound, disabled), []],
  ['S2 placement', 'it is not quiet', seen([scarce], [], false, ...both), []],
  ['S2 placement', 'what nobody holds is allocated', seen([reserving(1, { i1: 1, i9: 1 })], [], true, ...bound), []],
  [
    'S2 placement',
    'somebody else has claimed it',
    seen([{ ...scarce, traits: ['OWNER_NOVA'] }], [], true, ...both),
    [],
  ],
  ['S2 placement', 'it is not shown', seen([], [], true, ...both), []],
  ['I16', 'it is not shown', seen([], [], true, ...bound), []],
  [
    'I16',
    'a function of an accelerator that is held is gone',
    {
      ...of(
        host,
        deployable('d1', recorded({ description: pair })),
        ...bound,
        deployable('d1', { type: 'HandleQuarantined', handle: 'h2', until: 'released', by: 'op', reason: 'r' }),
      ),
      quiet: true,
      placement: { providers: [single], writes: [], reserveSilent: 'down' as const },
    },
    [],
  ],
]
