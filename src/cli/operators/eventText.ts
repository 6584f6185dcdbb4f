/** Parses server-sent events from the text of a stream, piece by piece. */

export type Frame = { readonly id: string | null; readonly event: string; readonly data: string }
export type Frames = {
  /** Returns the frames that this text completes. Throws when a frame is longer than the limit. */
  readonly take: (text: string) => readonly Frame[]
  /** How long to wait before reconnecting, as last stated by the stream; ms. */
  readonly retryMs: () => number
}

const RETRY_MS = 2000
/** Several times as long as the longest event. */
const FRAME_MAX = 8 * 1024 * 1024

export const createFrames = (): Frames => {
  let [rest, retryMs] = ['', RETRY_MS]
  const frameOf = (text: string): readonly Frame[] => {
    const fields = new Map<string, string>()
    for (const line of text.split('\n')) {
      const colon = line.indexOf(':')
      if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''))
    }
    const retry = Number(fields.get('retry') ?? Number.NaN)
    if (Number.isSafeInteger(retry) && retry >= 0) retryMs = retry
    const [event, data] = [fields.get('event'), fields.get('data')]
    return event === undefined || data === undefined ? [] : [{ id: fields.get('id') ?? null, event, data }]
  }
  return {
    take: (text) => {
      const texts = (rest + text).split('\n\n')
      rest = texts.pop()!
      if (rest.length > FRAME_MAX) throw new Error('the stream sends something else than events')
      return texts.flatMap(frameOf)
    },
    retryMs: () => retryMs,
  }
}
