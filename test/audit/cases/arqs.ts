/** A case for each condition of the invariants of `src/audit/arqs.ts`. */
import { expect } from 'vitest'
import {
  type Case,
  FPGA,
  PGPU,
  accepted,
  arq,
  bindFailed,
  bindStarted,
  binding,
  binds,
  bond,
  created,
  deployable,
  entry,
  granted,
  baseline,
  here,
  instance,
  isBound,
  left,
  of,
  profile,
  removed,
  settled,
  unbound,
} from './scene.ts'

const unfoldable = expect.stringMatching(/^at 3: deployable\/d1 1 cannot be folded: TypeError: /) as string
const closed: readonly Case[] = [
  ['S3', 'every move is in its table', of(...baseline, binding, binds), []],
  ['S3', 'one row moves an ARQ twice', of(created('a1'), arq('a1', bindStarted(), isBound)), []],
  [
    'S3',
    'an ARQ is Bound without a bind',
    of(created('a1'), arq('a1', isBound)),
    [here(2, ['arq/a1'], 'arq/a1 went from Initial by Bound to Bound')],
  ],
  [
    'S3',
    'the second event of a row is not in the table',
    of(created('a1'), arq('a1', bindStarted(), { type: 'Released' })),
    [here(2, ['arq/a1'], 'arq/a1 went from BindStarted by Released to Unbound')],
  ],
  [
    'S3',
    'a row cannot be folded, and changes nothing',
    of(created('a1'), arq('a1', bindStarted()), [deployable('d1', granted())], arq('a1', isBound)),
    [{ found: unfoldable, rowCount: 3, keys: [] }],
  ],
  [
    'S3',
    'a row is of an unknown kind',
    of(entry('thing/x', { type: 'Made' })),
    [{ found: expect.stringMatching(/^at 1: thing\/x 1 cannot be folded: TypeError/), rowCount: 1, keys: [] }],
  ],
]

const group = (uuid: string, given: unknown) => ({ uuid, group: given }) as never
const notThere = (uuid: string) => ({
  found: `view: the group of ${uuid} is not the one it was made with`,
  keys: [`arq/${uuid}`],
  proof: [{ of: 'view' as const, view: 'arqs' as const, key: uuid }],
})
const foreign = (rowCount: number) =>
  here(rowCount, ['arq/a1', 'profile/pr1'], 'arq/a1 was made with a group that its profile does not have')
const removedProfile = entry('profile/pr1', { type: 'ProfileRemoved', name: 'p' })
const pinned: readonly Case[] = [
  ['S15', 'the profile is not known', of(created('a1', { group: PGPU })), []],
  ['S15', 'it keeps its group', of(profile(FPGA), created('a1'), arq('a1', bindStarted())), []],
  ['S15', 'the profile never had this group', of(profile(PGPU), created('a1')), [foreign(2)]],
  ['S15', 'the profile had the group under another number', of(profile(PGPU, FPGA), created('a1')), [foreign(2)]],
  ['S15', 'the profile gets the group only later', of(profile(PGPU), created('a1'), profile(FPGA)), [foreign(2)]],
  ['S15', 'the profile has no group of this number', of(profile(PGPU), created('a1', { groupId: 1 })), []],
  [
    'S15',
    'the profile had the group until 60 s before',
    of(profile(FPGA), profile(PGPU), { ...created('a1'), at: 62_000 }),
    [],
  ],
  [
    'S15',
    'the profile had the group until more than 60 s before',
    of(profile(FPGA), profile(PGPU), { ...created('a1'), at: 62_001 }),
    [foreign(3)],
  ],
  ['S15', 'the profile was removed long ago', of(profile(FPGA), removedProfile, { ...created('a1'), at: 900_000 }), []],
  [
    'S15',
    'an ARQ gets another group',
    of(profile(FPGA), created('a1'), created('a1', { group: PGPU })),
    [here(3, ['arq/a1'], 'the group of arq/a1 changed')],
  ],
  [
    'S15',
    'a view shows the groups in another order of keys',
    { ...of(created('a1', { group: { a: '1', b: '2' } })), views: { arqs: [group('a1', { b: '2', a: '1' })] } },
    [],
  ],
  [
    'S15',
    'a view shows another group',
    { ...of(created('a1')), views: { arqs: [group('a1', PGPU)] } },
    [notThere('a1')],
  ],
  [
    'S15',
    'a view shows an unknown ARQ',
    { ...of(created('a1')), views: { arqs: [group('a9', FPGA)] } },
    [notThere('a9')],
  ],
  ['S15', 'a view shows no group', { ...of(created('a1')), views: { arqs: [group('a1', null)] } }, [notThere('a1')]],
]

