/**
 * The life of a rig: its parts are begun in steps and ended in reverse on every way out, which are the end of its work, a part
 * that does not start, any exception, SIGINT, SIGTERM, SIGHUP, and a standard output that nobody reads any more.
 */
import { PartFailure, reasonOf } from './failure.ts'
import type { Part } from './part.ts'
import { type Status, watched } from './watch.ts'

type Closing = () => void | Promise<void>
export type Stage = {
  /** Resolves when all are ready; rejects with what to tell the operator. Begun last, ended first; those of one step together. */
  readonly begin: (parts: readonly Part[]) => Promise<void>
  /** Ended before what was begun earlier. */
  readonly onEnd: (close: Closing) => void
  /** Resolves when the rig is to end. */
  readonly asked: Promise<unknown>
}
type Way = { readonly why: 'asked' } | { readonly why: 'failed'; readonly error: unknown }

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Signals after the first change nothing: npm passes one on that the terminal has sent to everybody already. */
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

/** Resolves with the exit code when nothing that was begun runs any more. */
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
    // Too late to be ended in its turn.
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
