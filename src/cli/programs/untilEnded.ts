/** A program until somebody ends it. */
import type { Log } from '../../log.ts'
import { complain } from '../command.ts'
import type { Address } from '../config/kinds.ts'

type Running = { readonly stop: () => Promise<void> }

/** An orderly stop takes at most ten seconds; past that the process ends as it is, which what is recorded survives. */
const STOP_MS = 9500

const untilSignal = (): Promise<string> =>
  new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve(signal))
  })

export const ended = async (stop: () => Promise<void>): Promise<void> => {
  const late = setTimeout(() => process.exit(75), STOP_MS)
  await stop()
  clearTimeout(late)
}

/** An address that is taken is told with what to do about it. */
export const inWords = (error: unknown, { host, port }: Address): Error => {
  if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') return error as Error
  const text = `${host}:${port} is in use by another program: choose another address with --listen`
  return new Error(text, { cause: error })
}

/** One that cannot start says why and ends, whatever it has opened by then; so does one that is ended while it starts. */
export const untilEnded = async (log: Log, listen: Address, begin: () => Promise<Running>): Promise<never> => {
  const signal = untilSignal()
  const started = begin().catch((error: unknown) => {
    complain(inWords(error, listen).message)
    return process.exit(1)
  })
  const running = await Promise.race([started, signal])
  log.info({ signal: await signal }, 'stopping')
  if (typeof running !== 'string') await ended(running.stop)
  // everything is closed; whatever a library still holds open must not keep the process
  process.exit(0)
}
