/** Runs a program until it receives a stop signal. */
import { codeOf } from '../../errorText.ts'
import type { Log } from '../../log.ts'
import { complain } from '../command.ts'
import type { Address } from '../config/kinds.ts'

type Running = { readonly stop: () => Promise<void> }

/**
 * An orderly stop takes at most ten seconds. After that the process exits as it is, which is safe because all recorded
 * data survives.
 */
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

/** The error for an address that is in use says what to do about it. */
export const inWords = (error: unknown, { host, port }: Address): Error => {
  if (codeOf(error) !== 'EADDRINUSE') return error instanceof Error ? error : new Error(String(error))
  const text = `${host}:${port} is in use by another program: choose another address with --listen`
  return new Error(text, { cause: error })
}

/**
 * A program that cannot start prints the reason and exits, whatever it has opened by then. A program that is stopped
 * while it starts exits, too.
 */
export const untilEnded = async (log: Log, listen: Address, begin: () => Promise<Running>): Promise<never> => {
  const signal = untilSignal()
  const started = begin().catch((error: unknown) => {
    complain(inWords(error, listen).message)
    return process.exit(1)
  })
  const running = await Promise.race([started, signal])
  log.info({ signal: await signal }, 'stopping')
  if (typeof running !== 'string') await ended(running.stop)
  // Everything is closed. Handles that a library may still hold open must not keep the process alive.
  process.exit(0)
}
