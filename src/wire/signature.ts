/**
 * Who sent an order or a report, in two headers: the public key of the sender (Ed25519) and a signature by it. Programs
 * of release 0.3.0 send a MAC (HMAC-SHA256) instead of the signature where both sides know each other; it is still
 * checked (`mac.ts`), and no longer made.
 *
 * SIGNATURE-1 both cover the topic, the key, the text and every other header of the message, each with its length in
 *    front, so that nothing can be changed, added, left out, or moved from one of them to another;
 * SIGNATURE-2 a message with some of these headers, and without a valid signature or MAC, or with both, is refused
 *    before anything of it is believed; one with none is unsigned;
 * SIGNATURE-3 either says who sent it, not that it is new: repeats are recognised by ids and numbers, as before;
 * SIGNATURE-4 a MAC is valid from one sender to one receiver: not for another receiver, not as sent by the receiver.
 */
import type { KeyObject } from 'node:crypto'
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import * as v from 'valibot'
import { BYTES_32, publicKey } from '../vocabulary/fields.ts'
import type { BusRecord } from './envelope.ts'
import { macCheckOf } from './mac.ts'
import { createRecentlyUsed } from './recentlyUsed.ts'

/** The public key of the sender. */
export const SIGNER_HEADER = 'signer'
export const SIGNATURE_HEADER = 'signature'
export const MAC_HEADER = 'mac'

const Signature = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{85}[AQgw]$/))
const Mac = v.pipe(v.string(), v.regex(BYTES_32))

/**
 * Domain separation: a signature or MAC made for this purpose is invalid for any other. Raise the number when the
 * covered bytes change.
 */
const DOMAINS = { [SIGNATURE_HEADER]: 'accelerando message 1', [MAC_HEADER]: 'accelerando mac 1' } as const
type Proof = keyof typeof DOMAINS

const framed = (parts: readonly string[]): Buffer => {
  const chunks = parts.map((part) => Buffer.from(part))
  const whole = Buffer.allocUnsafe(chunks.reduce((total, { length }) => total + 4 + length, 0))
  let at = 0
  for (const chunk of chunks) {
    at = whole.writeUInt32BE(chunk.length, at)
    at += chunk.copy(whole, at)
  }
  return whole
}
/** Exactly what is signed, or what the MAC is of. */
export const signedBytes = ({ topic, key, value, headers }: BusRecord, proof: Proof = SIGNATURE_HEADER): Buffer => {
  const named = Object.entries(headers).filter(([name]) => name !== proof)
  const sorted = named.toSorted(([a], [b]) => (a < b ? -1 : 1))
  return framed([DOMAINS[proof], topic, key, value, ...sorted.flat()])
}

export type Signer = {
  readonly publicKey: string
  readonly signed: (record: BusRecord) => BusRecord
  /** Whether this is the MAC of a message from the holder of that public key to this one. */
  readonly isMacFrom: (record: BusRecord, sender: string, mac: string) => boolean
}

/** What stands before the 32 bytes of a public key in its DER form. */
const ED25519_SPKI = Buffer.from('302a300506032b6570032100', 'hex')

/** A new private key as text (PKCS8, PEM). */
export const newPrivateKey = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

/** How many public keys are kept in memory: those used most recently. */
const KEYS_MAX = 16_384
const withHeader = (record: BusRecord, name: string, value: string): BusRecord => ({
  ...record,
  headers: { ...record.headers, [name]: value },
})

/** Throws when the text is no private key for Ed25519. */
export const signerFrom = (privateKey: string): Signer => {
  const own = createPrivateKey(privateKey)
  if (own.asymmetricKeyType !== 'ed25519') throw new Error(`the key is of type ${own.asymmetricKeyType}, not ed25519`)
  const shown = createPublicKey(own)
    .export({ type: 'spki', format: 'der' })
    .subarray(ED25519_SPKI.length)
    .toString('base64url')
  const isMac = macCheckOf(own, shown)
  const signed = (record: BusRecord): BusRecord => {
    const named = withHeader(record, SIGNER_HEADER, shown)
    return withHeader(named, SIGNATURE_HEADER, sign(null, signedBytes(named), own).toString('base64url'))
  }
  const isMacFrom = (record: BusRecord, sender: string, mac: string): boolean =>
    isMac(signedBytes(record, MAC_HEADER), sender, mac)
  return { publicKey: shown, signed, isMacFrom }
}

/** `signer`: the public key of the sender; null: the message is unsigned. */
export type Verified = { readonly signer: string | null } | { readonly wrong: string }
export type Verify = (record: BusRecord) => Verified

const UNSIGNED: Verified = { signer: null }

const createIsSignedBy = (): ((record: BusRecord, signer: string, signature: string) => boolean) => {
  const keys = createRecentlyUsed<KeyObject>(KEYS_MAX)
  const keyOf = (signer: string): KeyObject => {
    const known = keys.get(signer)
    if (known) return known
    const der = Buffer.concat([ED25519_SPKI, Buffer.from(signer, 'base64url')])
    const made = createPublicKey({ key: der, format: 'der', type: 'spki' })
    keys.set(signer, made)
    return made
  }
  return (record, signer, signature) =>
    verify(null, signedBytes(record), keyOf(signer), Buffer.from(signature, 'base64url'))
}

/** `own`: whose messages these are, to check MACs with; null: only signatures can be checked. */
export const createVerify = (own: Signer | null = null): Verify => {
  const isSignedBy = createIsSignedBy()
  const judged = (signer: string, proof: Proof, isValid: () => boolean): Verified => {
    try {
      if (isValid()) return { signer }
    } catch {
      // the bytes are no point of the curve: nobody holds such a key
    }
    return { wrong: `${proof}: does not fit the message and the key ${signer}` }
  }
  return (record) => {
    const { [SIGNER_HEADER]: signer, [SIGNATURE_HEADER]: signature, [MAC_HEADER]: mac } = record.headers
    if (signer === undefined && signature === undefined && mac === undefined) return UNSIGNED
    if (!v.is(publicKey, signer)) return { wrong: `${SIGNER_HEADER}: must be a public key, 43 characters of base64url` }
    if (mac === undefined) {
      if (!v.is(Signature, signature)) return { wrong: `${SIGNATURE_HEADER}: must be 86 characters of base64url` }
      return judged(signer, SIGNATURE_HEADER, () => isSignedBy(record, signer, signature))
    }
    if (signature !== undefined) return { wrong: `${MAC_HEADER}: must not stand beside a ${SIGNATURE_HEADER}` }
    if (!v.is(Mac, mac)) return { wrong: `${MAC_HEADER}: must be 43 characters of base64url` }
    if (own === null) return { wrong: `${MAC_HEADER}: this program has no key to check it with` }
    return judged(signer, MAC_HEADER, () => own.isMacFrom(record, signer, mac))
  }
}
