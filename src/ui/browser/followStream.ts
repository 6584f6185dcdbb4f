/** Reads the console's stream of events, and tells that it is open and that something happened. */
import { createNewsReader } from './news.ts'

export type Happened = 'open' | 'changed'

/** Ends with the stream. Rejects when there is none, as for somebody who is no longer signed in. */
export const followStream = async (address: URL, tell: (what: Happened) => void): Promise<void> => {
  const answer = await fetch(address, { redirect: 'error' })
  const type = answer.headers.get('content-type') ?? ''
  if (!answer.ok || answer.body === null || !type.startsWith('text/event-stream'))
    throw new Error(String(answer.status))
  tell('open')
  // something may have happened while no stream was open
  tell('changed')
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  const hasNews = createNewsReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    if (hasNews(value)) tell('changed')
  }
}
