/** When a slot may be prepared, as the ledger notes it. */
import { describe, expect, test } from 'vitest'
import {
  type Conclusion,
  type Entry,
  attachingOf,
  finished,
  handleKey,
  mayBePrepared,
  slotIn,
} from '../../src/host/entry.ts'
import { ledgerEntry } from './ledgerEntry.ts'

const [SLOT, DEPLOYABLE] = ['a', 'b'].map((one) => `b0a79999-0000-4000-8000-00000000000${one}`) as [string, string]
const HANDLE = { type: 'PCI', info: { function: '1', device: '00', bus: 'af', domain: '0000' } } as const
const KEY = '["PCI",{"bus":"af","device":"00","domain":"0000","function":"1"}]'
const NOTED = {
  slot: SLOT,
  number: 7,
  driver: 'pci_driver',
  deployable: 'h1_card',
  deployableUuid: DEPLOYABLE,
  state: 'in-hand',
  startedAt: 5,
  finishedAt: 5,
  sent: false,
} as const

const FAILED = { status: 'failed', reason: 'no', final: false } as const
const FINAL = { ...FAILED, final: true } as const
const DONE = { status: 'done' } as const

test.each<[string, Partial<Entry>, boolean]>([
  ['as a later release has noted it', { prepared: true, type: 'ReleaseSlot' }, true],
  ['not, as it was noted', { prepared: false }, false],
  ['while its preparation has no result', { state: 'in-hand', result: undefined }, true],
  ['once it was prepared', { result: DONE }, true],
  ['when its preparation failed in the driver', { result: FAILED }, true],
  ['not when its preparation failed before the driver', { result: FINAL }, false],
  ['while its release has no result', { type: 'ReleaseSlot', result: undefined }, true],
  ['when its release failed', { type: 'ReleaseSlot', result: FAILED }, true],
  ['not once it was released', { type: 'ReleaseSlot', result: DONE }, false],
  ['not by a programming', { type: 'Program', result: FAILED }, false],
  ['not by a probe', { type: 'Probe', result: undefined }, false],
])('a slot may be prepared %s', (_, more, prepared) => expect(mayBePrepared(ledgerEntry('a', 1, more))).toBe(prepared))
test('a slot of which nothing is known is not prepared', () => expect(mayBePrepared(undefined)).toBe(false))

describe('an order that has ended', () => {
  const CLEANED = {
    command: '/sbin/wipe',
    startedAt: 1,
    finishedAt: 2,
    exitCode: 3,
    outputSha256: 'ab'.repeat(32),
    outputBytes: 0,
    output: '',
  }
  const entry = (type: Entry['type'], prepared: boolean): Entry => ({
    ...NOTED,
    type,
    handle: KEY,
    sent: true,
    prepared,
  })
  const [WAS, WAS_NOT] = [ledgerEntry('a', 1, { prepared: true }), ledgerEntry('a', 1, { prepared: false })]
  test('is noted with its result and its time, and has to be sent', () =>
    expect(finished(entry('PrepareSlot', true), { result: FAILED, released: false }, 9, undefined)).toStrictEqual({
      ...NOTED,
      type: 'PrepareSlot',
      handle: KEY,
      prepared: true,
      state: 'done',
      result: FAILED,
      finishedAt: 9,
      sent: false,
    }))
  test.each<[string, Entry, Conclusion['result'], Entry | undefined, boolean, released?: boolean]>([
    ['a preparation is prepared', entry('PrepareSlot', true), DONE, undefined, true],
    ['one that failed in the driver may be', entry('PrepareSlot', true), FAILED, WAS_NOT, true],
    ['one that failed before the driver is as it was: not', entry('PrepareSlot', true), FINAL, WAS_NOT, false],
    ['one that failed before the driver is as it was: prepared', entry('PrepareSlot', false), FINAL, WAS, true],
    ['a release is not', entry('ReleaseSlot', true), DONE, WAS, false],
    ['a release that failed is as it was', entry('ReleaseSlot', true), FAILED, WAS, true],
    ['a release that failed before the driver is as it was', entry('ReleaseSlot', false), FINAL, WAS, true],
    [
      'what was released but not cleaned is not',
      entry('ReleaseSlot', true),
      { ...FINAL, cleaned: CLEANED },
      WAS,
      false,
      true,
    ],
    ['nor is what nothing on the host cleans', entry('ReleaseSlot', true), FINAL, WAS, false, true],
    ['a programming prepares nothing', entry('Program', false), DONE, undefined, false],
  ])('%s', (_, noted, result, known, prepared, released = false) =>
    expect(finished(noted, { result, released }, 9, known).prepared).toBe(prepared),
  )
})

test('the handle of an entry is read from it; orders on a whole deployable, and damaged text, have none', () => {
  expect(handleKey(HANDLE)).toBe(KEY)
  const entry = ledgerEntry(SLOT, 7, { handle: KEY })
  expect(attachingOf(entry)).toStrictEqual({ type: 'PCI', info: { ...HANDLE.info } })
  expect(slotIn(entry)).toStrictEqual([{ uuid: SLOT, deployable: 'h1_d0', type: 'PCI', info: { ...HANDLE.info } }])
  for (const handle of ['', '{}', 'PCI', '["PCI"]', '["USB",{}]', '["PCI",{"bus":1}]']) {
    expect(attachingOf({ ...entry, handle })).toBe(null)
    expect(slotIn({ ...entry, handle })).toEqual([])
  }
})
