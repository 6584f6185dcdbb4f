/** The resource provider's UUID of a deployable: UUIDv3 of its name in the DNS namespace (rest-api 8.4, as upstream made them). */
import type { ResourceProviderUuid } from './identifiers.ts'
import { createHash } from 'node:crypto'

const DNS_NAMESPACE = Buffer.from('6ba7b8109dad11d180b400c04fd430c8', 'hex')

export const rpUuidOf = (deployableName: string): ResourceProviderUuid => {
  const hash = createHash('md5').update(DNS_NAMESPACE).update(deployableName, 'utf8').digest()
  hash[6] = (hash[6]! & 0x0f) | 0x30
  hash[8] = (hash[8]! & 0x3f) | 0x80
  const hex = hash.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
