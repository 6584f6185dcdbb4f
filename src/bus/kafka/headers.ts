/**
 * Replaces one method of kafkajs 2.2.4, which copies all headers of a message for each further one: a message of 200 kB
 * with 20,000 headers would block a program for minutes, and the next member of the group would fetch the message
 * again. Other versions are not changed.
 */
import { createRequire } from 'node:module'

/** Our own messages have fewer than twenty headers. */
export const HEADERS_MAX = 64

type Header = { readonly key: string; readonly value: Buffer | null }
type Decoder = { readonly readVarInt: () => number }

const FOR_VERSION = '2.2.4'
const load = createRequire(import.meta.url)

/**
 * Of several headers with the same name, the last one counts. Headers beyond the first `HEADERS_MAX` names are read and
 * left out.
 */
function readHeaders(this: Decoder, readHeader: (decoder: Decoder) => Header): readonly Header[] {
  const count = this.readVarInt()
  const headers = new Map<string, Header>()
  for (let at = 0; at < count; at++) {
    const header = readHeader(this)
    if (headers.size < HEADERS_MAX || headers.has(header.key)) headers.set(header.key, header)
  }
  return [...headers.values()]
}

/**
 * True: the installed kafkajs is the affected version, and the method is replaced. kafkajs uses the method only to read
 * headers.
 */
export const mendHeaders = (): boolean => {
  const { version } = load('kafkajs/package.json') as { readonly version: string }
  if (version !== FOR_VERSION) return false
  const decoder = load('kafkajs/src/protocol/decoder') as { readonly prototype: Record<string, unknown> }
  decoder.prototype['readVarIntArray'] = readHeaders
  return true
}
