/**
 * Checks the MACs that controls and hosts of release 0.3.0 send instead of signatures. Nothing here makes one. This
 * file goes with the first release that no longer upgrades from 0.3.0.
 *
 * MAC-1 the key of a MAC follows from the Diffie-Hellman secret of the key pairs of its sender and its receiver, so
 *    only these two can make it;
 * MAC-2 it is valid in one direction only: what one side sent is never valid as sent by the other;
 * MAC-3 with a public key that yields no secret no MAC is valid; that is no error, since anybody can send such a key.
 *
 * An Ed25519 key is a key for X25519 in another form of the same curve (RFC 7748, 4.1).
 */
import type { KeyObject } from 'node:crypto'
import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  diffieHellman,
  hkdfSync,
  timingSafeEqual,
} from 'node:crypto'
import { createRecentlyUsed } from './recentlyUsed.ts'

const DOMAIN = 'accelerando mac key 1'
const KEY_BYTES = 32
/** How many keys are kept in memory: those used most recently. */
const KEYS_MAX = 16_384

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
/** The same public key for X25519: u = (1 + y) / (1 - y). The lowest byte is first, the highest bit the sign of x. */
const asX25519 = (publicKey: Buffer): Buffer => {
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

/** Whether `mac` is the MAC of these bytes from the holder of the public key `sender`. */
export type IsMacFrom = (bytes: Buffer, sender: string, mac: string) => boolean

/** `own`: the private key of the receiver, for Ed25519; `shown`: its public key as messages say it. */
export const macCheckOf = (own: KeyObject, shown: string): IsMacFrom => {
  let privateKey: KeyObject | null = null
  const known = createRecentlyUsed<KeyObject>(KEYS_MAX)
  const keyFrom = (sender: string): KeyObject | null => {
    const secret = secretOf((privateKey ??= privateKeyFor(own)), sender)
    if (secret === null) return null
    return createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', `${DOMAIN} ${sender} ${shown}`, KEY_BYTES)))
  }
  return (bytes, sender, mac) => {
    const key = known.get(sender) ?? keyFrom(sender)
    if (key === null) return false
    if (!timingSafeEqual(createHmac('sha256', key).update(bytes).digest(), Buffer.from(mac, 'base64url'))) return false
    // only keys of valid messages are kept: keys that were merely named must not push out those in use
    known.set(sender, key)
    return true
  }
}
