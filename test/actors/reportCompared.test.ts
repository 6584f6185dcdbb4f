/** What a report is compared by, to the letter: digests of devices, their length, prepared slots and loaded images. */
import { describe, expect, test } from 'vitest'
import { functionOf } from '../../src/attachedFunctions.ts'
import type { DeployableEvent } from '../../src/actors/deployable/messages.ts'
import { markOf } from '../../src/actors/deployable/state.ts'
import { digestOf } from '../../src/actors/inventory/digest.ts'
import { DESCRIPTION_MAX_BYTES, untellable } from '../../src/actors/inventory/factSize.ts'
import { imageDifferences } from '../../src/actors/inventory/imageDifferences.ts'
import { slotDifferences, usedByOthers } from '../../src/actors/inventory/slotDifferences.ts'
import type { ReportedDeployable, ReportedDevice } from '../../src/hardware.ts'
import { MESSAGE_MAX_BYTES } from '../../src/wire/message.ts'
import type { PreparedSlot } from '../../src/wire/slots.ts'
import { card, part, slot } from './cards.ts'
import { done, given, granted, programming, released } from './deployableFacts.ts'
import { ARQ, OTHER, handle, id, identity, recorded } from './samples.ts'

describe('the digest of a device', () => {
  const pci = (fn: number, more: object = {}) => ({ type: 'PCI' as const, info: slot(1, fn), ...more })
  const handles = [pci(1, { physfn: '0000:01:00.0', set: 1 }), pci(2)]
  const of = (more: Partial<ReportedDeployable>): ReportedDevice =>
    card(1, { deployables: [part('a', { handles, ...more })] })
  const was = digestOf('drv', of({}))
  const [rc, trait, other] = part('').attributes
  test.each<[string, ReportedDevice, string?]>([
    ['its driver', of({}), 'another'],
    ['its model', { ...of({}), model: 'another' }],
    ['a physical function', of({ handles: [pci(1, { physfn: '0000:02:00.0', set: 1 }), pci(2)] })],
    ['a set', of({ handles: [pci(1, { physfn: '0000:01:00.0', set: 2 }), pci(2)] })],
    ['a set that is no more', of({ handles: [pci(1, { physfn: '0000:01:00.0' }), pci(2)] })],
    ['a handle', of({ handles: [handles[0]!, pci(3)] })],
    ['the order of attributes', of({ attributes: [rc!, other!, trait!] })],
    ['what its board says', { ...of({}), stdBoardInfo: '{"product_id": "0002", "controller": "x"}' }],
    ['what its board says, which is no JSON', { ...of({}), stdBoardInfo: 'text' }],
    ['what its vendor says', { ...of({}), vendorBoardInfo: '{}' }],
    ['its control path', { ...of({}), controlPath: { type: 'PATH', info: '/dev/a' } }],
  ])('is another one with %s', (_, device, driver = 'drv') => expect(digestOf(driver, device)).not.toBe(was))
  test.each<[string, ReportedDevice]>([
    ['its handles are in another order', of({ handles: handles.toReversed() })],
    ['its board says the same in other words', { ...of({}), stdBoardInfo: '{"controller":"x","product_id":"0001"}' }],
  ])('is the same where %s', (_, device) => expect(digestOf('drv', device)).toBe(was))
  test('tells texts apart that are no JSON', () => {
    const said = (stdBoardInfo: string | null) => digestOf('drv', { ...of({}), stdBoardInfo })
    expect(new Set([said('one'), said('other'), said(null), said('null')]).size).toBe(4)
  })
})

test('a device is told of up to the length that a message has room for, in bytes (FACTS-1)', () => {
  const told = (length: number) => {
    const attributes = [
      { key: 'rc', value: 'FPGA' },
      { key: 'note', value: 'ö'.repeat(length) },
    ]
    const device = card(1, { deployables: [part('small'), part('long', { handles: [], attributes })] })
    return untellable('drv', device, JSON.stringify(device).length)
  }
  expect(MESSAGE_MAX_BYTES - DESCRIPTION_MAX_BYTES).toBe(16_384)
  const half = DESCRIPTION_MAX_BYTES / 2
  const bytes = Number(/ (\d+) bytes/.exec(told(half)!)![1])
  const fits = half - Math.ceil((bytes - DESCRIPTION_MAX_BYTES) / 2)
  expect(told(fits)).toBe(null)
  const over = bytes - 2 * (half - fits) + 2
  expect(told(fits + 1)).toBe(
    `deployable long with 0 attach handles and 2 attributes would take ${over} bytes of a message, at most ${DESCRIPTION_MAX_BYTES} are allowed`,
  )
  expect([over - DESCRIPTION_MAX_BYTES <= 2, told(1)]).toEqual([true, null])
})

