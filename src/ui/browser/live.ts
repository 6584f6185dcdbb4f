/**
 * Keeps a visible page up to date: asks for the screen again when something happened, and at intervals. Shows how current the page is:
 * live, paused while something is selected, stale when it was not renewed in time, or reconnecting.
 */
import type { Screen } from '../view/screen.ts'
import { whole } from '../view/words.ts'

const EVERY_MS = 2000
/** The interval while the stream of events is open: for ages, which no event tells, and for events that were lost. */
const SELDOM_MS = 5000
/** The delay in which several events are gathered, so that they cause one request. */
const GATHER_MS = 100
const SLOWEST_MS = 15_000
const LATE_MS = 10_000
/** A page that was not renewed for this long is stale. */
const STALE_MS = SELDOM_MS + 3000
const LOOK_MS = 500

type Parts = {
  /** The address at which the screen is asked for. */
  readonly address: () => string
  /** Whether the service holds further events that the page has not received. */
  readonly isBehind: () => boolean
  readonly take: (screen: Screen) => void
  /** True while the user types or selects something that a redraw would disturb. */
  readonly busy: () => boolean
}

const WORDS = { good: 'live', held: 'paused', busy: 'stale', bad: 'reconnecting' } as const

const say = (tone: keyof typeof WORDS, ageMs: number): void => {
  const text = tone === 'good' ? WORDS.good : `${WORDS[tone]} · ${whole(ageMs)} old`
  const place = document.querySelector('#live')
  if (place === null || place.textContent === text) return
  place.className = `live ${tone}`
  place.textContent = text
}

/** In a browser without shared workers, pages only ask at intervals. */
const follow = (told: (what: unknown) => void): void => {
  if (!('SharedWorker' in window)) return
  const { port } = new SharedWorker(new URL('worker.js', import.meta.url), { type: 'module', name: 'accelerando' })
  port.addEventListener('message', ({ data }) => told(data))
  port.start()
}

/** Null: the whole page must be loaded again, for example because the user must sign in. */
const askedAgain = async (address: string): Promise<Screen | null> => {
  const answer = await fetch(address, {
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(LATE_MS),
  })
  const isScreen = !answer.redirected && answer.headers.get('content-type')?.startsWith('application/json')
  return isScreen ? ((await answer.json()) as Screen) : null
}

export const keepLive = ({ address, take, busy, isBehind }: Parts): void => {
  let [failures, freshAt, timer, streaming, asking, again] = [0, Date.now(), 0, false, false, false]
  /** Shows how current the page is. */
  const tell = (): void => {
    const ms = Date.now() - freshAt
    say(failures > 0 ? 'bad' : busy() ? 'held' : ms > STALE_MS ? 'busy' : 'good', ms)
  }
  const after = (ms: number): void => {
    clearTimeout(timer)
    timer = window.setTimeout(() => void ask(), ms)
  }
  const later = (): void =>
    after(failures === 0 && streaming ? SELDOM_MS : Math.min(EVERY_MS * 2 ** failures, SLOWEST_MS))
  const ask = async (): Promise<void> => {
    if (document.hidden || busy()) return later()
    asking = true
    try {
      const screen = await askedAgain(address())
      if (screen === null) return location.reload()
      take(screen)
      failures = 0
      freshAt = Date.now()
    } catch {
      failures += 1
    }
    tell()
    asking = false
    if (again || (failures === 0 && isBehind())) after(GATHER_MS)
    else later()
    again = false
  }
  follow((what) => {
    if (what === 'changed' && !asking) after(GATHER_MS)
    else if (what === 'changed') again = true
    else {
      // the end of the stream may be the first sign that the service is away
      if (streaming && what === 'closed') after(GATHER_MS)
      streaming = what === 'open'
    }
  })
  tell()
  setInterval(() => {
    if (!document.hidden) tell()
  }, LOOK_MS)
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return
    // the page was not renewed while it was hidden
    tell()
    void ask()
  })
  document.addEventListener('selectionchange', tell)
  addEventListener('online', () => void ask())
  later()
}
