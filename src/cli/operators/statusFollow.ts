/** `accelerando status --follow`: prints the status page again whenever something changes. */
import type { Clock } from '../../vocabulary/clock.ts'
import { messageOf } from '../../vocabulary/errorText.ts'
import { inOneLine } from '../../vocabulary/text.ts'
import { pause } from '../../vocabulary/waiting.ts'
import { Failure } from '../exits.ts'

/** The counts of the service may be one second old, so a shorter interval shows nothing more. */
const EVERY_MS = 2000
const HOME = '\u001B[H\u001B[2J'

type Follow<Seen> = {
  readonly look: () => Promise<Seen>
  /** Two results with the same key look the same to the reader, so the second is not printed. */
  readonly keyOf: (seen: Seen) => string
  readonly linesOf: (seen: Seen) => readonly string[]
  /** True on a terminal: each page replaces the one before. */
  readonly redraw: boolean
  readonly write: (text: string) => void
  readonly warn: (text: string) => void
  readonly signal: AbortSignal
  readonly clock: Pick<Clock, 'after'>
}

/** Resolves when it is told to stop. It waits for a service that is not available; a refusal ends it. */
export const followStatus = async <Seen>(given: Follow<Seen>): Promise<void> => {
  const { look, keyOf, linesOf, redraw, write, warn, signal, clock } = given
  let [shown, away] = ['', false]
  const once = async (): Promise<void> => {
    try {
      const seen = await look()
      const key = keyOf(seen)
      if (key === shown && !away && !redraw) return
      ;[shown, away] = [key, false]
      write(`${redraw ? HOME : ''}${linesOf(seen).map(inOneLine).join('\n')}\n`)
    } catch (error) {
      if (!(error instanceof Failure && error.exit === 'unreached')) throw error
      if (!away) warn(`${messageOf(error)}; it is tried again`)
      away = true
    }
  }
  while (!signal.aborted) {
    await once()
    await pause(clock, EVERY_MS, signal).catch(() => undefined)
  }
}
