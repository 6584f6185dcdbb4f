/** SEAL: what the headers of a message say about its cloud and the start of its host. */
import { describe, expect, it, test } from 'vitest'
import { bootMeant, cloudOf, sealed } from '../../src/wire/seal.ts'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { signerOf } from '../support/keys.ts'

const CLOUD = '0b8a3f52-6f0e-4d3c-9d57-2b6f6d5f0a11'
const record = (headers: BusRecord['headers'], topic = 'host.orders.v1'): BusRecord => ({
  topic,
  key: 'h1',
  value: '{}',
  headers,
})

describe('the start that an order is meant for', () => {
  it.each([
    ['7', 7],
    ['0', 0],
    ['9007199254740991', 9007199254740991],
    ['12345678901234567', null],
    ['', null],
    ['-1', null],
    ['1.5', null],
    [' 1', null],
    ['1 ', null],
    ['x', null],
  ])('%j is %j', (text, number) => expect(bootMeant(record({ boot: text }))).toBe(number))
  it('is not said by a release that numbers no starts', () => expect(bootMeant(record({ other: '7' }))).toBe(null))
})

test('the cloud of a message is its id, none of all clouds where that is no id, and null where nothing is said', () => {
  const ids = [CLOUD, 'x', '', `${CLOUD} `].map((id) => cloudOf(record({ cluster: id })))
  expect(ids).toEqual([CLOUD, 'with an unreadable id', 'with an unreadable id', 'with an unreadable id'])
  expect(cloudOf(record({}))).toBe(null)
})

test('SEAL-3 only messages of the channel are sealed, with the headers that they had', () => {
  const signed = (one: BusRecord): BusRecord => ({ ...one, headers: { ...one.headers, by: 'signature' } })
  const signer = { ...signerOf('cloud'), signed }
  const [plain, other] = [record({ own: '1' }), record({ own: '1' }, 'host.reports.v1')]
  const out = sealed([plain, other], { channel: 'hostOrders', headers: () => ({ cluster: CLOUD }), signer })
  expect(out).toEqual([{ ...plain, headers: { own: '1', cluster: CLOUD, by: 'signature' } }, other])
})
