/** What a deployable decides at its limits and in its rarer states. */
import { describe, expect, it } from 'vitest'
import { type Fact, described, done, granted, order, recorded, released } from '../audit/cases/scene.ts'
import { type Case, deciding, markOf } from './decided.ts'

const { after, decide } = deciding('deployable')
const made = recorded()
const WORD = { by: 'op', reason: 'r' }
const prepares = (slot: string, number: number, more: object = {}) =>
  order(slot, number, { type: 'PrepareSlot', arq: 'a1', requestId: 'req-1', ...more })
const programs: Fact = {
  type: 'ProgramStarted',
  image: 'image',
  order: { ...order('d1', 1, { type: 'Program', image: 'image', requestId: 'req-1' }), handle: undefined },
}
const presence = (to: string): Fact => ({ type: 'PresenceSet', presence: to })
const hidden: Fact = { type: 'DeployableDescribed', description: described(['h2']) }
const keeps = (until: string, more: object = {}): Fact => ({
  type: 'HandleQuarantined',
  handle: 'h1',
  until,
  ...WORD,
  ...more,
})
const cleared: Fact = { type: 'HandleCleared', handle: 'h1', ...WORD }
const failed = (number: number, again: object | null): Fact => ({
  type: 'OrderFailed',
  slot: 'h1',
  number,
  reason: 'r',
  again,
})
const held = [made, granted('h1', 'a1', prepares('h1', 1)), done()] as const
const stuck = [...held, released('h1', 'a1', order('h1', 2)), failed(2, null)] as const
const answer = (slot: string, number: number, more: object = {}): Fact => ({
  type: 'Answer',
  slot,
  number,
  failed: null,
  final: false,
  retryBy: 9000,
  ...more,
})
const due = (at: number): Fact => ({ type: 'Due', at, deadline: 20_000 })
const LATE = 'the host did not answer in time'
const LOST = `its host has lost it and could not prepare it again: ${LATE}`
const repeated = { ...granted('h1', 'a1', prepares('h1', 2, { again: true })), repeated: 'lost' }

const answers: readonly Case[] = [
  ['takes the answer to the order that waits', held.slice(0, 2), answer('h1', 1, { order: 'PrepareSlot' }), [done()]],
  [
    'ignores the answer to an order of another type with the same number',
    held.slice(0, 2),
    answer('h1', 1, { order: 'ReleaseSlot' }),
    [],
  ],
  ['waits for its programming until the deadline', [made, programs], due(8999), []],
  [
    'ends its programming at the deadline',
    [made, programs],
    due(9000),
    [{ type: 'ProgramFailed', image: 'image', number: 1, reason: LATE }],
  ],
  ['is not programmed, and nothing ends', [made], due(9000), []],
  [
    'ends a repeated preparation at its deadline, and orders the release that is due',
    [
      ...held,
      repeated,
      granted('h2', 'a2', prepares('h2', 3)),
      released('h2', 'a2', order('h2', 4)),
      { type: 'OrderFailed', slot: 'h2', number: 4, reason: 'r', again: null },
    ],
    { type: 'Due', at: 307_000, deadline: 400_000 },
    [
      released('h2', 'a2', order('h2', 5, { deadline: 400_000 })),
      { type: 'OrderFailed', slot: 'h1', number: 2, reason: LATE, again: null },
      { ...keeps('released'), by: 'comparison with the host', reason: LOST },
    ],
  ],
]

const cleaning = recorded({ description: described(['h1', 'h2'], { cleaning: 'by_host' }) })
const found = { slot: 'h1', number: 40, arq: 'a9' }
const clean: Fact = { type: 'Clean', handle: 'h1', deadline: 9000, ...WORD }
const undone = (number: number, more: object = {}) => [
  cleared,
  keeps('confirmed'),
  released('h1', '', order('h1', number, more)),
]
const operators: readonly Case[] = [
  ['has a free handle cleaned', [cleaning], clean, undone(1, { clean: true })],
  [
    'has a handle cleaned that its host has prepared for another, by an order above what the host knows',
    [cleaning, keeps('released', { found })],
    clean,
    undone(41, { clean: true }),
  ],
  [
    'has no handle cleaned that its host does not show',
    [cleaning, { type: 'DeployableDescribed', description: described(['h2'], { cleaning: 'by_host' }) }],
    clean,
    { kind: 'conflict', reason: 'handle h1 is missing: its host does not show it, so it is given to nobody' },
  ],
  [
    'has no handle cleaned that it does not know',
    [cleaning],
    { ...clean, handle: 'h9' },
    { kind: 'not_found', resource: 'attach handle', id: 'h9' },
  ],
  [
    'gives back a handle in doubt by an order, where its host has work to do',
    [made, keeps('released', { inDoubt: true })],
    { ...clean, type: 'Clear' },
    undone(1),
  ],
]

const mark = (facts: readonly Fact[]) => markOf(after(...facts).handles['h1'])
const withhold = (facts: readonly Fact[], more: object = {}): Fact => ({
  type: 'Withhold',
  handle: 'h1',
  mark: mark(facts),
  reason: 'why',
  found: null,
  ...more,
})
const again = (facts: readonly Fact[]): Fact => ({
  type: 'PrepareAgain',
  handle: 'h1',
  mark: mark(facts),
  reason: 'lost',
  deadline: 9000,
  requestId: 'req-1',
})
const away = [...held, presence('missing')] as const
const comparisons: readonly Case[] = [
  [
    'withholds a handle without saying what its host has prepared',
    [made],
    withhold([made]),
    [{ ...keeps('released'), by: 'comparison with the host', reason: 'why' }],
  ],
  ['withholds nothing that its host does not show', [made, hidden], withhold([made, hidden], { found }), []],
  ['has a handle prepared again that its host has lost', held, again(held), [repeated]],
  ['has nothing prepared again while it is missing', away, again(away), []],
]

