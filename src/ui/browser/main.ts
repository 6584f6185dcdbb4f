/** Takes over the page that the server has drawn: keeps it up to date, listens to keys, copies commands. */
import { hydrate, render } from 'preact'
import type { PageError } from '../loaded.ts'
import { layout } from '../view/layout.ts'
import type { Screen } from '../view/screen.ts'
import { isTimelineView } from '../view/timelineViews.ts'
import { drawnBy } from '../view/views.ts'
import { withoutDone } from './addresses.ts'
import { isHelpShown, keepPlace, listenToKeys } from './keys.ts'
import { keepLive } from './live.ts'
import { isRenewed, takenOver } from './takenOver.ts'

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

/** Where the pages are in one line that scrolls, the present one is shown. The page itself stays where a link led. */
const showPresentPage = (): void => {
  const line = document.querySelector('.side ul')
  const present = line?.querySelector('a[aria-current]')
  if (!line || !present) return
  const [all, one] = [line.getBoundingClientRect(), present.getBoundingClientRect()]
  line.scrollLeft += one.left + one.width / 2 - (all.left + all.width / 2)
}

/** Keeps the place within the page while the user signs in: no server hears of it. */
const keepStep = (): void => {
  const back = document.querySelector<HTMLInputElement>('input[name=back]')
  if (back !== null && !back.value.includes('#')) back.value += location.hash
}

const start = async (): Promise<void> => {
  const root = document.querySelector('#app')
  const data = document.querySelector('#screen')
  if (root === null || data === null) return
  const first = JSON.parse(data.textContent ?? '') as Screen
  const draw = await drawnBy(first.view)
  const page = (screen: Screen) => layout(screen, draw(screen))
  hydrate(page(first), root)
  showPresentPage()
  listenToKeys()
  keepPlace()
  copyOnClick()
  document.documentElement.classList.add('taken')
  keepStep()
  const { shown, drawn, isOver, take } = takenOver(first)
  const redraw = (screen: Screen) => render(page(drawn(screen)), root)
  const recorder = isTimelineView(first) ? (await import('./recorder.ts')).openRecorder(first, redraw) : null
  if (!isRenewed(first)) return
  const here = (): string => (isOver() ? withoutDone(location.href) : location.href)
  const renew = (screen: Screen): PageError | null => {
    const { loss, draws } = take(screen, (tail ?? recorder)?.merged ?? ((same) => same))
    if (draws) redraw(shown())
    return loss
  }
  const tail = first.view === 'events' ? (await import('./tail.ts')).openTail(first, redraw) : null
  keepLive({
    address: tail?.address ?? here,
    take: (screen) => {
      if (screen.view === first.view) return renew(screen)
      // the address now leads to another view, such as one that says why the page cannot be shown
      location.reload()
      return null
    },
    shown,
    busy: () => isHelpShown() || document.getSelection()?.type === 'Range' || tail?.isPaused() === true,
    isBehind: () => tail?.isBehind() ?? false,
  })
}

void start()