const newer = (version: number, ...groups: readonly object[]) => {
  const { events, ...rest } = profile(...(groups as never[]))
  return { ...rest, events: events.map((event) => ({ ...event, version })) }
}
const NONE = '2, which its profile does not have'
const misnamed = (at: number, rest: string) => here(at, ['arq/a1', 'profile/pr1'], `arq/a1 names version ${rest}`)
const versioned: readonly Case[] = [
  ['S17', 'the group is of its version', of(profile(FPGA), created('a1', { profileVersion: 1 })), []],
  [
    'S17',
    'the group is of its version, and there is a newer one',
    of(
      profile(FPGA),
      newer(2, PGPU),
      { ...created('a1', { profileVersion: 1 }), at: 900_000 },
      arq('a1', bindStarted()),
    ),
    [],
  ],
  [
    'S17',
    'the group is of the newer version',
    of(profile(PGPU), newer(2, FPGA), created('a1', { profileVersion: 1 })),
    [misnamed(3, '1, which has another group')],
  ],
  ['S17', 'there is no such version', of(profile(FPGA), created('a1', { profileVersion: 2 })), [misnamed(2, NONE)]],
  [
    'S17',
    'another version is named later',
    of(profile(FPGA), newer(2, FPGA), created('a1', { profileVersion: 1 }), created('a1', { profileVersion: 2 })),
    [here(4, ['arq/a1'], 'arq/a1 names version 2 of its profile now')],
  ],
  [
    'S17',
    'a view shows another version',
    {
      ...of(profile(FPGA), created('a1', { profileVersion: 1 })),
      views: { arqs: [{ uuid: 'a1', profile_version: 2 } as never] },
    },
    [
      {
        found: 'view: a1 names version 2, and was made with another',
        keys: ['arq/a1'],
        proof: [{ of: 'view' as const, view: 'arqs' as const, key: 'a1' }],
      },
    ],
  ],
  ['S17', 'an earlier view shows no version', { ...of(created('a1')), views: { arqs: [{ uuid: 'a1' } as never] } }, []],
]

const boundWith = (more: Parameters<typeof bond>[1]) =>
  of(...baseline, [arq('a1', bindStarted('h1', more))], arq('a1', isBound))
const unfitting = (more: Parameters<typeof bond>[1], rp = 'rp1', host = 'host1') =>
  here(
    6,
    ['arq/a1', `deployable/${more?.deployable ?? 'd1'}`],
    `arq/a1 is Bound with ${JSON.stringify(bond('h1', more))}, of deployable ${rp} on ${host}`,
  )
