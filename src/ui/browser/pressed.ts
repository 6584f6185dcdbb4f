/** What the pressed keys mean on every page, and on one that shows a timeline. Knows no document. */

/** A key of the keyboard, with what was held while it was pressed. */
export type Key = {
  readonly key: string
  readonly timeStamp: number
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
}
type TimelineKey = Pick<Key, 'ctrlKey' | 'metaKey' | 'altKey'> & {
  readonly shiftKey: boolean
  readonly defaultPrevented: boolean
}
type Click = Pick<TimelineKey, 'ctrlKey' | 'metaKey' | 'shiftKey'> & { readonly button: number }
/** `go`: to the page with this letter; `turn`: to the previous or the next page of a list; `step`: from row to row. */
export type Meant =
  | { readonly does: 'escape' | 'search' | 'help' }
  | { readonly does: 'step'; readonly by: 1 | -1 }
  | { readonly does: 'turn'; readonly key: '[' | ']' }
  | { readonly does: 'go'; readonly key: string }

/** In ms, between the key `g` and the letter of a page. */
export const GO_MS = 1200
const MEANT: Readonly<Record<string, Meant>> = {
  '/': { does: 'search' },
  '?': { does: 'help' },
  j: { does: 'step', by: 1 },
  k: { does: 'step', by: -1 },
  '[': { does: 'turn', key: '[' },
  ']': { does: 'turn', key: ']' },
}

/** Whether a pressed key may be meant for the timeline: nothing is held with it, and nothing else takes it. */
export const isForTimeline = (
  { ctrlKey, metaKey, altKey, shiftKey, defaultPrevented }: TimelineKey,
  { isTyping, isHelpShown }: { readonly isTyping: boolean; readonly isHelpShown: boolean },
): boolean => !defaultPrevented && !ctrlKey && !metaKey && !altKey && !shiftKey && !isTyping && !isHelpShown

/** Whether a click shows its link here: with one of these keys or another button the browser opens it elsewhere. */
export const isPlainClick = ({ button, ctrlKey, metaKey, shiftKey }: Click): boolean =>
  button === 0 && !ctrlKey && !metaKey && !shiftKey

/** Returns a function that says what a key means; null: nothing. `leads`: whether the letter is that of a page. */
export const keyReader = (
  leads: (letter: string) => boolean,
): ((key: Key, at: { readonly isTyping: boolean }) => Meant | null) => {
  // a page that is younger than that has not been asked to go anywhere
  let goneAt = -Infinity
  return ({ key, timeStamp, ctrlKey, metaKey, altKey }, { isTyping }) => {
    if (key === 'Escape') return { does: 'escape' }
    if (ctrlKey || metaKey || altKey || isTyping) return null
    if (timeStamp - goneAt < GO_MS && leads(key)) return { does: 'go', key }
    goneAt = key === 'g' ? timeStamp : -Infinity
    return MEANT[key] ?? null
  }
}

/** The index of the nearest step, in this direction, of another party; -1: none. `parties`: the party of each step. */
export const otherParty = (parties: readonly (string | undefined)[], at: number, by: 1 | -1): number => {
  const isOther = (party: string | undefined): boolean => party !== parties[at]
  if (by < 0) return parties.slice(0, Math.max(at, 0)).findLastIndex(isOther)
  const found = parties.slice(at + 1).findIndex(isOther)
  return found < 0 ? -1 : found + at + 1
}
