/**
 * Slows down whoever tries passwords on the sign-in page.
 *
 * ATTEMPTS-1 after a refused sign-in, the same user from the same address may try again after a pause, which doubles
 *    with each further refusal: 1 s, then up to a minute. An earlier attempt is refused without asking Keystone;
 * ATTEMPTS-2 the same holds for an address after `FREE` refusals, whatever names it tries;
 * ATTEMPTS-3 a user is never held up by attempts from other addresses, and a sign-in that succeeds ends the pauses.
 */
import type { Clock } from '../clock.ts'
import { backoffMs } from '../waiting.ts'

const PAUSE = { firstMs: 1000, maxMs: 60_000 }
const FREE = 50
/** After so long without a refusal, they count from the beginning. */
const FORGOTTEN_MS = 15 * 60_000
/** The oldest are forgotten first. */
const ENTRIES_MAX = 10_000

type Entry = { readonly refused: number; readonly at: number; readonly until: number }
export type Attempts = {
  /** How long this one must wait, in ms; 0: it may try. */
  readonly waitMs: (user: string, from: string) => number
  readonly refused: (user: string, from: string) => void
  readonly succeeded: (user: string, from: string) => void
}

export const createAttempts = (clock: Pick<Clock, 'now'>): Attempts => {
  const entries = new Map<string, Entry>()
  const both = (user: string, from: string) => [JSON.stringify([from, user]), JSON.stringify([from])] as const
  const found = (key: string): Entry | undefined => {
    const entry = entries.get(key)
    return entry === undefined || Math.abs(clock.now() - entry.at) > FORGOTTEN_MS ? undefined : entry
  }
  const note = (key: string, free: number): void => {
    const refused = (found(key)?.refused ?? 0) + 1
    const pauseMs = refused > free ? backoffMs(PAUSE, refused - free) : 0
    entries.delete(key)
    entries.set(key, { refused, at: clock.now(), until: clock.now() + pauseMs })
    for (const oldest of entries.keys()) {
      if (entries.size <= ENTRIES_MAX) break
      entries.delete(oldest)
    }
  }
  return {
    waitMs: (user, from) =>
      Math.max(0, ...both(user, from).map((key) => Math.min(PAUSE.maxMs, (found(key)?.until ?? 0) - clock.now()))),
    refused: (user, from) => {
      const [own, address] = both(user, from)
      note(own, 0)
      note(address, FREE)
    },
    succeeded: (user, from) => both(user, from).forEach((key) => void entries.delete(key)),
  }
}
