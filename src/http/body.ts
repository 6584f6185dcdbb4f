/**
 * Reads a request body: limited in size, valid UTF-8 and valid JSON. How many values it has and how deep they are
 * nested is known before they are built, since reading cannot be interrupted.
 *
 * Hono's `bodyLimit` is not used: it does not cancel a body that is too long, it throws when the client disconnects in
 * the middle, and it builds a complete `Request` object for each call, even without a body.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { invalid, refused } from './faults.ts'
import type { HttpRefused } from './faults.ts'
import { jsonSizeProblem } from '../vocabulary/jsonSize.ts'
import { DEPTH_MAX } from './guard.ts'

/**
 * The most bytes of a body, by what it holds. Only lists of patches and of projects may be as long as the service
 * allows.
 */
export const BODY_BYTES = { usual: 16 * 1024, profile: 256 * 1024, list: Infinity } as const
export type BodySize = keyof typeof BODY_BYTES
/** Every body that means something has fewer values than one for so many bytes of its limit. */
const BYTES_PER_VALUE = 32

export type ReadBody = { readonly ok: true; readonly value: unknown } | HttpRefused
type Bytes = { readonly ok: true; readonly bytes: Uint8Array } | HttpRefused

const utf8 = new TextDecoder('utf-8', { fatal: true })
const tooLarge = (limitBytes: number): HttpRefused => refused({ kind: 'too_large', limitBytes })
const notJson = (rule: string): HttpRefused => invalid('body', rule)

const mediaProblem = (type: string | null): HttpRefused | null => {
  // A missing media type means JSON; one that cannot be parsed does not.
  const given = type?.trim() ?? ''
  const bare = given.split(';', 1)[0]!.trim().toLowerCase()
  return given === '' || bare === 'application/json'
    ? null
    : refused({ kind: 'media_type', given: (bare || given).slice(0, 100) })
}

/** A body without a declared length is counted while it is read. */
const readCounting = async (stream: ReadableStream<Uint8Array> | null, limitBytes: number): Promise<Bytes> => {
  if (stream === null) return { ok: true, bytes: new Uint8Array() }
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = stream.getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    chunks.push(part.value)
    size += part.value.byteLength
    if (size <= limitBytes) continue
    // Not awaited, because the client may never finish sending.
    void reader.cancel().catch(() => {})
    return tooLarge(limitBytes)
  }
  return { ok: true, bytes: Buffer.concat(chunks, size) }
}

const readBytes = async (request: Request, limitBytes: number): Promise<Bytes> => {
  const declared = request.headers.get('content-length')
  if (declared === null) return readCounting(request.body, limitBytes)
  if (!(Number(declared) <= limitBytes)) return tooLarge(limitBytes)
  const bytes = new Uint8Array(await request.arrayBuffer())
  return bytes.byteLength <= limitBytes ? { ok: true, bytes } : tooLarge(limitBytes)
}

const parse = (bytes: Uint8Array, limitBytes: number): ReadBody => {
  if (bytes.byteLength === 0) return notJson('it is empty, and JSON is needed')
  const problem = jsonSizeProblem(bytes, { values: Math.ceil(limitBytes / BYTES_PER_VALUE), depth: DEPTH_MAX })
  if (problem !== null) return notJson(problem)
  try {
    return { ok: true, value: JSON.parse(utf8.decode(bytes)) }
  } catch {
    return notJson('it is not JSON')
  }
}

/** Longer bodies are built one at a time, and others are served between two of them. */
const LONG_BYTES = 64 * 1024
let longOnes: Promise<unknown> = Promise.resolve()
const parseInTurn = (bytes: Uint8Array, limitBytes: number): Promise<ReadBody> => {
  const parsed = longOnes.then(() => turn()).then(() => parse(bytes, limitBytes))
  longOnes = parsed
  return parsed
}

export const readJson = async (request: Request, limitBytes: number): Promise<ReadBody> => {
  const media = mediaProblem(request.headers.get('content-type'))
  if (media !== null) return media
  // The read rejects when the client disconnects while sending. Nobody reads the answer then, but this is not an error
  // of the service.
  const read = await readBytes(request, limitBytes).catch(() => notJson('it ended before its length'))
  if (!read.ok) return read
  return read.bytes.byteLength > LONG_BYTES ? parseInTurn(read.bytes, limitBytes) : parse(read.bytes, limitBytes)
}
