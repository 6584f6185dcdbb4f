/** The list on the page of events, which a button pauses. */
import type { Screen } from '../view/screen.ts'
import { type ShownEvents, shownEvents } from './shownEvents.ts'

export type Tail = Omit<ShownEvents, 'address' | 'turned'> & { readonly address: () => string }

/** `redraw`: called when the user pauses or resumes the list. */
export const openTail = (first: Screen<'events'>, redraw: (screen: Screen) => void): Tail => {
  const { address, turned, ...events } = shownEvents(first)
  document.addEventListener('click', (event) => {
    if (event.target instanceof Element && event.target.closest('[data-tail]') !== null) redraw(turned())
  })
  return { ...events, address: () => address(location.href) }
}
