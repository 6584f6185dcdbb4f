/** What a deployable decides at its limits and in its rarer states, to the letter. */
import { describe, expect, it } from 'vitest'
import { ATTRIBUTE_DEPTH_MAX } from '../../src/actors/deployable/attributes.ts'
import { deployable, programmingBelow } from '../../src/actors/deployable/decider.ts'
import { giverIn, loadOf } from '../../src/actors/deployable/giver.ts'
import { grantable, wholeObstacles } from '../../src/actors/deployable/granting.ts'
import { markOf } from '../../src/actors/deployable/state.ts'
import { waitingOrders } from '../../src/actors/deployable/waiting.ts'
import { type Fact, described, done, granted, order, recorded, released } from '../audit/cases/scene.ts'
import { exactly } from './exact.ts'

const { after, decide, rows } = exactly(deployable)
type Case = readonly [string, readonly Fact[], Fact, unknown]
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

const mark = (facts: readonly Fact[]) => markOf(after(...facts).handles['h1']!)
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
  const keys = Array.from({ length: ATTRIBUTE_DEPTH_MAX }, (_, at) => `k${at + 1}`)
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
    expect(left.attributes.map(({ uuid }) => uuid)).toEqual(['rc', 'k1', 'k2'])
  })
})

describe('the rules of a grant', () => {
  const asked = (bitstream: string | null, mates?: readonly string[]) => ({
    arq: 'a9',
    bitstream,
    ...(mates ? { mates } : {}),
  })
  it('are all named where all of them forbid it, and the first of them refuses it', () => {
    const part = recorded({ description: described(['h1', 'h2'], { programmable: false, nodes: 2 }) })
    const state = after(
      part,
      ...stuck.slice(1),
      granted('h2', 'a2'),
      { type: 'StatusSet', status: 'maintaining' },
      { type: 'HealthSet', failing: 'hot' },
      presence('missing'),
      programs,
    )
    const all = [
      { rule: 'device_disabled', why: 'its device is in maintenance' },
      { rule: 'device_failing', why: 'its device is failing: hot' },
      { rule: 'device_missing', why: 'its device is missing' },
      { rule: 'being_programmed', why: 'it is being programmed' },
      { rule: 'not_programmable', why: 'it cannot be programmed' },
      { rule: 'in_use', why: 'another request uses it, so it cannot be programmed now' },
      {
        rule: 'not_released',
        why: 'its host may still have a quarantined handle of it prepared, so it cannot be programmed now',
      },
      {
        rule: 'divided',
        why: 'the image that it holds gave it functions of their own, so no bind replaces it: an operator has to program it',
      },
    ]
    expect(wholeObstacles(state, asked('other'))).toEqual(all)
    expect(wholeObstacles(state, asked(null))).toEqual(all.slice(0, 4))
    expect(grantable(state, asked('other'))).toEqual({ ok: false, ...all[0] })
    expect(wholeObstacles(after(made), asked('other'))).toEqual([])
  })
  const loading = after(recorded(), granted('h1', 'a1', prepares('h1', 1, { bitstream: 'image' })))
  const handle = { ok: true, handle: loading.handles['h2'] }
  const MATE = 'another request of the same bind asks for another image on it'
  const programmed = { ok: false, rule: 'being_programmed', why: 'it is being programmed' }
  it.each([
    ['requests of all binds share the load of an image', 'image', ['a9'], handle],
    ['one that asks for another image does not', 'other', ['a9'], programmed],
    ['nor one of the same bind, which no retry helps', 'other', ['a1', 'a9'], { ...programmed, why: MATE }],
    ['nor one that asks for none', null, ['a9'], programmed],
  ])('%s', (_, image, mates, granting) => expect(grantable(loading, asked(image, mates))).toEqual(granting))
  it('let no mate replace the image once it is loaded', () => {
    const loaded = after(recorded(), granted('h1', 'a1', prepares('h1', 1, { bitstream: 'image' })), done())
    expect(grantable(loaded, asked('other', ['a1', 'a9']))).toEqual({
      ok: false,
      rule: 'in_use',
      why: 'another request uses it, so it cannot be programmed now',
    })
  })
})

