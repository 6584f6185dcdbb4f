/**
 * Signatures on orders and reports: Ed25519, in two headers. Whoever holds the private key sends; whoever knows the public key can tell.
 *
 * SIGNATURE-1 a signature covers the topic, the key, the text and every other header of the message, each with its length in front, so
 *   that nothing can be changed, added, left out, or moved from one of them to another;
 * SIGNATURE-2 a message with one of the two headers and without a valid signature is refused before anything of it is believed; one with
 *   neither is unsigned, as those of releases up to 0.2.0 are;
 * SIGNATURE-3 a valid signature says who sent it, not that it is new: repeats are recognised by ids and numbers, as before.
 */
import { type KeyObject, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import * as v from 'valibot'
import { publicKey } from '../fields.ts'
import type { BusRecord } from './envelope.ts'

/** The public key of the sender. */
export const SIGNER_HEADER = 'signer'
export const SIGNATURE_HEADER = 'signature'

const Signature = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{85}[AQgw]$/))

/** So that a signature of this kind is valid for nothing else; its number changes with what is covered. */
const DOMAIN = 'accelerando message 1'

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
/** Exactly what is signed. */
export const signedBytes = ({ topic, key, value, headers }: BusRecord): Buffer => {
  const named = Object.entries(headers).filter(([name]) => name !== SIGNATURE_HEADER)
  const sorted = named.toSorted(([a], [b]) => (a < b ? -1 : 1))
  return framed([DOMAIN, topic, key, value, ...sorted.flat()])
}

export type Signer = {
  readonly publicKey: string
  readonly signed: (record: BusRecord) => BusRecord
}

/** What stands before the 32 bytes of a public key in its DER form. */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex')

/** A new private key as text (PKCS8, PEM). */
export const newPrivateKey = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

/** Throws when the text is no private key for Ed25519. */
export const signerFrom = (privateKey: string): Signer => {
  const own = createPrivateKey(privateKey)
  if (own.asymmetricKeyType !== 'ed25519') throw new Error(`the key is of type ${own.asymmetricKeyType}, not ed25519`)
  const shown = createPublicKey(own).export({ type: 'spki', format: 'der' }).subarray(SPKI.length).toString('base64url')
  return {
    publicKey: shown,
    signed: (record) => {
      const named = { ...record, headers: { ...record.headers, [SIGNER_HEADER]: shown } }
      const signature = sign(null, signedBytes(named), own).toString('base64url')
      return { ...named, headers: { ...named.headers, [SIGNATURE_HEADER]: signature } }
    },
  }
}

/** `signer`: the public key of the sender; null: the message is unsigned. */
export type Verified = { readonly signer: string | null } | { readonly wrong: string }
export type Verify = (record: BusRecord) => Verified

/** Keys that are kept ready for use, those used last. */
const KEYS_MAX = 4096
const UNSIGNED: Verified = { signer: null }

export const createVerify = (): Verify => {
  const keys = new Map<string, KeyObject>()
  const keyOf = (signer: string): KeyObject => {
    const known = keys.get(signer)
    if (known) return known
    const der = Buffer.concat([SPKI, Buffer.from(signer, 'base64url')])
    const made = createPublicKey({ key: der, format: 'der', type: 'spki' })
    keys.set(signer, made)
    if (keys.size > KEYS_MAX) keys.delete(keys.keys().next().value!)
    return made
  }
  const isValid = (record: BusRecord, signer: string, signature: string): boolean => {
    try {
      return verify(null, signedBytes(record), keyOf(signer), Buffer.from(signature, 'base64url'))
    } catch {
      // the bytes are no point of the curve: nobody holds such a key
      return false
    }
  }
  return (record) => {
    const { [SIGNER_HEADER]: signer, [SIGNATURE_HEADER]: signature } = record.headers
    if (signer === undefined && signature === undefined) return UNSIGNED
    if (!v.is(publicKey, signer)) return { wrong: `${SIGNER_HEADER}: must be a public key, 43 characters of base64url` }
    if (!v.is(Signature, signature)) return { wrong: `${SIGNATURE_HEADER}: must be 86 characters of base64url` }
    return isValid(record, signer, signature)
      ? { signer }
      : { wrong: `${SIGNATURE_HEADER}: does not fit the message and the key ${signer}` }
  }
}
