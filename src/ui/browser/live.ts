/**
 * Keeps the page up to date: asks for the screen again when something happened, and now and then in any case, while somebody looks at it; says
 * whether it is current.
 */
import type { Screen } from '../view/screen.ts'
import { duration } from '../view/words.ts'

const EVERY_MS = 2000
/** While the stream of events is open, for what no event tells: ages, and what was lost on the way. */
const SELDOM_MS = 5000
/** Many things that happen at once are asked for once. */
const GATHER_MS = 100
const SLOWEST_MS = 15_000
const LATE_MS = 10_000

type Parts = {
  readonly take: (screen: Screen) => void
  /** True while something is typed or chosen that a new drawing would disturb. */
  readonly busy: () => boolean
}

const say = (tone: string, text: string): void => {
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

export const keepLive = ({ take, busy }: Parts): void => {
  let [failures, freshAt, timer, streaming, asking, again] = [0, Date.now(), 0, false, false, false]
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
      const answer = await fetch(location.href, {
        headers: { accept: 'application/json' },
        signal: AbortSignal.timeout(LATE_MS),
      })
      if (answer.redirected || !answer.headers.get('content-type')?.startsWith('application/json'))
        return location.reload()
      take((await answer.json()) as Screen)
      failures = 0
      freshAt = Date.now()
      say('good', 'live')
    } catch {
      failures += 1
      say('bad', `reconnecting · ${duration(Math.floor((Date.now() - freshAt) / 1000) * 1000)} old`)
    }
    asking = false
    if (again) after(GATHER_MS)
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
  say('good', 'live')
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) void ask()
  })
  addEventListener('online', () => void ask())
  later()
}
