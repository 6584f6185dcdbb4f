/** What a report is compared by, to the letter: digests of devices, their length, and loaded images. */
import { describe, expect, test } from 'vitest'
import type { DeployableEvent } from '../../src/actors/deployable/messages.ts'
import { digestOf } from '../../src/actors/inventory/digest.ts'
import { DESCRIPTION_MAX_BYTES, untellable } from '../../src/actors/inventory/factSize.ts'
import { imageDifferences } from '../../src/actors/inventory/imageDifferences.ts'
import type { ReportedDeployable, ReportedDevice } from '../../src/hardware.ts'
import { MESSAGE_MAX_BYTES } from '../../src/wire/message.ts'
import type { InventoryReport } from '../../src/wire/reports.ts'
import { card, part, slot } from './cards.ts'
import { given, programming } from './deployableFacts.ts'
import { identity, recorded } from './samples.ts'

type Section = InventoryReport['drivers'][number]

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

describe('the image of a card', () => {
  const DRIVER = 'simulated_driver'
  const section = (image: string | undefined, more: Partial<ReportedDevice> = {}, driver = DRIVER): Section => {
    const deployable = part('h1_card', image === undefined ? {} : { bitstreamId: image })
    return { driver, status: 'ok', devices: [card(1, { deployables: [deployable], ...more })] }
  }
  const same = { differences: [], undecided: false }
  const loaded: DeployableEvent = { type: 'BitstreamRead', bitstreamId: 'i1' }
  const missing: DeployableEvent = { type: 'PresenceSet', presence: 'missing' }
  const differs = (image: string | null, was: string | null) => ({
    differences: [{ deployable: identity.uuid, mark: `0 ${was ?? 'unknown'}`, image, recorded: was }],
    undecided: false,
  })
  test.each<[string, Section, readonly DeployableEvent[], object]>([
    ['differs where another one is recorded', section('i2'), [loaded], differs('i2', 'i1')],
    ['differs where none is recorded', section('i2'), [], differs('i2', null)],
    ['differs where none is shown', section(undefined), [loaded], differs(null, 'i1')],
    ['is the same', section('i1'), [loaded], same],
    ['is not known of a card that is not ready', section('i2', { stub: true }), [], same],
    ['is not known of a driver that failed', { driver: DRIVER, status: 'failed', error: 'no answer' }, [], same],
    ['is not known of the card of another driver', section('i2', {}, 'another'), [], same],
    ['is not known of one that is missing', section('i2'), [missing], same],
    ['is not taken where no store takes it', section('i\0'), [], same],
    ['is undecided while it is written', section('i2'), [programming], { differences: [], undecided: true }],
    ['is decided while the same one is written', section(undefined), [programming], same],
  ])('%s', (_, shown, facts, expected) =>
    expect(imageDifferences({ drivers: [shown] }, [given(recorded(), ...facts).state])).toEqual(expected),
  )
})
