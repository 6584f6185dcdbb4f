/**
 * When a page asks for its screen again, and what it says of how current it is: live, paused while something is
 * selected, stale when it was not renewed in time, or reconnecting. What could not be renewed stays, with the reason.
 */
import { type PageError, lossOf } from '../loaded.ts'
import type { Screen } from '../view/screen.ts'
import { moment, whole } from '../view/words.ts'

const EVERY_MS = 2000
/** The interval while the stream of events is open: for ages, which no event tells, and for events that were lost. */
const SELDOM_MS = 5000
/** The delay in which several events are gathered, so that they cause one request. */
const GATHER_MS = 100
const SLOWEST_MS = 15_000
/** A page that was not renewed for this long is stale. */
const STALE_MS = SELDOM_MS + 3000

const WORDS = { good: 'live', held: 'paused', busy: 'stale', bad: 'reconnecting' } as const
type LiveTone = keyof typeof WORDS
/** What the mark at the top says. */
export type Live = { readonly tone: LiveTone; readonly text: string }
const liveAs = (tone: LiveTone, ageMs: number): Live => ({
  tone,
  text: tone === 'good' ? WORDS.good : `${WORDS[tone]} · ${whole(ageMs)} old`,
})
const AWAY = 'The console does not answer.'

/** Says why the page was not renewed, and when what it shows was read. */
export const staleNote = (text: string, { now }: Pick<Screen, 'now'>): string =>
  `${text} What is shown was read at ${moment(new Date(now).toISOString())}; it is asked for again.`

export type RenewingParts = {
  /** Asks for the screen; null: the answer is none. Rejects when there is no answer. */
  readonly ask: () => Promise<Screen | null>
  /** Whether the service holds further events that the page has not received. */
  readonly isBehind: () => boolean
  /** Returns what kept the screen from being renewed; null: it is renewed. */
  readonly take: (screen: Screen) => PageError | null
  readonly shown: () => Screen
  /** True while the user types or selects something that a redraw would disturb. */
  readonly busy: () => boolean
  /** Nobody sees the page. */
  readonly isHidden: () => boolean
  readonly say: (live: Live) => void
  /** Shows why the page was not renewed; null: it was, and nothing is shown. */
  readonly explain: (note: string | null) => void
  /** Loads the whole page anew. */
  readonly reload: () => void
  readonly now: () => number
  /** Returns a function that cancels it. */
  readonly after: (ms: number, run: () => void) => () => void
}
export type Renewing = {
  /** What the stream of events says: `open`, `changed`, or that it is `closed`. */
  readonly heard: (what: unknown) => void
  /** Shows how current the page is. */
  readonly tell: () => void
  readonly ask: () => Promise<void>
  /** The user has asked for it. */
  readonly retry: () => void
}

export const renewing = (parts: RenewingParts): Renewing => {
  const { shown, busy, isHidden, now } = parts
  let [failures, freshAt] = [Number(lossOf(shown().body) !== null), now()]
  let [streaming, asking, again] = [false, false, false]
  let cancel = (): void => {}
  const tell = (): void => {
    const ms = now() - freshAt
    parts.say(liveAs(failures > 0 ? 'bad' : busy() ? 'held' : ms > STALE_MS ? 'busy' : 'good', ms))
  }
  /** A page that shows nothing but the reason needs no second one. */
  const explain = (text: string | null): void =>
    parts.explain(text === null || lossOf(shown().body) !== null ? null : staleNote(text, shown()))
  const after = (ms: number): void => {
    cancel()
    cancel = parts.after(ms, () => void ask())
  }
  const later = (): void =>
    after(failures === 0 && streaming ? SELDOM_MS : Math.min(EVERY_MS * 2 ** failures, SLOWEST_MS))
  const ask = async (): Promise<void> => {
    if (isHidden() || busy()) return later()
    asking = true
    try {
      const screen = await parts.ask()
      if (screen === null) return parts.reload()
      const loss = parts.take(screen)
      failures = loss === null ? 0 : failures + 1
      if (loss === null) freshAt = now()
      explain(loss?.text ?? null)
    } catch {
      failures += 1
      explain(AWAY)
    }
    tell()
    asking = false
    if (again || (failures === 0 && parts.isBehind())) after(GATHER_MS)
    else later()
    again = false
  }
  const heard = (what: unknown): void => {
    if (what === 'changed' && !asking) after(GATHER_MS)
    else if (what === 'changed') again = true
    else {
      // the end of the stream may be the first sign that the service is away
      if (streaming && what === 'closed') after(GATHER_MS)
      streaming = what === 'open'
    }
  }
  tell()
  later()
  const retry = (): void => {
    if (!asking) void ask()
  }
  return { heard, tell, ask, retry }
}
