/** Takes over the page that the server has drawn: keeps it up to date, listens to keys, copies commands. */
import { hydrate, render } from 'preact'
import { DONE_NAMES } from '../doneArguments.ts'
import { type PageError, lossOf } from '../loaded.ts'
import { layout } from '../view/layout.ts'
import type { Screen } from '../view/screen.ts'
import { isTimelineView } from '../view/timelineViews.ts'
import { drawnBy } from '../view/views.ts'
import { pastIn } from '../view/ways.ts'
import { isHelpShown, keepPlace, listenToKeys } from './keys.ts'
import { keepLive } from './live.ts'

/** Views that are not renewed: answers to one question, and forms. */
const STATIC = new Set(['act', 'sign_in', 'trouble', 'explain', 'usage', 'opened'])
/** The past does not change. */
const isPast = (screen: Screen): boolean => screen.view === 'arq' && pastIn(screen.body.asOf, screen.now) !== null
const COPIED_MS = 1500

const copyOnClick = (): void =>
  document.addEventListener('click', (event) => {
    const place = event.target instanceof Element ? event.target.closest<HTMLElement>('.copy') : null
    if (place === null) return
    void navigator.clipboard.writeText(place.dataset['copy'] ?? '').then(() => {
      place.classList.add('copied')
      return setTimeout(() => place.classList.remove('copied'), COPIED_MS)
    })
  })

/** Keeps the place within the page while the user signs in: no server hears of it. */
const keepStep = (): void => {
  const back = document.querySelector<HTMLInputElement>('input[name=back]')
  if (back !== null && !back.value.includes('#')) back.value += location.hash
}

const isOver = (done: Screen['done']): boolean => done?.recorded === undefined || done.tone !== 'busy'
const withoutDone = (address: string): string => {
  const url = new URL(address)
  for (const name of DONE_NAMES) url.searchParams.delete(name)
  return url.href
}

const start = async (): Promise<void> => {
  const root = document.querySelector('#app')
  const data = document.querySelector('#screen')
  if (root === null || data === null) return
  const first = JSON.parse(data.textContent ?? '') as Screen
  const draw = await drawnBy(first.view)
  const page = (screen: Screen) => layout(screen, draw(screen))
  hydrate(page(first), root)
  listenToKeys()
  keepPlace()
  copyOnClick()
  document.documentElement.classList.add('taken')
  keepStep()
  let [shown, done] = [first, first.done]
  const redraw = (screen: Screen) => {
    done = screen.done ?? done
    render(page({ ...screen, done, search: first.search }), root)
  }
  const recorder = isTimelineView(first) ? (await import('./recorder.ts')).openRecorder(first, redraw) : null
  if (STATIC.has(first.view) || isPast(first)) return
  /** What an action has recorded is asked for only as long as something of it is missing. */
  const here = (): string => (isOver(done) ? withoutDone(location.href) : location.href)
  /** Draws the screen, unless the service lost what is shown now: old rows are better than none. */
  const take = (screen: Screen): PageError | null => {
    const loss = lossOf(screen.body)
    if (loss !== null && lossOf(shown.body) === null) return loss
    shown = loss === null ? ((tail ?? recorder)?.merged(screen) ?? screen) : screen
    redraw(shown)
    return loss
  }
  const tail = first.view === 'events' ? (await import('./tail.ts')).openTail(first, redraw) : null
  keepLive({
    address: tail?.address ?? here,
    take: (screen) => {
      if (screen.view === first.view) return take(screen)
      // the address now leads to another view, such as one that says why the page cannot be shown
      location.reload()
      return null
    },
    shown: () => shown,
    busy: () => isHelpShown() || document.getSelection()?.type === 'Range' || tail?.isPaused() === true,
    isBehind: () => tail?.isBehind() ?? false,
  })
}

void start()
