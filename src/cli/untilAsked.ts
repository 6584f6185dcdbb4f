/** The end of a command that shows what happens until it is told to stop. */

/** The first Ctrl-C ends it, and so does a reader of its output that closes the pipe. */
export const untilAsked = (): AbortSignal => {
  const asked = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => asked.abort())
  process.stdout.on('error', () => asked.abort())
  return asked.signal
}
