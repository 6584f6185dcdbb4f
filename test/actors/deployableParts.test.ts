/** Deployables with parts in different states: which of them decides, and which of them changes. */
import { describe, expect, it } from 'vitest'
import { pathsOf } from '../../src/actors/deployable/attributes.ts'
import { deployable, programmingBelow } from '../../src/actors/deployable/decider.ts'
import { giverIn, loadOf } from '../../src/actors/deployable/giver.ts'
import { grant, grantable } from '../../src/actors/deployable/granting.ts'
import type { DeployableCommand } from '../../src/actors/deployable/messages.ts'
import { type Deployable, attributeOf, traitsOf } from '../../src/actors/deployable/state.ts'
import { type Fact, described, granted, order, recorded, released } from '../audit/cases/scene.ts'
import { exactly } from './exact.ts'

const { after, decide } = exactly(deployable)
type Grant = Extract<DeployableCommand, { type: 'Grant' }>
type Case = readonly [string, readonly Fact[], Fact, unknown]
const WORD = { by: 'op', reason: 'r' }
const made = recorded()
const quiet = recorded({ description: described(['h1', 'h2'], { hostWork: false }) })
const keeps = (handle: string, more: object = {}): Fact => ({
  type: 'HandleQuarantined',
  handle,
  until: 'released',
  ...WORD,
  ...more,
})
const shows = (handles: readonly string[], more: object = {}): Fact => ({
  type: 'DeployableDescribed',
  description: described(handles, more),
})
const describes = (handles: readonly string[]): Fact => ({ type: 'Describe', description: described(handles) })
const release: Fact = { type: 'Release', arq: 'a1', deadline: 9000 }
const program: Fact = { type: 'Program', image: 'image', deadline: 9000, requestId: 'req-1' }
const programs: Fact = {
  type: 'ProgramStarted',
  image: 'image',
  order: { ...order('d1', 1, { type: 'Program', image: 'image', requestId: 'req-1' }), handle: undefined },
}
const pair = recorded({
  description: described([
    { uuid: 'h1', set: 0 },
    { uuid: 'h2', set: 0 },
  ]),
})

