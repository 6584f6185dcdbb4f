/** SIGNATURE: what signatures and MACs of release 0.3.0 cover, and for whom a MAC is valid. */
import { createHmac, generateKeyPairSync, hkdfSync } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { reportRecord } from '../../src/wire/message.ts'
import {
  MAC_HEADER,
  SIGNATURE_HEADER,
  SIGNER_HEADER,
  createVerify,
  newPrivateKey,
  signedBytes,
  signerFrom,
} from '../../src/wire/signature.ts'
import { signerOf } from '../support/keys.ts'
import { withMac } from '../support/macs.ts'
import { inventoryOf } from '../support/reports.ts'

const [host, cloud, other] = [signerOf('host'), signerOf('cloud'), signerOf('other')]
const verify = createVerify(cloud)
const plain: BusRecord = reportRecord(inventoryOf('h1', 1), 'h1/1', 0)
const isRefused = (record: BusRecord) => 'wrong' in verify(record)
const withHeaders = (record: BusRecord, more: Readonly<Record<string, string>>): BusRecord => ({
  ...record,
  headers: { ...record.headers, ...more },
})
const lacking = (record: BusRecord, name: string): BusRecord => ({
  ...record,
  headers: Object.fromEntries(Object.entries(record.headers).filter(([one]) => one !== name)),
})

const changed = (text: string, at: number, by: string): string => {
  const place = at % text.length
  return text[place] === by ? `${text}${by}` : text.slice(0, place) + by + text.slice(place + 1)
}
/** One place of a message, changed. */
const changesOf = (signed: BusRecord): readonly (readonly [string, (at: number, by: string) => BusRecord])[] => {
  const nameChanged = (at: number, by: string): BusRecord => {
    const names = Object.keys(plain.headers)
    const name = names[at % names.length]!
    return withHeaders(lacking(signed, name), { [changed(name, at, by)]: signed.headers[name]! })
  }
  return [
    ['text', (at, by) => ({ ...signed, value: changed(signed.value, at, by) })],
    ['key', (at, by) => ({ ...signed, key: changed(signed.key, at, by) })],
    ['topic', (at, by) => ({ ...signed, topic: changed(signed.topic, at, by) })],
    ...Object.entries(signed.headers).map(
      ([name, value]) =>
        [
          `header ${name}`,
          (at: number, by: string) => withHeaders(signed, { [name]: changed(value, at, by) }),
        ] as const,
    ),
    ['name of a header', nameChanged],
  ]
}

test('a message that is not signed is known as such', () => expect(verify(plain)).toEqual({ signer: null }))

describe.each([
  ['a signature', SIGNATURE_HEADER, host.signed(plain)],
  ['a MAC', MAC_HEADER, withMac(plain, 'host', 'cloud')],
] as const)('a message with %s', (_, proof, signed) => {
  const headers = (more: Readonly<Record<string, string>>) => withHeaders(signed, more)
  test('says whom it is from, and its content stays as it was', () => {
    expect(verify(signed)).toEqual({ signer: host.publicKey })
    expect(signed).toMatchObject({ ...plain, headers: plain.headers })
    expect(Object.keys(signed.headers)).toHaveLength(Object.keys(plain.headers).length + 2)
  })
  test('is refused with one of the two headers alone', () => {
    expect(verify(lacking(signed, proof))).toMatchObject({ wrong: expect.stringMatching(/^signature: /) })
    expect(verify(lacking(signed, SIGNER_HEADER))).toMatchObject({ wrong: expect.stringMatching(/^signer: /) })
  })
  test.each(['', 'x', 'A'.repeat(43), 'A'.repeat(42), `${host.publicKey}A`, `${host.publicKey.slice(0, -1)}B`])(
    'is refused when it names %j as its signer',
    (signer) => expect(isRefused(headers({ [SIGNER_HEADER]: signer }))).toBe(true),
  )
  test('is refused when it names another key, also one that this receiver knows or its own', () => {
    verify(withMac(plain, 'other', 'cloud'))
    for (const { publicKey } of [other, cloud])
      expect(verify(headers({ [SIGNER_HEADER]: publicKey }))).toEqual({
        wrong: `${proof}: does not fit the message and the key ${publicKey}`,
      })
  })
  test.each(['', 'x', 'A'.repeat(43), 'A'.repeat(86), 'A'.repeat(85)])('is refused with %j instead', (text) =>
    expect(verify(headers({ [proof]: text }))).toMatchObject({ wrong: expect.stringMatching(`^${proof}: `) }),
  )
  test.each(['=', ' ', '\n', '.'])('is refused with %j before or after it, which a decoder would ignore', (more) => {
    const text = signed.headers[proof]!
    for (const spelled of [more + text, text + more])
      expect(verify(headers({ [proof]: spelled }))).toMatchObject({ wrong: expect.stringMatching(`^${proof}: `) })
  })
  test.each(changesOf(signed))('SIGNATURE-1 of which any character of the %s is changed is refused', (__, change) => {
    fc.assert(
      fc.property(fc.nat(100_000), fc.constantFrom('a', 'B', '7', '_', '"', '\0', 'ü'), (at, by) =>
        isRefused(change(at, by)),
      ),
      { numRuns: 60 },
    )
  })
  test('SIGNATURE-1 with a header more or less is refused', () => {
    expect(isRefused(headers({ cluster: 'x' }))).toBe(true)
    for (const name of Object.keys(plain.headers)) expect(isRefused(lacking(signed, name))).toBe(true)
  })
})

