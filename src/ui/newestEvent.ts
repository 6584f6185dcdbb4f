/** Reads the id of the newest event, which a stream of the API sends first. */
import { messageOf } from '../vocabulary/errorText.ts'
import { type Api, refusalIn } from './api.ts'
import { type Loaded, loaded, pageError } from './loaded.ts'

const BEGIN_MS = 4000
/** In characters: more of the stream is not read. */
const BEGINNING_MAX = 8000

export const newestEvent = async (api: Api): Promise<Loaded<string>> => {
  const stop = new AbortController()
  let reader: ReadableStreamDefaultReader<string> | undefined
  try {
    const answer = await api.stream(null, AbortSignal.any([stop.signal, AbortSignal.timeout(BEGIN_MS)]))
    if (answer.status !== 200) return await refusalIn(answer)
    if (!answer.headers.get('content-type')?.startsWith('text/event-stream'))
      return pageError('failed', 'The API did not answer with a stream of events.')
    reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (reader !== undefined && text.length < BEGINNING_MAX) {
      const { value, done } = await reader.read()
      text += value ?? ''
      const id = /^id: ?(.+)\n/m.exec(text)?.[1]
      if (id !== undefined) return loaded(id)
      if (done) break
    }
    return pageError('away', 'The stream of events does not begin.')
  } catch (error) {
    const isLate = error instanceof DOMException && error.name === 'TimeoutError'
    const why = isLate ? 'did not begin in time' : `cannot be read: ${messageOf(error)}`
    return pageError('away', `The stream of events ${why}.`)
  } finally {
    stop.abort()
    await reader?.cancel().catch(() => {})
  }
}