describe('a deployable', () => {
  const evidence = {
    command: 'c',
    startedAt: 1,
    finishedAt: 2,
    exitCode: 1,
    outputSha256: '',
    outputBytes: 0,
    output: '',
  }
  it.each<Case>([
    [
      'that needs its host only since a grant has it release the handle',
      [quiet, granted(), shows(['h1', 'h2'])],
      release,
      [released('h1', 'a1', order('h1', 1))],
    ],
    [
      'has its host release what was given up while it was withheld, when that is asked again',
      [quiet, granted(), keeps('h1'), released()],
      release,
      [released('h1', 'a1', order('h1', 1))],
    ],
    [
      'leaves a preparation that failed to its conversation, whatever is said of a cleaning',
      [made, granted('h1', 'a1', order('h1', 1, { type: 'PrepareSlot', arq: 'a1', requestId: 'r' }))],
      {
        type: 'Answer',
        slot: 'h1',
        number: 1,
        failed: 'r',
        final: true,
        retryBy: 1,
        cleaned: evidence,
      },
      [],
    ],
    ['is programmed while a handle is withheld that nobody had prepared', [made, keeps('h1')], program, [programs]],
    [
      'says that a handle in quarantine is not shown and stays',
      [made, keeps('h1')],
      describes(['h2']),
      [{ ...shows(['h2']), quarantinedStay: true }],
    ],
    ['says nothing of one that is shown', [made, keeps('h1')], describes(['h1']), [shows(['h1'])]],
    ['says nothing of one that is free', [made], describes(['h2']), [shows(['h2'])]],
  ])('%s', (_, facts, command, decision) => expect(decide(facts, command)).toEqual(decision))

  it('remembers of what is not shown that only what is in quarantine stays', () => {
    const states = (...facts: readonly Fact[]) =>
      Object.values(after(...facts).handles).map(({ uuid, state, unseen }) => [uuid, state, unseen])
    const stuck: Fact = { type: 'OrderFailed', slot: 'h1', number: 2, reason: 'r', again: null }
    const failing = [made, granted(), released('h1', 'a1', order('h1', 2)), stuck] as const
    expect(states(...failing, { ...shows([]), quarantinedStay: true })).toEqual([
      ['h1', 'quarantined', true],
      ['h2', 'missing', true],
    ])
    // as releases before 0.3.0 have recorded it
    expect(states(...failing, shows([]))).toEqual([
      ['h1', 'missing', true],
      ['h2', 'missing', true],
    ])
  })
  it('remembers of what kind it is, and how many are below it', () => {
    const kind = after(recorded({ description: described(['h1'], { kind: 'region', nodes: 3 }) }))
    expect([kind.kind, kind.nodes]).toEqual(['region', 3])
    expect([after(made).kind, after(made).nodes]).toEqual([null, 0])
  })
  it('remembers no former image where it comes back with the one that it had', () => {
    const presence = (to: string, more: object = {}): Fact => ({ type: 'PresenceSet', presence: to, ...more })
    const back = after(recorded({ bitstreamId: 'i' }), presence('retired'), presence('present', { bitstreamId: 'i' }))
    expect([back.bitstreamId, 'formerImage' in back]).toEqual(['i', false])
  })
  it('says who withholds a handle where operators clean', () => {
    const cleaned = recorded({ description: described(['h1'], { hostWork: false, cleaning: 'by_operator' }) })
    expect(decide([cleaned, granted()], release)).toEqual([
      released(),
      keeps('h1', { by: 'policy of cleaning', reason: 'it was given up, and an operator has to clean it' }),
    ])
  })
  it('below another one keeps the root from being programmed by any of its handles', () => {
    const reason =
      'deployable board: a handle of it is quarantined, so its root cannot be programmed now; release the handle first'
    expect(programmingBelow(after(made, keeps('h2')))).toEqual({ kind: 'conflict', reason })
  })
})

