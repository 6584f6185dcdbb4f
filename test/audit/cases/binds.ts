/** A case for each condition of the invariants of `src/audit/binds.ts`. */
import type { Evidence, Heard } from '../../../src/audit/evidence.ts'
import type { Finding } from '../../../src/audit/history.ts'
import {
  type Append,
  type Case,
  type Fact,
  accepted,
  arq,
  bindStarted,
  binding,
  binds,
  deployable,
  described,
  entry,
  baseline,
  here,
  instance,
  isBound,
  left,
  novaTold,
  resendAsked,
  of,
  order,
  recorded,
  settled,
  unbound,
} from './scene.ts'

const device = (...events: readonly Fact[]) => entry('device/c1', ...events)
const maintaining: Fact = { type: 'StatusSet', status: 'maintaining' }
const missing: Fact = { type: 'PresenceSet', presence: 'missing' }
const failing: Fact = { type: 'HealthSet', failing: 'too hot' }
const programming: Fact = { type: 'ProgramStarted', image: 'image', order: order('d1', 1) }
const below = { parentUuid: 'd1', parentId: 2, rootUuid: 'd1', rootId: 2 }
const starts = arq('a1', bindStarted())
const boundTo = (why: string, rowCount = 6) =>
  here(rowCount, ['arq/a1', 'deployable/d1'], `arq/a1 was bound to board, which is ${why}`)
const usable: readonly Case[] = [
  ['S9', 'all is well', of(...baseline, binding), []],
  [
    'S9',
    'the deployable is in maintenance',
    of(...baseline, deployable('d1', maintaining), starts),
    [boundTo('maintaining')],
  ],
  ['S9', 'the deployable is missing', of(...baseline, deployable('d1', missing), starts), [boundTo('missing')]],
  ['S9', 'the device is in maintenance', of(...baseline, device(maintaining), starts), [boundTo('maintaining')]],
  ['S9', 'the device is missing', of(...baseline, device(missing), starts), [boundTo('missing')]],
  ['S9', 'the deployable fails', of(...baseline, deployable('d1', failing), starts), [boundTo('failing')]],
  ['S9', 'the device fails', of(...baseline, device(failing), starts), [boundTo('failing')]],
  [
    'S9',
    'the device failed, and is well again',
    of(...baseline, device(failing, { type: 'HealthSet', failing: null }), starts),
    [],
  ],
  [
    'S9',
    'the deployable is being programmed',
    of(...baseline, deployable('d1', programming), starts),
    [boundTo('being programmed')],
  ],
  [
    'S9',
    'its root is being programmed',
    of(
      ...baseline,
      deployable('d2', recorded({ description: described(['h3']) }, { uuid: 'd2', tree: below })),
      deployable('d1', programming),
      arq('a1', bindStarted('h3', { deployable: 'd2' })),
    ),
    [here(7, ['arq/a1', 'deployable/d2'], 'arq/a1 was bound to board, which is being programmed')],
  ],
  [
    'S9',
    'it is a part that is being programmed itself',
    of(
      ...baseline,
      deployable('d2', recorded({ description: described(['h3']) }, { uuid: 'd2', tree: below }), programming),
      arq('a1', bindStarted('h3', { deployable: 'd2' })),
    ),
    [here(6, ['arq/a1', 'deployable/d2'], 'arq/a1 was bound to board, which is being programmed')],
  ],
  [
    'S9',
    'it is wrong in three ways',
    of(...baseline, deployable('d1', missing, programming), device(maintaining), starts),
    [boundTo('missing, maintaining, being programmed', 7)],
  ],
  [
    'S9',
    'it is disabled by the very append that starts the bind',
    of(...baseline, [deployable('d1', maintaining), starts]),
    [],
  ],
  [
    'S9',
    'it is disabled after the bind',
    of(...baseline, starts, deployable('d1', maintaining), arq('a1', isBound)),
    [],
  ],
  [
    'S9',
    'it is disabled while an ARQ leaves',
    of(...baseline, starts, deployable('d1', maintaining), arq('a1', unbound)),
    [],
  ],
]

const nobodyWaits = (rowCount: number, uuid = 'a1', of = 'i1') =>
  here(
    rowCount,
    [`arq/${uuid}`, `instance/${of}`],
    `ARQ ${uuid} is BindStarted, and nobody of instance ${of} waits for it`,
  )
