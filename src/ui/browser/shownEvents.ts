/**
 * The events on the page of events: received ones are kept, and the next question continues after the last one that is
 * shown. Knows no document.
 */
import type { Screen } from '../view/screen.ts'

/** The most rows. The oldest ones are removed, since more rows would slow the browser down. */
export const ROWS_MAX = 500
type Events = Screen<'events'>['body']['events']

export type ShownEvents = {
  /** The address at which the page asks for the following events; `href`: its own. */
  readonly address: (href: string) => string
  /** The new screen, with the events that were shown before. */
  readonly merged: (screen: Screen) => Screen
  /** Pauses or resumes the list, and returns the screen that says so. */
  readonly turned: () => Screen
  readonly isPaused: () => boolean
  /** Whether the service holds further events that the page has not received. */
  readonly isBehind: () => boolean
}

export const shownEvents = (first: Screen<'events'>): ShownEvents => {
  let [shown, paused] = [first, false]
  const valueOf = (events: Events) => (events.ok ? events.value : null)
  let next = valueOf(first.body.events)?.next ?? first.body.after
  return {
    address: (href) => {
      const url = new URL(href)
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
    turned: () => {
      paused = !paused
      shown = { ...shown, body: { ...shown.body, paused } }
      return shown
    },
    isPaused: () => paused,
    isBehind: () => valueOf(shown.body.events)?.more ?? false,
  }
}
