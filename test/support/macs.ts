/** Makes the MACs that programs of release 0.3.0 send, from the private keys of both sides. */
import { createHash, createHmac, createPrivateKey, createPublicKey, diffieHellman, hkdfSync } from 'node:crypto'
import type { BusRecord } from '../../src/wire/envelope.ts'
import { MAC_HEADER, SIGNER_HEADER, signedBytes } from '../../src/wire/signature.ts'
import { privateKeyOf, signerOf } from './keys.ts'

/** What stands before the 32 secret bytes of a private key for X25519 in its DER form. */
const PKCS8 = Buffer.from('302e020100300506032b656e04220420', 'hex')
/** The key with this name as a private key for X25519 (RFC 7748 and RFC 8032). */
const exchangeKeyOf = (name: string) => {
  const secret = createPrivateKey(privateKeyOf(name)).export({ type: 'pkcs8', format: 'der' }).subarray(-32)
  const number = createHash('sha512').update(secret).digest().subarray(0, 32)
  return createPrivateKey({ key: Buffer.concat([PKCS8, number]), format: 'der', type: 'pkcs8' })
}

/** The message with a MAC from the holder of one key to the holder of another, both by the names of their keys. */
export const withMac = (record: BusRecord, from: string, to: string): BusRecord => {
  const secret = diffieHellman({
    privateKey: exchangeKeyOf(from),
    publicKey: createPublicKey(exchangeKeyOf(to)),
  })
  const [sender, receiver] = [signerOf(from).publicKey, signerOf(to).publicKey]
  const key = Buffer.from(hkdfSync('sha256', secret, '', `accelerando mac key 1 ${sender} ${receiver}`, 32))
  const named = { ...record, headers: { ...record.headers, [SIGNER_HEADER]: sender } }
  const mac = createHmac('sha256', key).update(signedBytes(named, MAC_HEADER)).digest('base64url')
  return { ...named, headers: { ...named.headers, [MAC_HEADER]: mac } }
}
