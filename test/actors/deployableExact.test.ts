/** A deployable to the letter: all that it remembers after each fact. */
import { describe, expect, it } from 'vitest'
import { deployable, deployableKey } from '../../src/actors/deployable/decider.ts'
import {
  attributeOf,
  busy,
  dueAt,
  inUse,
  isTaken,
  retryAt,
  takenHandles,
  traitsOf,
} from '../../src/actors/deployable/state.ts'
import { type Fact, described, done, granted, order, recorded, released } from '../audit/cases/scene.ts'
import { exactly } from './exact.ts'

const { after } = exactly(deployable)
const made = recorded()
const prepare = (slot: string, number: number, more: object = {}) =>
  order(slot, number, { type: 'PrepareSlot', ...more })
const NEW = {
  exists: false,
  uuid: '',
  id: 0,
  name: '',
  rpUuid: '',
  deviceUuid: '',
  deviceId: 0,
  host: '',
  driver: '',
  vendor: '',
  numAccelerators: 0,
  driverName: '',
  hostWork: false,
  programmable: false,
  kind: null,
  nodes: 0,
  attributes: [],
  handles: {},
  status: 'enabled',
  presence: 'present',
  bitstreamId: null,
  program: null,
  programFault: null,
  orders: 0,
  createdAt: 0,
  updatedAt: null,
  describedAt: null,
  revision: 0,
}
const handle = (uuid: string, more: object = {}) => ({
  uuid,
  type: 'PCI',
  info: {},
  canonical: `PCI:${uuid}`,
  state: 'free',
  arq: null,
  pending: null,
  pendingSince: 0,
  lastArq: null,
  attempts: 0,
  unseen: false,
  ...more,
})
const RC = { uuid: 'rc', key: 'rc', value: 'FPGA', origin: 'driver', createdAt: 1000 }
const MADE = {
  ...NEW,
  exists: true,
  uuid: 'd1',
  id: 2,
  name: 'board',
  rpUuid: 'rp1',
  deviceUuid: 'c1',
  deviceId: 1,
  host: 'host1',
  vendor: '1bf2',
  driver: 'simulated_driver',
  numAccelerators: 2,
  driverName: 'simulated',
  hostWork: true,
  programmable: true,
  attributes: [RC],
  handles: { h1: handle('h1'), h2: handle('h2') },
  createdAt: 1000,
}
/** Only the first handle is another one. */
const withFirst = (at: number, first: object, more: object = {}) => ({
  ...MADE,
  handles: { h1: handle('h1', first), h2: handle('h2') },
  updatedAt: at,
  ...more,
})
const shown = (at: number, more: object, times = 1) => ({
  ...MADE,
  updatedAt: at,
  describedAt: at,
  revision: times,
  ...more,
})
const describes = (handles: readonly (string | object)[], more: object = {}): Fact => ({
  type: 'DeployableDescribed',
  description: described(handles, more),
})
const failed = (again: object | null): Fact => ({ type: 'OrderFailed', slot: 'h1', number: 2, reason: 'r', again })
const quarantines = (until: string): Fact => ({ type: 'HandleQuarantined', handle: 'h1', until, by: 'op', reason: 'r' })
const clears: Fact = { type: 'HandleCleared', handle: 'h1' }
const programs: Fact = { type: 'ProgramStarted', image: 'image', order: order('d1', 4) }
const presence = (to: string, more: object = {}): Fact => ({ type: 'PresenceSet', presence: to, ...more })
const WORD = { by: 'op', reason: 'r' }
const keptBack = { state: 'quarantined', pendingSince: 4000, quarantine: { ...WORD, at: 5000 } }
const held = { state: 'held', arq: 'a1', pendingSince: 2000 }
/** Its host was ordered to prepare it. */
const worked = { ...held, prepared: true }
const given = [made, granted('h1', 'a1', prepare('h1', 1)), done()] as const
const releases = released('h1', 'a1', order('h1', 2))
const releasing = { state: 'releasing', lastArq: 'a1', pending: order('h1', 2), pendingSince: 4000, prepared: true }
const stuck = [...given, releases, failed(null)] as const
const why = (at: number) => ({ releaseFailed: { reason: 'r', at } })
const STUCK = { state: 'quarantined', lastArq: 'a1', attempts: 1, pendingSince: 5000, prepared: true, ...why(5000) }

