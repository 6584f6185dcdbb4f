/**
 * Keeps a visible page up to date: asks for the screen again when something happened, and at intervals. Shows how
 * current the page is: live, paused while something is selected, stale when it was not renewed in time, or
 * reconnecting. What could not be renewed stays, with the reason.
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
const LATE_MS = 10_000
/** A page that was not renewed for this long is stale. */
const STALE_MS = SELDOM_MS + 3000
const LOOK_MS = 500

type Parts = {
  /** The address at which the screen is asked for. */
  readonly address: () => string
  /** Whether the service holds further events that the page has not received. */
  readonly isBehind: () => boolean
  /** Returns what kept the screen from being renewed; null: it is renewed. */
  readonly take: (screen: Screen) => PageError | null
  readonly shown: () => Screen
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

const AWAY = 'The console does not answer.'
/** Says why what is shown is old; null: it is not. A page that shows nothing but the reason needs no second one. */
const explain = (text: string | null, { body, now }: Screen): void => {
  const [place, words] = [document.querySelector<HTMLElement>('#lost'), document.querySelector('#lost-text')]
  if (place === null || words === null) return
  place.hidden = text === null || lossOf(body) !== null
  const said = `${text ?? ''} What is shown was read at ${moment(new Date(now).toISOString())}; it is asked for again.`
  if (!place.hidden && words.textContent !== said) words.textContent = said
}

/** In a browser without shared workers, pages only ask at intervals. */
const follow = (onMessage: (what: unknown) => void): void => {
  if (!('SharedWorker' in window)) return
  const { port } = new SharedWorker(new URL('worker.js', import.meta.url), { type: 'module', name: 'accelerando' })
  port.addEventListener('message', ({ data }) => onMessage(data))
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

export const keepLive = ({ address, take, shown, busy, isBehind }: Parts): void => {
  const begun = Number(lossOf(shown().body) !== null)
  let [failures, freshAt, timer, streaming, asking, again] = [begun, Date.now(), 0, false, false, false]
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
      const loss = take(screen)
      failures = loss === null ? 0 : failures + 1
      if (loss === null) freshAt = Date.now()
      explain(loss?.text ?? null, shown())
    } catch {
      failures += 1
      explain(AWAY, shown())
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
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('[data-retry]') !== null && !asking) void ask()
  })
  addEventListener('online', () => void ask())
  later()
}
