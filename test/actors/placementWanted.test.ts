/** What Placement should show of a host: the totals, what is reserved and why, and the traits (placement 7, 9.1). */
import { describe, expect, test } from 'vitest'
import type { Attribute } from '../../src/actors/deployable/messages.ts'
import { type Deployable, type SlotHandle, initial } from '../../src/actors/deployable/shape.ts'
import { deployable } from '../../src/actors/deployable/decider.ts'
import { type Host, LIVENESS, host } from '../../src/actors/host/decider.ts'
import { markKey, marksFor } from '../../src/actors/placement/marks.ts'
import { placementName } from '../../src/actors/placement/names.ts'
import {
  RESERVE_SILENT,
  concernsPlacement,
  heldBy,
  unallocatedOf,
  wantedOf,
  withheld,
} from '../../src/actors/placement/wanted.ts'
import { specOf } from '../spec.ts'
import { handle, id, recorded } from './samples.ts'

const attribute = (key: string, value: string): Attribute => ({
  uuid: id(1),
  key,
  value,
  origin: 'driver',
  createdAt: 0,
})
const card: Deployable = specOf(deployable).given(recorded()).state
const up: Host = { ...host.initial, exists: true, name: 'h1' }
const [one, two] = [handle(1).uuid, handle(2).uuid]
const withHandles = (first: Partial<SlotHandle>, second: Partial<SlotHandle> = {}): Deployable => ({
  ...card,
  handles: { [one]: { ...card.handles[one]!, ...first }, [two]: { ...card.handles[two]!, ...second } },
})
const wanted = (held: Deployable, of: Host = up, silent: Parameters<typeof wantedOf>[2] = 'down') =>
  wantedOf(of, [held], silent)[0]

test('a card in order: one provider, under its recorded UUID and name, with nothing reserved', () =>
  expect(wanted(card)).toEqual({
    uuid: card.rpUuid,
    name: 'h1_card',
    deployable: card.uuid,
    resourceClass: 'FPGA',
    total: 2,
    reserved: 0,
    reasons: [],
    traits: ['OWNER_CYBORG'],
  }))

test('names are those that Placement takes, each trait once and in order', () => {
  const attributes = [
    attribute('rc', 'custom_qat-x'),
    attribute('trait0', 'CUSTOM_B'),
    attribute('trait1', 'custom_a-1'),
    attribute('trait2', 'OWNER_CYBORG'),
    attribute('color', 'red'),
  ]
  expect(wanted({ ...card, attributes })).toMatchObject({
    resourceClass: 'CUSTOM_QAT_X',
    traits: ['CUSTOM_A_1', 'CUSTOM_B', 'OWNER_CYBORG'],
  })
  expect(placementName(`x.y-${'ä'.repeat(300)}`)).toBe(`X_Y_${'_'.repeat(251)}`)
})

describe('no provider is wanted', () => {
  test.each([
    ['without a resource class', { attributes: [] }],
    ['with an empty one', { attributes: [attribute('rc', '')] }],
    ['for what has left', { presence: 'retired' as const }],
    ['for what was never recorded', { exists: false }],
    ['for one that is no root', { tree: { parentUuid: 'p', parentId: 1, rootUuid: 'p', rootId: 1 } }],
  ])('%s', (_, change) => expect(wantedOf(up, [{ ...card, ...change }], 'down')).toEqual([]))
})

describe('everything is reserved', () => {
  const program = { image: 'i', order: {} as never, since: 1 }
  test.each([
    ['device disabled', { ...card, status: 'maintaining' as const }, up],
    ['device missing', { ...card, presence: 'missing' as const }, up],
    ['device failing', { ...card, failing: 'too hot' }, up],
    ['being programmed', { ...card, program }, up],
    ['host retired', card, { ...up, retired: { by: 'op', reason: 'r', at: 1 } }],
    ['host retired', card, { ...up, liveness: 'removed' as const }],
  ])('%s', (reason, held, of) => expect(wanted(held, of)).toMatchObject({ total: 2, reserved: 2, reasons: [reason] }))
  test('and each reason is named', () =>
    expect(
      wanted({ ...withHandles({ state: 'quarantined' }), status: 'maintaining', presence: 'missing' }),
    ).toMatchObject({
      reserved: 2,
      reasons: ['device disabled', 'device missing', 'handles unusable'],
    }))
  const silent = RESERVE_SILENT.flatMap((from) => LIVENESS.slice(0, 3).map((state) => [from, state] as const))
  test.each(silent)('of a silent host, if wanted: from %s on, %s', (from, liveness) => {
    const reserves = (from === 'stale' && liveness !== 'up') || (from === 'down' && liveness === 'down')
    expect(wanted(card, { ...up, liveness }, from)).toMatchObject({ reserved: reserves ? 2 : 0 })
  })
})