const BOUND_ROW = {
  uuid: 'a1',
  state: 'Bound',
  handle_uuid: 'h1',
  deployable_uuid: 'd1',
  hostname: 'node',
  device_rp_uuid: 'rp1',
  instance_uuid: 'i1',
  group: null,
}
const shows = (more: object) => ({ ...of(profile(FPGA)), views: { arqs: [{ ...BOUND_ROW, ...more } as never] } })
const lacking = {
  found: 'view: ARQ a1 is Bound and lacks a field',
  keys: ['arq/a1'],
  proof: [{ of: 'view' as const, view: 'arqs' as const, key: 'a1' }],
}
const complete: readonly Case[] = [
  ['I3', 'everything belongs together', boundWith({}), []],
  ['I3', 'one that is only being bound does not fit', of(...baseline, arq('a1', bindStarted('h1', { host: 'x' }))), []],
  ['I3', 'it names another provider', boundWith({ deviceRpUuid: 'x' }), [unfitting({ deviceRpUuid: 'x' })]],
  ['I3', 'it names another host', boundWith({ host: 'x' }), [unfitting({ host: 'x' })]],
  ['I3', 'it names no hostname', boundWith({ hostname: '' }), [unfitting({ hostname: '' })]],
  ['I3', 'it names no instance', boundWith({ instanceUuid: '' }), [unfitting({ instanceUuid: '' })]],
  ['I3', 'it names an unknown deployable', boundWith({ deployable: 'x' }), [unfitting({ deployable: 'x' }, '', '')]],
  [
    'I3',
    'it names no handle',
    of(...baseline, arq('a1', bindStarted('')), arq('a1', isBound)),
    [
      here(
        6,
        ['arq/a1', 'deployable/d1'],
        `arq/a1 is Bound with ${JSON.stringify(bond(''))}, of deployable rp1 on host1`,
      ),
    ],
  ],
  [
    'I3',
    'it is Bound with nothing',
    of(...baseline, arq('a1', isBound)),
    [here(5, ['arq/a1'], 'arq/a1 is Bound with null, of deployable  on ')],
  ],
  ['I3', 'a view shows all fields', shows({}), []],
  ['I3', 'a view shows one that is not Bound without fields', shows({ state: 'Initial', handle_uuid: null }), []],
  ...(['handle_uuid', 'deployable_uuid', 'hostname', 'device_rp_uuid', 'instance_uuid'] as const).map((field): Case => [
    'I3',
    `a view shows a Bound one without ${field}`,
    shows({ [field]: null }),
    [lacking],
  ]),
]

const empty: readonly Case[] = [
  ['I4', 'one that failed keeps its handle and its place', of(...baseline, binding, arq('a1', bindFailed)), []],
  [
    'I4',
    'one leaves with its part in the conversation',
    of(...baseline, binding, [arq('a1', unbound), instance('i1', left('a1'))]),
    [],
  ],
  [
    'I4',
    'one is made anew and keeps its handle and its place',
    of(...baseline, binding, created('a1')),
    [
      here(8, ['arq/a1'], 'arq/a1 is Initial and has handle h1'),
      here(8, ['arq/a1', 'instance/i1'], 'arq/a1 is Initial and still takes part in instance i1'),
    ],
  ],
  [
    'I4',
    'one is unbound and keeps its handle',
    of(created('a1'), arq('a1', bindStarted()), arq('a1', { type: 'Released' })),
    [here(3, ['arq/a1'], 'arq/a1 is Unbound and has handle h1')],
  ],
  [
    'I4',
    'one is unbound and still takes part',
    of(...baseline, binding, arq('a1', unbound)),
    [here(8, ['arq/a1', 'instance/i1'], 'arq/a1 is Unbound and still takes part in instance i1')],
  ],
  [
    'I4',
    'one is removed and still takes part',
    of(...baseline, binding, arq('a1', removed)),
    [here(8, ['arq/a1', 'instance/i1'], 'arq/a1 is Gone and still takes part in instance i1')],
  ],
]

