/** Keeps a visible page up to date: lets `renewing.ts` decide, asks the console, and shows how current the page is. */
import type { Screen } from '../view/screen.ts'
import { type Live, type RenewingParts, renewing } from './renewing.ts'

const LATE_MS = 10_000
const LOOK_MS = 500

type Parts = Pick<RenewingParts, 'isBehind' | 'take' | 'shown' | 'busy'> & {
  /** The address at which the screen is asked for. */
  readonly address: () => string
}

const say = ({ tone, text }: Live): void => {
  const place = document.querySelector('#live')
  if (place === null || place.textContent === text) return
  place.className = `live ${tone}`
  place.textContent = text
}

const explain = (note: string | null): void => {
  const [place, words] = [document.querySelector<HTMLElement>('#lost'), document.querySelector('#lost-text')]
  if (place === null || words === null) return
  place.hidden = note === null
  if (note !== null && words.textContent !== note) words.textContent = note
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

export const keepLive = ({ address, ...parts }: Parts): void => {
  const { heard, tell, ask, retry } = renewing({
    ...parts,
    ask: () => askedAgain(address()),
    isHidden: () => document.hidden,
    say,
    explain,
    reload: () => location.reload(),
    now: () => Date.now(),
    after: (ms, run) => {
      const timer = setTimeout(run, ms)
      return () => clearTimeout(timer)
    },
  })
  follow(heard)
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
    if (target instanceof Element && target.closest('[data-retry]') !== null) retry()
  })
  addEventListener('online', () => void ask())
}
