/** Keys that follow from a name, so that a test or a simulation that is repeated signs alike. */
import { createHash } from 'node:crypto'
import { type Signer, signerFrom } from '../../src/wire/signature.ts'

/** What stands before the 32 secret bytes of a private key in its DER form. */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

/** As text, like a key file. */
export const privateKeyOf = (name: string): string => {
  const der = Buffer.concat([PKCS8, createHash('sha256').update(name).digest()])
  return `-----BEGIN PRIVATE KEY-----\n${der.toString('base64')}\n-----END PRIVATE KEY-----\n`
}
const signers = new Map<string, Signer>()
/** Made once: a key takes as long to read as many signatures. */
export const signerOf = (name: string): Signer => {
  const signer = signers.get(name) ?? signerFrom(privateKeyOf(name))
  signers.set(name, signer)
  return signer
}