describe('a deployable', () => {
  it.each([...answers, ...operators, ...comparisons])('%s', (_, facts, command, decision) =>
    expect(decide(facts, command)).toEqual(decision),
  )
})

describe('lost rows of a deployable', () => {
  const loaded = recorded({ bitstreamId: 'image' })
  const lost = (...events: readonly Fact[]): Fact => ({ type: 'RowsLost', events, handles: [], ...WORD })
  const raised = (to: number, more: object = {}): Fact => ({ type: 'OrdersRaised', to, ...more })
  const unknown = { imageUnknown: true }
  const doubted = keeps('released', { inDoubt: true })
  const program = { ...programs, order: { ...(programs['order'] as object), number: 4 } }
  it.each<Case>([
    [
      'that granted with an image leave the image unknown',
      [loaded],
      lost(granted('h1', 'a1', prepares('h1', 3, { bitstream: 'other' }))),
      [raised(3, unknown), doubted],
    ],
    [
      'that granted without an image leave it as it is',
      [loaded],
      lost(granted('h1', 'a1', prepares('h1', 3))),
      [raised(3), doubted],
    ],
    ['that granted without an order raise nothing', [loaded], lost(granted()), [doubted]],
    ['that began its programming', [loaded], lost(program), [raised(4, unknown)]],
    ['that ended it', [loaded], lost({ type: 'Programmed', image: 'x', number: 5 }), [raised(5, unknown)]],
    [
      'that ended it badly',
      [loaded],
      lost({ type: 'ProgramFailed', image: 'x', number: 6, reason: 'r' }),
      [raised(6, unknown)],
    ],
    [
      'of a programming with a known number still leave the image unknown',
      [loaded, ...held.slice(1)],
      lost({ type: 'Programmed', image: 'x', number: 1 }),
      [raised(1, unknown)],
    ],
    ['of an image that is unknown anyway', [made], lost({ type: 'Programmed', image: 'x', number: 5 }), [raised(5)]],
    [
      'that ordered a release again count its number',
      [...stuck],
      lost(failed(2, order('h1', 7))),
      [raised(7), doubted],
    ],
    ['that gave a release up name its handle', [...stuck], lost(failed(2, null)), [doubted]],
    ['that answered put a free handle in doubt', [made], lost(done('h1', 0)), [doubted]],
    ['that answered put a missing handle in doubt', [made, hidden], lost(done('h1', 0)), [doubted]],
    ['that answered put no held handle in doubt', held, lost(done('h1', 1)), []],
    ['that did more than answer do so', held, lost(granted('h1', 'a1'), done('h1', 1)), [doubted]],
    ['that are about nothing of that kind change nothing', [loaded], lost({ type: 'TreeTouched' }), []],
  ])('%s', (_, facts, command, decision) => expect(decide(facts, command)).toEqual(decision))
})

describe('attributes below attributes', () => {
  const keys = Array.from({ length: 8 }, (_, at) => `k${at + 1}`)
  const chain = keys.map((key, at): Fact => ({
    type: 'AttributeAdded',
    attribute: { uuid: key, key, value: 'v', origin: 'operator', ...(at > 0 ? { parent: `k${at}` } : {}) },
  }))
  const nested = [made, ...chain] as const
  const add = (key: string, parent?: string): Fact => ({
    type: 'AddAttribute',
    attribute: { uuid: 'new', key, value: 'v', ...(parent === undefined ? {} : { parent }) },
  })
  const added = (key: string, parent: string) => [
    { type: 'AttributeAdded', attribute: { uuid: 'new', key, value: 'v', parent, origin: 'operator' } },
  ]
  const invalid = (field: string, rule: string) => ({ kind: 'invalid', field, rule })
  const NAMING = 'rc and keys that begin with trait describe the deployable itself: they have no parent'
  it.each<Case>([
    ['are added up to the eighth level', nested, add('x', 'k7'), added('x', 'k7')],
    [
      'are not added below the eighth',
      nested,
      add('x', 'k8'),
      invalid('parent_uuid', 'attributes are nested at most 8 deep'),
    ],
    [
      'are added below what exists only',
      [made],
      add('x', 'k1'),
      invalid('parent_uuid', 'it must be an attribute of the same deployable'),
    ],
    ['are no class', nested, add('rc', 'k1'), invalid('key', NAMING)],
    ['are no trait', nested, add('trait9', 'k1'), invalid('key', NAMING)],
    ['may have a key that ends like one', nested, add('my-trait', 'k1'), added('my-trait', 'k1')],
    ['may have a key that is there in another place', nested, add('k5', 'k1'), added('k5', 'k1')],
    [
      'have each key once in their place',
      nested,
      add('k2', 'k1'),
      { kind: 'exists', resource: 'attribute', field: 'key', value: 'k2' },
    ],
  ])('%s', (_, facts, command, decision) => expect(decide(facts, command)).toEqual(decision))
  it('leave with the attribute that they describe', () => {
    const left = after(...nested, { type: 'AttributeRemoved', uuid: 'k3' })
    expect(left.attributes.map((one: { readonly uuid: string }) => one.uuid)).toEqual(['rc', 'k1', 'k2'])
  })
})
