/**
 * The key pair of this host, in its folder. The host signs every report with it.
 *
 * IDENTITY-1 the key is made at the first start, and is on disk before anything is signed with it;
 * IDENTITY-2 a host does not start with a key file that cannot be read: the control would not trust reports signed with
 *    another key.
 */
import { messageOf } from '../vocabulary/errorText.ts'
import type { HostName } from '../vocabulary/identifiers.ts'
import type { Log } from '../vocabulary/log.ts'
import { type Signer, signerFrom } from '../wire/signature.ts'
import type { Disk } from './disk.ts'

export type IdentityOptions = {
  readonly disk: Disk
  readonly path: string
  readonly host: HostName
  /** Makes a new private key, as text. */
  readonly newKey: () => string
  readonly log: Log
}

const read = (path: string, text: string): Signer => {
  try {
    return signerFrom(text)
  } catch (cause) {
    throw new Error(
      `${path}: it is not a private key that this host can sign with (${messageOf(cause)}); restore the file, or remove it so that a ` +
        'new key is made, which an operator has to accept (accelerando host rekey)',
      { cause },
    )
  }
}

export const openIdentity = async ({ disk, path, host, newKey, log }: IdentityOptions): Promise<Signer> => {
  const text = await disk.read(path)
  if (text !== null) return read(path, text)
  const made = newKey()
  const signer = read(path, made)
  await disk.replace(path, made)
  log.info({ host, path, publicKey: signer.publicKey }, 'host.keyMade')
  return signer
}