const noDeadline: Finding = {
  found: 'view: instance i1 is being bound and has no deadline',
  keys: ['instance/i1'],
  proof: [{ of: 'view', view: 'due', key: 'instance/i1' }],
}
const due = (...entities: readonly string[]): Partial<Evidence> => ({
  views: { due: entities.map((entity) => ({ entity, kind: 'instance', at: 1 })) },
})
const twoStart = [starts, arq('a2', bindStarted('h2'))]
const watched: readonly Case[] = [
  [
    'I5',
    'it is Bound at once, and leaves',
    of([arq('a1', bindStarted(), isBound), instance('i1', accepted(), settled('completed'))], arq('a1', unbound)),
    [],
  ],
  [
    'I5',
    'the first of two leaves the conversation while it is being bound',
    of([...twoStart, instance('i1', accepted(['a1', 'a2']))], instance('i1', left('a1'))),
    [nobodyWaits(4)],
  ],
  ['I5', 'nobody waits for two: the first is named', of(twoStart), [nobodyWaits(2)]],
  ['I5', 'a bind goes on to its end', of(...baseline, binding, binds), []],
  ['I5', 'an ARQ leaves its bind', of(...baseline, binding, [arq('a1', unbound), instance('i1', left('a1'))]), []],
  ['I5', 'nobody accepted the bind', of(...baseline, starts), [nobodyWaits(5)]],
  ['I5', 'the bind was accepted of another ARQ', of([starts, instance('i1', accepted(['a2']))]), [nobodyWaits(2)]],
  [
    'I5',
    'the bind is settled while one is being bound',
    of(binding, instance('i1', settled('completed'))),
    [nobodyWaits(4)],
  ],
  [
    'I5',
    'one of two leaves the conversation while it is being bound',
    of([starts, arq('a2', bindStarted('h2')), instance('i1', accepted(['a1', 'a2']))], instance('i1', left('a2'))),
    [nobodyWaits(4, 'a2')],
  ],
  [
    'I5',
    'it is bound again, to another instance',
    of([starts, instance('i1', accepted())], arq('a1', bindStarted('h1', { instanceUuid: 'i2' }))),
    [nobodyWaits(3, 'a1', 'i2')],
  ],
  [
    'I5',
    'an ARQ that left is not waited for',
    of(starts, arq('a1', unbound), instance('i1', settled('failed'))),
    [nobodyWaits(1)],
  ],
  [
    'I5',
    'one of two leaves its bind, and then nobody waits for the other',
    of(
      [...twoStart, instance('i1', accepted(['a1', 'a2']))],
      [arq('a1', unbound), instance('i1', left('a1'))],
      instance('i1', settled('completed', ['a2'])),
    ),
    [nobodyWaits(6, 'a2')],
  ],
  ['I5', 'the deadline is recorded', { ...of(binding), ...due('instance/i2', 'instance/i1') }, []],
  ['I5', 'the deadline of another instance is recorded', { ...of(binding), ...due('instance/i2') }, [noDeadline]],
  ['I5', 'no deadline is needed any more', { ...of(binding, binds), ...due() }, []],
  ['I5', 'other views are known', { ...of(binding), views: { arqs: [] } }, []],
]

/** Accepted at 10 s with 20 s to go; with these pauses, and so late. */
const lasting = (endedAt: number | null, more: Partial<Evidence> = {}): Partial<Evidence> => {
  const appends: readonly Append[] = [
    { ...instance('i1', accepted(['a1'])), at: 10_000 },
    ...(endedAt === null ? [] : [{ ...instance('i1', settled('completed')), at: endedAt }]),
  ]
  return { ...of(...appends), ...more }
}
const late = (how: string, ms: number): Finding => ({
  found: `instance/i1: accepted at 10000, ${how} ${ms} ms after its deadline`,
  rowCount: 1,
  keys: ['instance/i1'],
})
const waits = (from: number, deadline: number, endedAt: number): Partial<Evidence> =>
  of(
    { ...instance('i1', accepted(['a1'], { deadline })), at: from },
    { ...instance('i1', settled('completed')), at: endedAt },
  )
const tooLong = (ms: number) => here(1, ['instance/i1'], `instance/i1: its deadline is ${ms} ms after its acceptance`)
const paused = (...pauses: readonly (readonly [number, number])[]) =>
  lasting(null, { now: 70_000, pauses: pauses.map(([from, to]) => ({ from, to })) })
