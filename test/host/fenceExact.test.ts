/** The fence by itself: which order is refused beside which prepared slots, and in which words. */
import { beforeEach, describe, expect, test } from 'vitest'
import { type Entry, handleKey } from '../../src/host/entry.ts'
import { Fence } from '../../src/host/fence.ts'
import type { Order } from '../../src/wire/orders.ts'
import { ledgerEntry } from './ledgerEntry.ts'

const handle = (fn: string) => ({
  type: 'PCI' as const,
  info: { domain: '0000', bus: 'af', device: '00', function: fn },
})
const entry = (slot: string, number: number, fn: string, more: Partial<Entry> = {}): Entry =>
  ledgerEntry(slot, number, { handle: handleKey(handle(fn)), ...more })
const head = (slot: string) => ({
  host: 'h1',
  slot,
  number: 50,
  driver: 'd',
  deployable: 'h1_card',
  deployableUuid: 'u',
  deadline: 99,
})
const prepare = (slot: string, fn: string, bitstream?: string): Order => ({
  ...head(slot),
  type: 'PrepareSlot',
  handle: handle(fn),
  arq: 'request',
  ...(bitstream === undefined ? {} : { bitstream }),
})
const release = (slot: string, fn: string, also?: readonly string[]): Order => ({
  ...head(slot),
  type: 'ReleaseSlot',
  handle: handle(fn),
  ...(also === undefined ? {} : { also }),
})
const program = (slot: string): Order => ({ ...head(slot), type: 'Program', image: 'image-1' })
const nothing = () => []
/** Function 0 is the physical function of 1 and 2. */
const family = (own: string): readonly string[] =>
  own.endsWith('.0') ? ['0000:af:00.1', '0000:af:00.2'] : ['0000:af:00.0']

let fence: Fence
beforeEach(() => {
  fence = new Fence()
})

describe('a slot for a function that is prepared for another one', () => {
  test('is refused with that slot, its request and its order', () => {
    fence.note(entry('first', 4, '1', { arq: 'request 1' }))
    expect(fence.against(prepare('second', '1'), undefined, nothing)).toBe(
      'function 0000:af:00.1 is prepared for slot first of accelerator request request 1 since order 4, and is not given to a second slot',
    )
  })
  test('is refused without a request where none is known', () => {
    fence.note(entry('first', 4, '1'))
    expect(fence.against(prepare('second', '1'), undefined, nothing)).toBe(
      'function 0000:af:00.1 is prepared for slot first since order 4, and is not given to a second slot',
    )
  })
  test('is refused for the same hardware under another function, which is named', () => {
    fence.note(entry('first', 4, '0'))
    expect(fence.against(prepare('second', '1'), undefined, family)).toBe(
      '0000:af:00.0, which is the same hardware as 0000:af:00.1, is prepared for slot first since order 4, and is not given to a second slot',
    )
    expect(fence.against(prepare('second', '1'), undefined, nothing)).toBe(null)
    expect(fence.against(prepare('second', '3'), undefined, nothing)).toBe(null)
  })
  test('is refused also when it was prepared before, and released all the same', () => {
    const known = entry('second', 5, '1')
    fence.note(entry('first', 4, '1'))
    fence.note(known)
    expect(fence.against(prepare('second', '1'), known, nothing)).toContain('is prepared for slot first')
    expect(fence.against(release('second', '1'), known, nothing)).toBe(null)
    expect(fence.against(release('second', '1'), undefined, nothing)).toContain('is prepared for slot first')
  })
  test('is released where the release names that slot, and not where it names others', () => {
    fence.note(entry('first', 4, '1'))
    expect(fence.against(release('second', '1', ['first']), undefined, nothing)).toBe(null)
    expect(fence.against(release('second', '1', ['third']), undefined, nothing)).toContain('for slot first')
  })
  test('does not concern orders without a function, nor the slot itself', () => {
    fence.note(entry('first', 4, '1'))
    expect(fence.against(program('u'), undefined, nothing)).toBe(null)
    expect(fence.against(prepare('first', '1'), undefined, nothing)).toBe(null)
  })
})

