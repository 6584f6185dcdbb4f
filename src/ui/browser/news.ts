/** What the pages want to know of a stream of server-sent events: whether something happened. Pure. */
const isNews = (event: string): boolean => /^event: (?!beat|bye)/m.test(event)

/**
 * Returns a function that takes the text of the stream piece by piece, and says whether one of the events that the
 * piece completes is more than a sign of life.
 */
export const createNewsReader = (): ((piece: string) => boolean) => {
  let rest = ''
  return (piece) => {
    const events = (rest + piece).split('\n\n')
    rest = events.pop()!
    return events.some(isNews)
  }
}
