/** The text of `accelerando drift`. */
import { expect, test } from 'vitest'
import type { Healing, HostDrift } from '../../src/cli/operators/apiShapes.ts'
import { driftLines, healedEntries, healedLines, isIgnored } from '../../src/cli/operators/driftLines.ts'

type Entry = HostDrift['entries'][number]
const entry = (more: Partial<Entry>): Entry => ({
  uuid: 'x1',
  ignored: null,
  kind: 'provider',
  provider_uuid: 'rp1',
  name: 'board',
  deployable_uuid: 'd1',
  repairs: [],
  state: 'in_sync',
  reason: null,
  reserving: [],
  consumer_uuid: null,
  arqs: [],
  ...more,
})
const host = (...entries: readonly Entry[]): HostDrift => ({
  host: 'h1',
  compute_node_uuid: null,
  checked_at: null,
  trouble: null,
  entries,
})

test.each([
  [entry({ repairs: ['renamed', 'traits'] }), 'to do: renamed, traits'],
  [
    entry({ repairs: ['inventory'], state: 'pending', reason: 'units are in use' }),
    'to do: inventory; then pending: units are in use',
  ],
  [
    entry({ repairs: ['inventory'], reserving: ['device disabled', 'handles unusable'] }),
    'to do: inventory (reserved: device disabled, handles unusable)',
  ],
  [entry({ state: 'placement_conflict', reason: 'not ours' }), 'placement_conflict: not ours'],
  [entry({ kind: 'hardware', state: null, reason: 'the device is away' }), 'the device is away'],
  [
    entry({ kind: 'server', state: null, consumer_uuid: 'i1', arqs: ['a1'], reason: 'elsewhere' }),
    'bound to instance i1 (a1): elsewhere',
  ],
  [entry({ kind: 'nova_device', state: null, reason: 'Nova shows it' }), 'Nova shows it'],
  [
    entry({ kind: 'allocation_without_arq', state: null, consumer_uuid: 'i1' }),
    'allocated to i1, which has no accelerator request on it',
  ],
  [
    entry({ kind: 'allocation_without_arq', state: null, consumer_uuid: 'i1', reason: 'allocated units: 2' }),
    'allocated to i1, which has no accelerator request on it (allocated units: 2)',
  ],
  [
    entry({ kind: 'arq_without_allocation', state: null, consumer_uuid: 'i1', arqs: ['a1', 'a2'] }),
    'bound to instance i1 (a1 a2), which has no allocation of all that is bound',
  ],
  [entry({ state: null }), 'differs'],
  [entry({ state: null, reason: 'not ours' }), 'differs: not ours'],
  [entry({ kind: 'hardware', state: 'in_sync' }), 'differs'],
  [entry({ kind: 'server', state: null, arqs: ['a1', 'a2'] }), 'bound to instance - (a1 a2): differs'],
  [entry({ kind: 'nova_device', state: null }), 'Nova offers it as well'],
  [
    entry({ kind: 'allocation_without_arq', state: null }),
    'allocated to nobody known, which has no accelerator request on it',
  ],
  [
    entry({ kind: 'arq_without_allocation', state: null, arqs: ['a1'], reason: 'one unit is missing' }),
    'bound to instance - (a1), which has no allocation of all that is bound (one unit is missing)',
  ],
  [
    entry({ state: 'pending', ignored: { by: 'kim', reason: 'known', at: 'T1', until: 'T2' } }),
    'pending; ignored until T2 by kim: known',
  ],
  [entry({ state: 'in_sync' }), 'in_sync'],
])('%o', (one, text) => expect(driftLines([host(one)])).toEqual([`h1: board (provider rp1) ${text}`]))

