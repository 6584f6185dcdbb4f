/** Runs a program until it receives a stop signal. */
import { type Clock, systemClock } from '../../vocabulary/clock.ts'
import { codeOf } from '../../vocabulary/errorText.ts'
import type { Log } from '../../vocabulary/log.ts'
import { complain } from '../command.ts'
import { databaseAway } from '../databaseAway.ts'
import type { Config } from '../config/config.ts'
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

export const ended = async (stop: () => Promise<void>, clock: Pick<Clock, 'after'> = systemClock): Promise<void> => {
  const cancel = clock.after(STOP_MS, () => process.exit(75))
  await stop()
  cancel()
}

/** The addresses on which a program listens, by the flag that sets them. */
export type Listens = Readonly<Partial<Record<'--listen' | '--admin-listen' | '--ui-listen', Address>>>

export const listensOf = ({
  listen,
  adminListen,
  uiListen,
}: Pick<Config, 'listen' | 'adminListen' | 'uiListen'>): Listens => ({
  '--listen': listen,
  '--admin-listen': adminListen,
  '--ui-listen': uiListen,
})

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))
/** Why an address cannot be listened on. */
const REFUSED: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another program',
  EADDRNOTAVAIL: 'is no address of this machine',
  EACCES: 'may be listened on by more privileged users only',
}
/** For an address on which this program cannot listen, the error names the flag that chooses another one. */
export const inWords = (error: unknown, listens: Listens): Error => {
  const why = REFUSED[codeOf(error) ?? '']
  const { address, port } = error as { readonly address?: string; readonly port?: number }
  const flags = Object.entries(listens).flatMap(([flag, one]) => (one.port === port ? [flag] : []))
  if (why === undefined || flags.length === 0) return asError(error)
  // two addresses of one program may be the same
  const whose = flags.length > 1 && why === REFUSED['EADDRINUSE'] ? 'is in use' : why
  return new Error(`${address}:${port} ${whose}: choose another address with ${flags.join(' or ')}`, { cause: error })
}

/**
 * A program that cannot start prints the reason and exits, whatever it has opened by then. A program that is stopped
 * while it starts exits, too.
 */
export const untilEnded = async (log: Log, listens: Listens, begin: () => Promise<Running>): Promise<never> => {
  const signal = untilSignal()
  const started = begin().catch((error: unknown) => {
    const away = databaseAway(error)
    complain(away === null ? inWords(error, listens).message : `${away.message}\nnext: ${away.next}`)
    return process.exit(1)
  })
  const running = await Promise.race([started, signal])
  log.info({ signal: await signal }, 'stopping')
  if (typeof running !== 'string') await ended(running.stop)
  // Everything is closed. Handles that a library may still hold open must not keep the process alive.
  process.exit(0)
}
