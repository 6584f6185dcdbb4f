/**
 * Slows down whoever tries passwords on the sign-in page.
 *
 * ATTEMPTS-1 after a refused sign-in, the same user from the same address may try again after a pause, which doubles
 *    with each further refusal: 1 s, then up to a minute. An earlier attempt is refused without asking Keystone;
 * ATTEMPTS-2 the same holds for an address after `FREE` refusals, whatever names it tries;
 * ATTEMPTS-3 a user is never held up by attempts from other addresses, and a sign-in that succeeds ends the pauses;
 * ATTEMPTS-4 attempts of one user from one address are made one after the other, and of one address at most `FREE` at
 *    once: many that are sent together come upon the pause like any others.
 */
import type { Clock } from '../vocabulary/clock.ts'
import { createKeyedMutex } from '../vocabulary/keyedMutex.ts'
import { backoffMs } from '../vocabulary/waiting.ts'
import { type Signed, TEXT_MAX } from './looking.ts'

const PAUSE = { firstMs: 1000, maxMs: 60_000 }
const FREE = 50
/** After so long without a refusal, they count from the beginning. */
const FORGOTTEN_MS = 15 * 60_000
/** The oldest are forgotten first. */
const ENTRIES_MAX = 10_000

type Entry = { readonly refused: number; readonly at: number; readonly until: number }
/** Signs in, unless this user has to wait: then it says for how long. */
export type Attempt = (
  user: string,
  from: string,
  signIn: () => Promise<Signed>,
) => Promise<Signed | { readonly waitMs: number }>

export const createAttempts = (clock: Pick<Clock, 'now' | 'after'>): Attempt => {
  const entries = new Map<string, Entry>()
  const underWay = new Map<string, number>()
  const turns = createKeyedMutex(clock)
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
  const pauseOf = (key: string): number => Math.min(PAUSE.maxMs, (found(key)?.until ?? 0) - clock.now())
  const inTurn = async (own: string, address: string, signIn: () => Promise<Signed>) => {
    const waitMs = Math.max(pauseOf(own), pauseOf(address))
    if (waitMs > 0) return { waitMs }
    const signed = await signIn()
    if (signed.ok) for (const key of [own, address]) entries.delete(key)
    else if (signed.wrong) {
      note(own, 0)
      note(address, FREE)
    }
    return signed
  }
  return async (user, from, signIn) => {
    const [own, address] = [JSON.stringify([from, user.slice(0, TEXT_MAX)]), JSON.stringify([from])]
    const others = underWay.get(address) ?? 0
    if (others >= FREE) return { waitMs: PAUSE.firstMs }
    underWay.set(address, others + 1)
    try {
      return await turns.run(own, () => inTurn(own, address, signIn))
    } finally {
      const left = underWay.get(address)! - 1
      if (left > 0) underWay.set(address, left)
      else underWay.delete(address)
    }
  }
}
