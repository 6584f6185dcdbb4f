/**
 * Keys and links on a page that shows a timeline. A link that only changes how it is shown is followed without a new
 * page: the address changes, and what is shown is drawn again.
 */
import type { Screen } from '../view/screen.ts'
import { type TimelineScreen, isTimelineView } from '../view/timelineViews.ts'
import { waysOf } from '../view/ways.ts'
import { searchAfter } from './addresses.ts'
import { isHelpShown, isTyping } from './keys.ts'
import { isForTimeline, isPlainClick, otherParty } from './pressed.ts'
import { nextRow } from './rows.ts'

export type RecorderKeys = {
  /** The screen, as it is to be shown by the present address: that may have changed since the screen was asked for. */
  readonly merged: (screen: Screen) => Screen
}

const linksIn = (place: ParentNode): readonly HTMLElement[] => [...place.querySelectorAll<HTMLElement>('a[data-step]')]
/** The link of a step that has the focus. */
const focusedStep = (): HTMLElement | null => {
  const { activeElement } = document
  return activeElement instanceof HTMLElement && activeElement.matches('a[data-step]') ? activeElement : null
}
/** Links of bars and of rows are two lists: keys stay in that which has the focus. */
const listOf = (link: HTMLElement | null): readonly HTMLElement[] => {
  const list = link?.closest('.lanes, .steps') ?? document.querySelector('.lanes, .steps')
  return list === null ? [] : linksIn(list)
}
const focus = (link: HTMLElement | undefined): void => {
  link?.focus({ preventScroll: true })
  link?.scrollIntoView({ block: 'nearest' })
}

const step = (by: 1 | -1): void => {
  const link = focusedStep()
  const links = listOf(link)
  focus(links[nextRow(link === null ? -1 : links.indexOf(link), by, links.length)])
}
/** To the nearest step of another party. */
const party = (by: 1 | -1): void => {
  const link = focusedStep()
  const links = listOf(link)
  if (link === null) return focus(links[0])
  const parties = links.map(({ dataset }) => dataset['who'])
  focus(links[otherParty(parties, links.indexOf(link), by)])
}

const rowOf = (number: string): HTMLElement | null => document.querySelector(`#step-${CSS.escape(number)}`)
/** Leads to the row of the step and unfolds the recorded event. The focus goes along. */
const showEvidence = (number: string): void => {
  location.hash = `step-${number}`
  const row = rowOf(number)
  const event = row?.querySelector<HTMLDetailsElement>('details')
  if (event) event.open = true
  focus(row?.querySelector<HTMLElement>('a[data-step]') ?? undefined)
}

const clicked = (key: string): void => document.querySelector<HTMLElement>(`.ways [data-key="${key}"]`)?.click()
const PRESSED: Readonly<Record<string, () => void>> = {
  ArrowDown: () => step(1),
  ArrowUp: () => step(-1),
  ArrowRight: () => party(1),
  ArrowLeft: () => party(-1),
  t: () => clicked('t'),
  r: () => clicked('r'),
}
const listenToKeys = (follow: (link: HTMLAnchorElement) => void): void =>
  document.addEventListener('keydown', (event) => {
    const { key, target } = event
    if (!isForTimeline(event, { isTyping: isTyping(target), isHelpShown: isHelpShown() })) return
    const link = focusedStep()
    if (key === 'Enter' && link instanceof HTMLAnchorElement) {
      event.preventDefault()
      follow(link)
      return showEvidence(link.dataset['step'] ?? '')
    }
    // a region that scrolls sideways keeps its arrows
    const isScrolling = target instanceof Element && target.matches('.scroll')
    const pressed = PRESSED[key]
    // nor does a page without steps lose them, which may scroll as well
    if (pressed === undefined || isScrolling || linksIn(document).length === 0) return
    event.preventDefault()
    pressed()
  })

export const openRecorder = (first: TimelineScreen, redraw: (screen: Screen) => void): RecorderKeys => {
  let shown: Screen = first
  const merged = (screen: Screen): Screen => {
    if (!isTimelineView(screen)) return screen
    const ways = waysOf(Object.fromEntries(new URL(location.href).searchParams))
    shown = { ...screen, body: { ...screen.body, ways } } as Screen
    return shown
  }
  const follow = (link: HTMLAnchorElement): void => {
    const search = searchAfter(location.search, link.href)
    if (search === location.search) return
    const number = focusedStep()?.dataset['step']
    history.replaceState(history.state, '', location.pathname + search + location.hash)
    redraw(merged(shown))
    // what had the focus may not be shown any more
    if (number !== undefined && focusedStep() === null)
      focus(listOf(null).find(({ dataset }) => dataset['step'] === number))
  }
  listenToKeys(follow)
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[data-way]') : null
    // a link to the page of another request is an ordinary one
    if (link === null || !isPlainClick(event) || new URL(link.href).pathname !== location.pathname) return
    event.preventDefault()
    follow(link)
    const { step: number } = link.dataset
    if (number !== undefined) location.hash = `step-${number}`
  })
  return { merged }
}
