/**
 * Keyboard shortcuts for the search, rows, pages and places, and the focus after going back. Nobody needs them:
 * everything is also a link or a field.
 */

import { nextRow } from './rows.ts'

export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.matches('input, textarea, select') || target.isContentEditable)

const rowLinks = (): readonly HTMLElement[] =>
  [...document.querySelectorAll<HTMLElement>('table.rows tbody tr')].flatMap(
    (row) => row.querySelector<HTMLElement>('a') ?? [],
  )

/** Moves from row to row by focusing the first link of each, so that Enter opens it. */
const step = (by: 1 | -1): void => {
  const links = rowLinks()
  const row = document.activeElement?.closest('tr')
  const at = links.findIndex((each) => each.closest('tr') === row)
  links[nextRow(at, by, links.length)]?.focus()
}

const go = (selector: string): boolean => {
  const link = document.querySelector<HTMLAnchorElement>(selector)
  link?.click()
  return link !== null
}

const toggleHelp = (shown: boolean): void => {
  const help = document.querySelector<HTMLElement>('#help')
  if (help === null) return
  help.hidden = !shown
  if (shown) help.focus()
}
export const isHelpShown = (): boolean => document.querySelector<HTMLElement>('#help')?.hidden === false

const GO_MS = 1200

const escape = (): void => {
  toggleHelp(false)
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
}

const PRESSED: Readonly<Record<string, () => void>> = {
  '/': () => document.querySelector<HTMLInputElement>('.search input')?.select(),
  '?': () => toggleHelp(!isHelpShown()),
  j: () => step(1),
  k: () => step(-1),
  '[': () => void go('.turning [data-key="["]'),
  ']': () => void go('.turning [data-key="]"]'),
}

/** Keeps the focused link with the entry of the history, so that going back leads to the same row. */
export const keepPlace = (): void => {
  const { at }: { readonly at?: string } = history.state ?? {}
  const links = [...document.querySelectorAll<HTMLElement>('main a')]
  if (at !== undefined) links.find((link) => link.getAttribute('href') === at)?.focus()
  addEventListener('pagehide', () => {
    const href = document.activeElement?.closest('main a')?.getAttribute('href')
    history.replaceState({ at: href ?? undefined }, '')
  })
}

export const listenToKeys = (): void => {
  // a page that is younger than that has not been asked to go anywhere
  let goneAt = -Infinity
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') return escape()
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
    if (event.timeStamp - goneAt < GO_MS && go(`.side [data-go="${CSS.escape(event.key)}"]`))
      return event.preventDefault()
    goneAt = event.key === 'g' ? event.timeStamp : -Infinity
    const pressed = PRESSED[event.key]
    if (pressed === undefined) return
    event.preventDefault()
    pressed()
  })
}
