/**
 * The MAC keys of a pair of Ed25519 keys, from their Diffie-Hellman secret: nothing is sent to agree on them.
 *
 * AGREEMENT-1 the keys can be computed from either private key and the other public key, and from nothing else;
 * AGREEMENT-2 each is for one sender and one receiver: what one side sent is never valid as sent by the other;
 * AGREEMENT-3 a public key that yields no secret yields no MAC keys; that is no error, since anybody can send such a
 *    key.
 *
 * An Ed25519 key is a key for X25519 in another form of the same curve (RFC 7748, 4.1); libsodium converts keys in the
 * same way.
 */
import type { KeyObject } from 'node:crypto'
import { createHash, createPrivateKey, createPublicKey, createSecretKey, diffieHellman, hkdfSync } from 'node:crypto'

/** Of one pair of keys: `to` for what is sent to the other side, `from` for what came from it. */
export type Agreed = { readonly to: KeyObject; readonly from: KeyObject }
/** Null: this public key yields no secret (a low-order point gives the same result for every private key). */
export type Agree = (peer: string) => Agreed | null

/** Domain separation for the derived keys. Raise the number when the derivation changes. */
const DOMAIN = 'accelerando mac key 1'
const KEY_BYTES = 32

const P = 2n ** 255n - 19n
const modulo = (number: bigint): bigint => ((number % P) + P) % P
/** By Euclid's algorithm; of 0: 0. */
const inverse = (number: bigint): bigint => {
  let [rest, next, factor, nextFactor] = [P, modulo(number), 0n, 1n]
  while (next !== 0n) {
    const quotient = rest / next
    ;[rest, next] = [next, rest - quotient * next]
    ;[factor, nextFactor] = [nextFactor, factor - quotient * nextFactor]
  }
  return modulo(factor)
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
/**
 * The same public key for X25519: u = (1 + y) / (1 - y). Both are 32 bytes, the lowest first; the highest bit is the
 * sign of x.
 */
export const asX25519 = (publicKey: Buffer): Buffer => {
  const y = BigInt.asUintN(255, BigInt(`0x${hexOf(publicKey.toReversed())}`))
  const u = modulo((1n + y) * inverse(1n - y))
  return Buffer.from(Buffer.from(u.toString(16).padStart(2 * KEY_BYTES, '0'), 'hex').toReversed())
}

/** What stands before the 32 bytes of a key in its DER form. */
const X25519_SPKI = Buffer.from('302a300506032b656e032100', 'hex')
const X25519_PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex')

/** The same private key for X25519: Ed25519 uses the first half of the hash of its secret bytes as its number. */
const privateKeyFor = (ed25519: KeyObject): KeyObject => {
  const secret = ed25519.export({ type: 'pkcs8', format: 'der' }).subarray(-KEY_BYTES)
  const number = createHash('sha512').update(secret).digest().subarray(0, KEY_BYTES)
  return createPrivateKey({ key: Buffer.concat([X25519_PKCS8, number]), format: 'der', type: 'pkcs8' })
}

/** Null: the key is one of the few points (of low order) with which all secrets are 0; Node says so by an error. */
const secretOf = (privateKey: KeyObject, peer: string): Buffer | null => {
  const der = Buffer.concat([X25519_SPKI, asX25519(Buffer.from(peer, 'base64url'))])
  try {
    return diffieHellman({ privateKey, publicKey: createPublicKey({ key: der, format: 'der', type: 'spki' }) })
  } catch {
    return null
  }
}

/** `own`: a private key for Ed25519; `shown`: its public key as messages say it. */
export const agreementOf = (own: KeyObject, shown: string): Agree => {
  const privateKey = privateKeyFor(own)
  return (peer) => {
    const secret = secretOf(privateKey, peer)
    if (secret === null) return null
    const keyOf = (sender: string, receiver: string): KeyObject =>
      createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', `${DOMAIN} ${sender} ${receiver}`, KEY_BYTES)))
    return { to: keyOf(shown, peer), from: keyOf(peer, shown) }
  }
}
