/** What is asked of a program that is run to its end, and the end of what it prints, in little memory. Pure. */

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

/** Keeps the first and the last `keepBytes` of all that is added. */
export const endsOf = (keepBytes: number) => {
  const tail = tailOf(keepBytes)
  let [outputBytes, begin] = [0, Buffer.alloc(0)]
  return {
    add: (chunk: Buffer): void => {
      if (outputBytes < keepBytes) begin = Buffer.concat([begin, chunk.subarray(0, keepBytes - outputBytes)])
      outputBytes += chunk.length
      tail.add(chunk)
    },
    end: (): Pick<Ended, 'outputBytes' | 'outputBegin' | 'outputEnd'> => {
      const { output: outputEnd, cut } = tail.end()
      // the last character may have lost its end
      return { outputBytes, outputEnd, ...(cut > 0 && { outputBegin: begin.toString('utf8').replace(/\uFFFD+$/, '') }) }
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
