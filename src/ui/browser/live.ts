/**
 * Keeps the page up to date: asks for the screen again when something happened, and now and then in any case, while somebody looks at it; says
 * whether it is current: live, paused while something is selected, stale when it was not renewed, or reconnecting.
 */
import type { Screen } from '../view/screen.ts'
import { whole } from '../view/words.ts'

const EVERY_MS = 2000
/** While the stream of events is open, for what no event tells: ages, and what was lost on the way. */
const SELDOM_MS = 5000
/** Many things that happen at once are asked for once. */
const GATHER_MS = 100
const SLOWEST_MS = 15_000
const LATE_MS = 10_000
/** What is shown is stale when it was not renewed for so long. */
const STALE_MS = SELDOM_MS + 3000
const LOOK_MS = 500

type Parts = {
  /** Where the page is asked for again. */
  readonly address: () => string
  /** There is more that the service has told already. */
  readonly isBehind: () => boolean
  readonly take: (screen: Screen) => void
  /** True while something is typed or chosen that a new drawing would disturb. */
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

/** Where a browser knows no shared workers, pages only ask now and then. */
const follow = (told: (what: unknown) => void): void => {
  if (!('SharedWorker' in window)) return
  const { port } = new SharedWorker(new URL('worker.js', import.meta.url), { type: 'module', name: 'accelerando' })
  port.addEventListener('message', ({ data }) => told(data))
  port.start()
}

/** Null: the page is to be loaded as a whole, for example because somebody has to sign in. */
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
  /** How current the page is, for every reason that it may not be. */
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
      // a stream that ends may be the first sign that the service is away
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
    // nobody asked while nobody looked
    tell()
    void ask()
  })
  document.addEventListener('selectionchange', tell)
  addEventListener('online', () => void ask())
  later()
}
