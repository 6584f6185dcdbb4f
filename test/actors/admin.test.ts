/** What an operator decides, as the deciders see it: every state by every command. */
import { describe, expect, it, test } from 'vitest'
import { ENTITIES } from '../../src/actors/entities.ts'
import { fold } from '../../src/actors/runtime/memory.ts'
import { type Said, specOf } from '../spec.ts'
import { answer, done, failed, given, granted, quiet, release, released, stuck } from './deployableFacts.ts'
import * as say from './samples.ts'
import { ARQ, handle, id, OTHER, recorded, WORD } from './samples.ts'

const HANDLE = handle(1).uuid
const quarantine: Said = { type: 'Quarantine', handle: HANDLE, ...WORD }
const clear: Said = { type: 'Clear', handle: HANDLE, deadline: 9000, ...WORD }
const force = (reachable: boolean): Said => ({
  type: 'ForceRelease',
  arq: ARQ,
  deadline: 9000,
  reachable,
  ...WORD,
})
const kept = (until: 'confirmed' | 'released', n = 1): Said => ({
  type: 'HandleQuarantined',
  handle: handle(n).uuid,
  until,
  ...WORD,
})
const cleared: Said = { type: 'HandleCleared', handle: HANDLE, ...WORD }

const held = [recorded(), granted(1, 1), done(1, 1)] as const
const FACTS = {
  free: [recorded()],
  held,
  releasing: [...held, released(1, 2)],
  quarantined: stuck,
  missing: [recorded(), { type: 'DeployableDescribed', description: say.describing({ handles: [handle(2)] }) }],
}

describe('a handle by state and what an operator asks', () => {
  type Expected = readonly Said[] | 'refused'
  const TABLE: Record<keyof typeof FACTS, Readonly<Record<'quarantine' | 'clear' | 'force', Expected>>> = {
    free: { quarantine: [kept('released')], clear: [], force: [] },
    held: { quarantine: 'refused', clear: 'refused', force: [released(1, 2), kept('confirmed')] },
    releasing: { quarantine: [kept('released')], clear: 'refused', force: [] },
    quarantined: {
      quarantine: [kept('released')],
      clear: [cleared, kept('confirmed'), released(1, 3)],
      force: [released(1, 3), kept('confirmed')],
    },
    missing: { quarantine: 'refused', clear: 'refused', force: [] },
  }
  const asks = { quarantine, clear, force: force(false) }
  const cells = (Object.keys(FACTS) as (keyof typeof FACTS)[]).flatMap((state) =>
    (Object.keys(asks) as (keyof typeof asks)[]).map((ask) => [state, ask, TABLE[state][ask]] as const),
  )
  it.each(cells)('%s, %s', (state, ask, expected) => {
    const spec = given(...FACTS[state]).when(asks[ask])
    if (expected === 'refused') spec.isRefused({ kind: 'conflict' })
    else spec.follows(...expected)
  })
  it('nobody knows is not found', () => {
    for (const command of [quarantine, clear])
      given(recorded())
        .when({ ...command, handle: id(9) })
        .isRefused({ kind: 'not_found', resource: 'attach handle' })
  })
})

describe('a handle that is given up by force', () => {
  it('goes the way of every release where its host is heard of', () => {
    given(...held)
      .when(force(true))
      .follows(released(1, 2))
  })
  it('is free at once where its host had nothing to do', () => {
    given(quiet, granted(1, null)).when(force(false)).follows(released(1, null))
  })
  it('waits for its silent host, which is still asked to release it, and is given to nobody (S8)', () => {
    const waiting = given(...held, released(1, 2), kept('confirmed'))
    expect(waiting.state.handles[HANDLE]).toMatchObject({ state: 'quarantined', arq: null, pending: { number: 2 } })
    waiting
      .when({ type: 'Grant', arq: OTHER, bitstream: null, deadline: 9000, requestId: say.REQUEST })
      .follows(granted(2, 3, OTHER))
    waiting.when({ type: 'Due', at: 10_000_000, deadline: 9000 }).follows()
    waiting.when({ type: 'Program', image: 'x', deadline: 1, requestId: '' }).isRefused({ kind: 'conflict' })
  })
  it('is free when its host has released it, and when an operator says so', () => {
    const waiting = [...held, released(1, 2), kept('confirmed')]
    given(...waiting)
      .when(answer(1, 2))
      .follows(done(1, 2))
    for (const end of [done(1, 2), cleared])
      expect(given(...waiting, end).state.handles[HANDLE]).toMatchObject({ state: 'free', pending: null })
  })
  it('stays where it is when its host cannot release it, and is asked for again later', () => {
    const waiting = [...held, released(1, 2), kept('confirmed'), failed(1, 2, null)]
    expect(given(...waiting).state.handles[HANDLE]).toMatchObject({ state: 'quarantined', pending: null })
    given(...waiting)
      .when({ type: 'Due', at: 10_000_000, deadline: 9000 })
      .follows(released(1, 3))
  })
})

