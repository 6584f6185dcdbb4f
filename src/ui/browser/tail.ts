/** The tail of the page of events: what came is kept, and the next question goes on after the last event that is shown. */
import type { Screen } from '../view/screen.ts'

/** More rows would only slow the browser down: the oldest ones leave. */
const ROWS_MAX = 500
type Told = Screen<'events'>['body']['told']

export type Tail = {
  readonly address: () => string
  /** The screen with what was shown before. */
  readonly merged: (screen: Screen) => Screen
  readonly isPaused: () => boolean
  /** There is more that the service has told already. */
  readonly isBehind: () => boolean
}

/** `redraw`: called when somebody pauses it or goes on. */
export const openTail = (first: Screen<'events'>, redraw: (screen: Screen) => void): Tail => {
  let [shown, paused] = [first, false]
  const valueOf = (told: Told) => (told.ok ? told.value : null)
  let next = valueOf(first.body.told)?.next ?? first.body.after
  document.addEventListener('click', (event) => {
    if (!(event.target instanceof Element) || event.target.closest('[data-tail]') === null) return
    paused = !paused
    shown = { ...shown, body: { ...shown.body, paused } }
    redraw(shown)
  })
  return {
    address: () => {
      const url = new URL(location.href)
      url.searchParams.set('after', next)
      return url.href
    },
    merged: (screen) => {
      if (screen.view !== 'events') return screen
      const [before, news] = [valueOf(shown.body.told), valueOf(screen.body.told)]
      if (news === null) return { ...screen, body: { ...screen.body, paused } }
      next = news.next
      const lines = [...(before?.lines ?? []), ...news.lines].slice(-ROWS_MAX)
      shown = { ...screen, body: { ...screen.body, paused, told: { ok: true, value: { ...news, lines } } } }
      return shown
    },
    isPaused: () => paused,
    isBehind: () => valueOf(shown.body.told)?.more ?? false,
  }
}
