/**
 * The life cycle of a rig. Its parts are started in steps and stopped in reverse order whenever the rig ends: when its
 * work is done, a part does not start, an exception is thrown, on SIGINT, SIGTERM or SIGHUP, and when the reader of
 * standard output closes the pipe.
 */
import { PartFailure, reasonOf } from './failure.ts'
import type { Part } from './part.ts'
import { type Status, watched } from './watch.ts'

type Closing = () => void | Promise<void>
export type Stage = {
  /**
   * Starts the parts of one step together. Resolves when all are ready; rejects with a text for the operator. Steps are
   * stopped in reverse order.
   */
  readonly begin: (parts: readonly Part[]) => Promise<void>
  /** Registers a function that is called before the parts started earlier are stopped. */
  readonly onEnd: (close: Closing) => void
  /** Resolves when the rig should end. */
  readonly asked: Promise<unknown>
}
type Way = { readonly why: 'asked' } | { readonly why: 'failed'; readonly error: unknown }

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Signals after the first have no effect: npm forwards a signal that the terminal has already sent to all processes.
 */
const wayOut = (): Promise<Way> =>
  new Promise((resolve) => {
    for (const signal of SIGNALS) process.on(signal, () => resolve({ why: 'asked' }))
    process.stdout.on('error', () => resolve({ why: 'asked' }))
    for (const event of ['uncaughtException', 'unhandledRejection'] as const)
      process.on(event, (error) => resolve({ why: 'failed', error }))
  })

export const lineOf = ({ name, state, pid, address, restarts, note }: Status): string =>
  [
    name.padEnd(10),
    state.padEnd(8),
    `pid ${pid ?? '-'}`.padEnd(11),
    address.padEnd(44),
    restarts === 0 ? '' : `restarts ${restarts}`,
    note,
  ]
    .join('  ')
    .trimEnd()

/** Resolves with the exit code when nothing that was started runs any more. */
export const lived = async (
  name: string,
  say: (line: string) => void,
  work: (stage: Stage) => Promise<void>,
): Promise<number> => {
  const asked = wayOut()
  const closings: Closing[] = []
  let ending = false
  let code = 0
  const failed = (error: unknown): void => {
    code = 1
    say(`${name}: ${reasonOf(error)}`)
  }
  const onEnd = (close: Closing): void => {
    closings.unshift(close)
    if (!ending) return
    // The rig is already ending, so this is closed at once instead of in order.
    void Promise.resolve().then(close).catch(failed)
    throw new Error('it is ending')
  }
  const begin: Stage['begin'] = async (parts) => {
    if (ending) throw new Error('it is ending')
    const watching = parts.map((part) => watched(part, (status) => say(lineOf(status))))
    onEnd(async () => {
      const ends = await Promise.allSettled(watching.map(({ stop }) => stop()))
      for (const end of ends) if (end.status === 'rejected') failed(end.reason)
    })
    const firsts = watching.map(({ first, part }) =>
      first.catch((error: unknown) => {
        throw new PartFailure(part, error)
      }),
    )
    await Promise.all(firsts)
    if (ending) throw new Error('it is ending')
  }
  const working = work({ begin, onEnd, asked }).then(
    (): Way => ({ why: 'asked' }),
    (error: unknown): Way => ({ why: 'failed', error }),
  )
  const way = await Promise.race([working, asked])
  if (way.why === 'failed') failed(way.error)
  ending = true
  for (const close of closings)
    try {
      await close()
    } catch (error) {
      failed(error)
    }
  return code
}
