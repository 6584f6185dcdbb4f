/**
 * Tells the other processes over the same store that there is something new, so that they need not ask for it often.
 *
 * HINTS-1 a hint may be lost, late, repeated, or gathered with others: whoever relies on one looks from time to time as well;
 * HINTS-2 a process does not receive its own hints.
 */
export type Hints = {
  /** Returns at once and never throws. */
  readonly send: (name: string) => void
  /** The result ends it. */
  readonly onHint: (name: string, listener: () => void) => () => void
  /** Whether hints of others arrive at present, as far as is known. */
  readonly arrive: () => boolean
}

/** For a process that has the store to itself. */
export const noHints: Hints = { send: () => {}, onHint: () => () => {}, arrive: () => false }

/** The listeners of one process. */
export const createListeners = () => {
  const listeners = new Map<string, Set<() => void>>()
  return {
    tell: (name: string): void => listeners.get(name)?.forEach((listener) => listener()),
    onHint: (name: string, listener: () => void): (() => void) => {
      const all = listeners.get(name) ?? new Set()
      listeners.set(name, all.add(listener))
      return () => void all.delete(listener)
    },
  }
}
