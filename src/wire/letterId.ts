/**
 * The id of the dead letter of a message: its place on the topic and what it holds. The place alone is no identity: a
 * topic that is made again counts its offsets anew, and what was done with a letter of the former one says nothing of
 * another message at its place.
 */
import { canonicalJson, sha256 } from './canonical.ts'
import type { BusRecord } from './envelope.ts'

const DIGEST_CHARACTERS = 16

type Placed = BusRecord & { readonly partition: number; readonly offset: number }
/** The same however often the message is received. */
export const letterIdOf = ({ topic, partition, offset, key, value, headers }: Placed): string => {
  const digest = sha256(canonicalJson({ key, value, headers })).slice(0, DIGEST_CHARACTERS)
  return `${topic}/${partition}/${offset}/${digest}`
}