describe('a grant', () => {
  const asked = (bitstream: string | null, more: object = {}) => ({ arq: 'a9', bitstream, ...more })
  it('is refused with another image where one deployable stands below', () => {
    const divided = after(recorded({ description: described(['h1'], { nodes: 1 }) }))
    expect(grantable(divided, asked('image'))).toMatchObject({ ok: false, rule: 'divided' })
    expect(grantable(divided, asked(null)).ok).toBe(true)
  })
  it('of a part of a unit is refused, but where the handle is named, as an import does', () => {
    const held = after(pair)
    expect(grantable(held, asked(null))).toEqual({
      ok: false,
      rule: 'whole_unit',
      why: 'it is given as a whole: its 2 functions need 2 accelerator requests of one instance, not 1',
    })
    expect(grantable(held, asked(null, { mates: ['a9', 'a8'] }))).toEqual({ ok: true, handle: held.handles['h1'] })
    expect(grantable(held, asked(null, { handle: 'h2' }))).toEqual({ ok: true, handle: held.handles['h2'] })
    expect(grantable(held, asked(null, { handle: 'h9' }))).toEqual({
      ok: false,
      rule: 'no_free_handle',
      why: 'no free attach handle',
    })
  })
  it('comes from the root of a tree before what is below it', () => {
    const root = after(recorded({ description: described(['h1'], { nodes: 1 }) }))
    const below = after(recorded({}, { uuid: 'v1' }))
    expect(giverIn({ root, below: [below] }, ['a9'])).toBe(root)
  })
  describe('to a whole card whose former parts are still held', () => {
    const part = (uuid: string, ...facts: readonly Fact[]) => after(recorded({}, { uuid }), ...facts)
    const card = after(recorded({ bitstreamId: 'image', programmable: true }))
    const [used, withheld] = [part('v1', granted()), part('v1', keeps('h1'))]
    const load = (image: string | null, one: Deployable, root = card) =>
      loadOf({ root, below: [part('v0'), one] }, root, image) as Pick<Grant, 'bitstream' | 'heldBelow'>
    it('knows how they are held', () => {
      expect(load('other', used)).toEqual({ bitstream: 'other', heldBelow: 'in_use' })
      expect(load('other', withheld)).toEqual({ bitstream: 'other', heldBelow: 'not_released' })
      expect(load('other', part('v1'))).toEqual({ bitstream: 'other' })
      expect(load(null, used)).toEqual({ bitstream: null, heldBelow: 'in_use' })
      // the grant is refused then, because the root is divided
      expect(load('other', used, { ...card, nodes: 1 })).toEqual({ bitstream: 'other' })
    })
    it('loads no other image, and says the first reason', () => {
      const found = (one: Deployable, root = card) => grantable(root, asked('other', load('other', one)))
      expect([found(used), found(withheld)]).toEqual([
        { ok: false, rule: 'in_use', why: 'another request uses a part of it, so it cannot be programmed now' },
        { ok: false, rule: 'not_released', why: 'a part of it is quarantined, so it cannot be programmed now' },
      ])
      expect(found(used, { ...card, status: 'maintaining' })).toMatchObject({ rule: 'device_disabled' })
      expect(found(used, { ...card, programmable: false })).toMatchObject({ rule: 'not_programmable' })
      expect(found(part('v1'))).toMatchObject({ ok: true })
    })
    it('only compares the card with the image that is recorded', () => {
      const order = (one: Deployable) => {
        const decided = grant(card, {
          type: 'Grant',
          deadline: 9,
          requestId: 'r',
          ...asked('image', load('image', one)),
        })
        const [granted] = decided.ok ? decided.events : []
        return granted?.type === 'Granted' && granted.order?.type === 'PrepareSlot' ? granted.order : null
      }
      expect(order(part('v1'))).toMatchObject({ bitstream: 'image' })
      for (const one of [used, withheld]) {
        expect(order(one)).toMatchObject({ expects: 'image' })
        expect(order(one)).not.toHaveProperty('bitstream')
      }
    })
  })
})

describe('the attributes of a deployable', () => {
  const add = (uuid: string, key: string, parent?: string): Fact => ({
    type: 'AttributeAdded',
    attribute: { uuid, key, value: `of ${uuid}`, origin: 'operator', ...(parent === undefined ? {} : { parent }) },
  })
  const bare = recorded({ description: described(['h1'], { attributes: [] }) })
  it('are read at the top level only', () => {
    const held = after(bare, add('x', 'site'), add('y', 'trait1', 'x'), add('z', 'row', 'x'), add('t', 'trait1'))
    expect(['site', 'row', 'trait1'].map((key) => attributeOf(held, key))).toEqual(['of x', null, 'of t'])
    expect([...traitsOf(held)]).toEqual(['of t'])
  })
  it('leave with the last one at the top level', () =>
    expect(
      after(bare, add('x', 'site'), add('y', 'row', 'x'), { type: 'AttributeRemoved', uuid: 'x' }).attributes,
    ).toEqual([]))
  it('have a path of at most eight keys', () => {
    const chain = Array.from({ length: 9 }, (_, at) => ({
      uuid: `u${at + 1}`,
      key: `k${at + 1}`,
      value: '',
      origin: 'operator' as const,
      createdAt: 0,
      ...(at > 0 ? { parent: `u${at}` } : {}),
    }))
    const paths = pathsOf([...chain, { ...chain[0]!, uuid: 'lost', parent: 'nowhere' }])
    expect([...paths.keys()]).toEqual(chain.slice(0, 8).map(({ uuid }) => uuid))
    expect(paths.get('u8')).toEqual(chain.slice(0, 8).map(({ key }) => key))
  })
})