test('what is prepared is known by its last entry, until it is forgotten', () => {
  expect(fence.isOpen).toBe(true)
  fence.note(entry('first', 4, '1'))
  fence.note(entry('second', 5, '1'))
  fence.forget('first')
  fence.forget('nobody')
  expect([fence.isOpen, fence.against(prepare('third', '1'), undefined, nothing)]).toEqual([
    false,
    'function 0000:af:00.1 is prepared for slot second since order 5, and is not given to a second slot',
  ])
  // another function, and then none
  fence.note(entry('second', 6, '2'))
  expect(fence.against(prepare('third', '1'), undefined, nothing)).toBe(null)
  expect(fence.against(prepare('third', '2'), undefined, nothing)).toContain('since order 6')
  fence.note(entry('second', 7, '2', { type: 'ReleaseSlot' }))
  expect([fence.isOpen, fence.against(prepare('third', '2'), undefined, nothing)]).toEqual([true, null])
  fence.note(ledgerEntry('fourth', 8, { handle: '' }))
  expect(fence.isOpen).toBe(true)
})

test('a release takes with it the slots of its hardware that it names, and no others', () => {
  fence.note(entry('first', 4, '1'))
  fence.note(entry('second', 5, '0'))
  fence.note(entry('third', 6, '1'))
  const slots = (order: Order) => fence.releasedWith(order, family).map(({ slot, number }) => `${slot} ${number}`)
  expect(slots(release('third', '1', ['first', 'second', 'third', 'elsewhere']))).toEqual(['first 4', 'second 5'])
  expect(slots(release('third', '1', ['second']))).toEqual(['second 5'])
  expect(slots(release('third', '1', []))).toEqual([])
  expect(slots(release('third', '1'))).toEqual([])
  expect(slots(prepare('third', '1'))).toEqual([])
})

describe('FENCE-5 a deployable that shows a prepared function', () => {
  const against = (order: Order, ...functions: readonly string[]) =>
    fence.againstProgramming(order, functions.map(handle), family)
  test('is not programmed, and the slot is named with its request', () => {
    fence.note(entry('first', 4, '1', { arq: 'request 1' }))
    expect(against(program('u'), '3', '1')).toBe(
      'deployable h1_card is not programmed: its slot first is prepared for accelerator request request 1 since order 4',
    )
    fence.note(entry('first', 4, '1'))
    expect(against(program('u'), '1')).toBe(
      'deployable h1_card is not programmed: its slot first is prepared since order 4',
    )
    // the same hardware
    expect(against(program('u'), '0')).toContain('its slot first')
    expect(against(program('u'))).toBe(null)
  })
  test('is programmed for the slot itself', () => {
    fence.note(entry('first', 4, '1'))
    expect(against(prepare('first', '1', 'image-1'), '1')).toBe(null)
  })
  test.each<[string, Partial<Entry>, Order, boolean]>([
    ['the same image, which is under way', { state: 'in-hand', image: 'image-1' }, prepare('b', '3', 'image-1'), true],
    ['the same image, which is prepared', { image: 'image-1' }, prepare('b', '3', 'image-1'), false],
    ['another image', { state: 'in-hand', image: 'image-2' }, prepare('b', '3', 'image-1'), false],
    ['no image', { state: 'in-hand' }, prepare('b', '3'), false],
    [
      'the same image, which is being released',
      { type: 'ReleaseSlot', state: 'in-hand', image: 'image-1', prepared: true },
      prepare('b', '3', 'image-1'),
      false,
    ],
    ['the same image, by an operator', { state: 'in-hand', image: 'image-1' }, program('u'), false],
  ])('is beside a slot with %s programmed: case %#', (_, more, order, may) => {
    fence.note(entry('first', 4, '1', more))
    expect(against(order, '1') === null).toBe(may)
  })
})
