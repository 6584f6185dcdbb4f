/**
 * The resource provider's UUID of a deployable: UUIDv3 of its name in the DNS namespace (rest-api 8.4, as upstream made
 * them).
 */
import type { ResourceProviderUuid } from './identifiers.ts'
import { createHash } from 'node:crypto'
import { uuidOfHash } from './uuid.ts'

const DNS_NAMESPACE = Buffer.from('6ba7b8109dad11d180b400c04fd430c8', 'hex')

export const rpUuidOf = (deployableName: string): ResourceProviderUuid =>
  uuidOfHash(createHash('md5').update(DNS_NAMESPACE).update(deployableName, 'utf8').digest(), 3)
