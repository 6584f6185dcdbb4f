/** AGREEMENT: the MAC keys of two pairs of keys. */
import { createHmac, createPrivateKey, createPublicKey } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type Agree, agreementOf, asX25519 } from '../../src/wire/agreement.ts'
import { createVerify, signerFrom } from '../../src/wire/signature.ts'
import { privateKeyOf, signerOf } from '../support/keys.ts'

const plain = { topic: 't', key: 'k', value: 'v', headers: {} }

const agreeOf = (name: string) => {
  const text = privateKeyOf(name)
  const shown = signerFrom(text).publicKey
  return { shown, agree: agreementOf(createPrivateKey(text), shown) }
}
const [host, cloud, other] = [agreeOf('host'), agreeOf('cloud'), agreeOf('other')]
const texts = (agreed: ReturnType<Agree>) => {
  const { to, from } = agreed!
  return [to, from].map((key) => key.export().toString('hex'))
}

describe('the keys of a pair', () => {
  test('are the same on both sides, one for each direction', () => {
    const [there, back] = texts(host.agree(cloud.shown))
    expect(texts(cloud.agree(host.shown))).toEqual([back, there])
    expect(there).not.toBe(back)
    expect(there).toMatch(/^[0-9a-f]{64}$/)
  })
  test('differ with either of the two, also when a key agrees with itself', () => {
    const all = [
      ...texts(host.agree(cloud.shown)),
      ...texts(host.agree(other.shown)),
      ...texts(other.agree(cloud.shown)),
      texts(host.agree(host.shown))[0],
    ]
    expect(new Set(all).size).toBe(7)
  })
  // computed without this code, by the formulas of RFC 7748, RFC 8032 and RFC 5869
  test('are those of every release: messages of one are checked by the next', () =>
    expect(texts(host.agree(cloud.shown))[0]).toBe('fc7f041acfcfe6ca2487d7712bfd099d81e2ba521eb39114e724c2b456eea354'))
})

describe('a key in its form for X25519', () => {
  test('is the one that libsodium makes of the same key', () => {
    // from the key pair of libsodium's test ed25519_convert
    const secret = '421151a459faeade3d247115f94aedae42318124095afabe4d1451a559faedee'
    const der = Buffer.from(`302e020100300506032b657004220420${secret}`, 'hex')
    const own = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
    const shown = createPublicKey(own).export({ type: 'spki', format: 'der' }).subarray(-32)
    expect(asX25519(shown).toString('hex')).toBe('f1814f0e8ff1043d8a44d25babff3cedcae6c22c3edaa48f857ae70de2baae50')
  })
  test('fits its private key, for many keys', () => {
    for (let n = 0; n < 50; n++) {
      const one = agreeOf(`key ${n}`)
      expect(texts(one.agree(cloud.shown)).toReversed()).toEqual(texts(cloud.agree(one.shown)))
    }
  })
  /** y of the points of low order, and the same numbers written with p added where that fits into 32 bytes. */
  const LOW = [
    '0000000000000000000000000000000000000000000000000000000000000000',
    '0100000000000000000000000000000000000000000000000000000000000000',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  ]
  test.each(LOW.flatMap((low) => [low, `${low.slice(0, -2)}${(parseInt(low.slice(-2), 16) | 0x80).toString(16)}`]))(
    'AGREEMENT-3 has no secret with %s, which would be the same for everybody: a message for it is signed, none of it has a MAC',
    (low) => {
      const key = Buffer.from(low, 'hex').toString('base64url')
      expect(host.agree(key)).toBe(null)
      const signed = signerOf('host').signedFor(plain, key)
      expect(createVerify()(signed)).toEqual({ signer: host.shown })
      const mac = createHmac('sha256', Buffer.alloc(32)).update('').digest('base64url')
      const forged = { ...plain, headers: { signer: key, mac } }
      expect(createVerify(signerOf('host'))(forged)).toHaveProperty('wrong')
    },
  )
})