describe('a slot that differs', () => {
  const [FIRST, SECOND, STRANGER] = [handle(1).uuid, handle(2).uuid, id(0x99)]
  const bound = [recorded(), granted(1, 1), done(1, 1)] as const
  const prepared = (n: number, number: number, more: Partial<PreparedSlot> = {}): PreparedSlot => ({
    slot: handle(n).uuid,
    number,
    state: 'prepared',
    function: functionOf(handle(n)),
    ...more,
  })
  const compared = (facts: readonly DeployableEvent[], slots: readonly PreparedSlot[], more: object = {}) => {
    const { state } = given(...facts)
    return { state, ...slotDifferences({ prepared: slots, ...more }, [state]) }
  }
  const unexplained = (state: ReturnType<typeof compared>['state'], uuid: string, said: string, found: object) => ({
    kind: 'unexplained',
    deployable: identity.uuid,
    handle: uuid,
    mark: markOf(state.handles[uuid]!),
    reason: `its host has ${said}`,
    found,
  })
  test('is told with what the host has and with the mark of the handle', () => {
    const { state, ...told } = compared(bound, [
      prepared(2, 7, { slot: STRANGER, arq: OTHER }),
      prepared(1, 2, { arq: OTHER }),
      prepared(2, 3),
    ])
    const [strange, mine] = [
      `slot ${STRANGER} prepared by order 7 with the same hardware, and the journal does not know that slot`,
      `slot ${FIRST} prepared by order 2, which the journal never gave, and another request holds it`,
    ]
    expect(told).toEqual({
      differences: [
        unexplained(state, SECOND, strange, { slot: STRANGER, number: 7, arq: OTHER }),
        unexplained(state, FIRST, mine, { slot: FIRST, number: 2, arq: OTHER }),
        unexplained(state, SECOND, `slot ${SECOND} prepared by order 3, and the journal holds it free`, {
          slot: SECOND,
          number: 3,
        }),
      ],
      unknown: [],
      undecided: false,
    })
  })
  test('is lost where the host has an order of it that the journal gave to another one, or none', () => {
    const lost = (state: ReturnType<typeof compared>['state']) => ({
      kind: 'lost',
      deployable: identity.uuid,
      handle: FIRST,
      mark: markOf(state.handles[FIRST]!),
      reason: 'its host does not have it prepared for the request that holds it',
      found: null,
    })
    for (const [slots, more] of [
      [[prepared(1, 1, { arq: OTHER })], {}],
      [[], {}],
      [[], { from: FIRST, upTo: FIRST }],
    ] as const) {
      const { state, ...told } = compared(bound, slots, more)
      expect(told).toEqual({ differences: [lost(state)], unknown: [], undecided: false })
    }
  })
  test('is undecided while an order is under way', () => {
    const { state: _, ...told } = compared([...bound, released(1, 2)], [prepared(1, 1, { arq: ARQ })])
    expect(told).toEqual({ differences: [], unknown: [], undecided: true })
  })
  test('is in use where somebody has its hardware', () => {
    const { state } = given(recorded())
    const inUse = [
      { function: functionOf(handle(2)), by: 'qemu' },
      { function: 'nowhere', by: 'x' },
    ]
    expect(usedByOthers({ prepared: [], inUse }, [state])).toEqual([
      {
        kind: 'in_use',
        deployable: identity.uuid,
        handle: SECOND,
        mark: markOf(state.handles[SECOND]!),
        reason: `its hardware ${functionOf(handle(2))} is in use and nobody has it: qemu`,
        found: null,
      },
    ])
  })
})

describe('the image of a card', () => {
  const section = (bitstreamId: string | undefined, more: object = {}, device: object = {}) => ({
    driver: 'simulated_driver',
    status: 'ok',
    devices: [{ ...device, deployables: [{ name: 'h1_card', ...(bitstreamId === undefined ? {} : { bitstreamId }) }] }],
    ...more,
  })
  const read = (shown: object, ...facts: readonly DeployableEvent[]) =>
    imageDifferences({ drivers: [shown] } as never, [given(recorded(), ...facts).state])
  const same = { differences: [], undecided: false }
  const loaded: DeployableEvent = { type: 'BitstreamRead', bitstreamId: 'i1' }
  const differs = (image: string | null, was: string | null) => ({
    differences: [{ deployable: identity.uuid, mark: `0 ${was ?? 'unknown'}`, image, recorded: was }],
    undecided: false,
  })
  test.each([
    ['differs where another one is recorded', read(section('i2'), loaded), differs('i2', 'i1')],
    ['differs where none is recorded', read(section('i2')), differs('i2', null)],
    ['differs where none is shown', read(section(undefined), loaded), differs(null, 'i1')],
    ['is the same', read(section('i1'), loaded), same],
    ['is not known of a card that is not ready', read(section('i2', {}, { stub: true })), same],
    ['is not known of a driver that failed', read({ ...section('i2'), status: 'failed' }), same],
    ['is not known of the card of another driver', read(section('i2', { driver: 'another' })), same],
    ['is not known of one that is missing', read(section('i2'), { type: 'PresenceSet', presence: 'missing' }), same],
    ['is not taken where no store takes it', read(section('i\0')), same],
    ['is undecided while it is written', read(section('i2'), programming), { differences: [], undecided: true }],
    ['is decided while the same one is written', read(section(undefined), programming), same],
  ])('%s', (_, found, expected) => expect(found).toEqual(expected))
})
