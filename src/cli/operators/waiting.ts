/** `--wait`: after a request was accepted, waits until the work is finished or the time is over. */
import { systemClock } from '../../vocabulary/clock.ts'
import { messageOf } from '../../vocabulary/errorText.ts'
import { inOneLine } from '../../vocabulary/text.ts'
import { bounded, createPauses } from '../../vocabulary/waiting.ts'
import type { CommandRow } from '../commandRow.ts'
import { Failure, misused } from '../exits.ts'
import type { ApiFlags } from './api.ts'
import { type ReceivedEvent, eventLine, follow } from './events.ts'

export type Wait = { readonly wait?: string | true }

const USUAL_SECONDS = 300
const SECONDS_MAX = 86_400
/** The state may have changed before the stream began, so it is read again after this time. */
const LOOK_AGAIN_MS = 1000

/** `until`: the awaited state, as the end of a sentence. */
export const waitable = (command: CommandRow, until: string): CommandRow =>
  command
    .endsWith('waited')
    .option(
      '--wait [SECONDS]',
      `wait until ${until}, and tell meanwhile what happens on standard error (${USUAL_SECONDS} s unless said otherwise)`,
    )

/** Null: the command does not wait. */
export const waitMsOf = ({ wait }: Wait): number | null => {
  if (wait === undefined) return null
  const seconds = wait === true ? USUAL_SECONDS : Number(wait)
  if (wait !== '' && seconds > 0 && seconds <= SECONDS_MAX) return seconds * 1000
  throw misused(`--wait: must be a number of seconds, more than 0 and at most ${SECONDS_MAX} (is ${String(wait)})`)
}

export type Waiting = {
  readonly flags: ApiFlags
  /** Selects the events that are printed, and after which the state is read again. */
  readonly query: Readonly<Record<string, string>>
  /** The unfinished work, as a sentence; null: all is finished. */
  readonly unfinished: () => Promise<string | null>
  readonly limitMs: number
  /** The command that shows the state later. */
  readonly next: string
}
const tell = (line: string): void => void process.stderr.write(`${inOneLine(line)}\n`)

/** Rejects when the time is over, and with any error of `unfinished`. */
export const waitUntil = async ({ flags, query, unfinished, limitMs, next }: Waiting): Promise<void> => {
  const [pauses, ended] = [createPauses(systemClock), new AbortController()]
  const take = (event: ReceivedEvent): void => {
    tell(eventLine(event))
    pauses.wake()
  }
  const end = systemClock.monotonic() + limitMs
  // reading the state does not depend on the stream: an account that may not read events still waits
  const following = follow({ flags, query, after: null }, take, tell, ended.signal).catch((error: unknown) =>
    tell(`what happens cannot be followed: ${messageOf(error)}`),
  )
  try {
    for (;;) {
      const left = await unfinished()
      if (left === null) return
      const leftMs = end - systemClock.monotonic()
      if (leftMs <= 0) throw new Failure('waited', `after ${limitMs / 1000} s ${left}`, { next })
      await pauses.pause(Math.min(LOOK_AGAIN_MS, leftMs))
    }
  } finally {
    ended.abort()
    await bounded(systemClock, following, LOOK_AGAIN_MS, undefined)
  }
}