describe('a deployable remembers', () => {
  it.each<[string, readonly Fact[], object]>([
    ['nothing at first', [], NEW],
    ['what it was recorded with', [made], MADE],
    [
      'with which status and which image it was recorded',
      [recorded({ status: 'maintaining', bitstreamId: 'image' })],
      { ...MADE, status: 'maintaining', bitstreamId: 'image' },
    ],
    [
      'what it is described as',
      [
        made,
        describes(['h1', 'h2'], {
          driver: 'a',
          driverName: 'b',
          numAccelerators: 9,
          hostWork: false,
          programmable: false,
        }),
      ],
      shown(2000, { driver: 'a', driverName: 'b', numAccelerators: 9, hostWork: false, programmable: false }),
    ],
    [
      'since when it has its attributes, and those of operators',
      [
        made,
        { type: 'AttributeAdded', attribute: { uuid: 'x', key: 'k', value: 'v', origin: 'operator' } },
        describes(['h1', 'h2'], {
          attributes: [
            { uuid: 'y', key: 'trait1', value: 'T', origin: 'driver' },
            { ...RC, value: 'GPU' },
          ],
        }),
      ],
      shown(
        3000,
        {
          attributes: [
            { uuid: 'y', key: 'trait1', value: 'T', origin: 'driver', createdAt: 3000 },
            { ...RC, value: 'GPU' },
            { uuid: 'x', key: 'k', value: 'v', origin: 'operator', createdAt: 2000 },
          ],
        },
        2,
      ),
    ],
    [
      'attributes as long as they are not removed',
      [
        made,
        { type: 'AttributeAdded', attribute: { uuid: 'x', key: 'k', value: 'v', origin: 'operator' } },
        { type: 'AttributeRemoved', uuid: 'rc' },
      ],
      shown(3000, { attributes: [{ uuid: 'x', key: 'k', value: 'v', origin: 'operator', createdAt: 2000 }] }, 2),
    ],
    [
      'handles that are not shown any more',
      [made, describes(['h2'])],
      shown(2000, { handles: { h2: handle('h2'), h1: handle('h1', { state: 'missing', unseen: true }) } }),
    ],
    [
      'handles that are shown again, as they are now',
      [made, describes(['h2']), describes([{ uuid: 'h1', info: { bus: '2' } }, 'h2'])],
      shown(3000, { handles: { h1: handle('h1', { info: { bus: '2' } }), h2: handle('h2') } }, 2),
    ],
    [
      'handles that are held and not shown',
      [made, granted(), describes(['h2'])],
      shown(3000, { handles: { h2: handle('h2'), h1: handle('h1', { ...held, unseen: true }) } }),
    ],
    [
      'handles that were given up while they were not shown',
      [made, granted(), describes(['h2']), released()],
      shown(3000, {
        handles: {
          h2: handle('h2'),
          h1: handle('h1', { state: 'missing', unseen: true, lastArq: 'a1', pendingSince: 4000 }),
        },
        updatedAt: 4000,
      }),
    ],
    ['its presence', [made, presence('missing')], shown(2000, { presence: 'missing' })],
    [
      'no image when it is back from retirement',
      [recorded({ bitstreamId: 'image' }), presence('retired'), presence('present')],
      shown(3000, { formerImage: 'image' }, 2),
    ],
    [
      'the image it has when it is back from retirement',
      [recorded({ bitstreamId: 'image' }), presence('retired'), presence('present', { bitstreamId: 'other' })],
      shown(3000, { bitstreamId: 'other', formerImage: 'image' }, 2),
    ],
    [
      'its image when it was missing, until its card is read',
      [recorded({ bitstreamId: 'image' }), presence('missing'), presence('present', { bitstreamId: 'other' })],
      shown(3000, { bitstreamId: 'image' }, 2),
    ],
    [
      'its status',
      [made, { type: 'StatusSet', status: 'maintaining' }],
      { ...MADE, status: 'maintaining', updatedAt: 2000 },
    ],
    ['who has a handle', [made, granted()], withFirst(2000, held)],
    [
      'the order of a grant',
      [made, granted('h1', 'a1', prepare('h1', 1))],
      withFirst(2000, { ...worked, pending: prepare('h1', 1) }, { orders: 1 }),
    ],
    [
      'the last order while another handle is granted',
      [...given, granted('h2', 'a2')],
      {
        ...withFirst(4000, worked, { orders: 1 }),
        handles: { h1: handle('h1', worked), h2: handle('h2', { state: 'held', arq: 'a2', pendingSince: 4000 }) },
      },
    ],
    ['that an order is done', given, withFirst(3000, worked, { orders: 1 })],
    [
      'the image that a grant brought',
      [made, granted('h1', 'a1', prepare('h1', 1, { bitstream: 'image' })), done()],
      withFirst(3000, worked, { orders: 1, loads: 1, bitstreamId: 'image', describedAt: 3000, revision: 1 }),
    ],
    ['the order of a release', [...given, releases], withFirst(4000, releasing, { orders: 2 })],
    [
      'that a release is done',
      [...given, releases, done('h1', 2)],
      withFirst(5000, { lastArq: 'a1', pendingSince: 4000 }, { orders: 2 }),
    ],
    [
      'a release without work, and that the host has it prepared still',
      [...given, released()],
      withFirst(4000, { lastArq: 'a1', pendingSince: 4000, prepared: true }, { orders: 1 }),
    ],
    [
      'no image when one is given up that was to bring an image',
      [recorded({ bitstreamId: 'old' }), granted('h1', 'a1', prepare('h1', 1, { bitstream: 'image' })), released()],
      withFirst(
        3000,
        { lastArq: 'a1', pendingSince: 3000, prepared: true },
        { orders: 1, loads: 1, describedAt: 3000, revision: 1, formerImage: 'old' },
      ),
    ],
    [
      'its image when one is given up that was to bring none',
      [recorded({ bitstreamId: 'old' }), granted('h1', 'a1', prepare('h1', 1)), released()],
      withFirst(3000, { lastArq: 'a1', pendingSince: 3000, prepared: true }, { orders: 1, bitstreamId: 'old' }),
    ],
    [
      'that a release failed and was ordered again',
      [...given, releases, failed(order('h1', 3))],
      withFirst(5000, { ...releasing, pending: order('h1', 3), pendingSince: 5000, attempts: 1 }, { orders: 3 }),
    ],
    ['that a release failed for good, and why', stuck, withFirst(5000, STUCK, { orders: 2 })],
    [
      'how often a release failed, until the next one',
      [...stuck, released('h1', 'a1', order('h1', 3)), failed(null)],
      withFirst(7000, { ...STUCK, pendingSince: 7000, ...why(7000) }, { orders: 3 }),
    ],
    [
      'that the host released it after all',
      [...stuck, done('h1', 2)],
      withFirst(6000, { lastArq: 'a1', attempts: 1, pendingSince: 5000 }, { orders: 2 }),
    ],
    [
      'who keeps a handle back',
      [made, quarantines('released')],
      withFirst(2000, { state: 'quarantined', quarantine: { ...WORD, at: 2000 } }),
    ],
    [
      'no former request of a handle that is kept back while it is free',
      [...given, released(), quarantines('released')],
      withFirst(5000, { ...keptBack, prepared: true }, { orders: 1 }),
    ],
    [
      'whose release it is when a handle is kept back meanwhile',
      [...given, releases, quarantines('confirmed')],
      withFirst(5000, { ...releasing, state: 'quarantined' }, { orders: 2 }),
    ],
    [
      'that a handle is kept back although its host released it',
      [...given, releases, quarantines('released'), done('h1', 2)],
      withFirst(6000, { ...keptBack, lastArq: 'a1' }, { orders: 2 }),
    ],
    [
      'that a handle is kept back although the report does not show it',
      [made, quarantines('released'), describes(['h2'])],
      shown(3000, {
        handles: {
          h2: handle('h2'),
          h1: handle('h1', { state: 'quarantined', unseen: true, quarantine: { ...WORD, at: 2000 } }),
        },
      }),
    ],
    [
      'that a handle is given back',
      [...given, releases, quarantines('released'), clears],
      withFirst(6000, { pendingSince: 4000 }, { orders: 2 }),
    ],
    [
      'that it is being programmed',
      [made, programs],
      shown(2000, { program: { image: 'image', order: order('d1', 4), since: 2000 }, orders: 4 }),
    ],
    [
      'its image',
      [made, programs, { type: 'Programmed', image: 'image', number: 4 }],
      shown(3000, { bitstreamId: 'image', orders: 4 }, 2),
    ],
    [
      'why it was not programmed, and no image',
      [recorded({ bitstreamId: 'old' }), programs, { type: 'ProgramFailed', image: 'image', number: 4, reason: 'r' }],
      shown(3000, { programFault: 'r', orders: 4, formerImage: 'old' }, 2),
    ],
    [
      'no earlier failure while it is being programmed',
      [made, programs, { type: 'ProgramFailed', image: 'image', number: 4, reason: 'r' }, programs],
      shown(4000, { program: { image: 'image', order: order('d1', 4), since: 4000 }, orders: 4 }, 3),
    ],
    ['nothing of an event of a later release', [made, { type: 'Polished' }], MADE],
  ])('%s', (_, facts, state) => expect(after(...facts)).toStrictEqual(state))
})

