/** SIGNATURE: what is signed, and that any change of it is noticed. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { reportRecord } from '../../src/wire/message.ts'
import {
  SIGNATURE_HEADER,
  SIGNER_HEADER,
  createVerify,
  newPrivateKey,
  signedBytes,
  signerFrom,
} from '../../src/wire/signature.ts'
import { signerOf } from '../support/keys.ts'
import { inventoryOf } from '../support/reports.ts'

const host = signerOf('host')
const verify = createVerify()
const plain: BusRecord = reportRecord(inventoryOf('h1', 1), 'h1/1', 0)
const signed = host.signed(plain)
const headers = (more: Readonly<Record<string, string>>): BusRecord => ({
  ...signed,
  headers: { ...signed.headers, ...more },
})
const without = (name: string): BusRecord => ({
  ...signed,
  headers: Object.fromEntries(Object.entries(signed.headers).filter(([one]) => one !== name)),
})
const isRefused = (record: BusRecord) => 'wrong' in verify(record)

describe('a message', () => {
  test('that is signed says who signed it, and its content stays as it was', () => {
    expect(verify(signed)).toEqual({ signer: host.publicKey })
    expect(signed).toMatchObject({ ...plain, headers: plain.headers })
  })
  test('that is not signed is known as such', () => {
    expect(verify(plain)).toEqual({ signer: null })
  })
  test('with one of the two headers alone is refused, naming the other', () => {
    expect(verify(without(SIGNATURE_HEADER))).toMatchObject({ wrong: expect.stringMatching(/^signature: /) })
    expect(verify(without(SIGNER_HEADER))).toMatchObject({ wrong: expect.stringMatching(/^signer: /) })
  })
  test.each(['', 'x', 'A'.repeat(43), 'A'.repeat(42), `${host.publicKey}A`, `${host.publicKey.slice(0, -1)}B`])(
    'is refused when it names %j as its signer',
    (signer) => expect(isRefused(headers({ [SIGNER_HEADER]: signer }))).toBe(true),
  )
  test('of another key with the signature of this one is refused', () => {
    expect(isRefused(headers({ [SIGNER_HEADER]: signerOf('other').publicKey }))).toBe(true)
  })
})

/** One place of a message, changed. */
const changes: readonly (readonly [string, (at: number, by: string) => BusRecord])[] = [
  ['text', (at, by) => ({ ...signed, value: changed(signed.value, at, by) })],
  ['key', (at, by) => ({ ...signed, key: changed(signed.key, at, by) })],
  ['topic', (at, by) => ({ ...signed, topic: changed(signed.topic, at, by) })],
  ...Object.entries(signed.headers).map(
    ([name, value]) =>
      [`header ${name}`, (at: number, by: string) => headers({ [name]: changed(value, at, by) })] as const,
  ),
  [
    'name of a header',
    (at, by) => {
      const names = Object.keys(plain.headers)
      const name = names[at % names.length]!
      const { [name]: value, ...rest } = signed.headers
      return { ...signed, headers: { ...rest, [changed(name, at, by)]: value! } }
    },
  ],
]
const changed = (text: string, at: number, by: string): string => {
  const place = at % text.length
  return text[place] === by ? `${text}${by}` : text.slice(0, place) + by + text.slice(place + 1)
}
describe('SIGNATURE-1 a change', () => {
  test.each(changes)('of any character of the %s is noticed', (_, change) => {
    fc.assert(
      fc.property(fc.nat(100_000), fc.constantFrom('a', 'B', '7', '_', '"', '\0', 'ü'), (at, by) =>
        isRefused(change(at, by)),
      ),
      { numRuns: 60 },
    )
  })
  test('by a header more or less is noticed', () => {
    expect(isRefused(headers({ cluster: 'x' }))).toBe(true)
    for (const name of Object.keys(plain.headers)) expect(isRefused(without(name))).toBe(true)
  })
  test('that moves text from one part to its neighbour changes what is signed', () => {
    const part = fc.string({ minLength: 0, maxLength: 6, unit: 'grapheme' })
    const message = fc.record({ topic: part, key: part, value: part, headers: fc.dictionary(part, part) })
    fc.assert(
      fc.property(message, message, (one, other) => {
        const same = JSON.stringify(parts(one)) === JSON.stringify(parts(other))
        return signedBytes(one).equals(signedBytes(other)) === same
      }),
      { numRuns: 300 },
    )
    const moved = { ...plain, key: plain.key.slice(1), topic: plain.topic + plain.key.slice(0, 1) }
    expect(signedBytes(moved).equals(signedBytes(plain))).toBe(false)
  })
})
const parts = ({ topic, key, value, headers: all }: BusRecord) => [
  topic,
  key,
  value,
  Object.entries(all)
    .filter(([name]) => name !== SIGNATURE_HEADER)
    .toSorted(([a], [b]) => (a < b ? -1 : 1)),
]

describe('a key', () => {
  test('is new each time, and is read back from its text', () => {
    const [one, other] = [newPrivateKey(), newPrivateKey()]
    expect(one).not.toBe(other)
    expect(verify(signerFrom(one).signed(plain))).toEqual({ signer: signerFrom(one).publicKey })
  })
  test('of another kind, or damaged, is refused', () => {
    expect(() => signerFrom('')).toThrow(/./)
    expect(() => signerFrom(newPrivateKey().slice(0, 60))).toThrow(/./)
  })
})
