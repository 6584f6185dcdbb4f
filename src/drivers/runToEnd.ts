/** What is asked of a program that is run to its end, and the end of what it prints, in little memory. Pure. */
import { createHash } from 'node:crypto'

/** It ended by itself with `code`, or `why` not. */
export type Exit = { readonly code: number | null; readonly why: string | null }
export type Ended = Exit & {
  readonly outputSha256: string
  readonly outputBytes: number
  readonly outputEnd: string
  /** The first part of the output, unless `outputEnd` is all of it. */
  readonly outputBegin?: string
}
export type RunEnd = {
  /** Null: it ended by itself with exit status 0. */
  readonly failure: string | null
  /** The last bytes of what it printed on standard output and standard error, in the order in which it came. */
  readonly output: string
  /** So many bytes came before these. */
  readonly cut: number
}
export type RunRequest = {
  readonly program: string
  readonly args: readonly string[]
  readonly folder: string
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly timeoutMs: number
  readonly keepBytes: number
  readonly signal: AbortSignal
}

/**
 * Why an order is aborted when the host program stops. A program that changes a card is left to its end then: a card
 * that is cut off while it is written may need a power cycle.
 */
export class HostStops extends Error {}
type AtWork = { readonly unref: () => void } & Readonly<
  Record<'stdout' | 'stderr', { readonly destroy: () => unknown } | null>
>
/** The program goes on, and what it prints is read by nobody. */
export const leaveAtWork = (child: AtWork): void => {
  child.unref()
  child.stdout?.destroy()
  child.stderr?.destroy()
}
export const LEFT_AT_WORK = 'is left at work, because the host program stops'

export type Bounds = {
  readonly timeoutMs: number
  /** Of standard output and standard error each. */
  readonly maxBytes: number
  readonly signal?: AbortSignal | undefined
}
/** A program that is killed ends at once, unless the kernel does not let it, as while it waits for a broken card. */
export const KILLED_ENDS_MS = 1000
export const STILL_STUCK = 'was not begun, because an earlier one does not end although it was killed'

/** Keeps the last `keepBytes` of all that is added. */
export const tailOf = (keepBytes: number) => {
  let [chunks, bytes, cut]: [Buffer[], number, number] = [[], 0, 0]
  const shorten = (): Buffer => {
    const whole = Buffer.concat(chunks)
    const surplus = Math.max(0, whole.length - keepBytes)
    const kept = whole.subarray(surplus)
    ;[chunks, bytes, cut] = [[kept], kept.length, cut + surplus]
    return kept
  }
  return {
    add: (chunk: Buffer): void => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > 2 * keepBytes) shorten()
    },
    end: (): Pick<RunEnd, 'output' | 'cut'> => {
      const kept = shorten()
      // the first character may have lost its beginning
      const output = cut === 0 ? kept.toString('utf8') : kept.toString('utf8').replace(/^\uFFFD+/, '')
      return { output, cut }
    },
  }
}

/** The digest, the length, and the first and the last `keepBytes` of all that is added. */
export const digestOf = (keepBytes: number) => {
  const [hash, tail] = [createHash('sha256'), tailOf(keepBytes)]
  let [outputBytes, begin, isOver] = [0, Buffer.alloc(0), false]
  return {
    add: (chunk: Buffer): void => {
      if (isOver) return
      hash.update(chunk)
      if (outputBytes < keepBytes) begin = Buffer.concat([begin, chunk.subarray(0, keepBytes - outputBytes)])
      outputBytes += chunk.length
      tail.add(chunk)
    },
    end: (): Omit<Ended, keyof Exit> => {
      isOver = true
      const { output: outputEnd, cut } = tail.end()
      // the last character may have lost its end
      const more = cut > 0 && { outputBegin: begin.toString('utf8').replace(/\uFFFD+$/, '') }
      return { outputSha256: hash.digest('hex'), outputBytes, outputEnd, ...more }
    },
  }
}

/** All that a stream brings, up to a limit. */
export const gathered = (stream: NodeJS.ReadableStream, maxBytes: number, tooMuch: () => void): (() => string) => {
  const chunks: Buffer[] = []
  let bytes = 0
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > maxBytes) tooMuch()
    else chunks.push(chunk)
  })
  return () => Buffer.concat(chunks).toString('utf8')
}
