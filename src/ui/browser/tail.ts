/**
 * The list on the page of events: received events are kept, and the next question continues after the last event that
 * is shown.
 */
import type { Screen } from '../view/screen.ts'

/** The most rows. The oldest ones are removed, since more rows would slow the browser down. */
const ROWS_MAX = 500
type Events = Screen<'events'>['body']['events']

export type Tail = {
  readonly address: () => string
  /** The new screen, with the events that were shown before. */
  readonly merged: (screen: Screen) => Screen
  readonly isPaused: () => boolean
  /** Whether the service holds further events that the page has not received. */
  readonly isBehind: () => boolean
}

/** `redraw`: called when the user pauses or resumes the list. */
export const openTail = (first: Screen<'events'>, redraw: (screen: Screen) => void): Tail => {
  let [shown, paused] = [first, false]
  const valueOf = (events: Events) => (events.ok ? events.value : null)
  let next = valueOf(first.body.events)?.next ?? first.body.after
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
      const [before, news] = [valueOf(shown.body.events), valueOf(screen.body.events)]
      if (news === null) return { ...screen, body: { ...screen.body, paused } }
      next = news.next
      const lines = [...(before?.lines ?? []), ...news.lines].slice(-ROWS_MAX)
      shown = { ...screen, body: { ...screen.body, paused, events: { ok: true, value: { ...news, lines } } } }
      return shown
    },
    isPaused: () => paused,
    isBehind: () => valueOf(shown.body.events)?.more ?? false,
  }
}
