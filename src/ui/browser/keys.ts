/**
 * Keyboard shortcuts for the search, rows, pages and places, and the focus after going back. Nobody needs them:
 * everything is also a link or a field.
 */

import { type Meant, keyReader } from './pressed.ts'
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

const linkAt = (selector: string): HTMLAnchorElement | null => document.querySelector<HTMLAnchorElement>(selector)
const toPage = (letter: string): HTMLAnchorElement | null => linkAt(`.side [data-go="${CSS.escape(letter)}"]`)

const toggleHelp = (shown: boolean): void => {
  const help = document.querySelector<HTMLElement>('#help')
  if (help === null) return
  help.hidden = !shown
  if (shown) help.focus()
}
export const isHelpShown = (): boolean => document.querySelector<HTMLElement>('#help')?.hidden === false

const escape = (): void => {
  toggleHelp(false)
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
}

const carryOut = (meant: Meant): void => {
  switch (meant.does) {
    case 'escape':
      return escape()
    case 'search':
      return document.querySelector<HTMLInputElement>('.search input')?.select()
    case 'help':
      return toggleHelp(!isHelpShown())
    case 'step':
      return step(meant.by)
    case 'turn':
      return linkAt(`.turning [data-key="${meant.key}"]`)?.click()
    case 'go':
      return toPage(meant.key)?.click()
  }
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
  const meantBy = keyReader((letter) => toPage(letter) !== null)
  document.addEventListener('keydown', (event) => {
    const meant = meantBy(event, { isTyping: isTyping(event.target) })
    if (meant === null) return
    // a dialog or a full screen is left as well
    if (meant.does !== 'escape') event.preventDefault()
    carryOut(meant)
  })
}