/** Decided at 9 s for 120 s; then a clock jumps ahead by 200 s, to `jumpedTo`, and the bind is accepted at 210 s. */
const jumped = (endedAt: number, jumpedTo = 209_000): Partial<Evidence> => ({
  ...waits(210_000, 129_000, endedAt),
  pauses: [{ from: jumpedTo - 200_000, to: jumpedTo }],
})
const lateAfterJump = (ms: number): Finding => ({
  found: `instance/i1: accepted at 210000, ended ${ms} ms after its deadline`,
  rowCount: 1,
  keys: ['instance/i1'],
})
const terminal: readonly Case[] = [
  ['L1', 'a clock jumped before its acceptance, and it ends 30 s after the rest of its time', jumped(359_000), []],
  ['L1', 'a clock jumped before its acceptance, and it ends later than that', jumped(359_001), [lateAfterJump(30_001)]],
  [
    'L1',
    'a clock jumped too long before its acceptance to have been in between',
    jumped(240_001, 205_000),
    [lateAfterJump(30_001)],
  ],
  ['L1', 'a clock jumped up to its acceptance', jumped(359_000, 210_000), []],
  [
    'L1',
    'a clock jumped to a moment that its control, whose clock is late, had not reached',
    jumped(359_000, 211_000),
    [],
  ],
  [
    'L1',
    'what follows a bind that ended late makes it no later',
    of(
      { ...instance('i1', accepted()), at: 10_000 },
      { ...instance('i1', settled('completed')), at: 60_001 },
      { ...instance('i1', novaTold('a1')), at: 90_000 },
    ),
    [late('ended', 30_001)],
  ],
  ['L1', 'a bind ends 30 s after its deadline', lasting(60_000), []],
  ['L1', 'a bind ends more than 30 s after its deadline', lasting(60_001), [late('ended', 30_001)]],
  ['L1', 'a bind is open 30 s after its deadline', lasting(null, { now: 60_000 }), []],
  [
    'L1',
    'a bind is open more than 30 s after its deadline',
    lasting(null, { now: 60_001 }),
    [late('still open', 30_001)],
  ],
  ['L1', 'a bind ended long ago', lasting(20_000, { now: 900_000 }), []],
  [
    'L1',
    'the conversation goes on after the bind has ended',
    of(
      { ...instance('i1', accepted()), at: 10_000 },
      { ...instance('i1', settled('completed')), at: 20_000 },
      { ...instance('i1', novaTold('a1')), at: 90_000 },
    ),
    [],
  ],
  ['L1', 'less is allowed', lasting(40_000, { slackMs: 9999 }), [late('ended', 10_000)]],
  ['L1', 'more is allowed', lasting(90_000, { slackMs: 60_000 }), []],
  ['L1', 'its deadline is just below the 300 s of Nova', waits(1000, 300_999, 2000), []],
  ['L1', 'its deadline is at the 300 s of Nova', waits(1000, 301_000, 2000), [tooLong(300_000)]],
  ['L1', 'it ends as it is accepted, whatever its deadline', waits(1000, 900_000, 1000), []],
  [
    'L1',
    'all its ARQs leave',
    of({ ...instance('i1', accepted()), at: 10_000 }, { ...instance('i1', left('a1')), at: 20_000 }),
    [],
  ],
  [
    'L1',
    'one bind ends and the next does not',
    of(
      { ...instance('i1', accepted()), at: 1000 },
      { ...instance('i1', settled('completed')), at: 2000 },
      { ...instance('i1', accepted()), at: 10_000 },
    ),
    [{ ...late('still open', 70_000), rowCount: 3 }],
  ],
  ['L1', 'a pause of 10 s does not count', paused([20_000, 30_000]), []],
  ['L1', 'a pause of less than 10 s is not enough', paused([20_000, 29_999]), [late('still open', 30_001)]],
  ['L1', 'of a pause counts what is after the acceptance', paused([0, 20_000]), []],
  ['L1', 'a pause that began before is not longer for that', paused([0, 19_999]), [late('still open', 30_001)]],
  ['L1', 'of a pause counts what is before the end', paused([60_001, 99_000]), [late('still open', 30_001)]],
  ['L1', 'a pause before the acceptance does not count', paused([0, 10_000]), [late('still open', 40_000)]],
  ['L1', 'two pauses count as their sum', paused([40_000, 45_000], [20_000, 25_000]), []],
  ['L1', 'pauses that overlap count once', paused([20_000, 26_000], [24_000, 29_999]), [late('still open', 30_001)]],
  ['L1', 'a pause within another one adds nothing', paused([20_000, 30_000], [22_000, 23_000]), []],
  [
    'L1',
    'after a pause within another one only the rest counts',
    paused([20_000, 27_000], [22_000, 23_000], [25_000, 29_999]),
    [late('still open', 30_001)],
  ],
]