describe('SIGNATURE-2 both', () => {
  const both = withHeaders(withMac(plain, 'host', 'cloud'), {
    [SIGNATURE_HEADER]: host.signed(plain).headers[SIGNATURE_HEADER]!,
  })
  test('a signature and a MAC, each valid without the other, are refused', () =>
    expect(verify(both)).toEqual({ wrong: 'mac: must not stand beside a signature' }))
})

/** The key of a MAC, if a secret of 32 zeros were one. */
const hkdfOfNothing = (sender: string) =>
  hkdfSync('sha256', Buffer.alloc(32), '', `accelerando mac key 1 ${sender} ${cloud.publicKey}`, 32)

describe('SIGNATURE-4 a MAC', () => {
  const made = withMac(plain, 'host', 'cloud')
  test('that release 0.3.0 has made is valid', () => {
    const record = { topic: 'host.reports.v1', key: 'h1', value: '{"a":1}', headers: { one: 'x' } }
    const mac = '3UTx_CXzx4fma3ZqvCePD8ihtvTmE7fxxtiiLkdQ1lI'
    const sent = { ...record, headers: { ...record.headers, [SIGNER_HEADER]: host.publicKey, [MAC_HEADER]: mac } }
    expect(verify(sent)).toEqual({ signer: host.publicKey })
    expect(withMac(record, 'host', 'cloud')).toEqual(sent)
  })
  /** y of points of low order, and the same numbers with p added where that fits into 32 bytes. */
  test.each([
    '0000000000000000000000000000000000000000000000000000000000000000',
    '0100000000000000000000000000000000000000000000000000000000000000',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  ])('MAC-3 is never valid from the key %s, with which everybody would have the same secret', (low) => {
    const headers = { [SIGNER_HEADER]: Buffer.from(low, 'hex').toString('base64url') }
    const named = withHeaders(plain, headers)
    for (const key of [Buffer.alloc(32), Buffer.from(hkdfOfNothing(headers[SIGNER_HEADER]))]) {
      const mac = createHmac('sha256', key).update(signedBytes(named, MAC_HEADER)).digest('base64url')
      expect(verify(withHeaders(named, { [MAC_HEADER]: mac }))).toHaveProperty('wrong')
    }
  })
  test('is valid for its receiver only', () => {
    expect(createVerify(other)(made)).toMatchObject({ wrong: expect.stringMatching(/^mac: does not fit/) })
    expect(createVerify()(made)).toEqual({ wrong: 'mac: this program has no key to check it with' })
  })
  test('is not valid when it comes back to its sender, whomever it names', () => {
    const atHost = createVerify(host)
    for (const { publicKey } of [host, cloud])
      expect(atHost(withHeaders(made, { [SIGNER_HEADER]: publicKey }))).toMatchObject({ wrong: expect.anything() })
  })
  test('of somebody who agrees with the receiver is not one of another', () => {
    const forged = withHeaders(withMac(plain, 'other', 'cloud'), { [SIGNER_HEADER]: host.publicKey })
    expect(verify(forged)).toMatchObject({ wrong: expect.stringMatching(/^mac: does not fit/) })
  })
  test('is no signature, and a signature is no MAC of the same bytes', () => {
    expect(signedBytes(made, MAC_HEADER).equals(signedBytes(made))).toBe(false)
    expect(signedBytes(plain, MAC_HEADER).equals(signedBytes(plain))).toBe(false)
  })
})

describe('SIGNATURE-1 a change', () => {
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
    const { privateKey } = generateKeyPairSync('x25519')
    const text = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    expect(() => signerFrom(text)).toThrow('the key is of type x25519, not ed25519')
    expect(() => signerFrom(newPrivateKey().slice(0, 60))).toThrow(/./)
  })
})