describe('handles that cannot be given to anybody are reserved', () => {
  test.each([
    ['free', 'held', 0],
    ['releasing', 'releasing', 0],
    ['quarantined', 'free', 1],
    ['missing', 'held', 1],
    ['quarantined', 'missing', 2],
  ] as const)('%s and %s: %i', (first, second, reserved) =>
    expect(wanted(withHandles({ state: first }, { state: second }))).toMatchObject({ total: 2, reserved }),
  )
  test('and so is what the card has no handle for', () =>
    expect(wanted({ ...card, numAccelerators: 5 })).toMatchObject({
      total: 5,
      reserved: 3,
      reasons: ['handles unusable'],
    }))
  test('what requests hold is never cut off', () =>
    expect(wanted({ ...withHandles({ state: 'held' }, { state: 'held' }), numAccelerators: 1 })).toMatchObject({
      total: 2,
      reserved: 0,
    }))
  test('Placement takes no total below 1', () =>
    expect(wanted({ ...card, numAccelerators: 0, handles: {} })).toMatchObject({ total: 1, reserved: 1 }))
})

describe('units that are in use without an allocation', () => {
  test('are counted for each instance', () => {
    const users = ['i1', 'i1', 'i1', 'i2', 'i3']
    expect([...unallocatedOf(users, { i1: 1, i3: 1, i4: 9 })]).toEqual([
      ['i1', 2],
      ['i2', 1],
    ])
    expect([...unallocatedOf(users, { i1: 3, i2: 5, i3: 1 })]).toEqual([])
  })
  test('are reserved beside what is reserved anyway, up to the total', () => {
    const plain = wanted(withHandles({ state: 'quarantined' }))!
    expect(withheld(plain, new Map())).toBe(plain)
    expect(withheld(plain, new Map([['i1', 1]]))).toEqual({
      ...plain,
      reserved: 2,
      reasons: ['handles unusable', 'bound without allocation'],
      unallocated: { i1: 1 },
    })
    expect(withheld(plain, new Map([['i1', 3]])).reserved).toBe(2)
  })
  test('are held by requests: what is released already does not count', () =>
    expect(heldBy(withHandles({ state: 'held', arq: 'a1' }, { state: 'releasing', arq: null }))).toEqual(['a1']))
})

describe('a change marks its host', () => {
  const changes: readonly (readonly [string, Deployable])[] = [
    ['presence', { ...card, presence: 'missing' }],
    ['status', { ...card, status: 'maintaining' }],
    ['attributes', { ...card, attributes: [] }],
    ['program', { ...card, program: { image: 'i', order: {} as never, since: 1 } }],
    ['number', { ...card, numAccelerators: 3 }],
    ['a handle that is withheld', withHandles({ state: 'quarantined' })],
  ]
  test.each(changes)('of %s', (_, after) => {
    expect(concernsPlacement(card, after)).toBe(true)
    expect(marksFor(`deployable/${card.uuid}`, card, after, 7)).toEqual([
      { view: 'due', key: markKey('h1'), row: { entity: 'placement-mark/h1', kind: 'placement-mark', at: 7 } },
    ])
  })
  test('when it is recorded', () => expect(marksFor('deployable/x', initial, card, 7)).toHaveLength(1))
  test('not when a handle is granted or released', () => {
    expect(concernsPlacement(card, withHandles({ state: 'held', arq: 'a' }))).toBe(false)
    expect(concernsPlacement(card, withHandles({ state: 'releasing' }))).toBe(false)
  })
  test.each([
    ['liveness', { liveness: 'down' as const }, true],
    ['service', { retired: { by: 'op', reason: 'r', at: 1 } }, true],
    ['names', { aliases: ['h1.example.org'] }, true],
    ['report number', { number: 9 }, false],
  ])('of a host: %s', (_, change, marks) =>
    expect(marksFor('host/h1', up, { ...up, ...change }, 7)).toHaveLength(marks ? 1 : 0),
  )
  test('of nothing else', () => expect(marksFor('arq/x', {}, { state: 'Bound' }, 7)).toEqual([]))
})