const never = (uuid = 'a1'): Finding => ({
  found: `instance i1: ARQ ${uuid} was never told, nor given up`,
  keys: ['instance/i1'],
})
const unheard = (status: string): Finding => ({
  found: `instance i1: ARQ a1 is recorded as told ${status}, and Nova never took it`,
  keys: ['instance/i1'],
})
const ended = (outcome: 'completed' | 'failed' = 'completed', arqs = ['a1'], more = {}): readonly Append[] => [
  instance('i1', accepted(arqs)),
  instance('i1', settled(outcome, arqs, more)),
]
const toldOf = (outcome: 'completed' | 'failed', heard: Partial<Heard> | null): Partial<Evidence> => ({
  ...of(...ended(outcome), instance('i1', novaTold('a1'))),
  nova: [
    {
      name: 'accelerator-request-bound',
      server_uuid: 'i1',
      tag: 'a1',
      status: outcome,
      outcome: 'delivered',
      rowCount: 2,
      ...heard,
    },
  ].slice(heard === null ? 1 : 0) as readonly Heard[],
})
const told: readonly Case[] = [
  ['L2', 'Nova is told', of(...ended(), instance('i1', novaTold('a1'))), []],
  ['L2', 'Nova may still be told for 30 s', { ...of(...ended()), now: 90_000 }, []],
  ['L2', 'Nova is not told for more than 30 s', { ...of(...ended()), now: 90_001 }, [never()]],
  ['L2', 'Nova is not told, and less is allowed', { ...of(...ended()), now: 70_001, slackMs: 10_000 }, [never()]],
  [
    'L2',
    'Nova could not be told for a while',
    { ...of(...ended()), now: 90_001, pauses: [{ from: 70_000, to: 70_001 }] },
    [],
  ],
  ['L2', 'there is no Nova', { ...of(...ended('completed', ['a1'], { tell: null })), now: 900_000 }, []],
  [
    'L2',
    'nobody said until when: from the end on',
    { ...of(instance('i1', settled('failed'))), now: 31_001 },
    [never()],
  ],
  ['L2', 'nobody said until when: not before the end', { ...of(instance('i1', settled('failed'))), now: 31_000 }, []],
  [
    'L2',
    'Nova is told of one of two',
    { ...of(...ended('completed', ['a1', 'a2']), instance('i1', novaTold('a1'))), now: 900_000 },
    [never('a2')],
  ],
  [
    'L2',
    'it is given up',
    {
      ...of(...ended(), instance('i1', { ...novaTold('a1'), endings: { a1: 'undeliverable' } })),
      now: 900_000,
      nova: [],
    },
    [],
  ],
  [
    'L2',
    'Nova is told once and has to be told again',
    { ...of(...ended(), instance('i1', novaTold('a1')), ...ended('failed')), now: 900_000 },
    [never()],
  ],
  [
    'L2',
    'an operator has it told once more, and it is never told',
    { ...of(...ended(), instance('i1', novaTold('a1')), instance('i1', resendAsked(900_000))), now: 1_900_000 },
    [never()],
  ],
  [
    'L2',
    'an operator has it told once more, and there is time left',
    { ...of(...ended(), instance('i1', novaTold('a1')), instance('i1', resendAsked(900_000))), now: 900_000 },
    [],
  ],
  [
    'L2',
    'an operator has it told once more, and it is told',
    { ...of(...ended(), instance('i1', novaTold('a1')), instance('i1', resendAsked(9), novaTold('a1'))), now: 900_000 },
    [],
  ],
  ['L2', 'Nova is told of what it need not hear', { ...of(instance('i1', novaTold('a1'))), nova: [] }, []],
  ['L2', 'Nova took it', toldOf('completed', {}), []],
  ['L2', 'Nova took that it failed', toldOf('failed', {}), []],
  ['L2', 'Nova heard nothing', toldOf('completed', null), [unheard('completed')]],
  ['L2', 'Nova heard it of another instance', toldOf('completed', { server_uuid: 'i2' }), [unheard('completed')]],
  ['L2', 'Nova heard it of another ARQ', toldOf('completed', { tag: 'a2' }), [unheard('completed')]],
  ['L2', 'Nova heard the opposite', toldOf('failed', { status: 'completed' }), [unheard('failed')]],
  ['L2', 'Nova refused it', toldOf('completed', { outcome: 'refused' }), [unheard('completed')]],
]

export const bindCases: readonly Case[] = [...usable, ...watched, ...terminal, ...told]