const whole: readonly Case[] = [
  [
    'S16',
    'one is accepted and settled at once',
    of([arq('a1', bindStarted(), isBound), instance('i1', accepted(), settled('completed'))]),
    [],
  ],
  [
    'S16',
    'two are accepted together, in another order',
    of([arq('a1', bindStarted()), arq('a2', bindStarted('h2')), instance('i1', accepted(['a2', 'a1']))]),
    [],
  ],
  [
    'S16',
    'one of two is accepted and not started',
    of([arq('a1', bindStarted()), instance('i1', accepted(['a2', 'a1']))]),
    [here(2, [], 'accepted a2,a1, started a1')],
  ],
  [
    'S16',
    'one is started and nothing accepted',
    of(arq('a1', bindStarted())),
    [here(1, [], 'accepted nothing, started a1')],
  ],
  [
    'S16',
    'one is accepted and nothing started',
    of(instance('i1', accepted())),
    [here(1, [], 'accepted a1, started nothing')],
  ],
  [
    'S16',
    'two end well together',
    of([arq('a1', isBound), arq('a2', isBound), instance('i1', settled('completed', ['a2', 'a1']))]),
    [],
  ],
  [
    'S16',
    'one is settled and not Bound',
    of(instance('i1', settled('completed'))),
    [here(1, [], 'settled a1, bound nothing')],
  ],
  ['S16', 'one is Bound and not settled', of(arq('a1', isBound)), [here(1, [], 'settled nothing, bound a1')]],
  [
    'S16',
    'two end badly together',
    of([arq('a1', bindFailed), arq('a2', bindFailed), instance('i1', settled('failed', ['a2', 'a1']))]),
    [],
  ],
  [
    'S16',
    'one has failed and is not BindFailed',
    of(instance('i1', settled('failed'))),
    [here(1, [], 'failed a1, ARQs nothing')],
  ],
  [
    'S16',
    'one is BindFailed and its bind has not failed',
    of(arq('a1', bindFailed)),
    [here(1, [], 'failed nothing, ARQs a1')],
  ],
  [
    'S16',
    'an ARQ ends otherwise than its bind',
    of([arq('a1', bindFailed), instance('i1', settled('completed'))]),
    [here(2, [], 'settled a1, bound nothing'), here(2, [], 'failed nothing, ARQs a1')],
  ],
]

const announced: readonly Case[] = [
  ['I15', 'Nova is to hear of it', of(...baseline, binding, binds), []],
  [
    'I15',
    'Nova is to hear that it failed',
    of(...baseline, binding, [arq('a1', bindFailed), instance('i1', settled('failed'))]),
    [],
  ],
  [
    'I15',
    'there is no Nova',
    of(
      ...baseline,
      [arq('a1', bindStarted()), instance('i1', accepted(['a1'], { tellUntil: null }))],
      arq('a1', isBound),
    ),
    [],
  ],
  ['I15', 'one is only being bound', of(...baseline, binding), []],
  ['I15', 'one is Bound and unbound in the same row', of(...baseline, binding, arq('a1', isBound, unbound)), []],
  [
    'I15',
    'Nova is to hear nothing of one that is Bound',
    of(...baseline, binding, arq('a1', isBound)),
    [here(8, ['arq/a1', 'instance/i1'], 'arq/a1 is Bound, Nova is to hear nothing')],
  ],
  [
    'I15',
    'Nova is to hear nothing of one that is Bound at once',
    of(...baseline, [arq('a1', bindStarted(), isBound), instance('i1', accepted())]),
    [here(6, ['arq/a1', 'instance/i1'], 'arq/a1 is Bound, Nova is to hear nothing')],
  ],
  [
    'I15',
    'Nova is to hear that a Bound one failed',
    of(...baseline, binding, [arq('a1', isBound), instance('i1', settled('failed'))]),
    [here(9, ['arq/a1', 'instance/i1'], 'arq/a1 is Bound, Nova is to hear failed')],
  ],
  [
    'I15',
    'Nova is to hear that a failed one is Bound',
    of(...baseline, binding, [arq('a1', bindFailed), instance('i1', settled('completed'))]),
    [here(9, ['arq/a1', 'instance/i1'], 'arq/a1 is BindFailed, Nova is to hear completed')],
  ],
  [
    'I15',
    'Nova is to hear of another ARQ only',
    of(...baseline, binding, [arq('a1', isBound), instance('i1', settled('completed', ['a2']))]),
    [here(9, ['arq/a1', 'instance/i1'], 'arq/a1 is Bound, Nova is to hear nothing')],
  ],
  [
    'I15',
    'one is Bound without an instance',
    of(created('a1'), arq('a1', isBound)),
    [here(2, ['arq/a1'], 'arq/a1 is Bound, Nova is to hear nothing')],
  ],
]

export const arqCases: readonly Case[] = [
  ...closed,
  ...pinned,
  ...versioned,
  ...complete,
  ...empty,
  ...whole,
  ...announced,
]