describe('in a tree of deployables', () => {
  const tree = { parentUuid: 'd1', parentId: 2, rootUuid: 'd1', rootId: 2 }
  const root = after(recorded({ description: described([], { nodes: 2 }) }))
  const below = (uuid: string, ...facts: readonly Fact[]) =>
    after(recorded({ description: described(['h1']) }, { uuid, name: uuid, tree }), ...facts)
  it('the first one that is there and has a free handle gives it', () => {
    const [taken, gone, free] = [below('v1', granted()), below('v2', presence('missing')), below('v3')]
    const giver = (...nodes: readonly (typeof root)[]) => giverIn({ root, below: nodes }, ['a9'])
    expect(giver(taken, gone, free, below('v4'))).toBe(free)
    expect(giver(taken, gone)).toBe(null)
    expect(giver()).toBe(null)
    const full = after(recorded({ description: described([]) }))
    expect(giverIn({ root: full, below: [] }, ['a9'])).toBe(full)
    expect(giverIn({ root: full, below: [taken] }, ['a9'])).toBe(null)
  })
  it('the image that a request asks for is loaded into a root, and compared for what is below it', () => {
    const holding = { ...root, bitstreamId: 'image' }
    const divided =
      'the image that it holds gave it functions of their own, so no bind replaces it: an operator has to program it'
    const load = (giver: typeof root, image: string | null, from: typeof root = holding) =>
      loadOf({ root: from, below: [] }, giver, image)
    expect([
      load(holding, 'other'),
      load(holding, null),
      load(below('v1'), 'image'),
      load(below('v1'), null),
      load(below('v1'), 'other'),
      load(below('v1'), 'image', { ...holding, program: after(made, programs).program }),
    ]).toEqual([
      { bitstream: 'other' },
      { bitstream: null },
      { bitstream: null, expects: 'image' },
      { bitstream: null, expects: null },
      { rule: 'divided', why: divided },
      { rule: 'being_programmed', why: 'it is being programmed' },
    ])
  })
  it('a root is programmed only while nothing below it is used or withheld', () => {
    const reason = (why: string) => ({ kind: 'conflict', reason: `deployable v1: ${why}` })
    expect(programmingBelow(below('v1'))).toBe(null)
    expect(programmingBelow(below('v1', granted()))).toEqual(
      reason('a request uses it, so its root cannot be programmed now'),
    )
    expect(programmingBelow(below('v1', keeps('released')))).toEqual(
      reason('a handle of it is quarantined, so its root cannot be programmed now; release the handle first'),
    )
  })
  it('one that becomes a root has its own provider and no place any more, and the other way round', () => {
    const moved = (place: object): Fact => ({ type: 'DeployableDescribed', description: described(['h1'], { place }) })
    const made1 = recorded({ description: described(['h1']) }, { tree })
    const lone = after(made1, moved({ tree: null, rpUuid: 'rp2' }))
    expect([lone.rpUuid, 'tree' in lone]).toEqual(['rp2', false])
    const other = { ...tree, parentUuid: 'd5', parentId: 5 }
    const inTree = after(made1, moved({ tree: other, rpUuid: 'rp3' }))
    expect([inTree.rpUuid, inTree.tree]).toEqual(['rp3', other])
    expect(after(made1, { type: 'DeployableDescribed', description: described(['h1']) }).tree).toEqual(tree)
  })
})

describe('the orders that wait for an answer', () => {
  const working = [...held.slice(0, 2), programs, granted('h2')] as const
  it('are those of its handles and its own, since they were decided', () => {
    expect(waitingOrders(after(...working))).toEqual([
      { slot: 'h1', order: prepares('h1', 1), since: 2000 },
      { slot: 'd1', order: programs['order'], since: 3000 },
    ])
    expect(waitingOrders(after(...working, presence('retired')))).toEqual([])
    expect(waitingOrders(after())).toEqual([])
  })
  it('leave the views when they are answered, and with the deployable', () => {
    const drop = (view: string, key: string) => ({ view, key, row: null })
    expect(rows(...held).filter(({ view }) => view === 'pending_orders')).toEqual([drop('pending_orders', 'h1')])
    expect(rows(...working, presence('retired'))).toEqual([
      drop('deployables', 'd1'),
      drop('attributes', 'rc'),
      drop('handles', 'h1'),
      drop('handles', 'h2'),
      drop('pending_orders', 'h1'),
      drop('pending_orders', 'd1'),
    ])
    expect(rows(...stuck, presence('retired')).at(-1)).toEqual(drop('due', 'deployable/d1'))
  })
})