describe('of a deployable is told', () => {
  const withAttributes = (...attributes: readonly object[]) =>
    after(recorded({ description: described(['h1'], { attributes }) }))
  it('what its attributes say, and its traits', () => {
    const it = withAttributes(
      { uuid: '1', key: 'rc', value: 'FPGA' },
      { uuid: '2', key: 'trait1', value: 'A' },
      { uuid: '3', key: 'trait2', value: 'B' },
      { uuid: '4', key: 'no-trait', value: 'C' },
      { uuid: '5', key: 'rc', value: 'GPU' },
    )
    expect([attributeOf(it, 'rc'), attributeOf(it, 'none'), [...traitsOf(it)]]).toEqual(['FPGA', null, ['A', 'B']])
  })
  const programming = [made, programs] as const
  it.each<[string, readonly Fact[], boolean, boolean, readonly string[], number | null]>([
    ['that it is idle', [made], false, false, [], null],
    ['that a handle is held', given, true, true, ['h1'], null],
    ['that a handle is being released', [...given, releases], true, true, ['h1'], null],
    ['that a handle waits for its release', stuck, false, false, ['h1'], 305_000],
    [
      'that its host releases a handle in quarantine',
      [...given, releases, quarantines('confirmed')],
      true,
      true,
      ['h1'],
      null,
    ],
    ['that an operator keeps a handle', [made, quarantines('released')], false, false, ['h1'], null],
    ['that a handle is missing', [made, describes(['h2'])], false, false, [], null],
    ['that it is being programmed', programming, false, true, [], null],
    [
      'the first of two releases that are due',
      [
        ...stuck,
        granted('h2', 'a2', prepare('h2', 3)),
        released('h2', 'a2', order('h2', 4)),
        { type: 'OrderFailed', slot: 'h2', number: 4, reason: 'r', again: null },
      ],
      false,
      false,
      ['h1', 'h2'],
      305_000,
    ],
  ])('%s', (_, facts, isBusy, isUsed, taken, due) => {
    const state = after(...facts)
    expect([busy(state), inUse(state), takenHandles(state).map(({ uuid }) => uuid), dueAt(state)]).toEqual([
      isBusy,
      isUsed,
      taken,
      due,
    ])
    const handles = Object.values(state.handles)
    expect(handles.filter(isTaken).map(({ uuid }) => uuid)).toEqual(taken)
    expect(handles.map(retryAt).find((at) => at !== null) ?? null).toBe(due)
  })
  it('its key', () => expect([deployable.kind, deployableKey('d1')]).toEqual(['deployable', 'deployable/d1']))
})