type Healed = Healing['healed'][number]
const created = entry({ repairs: ['created'] })
const waiting = entry({ provider_uuid: 'rp2', state: 'pending', reason: 'units are in use' })
const away = { ...host(), trouble: { state: 'unreachable', reason: 'no answer' } } as const
test.each<readonly [string, HostDrift, Omit<Healed, 'host'>, readonly string[]]>([
  [
    'what was repaired is said to be',
    host(created),
    { outcome: 'in_step', left: null },
    ['h1: board (provider rp1) repaired: created'],
  ],
  [
    'what is left as well',
    host(created, waiting),
    { outcome: 'left', left: host(waiting) },
    ['h1: board (provider rp1) repaired: created', 'h1: board (provider rp2) pending: units are in use'],
  ],
  [
    'what was not repaired is not said to be',
    host(created),
    { outcome: 'left', left: { ...away, entries: [created] } },
    ['h1: unreachable: no answer', 'h1: board (provider rp1) not repaired: created'],
  ],
  [
    'a host on which another control worked',
    host(created),
    { outcome: 'busy', left: host(created) },
    [
      'h1: another control works on it, so nothing was done; try again',
      'h1: board (provider rp1) not repaired: created',
    ],
  ],
  ['trouble that is over needs no line', away, { outcome: 'in_step', left: null }, ['1 host: nothing differs']],
])('after a repair: %s', (_, before, healed, lines) =>
  expect(healedLines({ drift: [before], healed: [{ host: 'h1', ...healed }] })).toEqual(lines),
)
test.each(['in_step', 'busy'] as const)('what is ignored and still there was not repaired: %s', (outcome) => {
  const ignored = { by: 'operator', reason: 'Nova has it', at: '2026-01-01', until: '2026-02-01' }
  const before = host(entry({ state: 'placement_conflict', reason: 'not ours', ignored }))
  const entries = healedEntries(before, { host: 'h1', outcome, left: before })
  expect(entries.map((one) => one.outcome)).toEqual([outcome === 'busy' ? 'busy' : 'left'])
})
test('trouble of a host comes first', () =>
  expect(driftLines([{ ...host(), trouble: { state: 'unreachable', reason: 'no answer' } }])).toEqual([
    'h1: unreachable: no answer',
  ]))
test.each([
  [[], '0 hosts: nothing differs'],
  [[host()], '1 host: nothing differs'],
  [[host(), host()], '2 hosts: nothing differs'],
])('nothing', (drift, text) => expect(driftLines(drift)).toEqual([text]))
test('a difference is known as ignored, but not by a control that does not say so', () => {
  expect(isIgnored({ ignored: { by: 'kim', reason: 'known', at: 'T1', until: 'T2' } })).toBe(true)
  expect(isIgnored({ ignored: null })).toBe(false)
  expect(isIgnored({})).toBe(false)
})

const same = { kind: 'server', provider_uuid: 'rp1', consumer_uuid: 'i1', repairs: ['moved'] } as const
test.each([
  ['the kind', { kind: 'provider' }],
  ['the provider', { provider_uuid: 'rp2' }],
  ['the consumer', { consumer_uuid: 'i2' }],
] as const)('a difference that is left is another one where %s is another', (_, more) => {
  const left = host(entry({ ...same, ...more }))
  const healed = { host: 'h1', outcome: 'left', left } as const
  const outcomes = healedEntries(host(entry(same)), healed).map(({ outcome, ...one }) => [outcome, one])
  expect(outcomes).toEqual([
    ['repaired', entry(same)],
    ['left', entry({ ...same, ...more })],
  ])
})
test('a host of which no repair is told has lost its differences without one', () => {
  expect(healedEntries(host(created), undefined)).toEqual([{ ...created, outcome: 'repaired' }])
})
test('each host is told with its own repair, and what is gone without one needs no line', () => {
  const drift = [host(created), { ...host(waiting, entry({ repairs: ['traits'] })), host: 'h2' }]
  const healed = [
    { host: 'h2', outcome: 'left', left: { ...host(), host: 'h2', trouble: { state: 'unreachable', reason: 'off' } } },
    { host: 'h1', outcome: 'in_step', left: null },
  ] as const
  expect(healedLines({ drift, healed })).toEqual([
    'h1: board (provider rp1) repaired: created',
    'h2: board (provider rp1) repaired: traits',
    'h2: unreachable: off',
  ])
})