describe('a handle that an operator keeps back', () => {
  const byHand = [...FACTS.releasing, kept('released')] as const
  it('stays so whatever its host reports', () => {
    expect(given(...byHand, done(1, 2)).state.handles[HANDLE]).toMatchObject({ state: 'quarantined', pending: null })
    const gone: Said = { type: 'DeployableDescribed', description: say.describing({ handles: [] }) }
    const back: Said = { type: 'DeployableDescribed', description: say.describing() }
    expect(given(recorded(), kept('released'), gone, back).state.handles[HANDLE]!.state).toBe('quarantined')
    expect(given(recorded(), kept('released'), gone, cleared).state.handles[HANDLE]!.state).toBe('missing')
  })
  it('stays so however long it takes', () => {
    given(recorded(), kept('released')).when({ type: 'Due', at: 10_000_000, deadline: 9000 }).follows()
  })
  it('stays so when its request gives it up once more', () => {
    given(...stuck, kept('released'))
      .when(release())
      .follows(released(1, 3))
    const again = [...stuck, kept('released'), released(1, 3), done(1, 3)]
    expect(given(...again).state.handles[HANDLE]!.state).toBe('quarantined')
  })
  it('remembers who and why, until it is given back', () => {
    given(...byHand)
      .when(quarantine)
      .follows()
    expect(given(...byHand).state.handles[HANDLE]!.quarantine).toEqual({ ...WORD, at: 1 })
    const back = given(...byHand, done(1, 2), cleared).state.handles[HANDLE]!
    expect(back.state).toBe('free')
    expect(back).not.toHaveProperty('quarantine')
  })
})

describe('a host by what it is and what an operator asks', () => {
  const spec = specOf('host')
  const picture = { bootId: id(1), number: 3, digest: 'd', aliases: [], drivers: {} }
  const seen: Said = { type: 'PictureRecorded', name: 'h1', picture, devices: {} }
  const said = (liveness: string, care: 'retired' | 'removed' | 'restored'): Said => ({
    type: 'LivenessSet',
    liveness,
    care,
    ...(care === 'restored' ? {} : { devices: {} }),
    ...WORD,
  })
  const asks = {
    retire: { type: 'Retire', devices: {}, ...WORD },
    remove: { type: 'Remove', devices: {}, ...WORD },
    restore: { type: 'Restore', ...WORD },
    shed: { type: 'Shed', devices: {}, by: 'op' },
    silence: { type: 'SetLiveness', liveness: 'down', by: 'silence' },
  } as const satisfies Record<string, Said>
  const down: Said = { type: 'LivenessSet', liveness: 'down', by: 'silence' }
  const STATES = { up: [seen], retired: [seen, said('up', 'retired')], removed: [seen, said('removed', 'removed')] }
  const TABLE: Record<keyof typeof STATES, Record<keyof typeof asks, readonly Said[]>> = {
    up: {
      retire: [said('up', 'retired')],
      remove: [said('removed', 'removed')],
      restore: [],
      shed: [],
      silence: [down],
    },
    retired: {
      retire: [],
      remove: [said('removed', 'removed')],
      restore: [said('up', 'restored')],
      shed: [],
      silence: [down],
    },
    removed: { retire: [], remove: [], restore: [said('down', 'restored')], shed: [], silence: [] },
  }
  const names = Object.keys(STATES) as (keyof typeof STATES)[]
  const cells = names.flatMap((state) =>
    (Object.keys(asks) as (keyof typeof asks)[]).map((ask) => [state, ask, TABLE[state][ask]] as const),
  )
  it.each(cells)('%s, %s', (state, ask, expected) => {
    spec
      .given(...STATES[state])
      .when(asks[ask])
      .follows(...expected)
  })
  it('that was never heard of is not found', () => {
    for (const command of Object.values(asks)) spec.given().when(command).isRefused({ kind: 'not_found' })
  })
  it('that is removed stays removed when it reports', () => {
    const later: Said = {
      type: 'PictureRecorded',
      name: 'h1',
      picture: { ...picture, bootId: id(2) },
      devices: {},
    }
    expect(spec.given(...STATES.removed, later).state).toMatchObject({ liveness: 'removed', bootId: id(2) })
    expect(spec.given(...STATES.removed, said('down', 'restored'), later).state.liveness).toBe('up')
  })
  it('loses the devices that leave with the decision', () => {
    const card = { uuid: id(0xd0), id: 1, driver: 'd', digest: 'x', missing: 0, deployables: {} }
    const shown: Said = { ...seen, devices: { a: card, b: card } }
    const { state } = spec.given(shown, { ...said('up', 'retired'), devices: { a: null } })
    expect(Object.keys(state.devices)).toEqual(['b'])
    expect(state.retired).toEqual({ ...WORD, at: 1 })
  })
})

test.each(Object.values(ENTITIES).map((decider) => [decider.kind, decider] as const))(
  'an event of a later release changes nothing: %s',
  (_, decider) => {
    expect(fold(decider, decider.initial, [{ type: 'OfALaterRelease' }], 5)).toBe(decider.initial)
  },
)
