import { describe, expect, it } from 'vitest'
import {
  type HeldDevice,
  host,
  type HostCommand,
  type HostEvent,
  type InventorySnapshot,
} from '../../src/actors/host/decider.ts'
import { DEPARTED_MAX } from '../../src/actors/host/held.ts'
import { livenessAfter } from '../../src/services/hosts/liveness.ts'
import { specOf } from '../spec.ts'
import { id } from './samples.ts'

const { given } = specOf(host)
const picture = (number: number, bootId = id(1)): InventorySnapshot => ({
  bootId,
  number,
  digest: `d${number}`,
  aliases: ['node-1'],
  drivers: {},
})
const card: HeldDevice = { uuid: id(0xd0), id: 1, driver: 'simulated_driver', digest: 'x', missing: 0, deployables: {} }
const record = (of: InventorySnapshot, devices: Record<string, HeldDevice | null> = {}): HostCommand => ({
  type: 'RecordInventory',
  name: 'h1',
  picture: of,
  devices,
})
const recorded = (of: InventorySnapshot, devices: Record<string, HeldDevice | null> = {}): HostEvent => ({
  type: 'PictureRecorded',
  name: 'h1',
  picture: of,
  devices,
})
const live = (liveness: 'up' | 'stale' | 'down'): HostEvent => ({ type: 'LivenessSet', liveness, by: 'silence' })

describe('a host', () => {
  it('is known by its first picture', () => {
    given()
      .when(record(picture(3)))
      .follows(recorded(picture(3)))
    expect(given(recorded(picture(3))).state).toMatchObject({
      name: 'h1',
      liveness: 'up',
      aliases: ['node-1'],
      createdAt: 1,
    })
  })
  it('takes newer pictures of its boot and ignores older and repeated ones (Q1, I10)', () => {
    given(recorded(picture(3)))
      .when(record(picture(4)))
      .follows(recorded(picture(4)))
    given(recorded(picture(3)))
      .when(record(picture(3)))
      .follows()
    given(recorded(picture(3)))
      .when(record(picture(2)))
      .follows()
  })
  it('takes any picture of a new boot, and none of a former one any more', () => {
    given(recorded(picture(9)))
      .when(record(picture(1, id(2))))
      .follows(recorded(picture(1, id(2))))
    given(recorded(picture(9)), recorded(picture(1, id(2))))
      .when(record(picture(10)))
      .follows()
  })
  it('keeps what became of its devices, until they are retired', () => {
    const two = given(recorded(picture(1), { a: card, b: card }))
    expect(Object.keys(two.state.devices)).toEqual(['a', 'b'])
    expect(
      Object.keys(given(recorded(picture(1), { a: card, b: card }), recorded(picture(2), { a: null })).state.devices),
    ).toEqual(['b'])
  })
  it('remembers devices that are retired, until they are back', () => {
    const [one, other] = [card, { ...card, uuid: id(0xd1) }]
    const both = recorded(picture(1), { a: one, b: other })
    const gone = given(both, recorded(picture(2), { b: null }), recorded(picture(3), { a: null }))
    expect(gone.state.departed).toEqual([
      { canonical: 'b', device: other },
      { canonical: 'a', device: one },
    ])
    const back = given(both, recorded(picture(2), { a: null, b: null }), recorded(picture(3), { a: one }))
    expect(back.state.departed).toEqual([{ canonical: 'b', device: other }])
  })
  it('remembers what leaves when an operator retires it', () => {
    const devices = { a: null }
    const retired: HostEvent = { type: 'LivenessSet', liveness: 'up', by: 'o', care: 'retired', reason: 'r', devices }
    const { state } = given(recorded(picture(1), { a: card }), retired)
    expect(state).toMatchObject({ devices: {}, departed: [{ canonical: 'a', device: card }] })
  })
  it('forgets the devices that are away for longest, and of those that left together always the same', () => {
    const names = Array.from({ length: DEPARTED_MAX }, (_, n) => `c${String(n).padStart(4, '0')}`)
    const of = <Value>(value: (name: string) => Value, all: readonly string[]) =>
      Object.fromEntries(all.map((name) => [name, value(name)]))
    const device = (name: string) => ({ ...card, uuid: name })
    const leave = (all: readonly string[]) =>
      given(
        recorded(picture(1), { first: device('first'), ...of(device, names) }),
        recorded(picture(2), { first: null }),
        recorded(
          picture(3),
          of(() => null, all),
        ),
      ).state.departed.map(({ canonical }) => canonical)
    expect(leave(names.slice(1))).toEqual(['first', ...names.slice(1)])
    expect(leave(names)).toEqual(names)
    expect(leave(names.toReversed())).toEqual(names)
  })
  it('that nobody knows has no liveness', () => {
    given()
      .when({ type: 'SetLiveness', liveness: 'stale', by: 'silence' })
      .isRefused({ kind: 'not_found', resource: 'host' })
  })
  it('records its liveness when it changes, and is up with every picture', () => {
    given(recorded(picture(1)))
      .when({ type: 'SetLiveness', liveness: 'up', by: 'silence' })
      .follows()
    given(recorded(picture(1)))
      .when({ type: 'SetLiveness', liveness: 'stale', by: 'silence' })
      .follows(live('stale'))
    expect(given(recorded(picture(1)), live('down'), recorded(picture(2))).state.liveness).toBe('up')
  })
  it.each([
    [0, 'up'],
    [14_999, 'up'],
    [15_000, 'stale'],
    [1_799_999, 'stale'],
    [1_800_000, 'down'],
  ])('silent for %d ms is %s', (ms, liveness) => {
    expect(livenessAfter(ms, { staleAfterMs: 15_000, downAfterMs: 1_800_000 })).toBe(liveness)
  })
})
