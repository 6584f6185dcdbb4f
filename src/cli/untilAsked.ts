/** The end of a command that prints until it is told to stop. */

/** The returned signal aborts at the first Ctrl-C, and when a reader of the output closes the pipe. */
export const untilAsked = (): AbortSignal => {
  const asked = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => asked.abort())
  process.stdout.on('error', () => asked.abort())
  return asked.signal
}
