/**
 * Tells other processes on the same store that there is something new, so that they need not poll often.
 *
 * HINTS-1 a hint may be lost, late, repeated, or merged with others, so code that uses hints also polls from time to
 *    time;
 * HINTS-2 a process does not receive its own hints.
 */
export type Hints = {
  /** Returns at once and never throws. */
  readonly send: (name: string) => void
  /** Returns the function that unsubscribes. */
  readonly onHint: (name: string, listener: () => void) => () => void
  /** Whether hints of others arrive at present, as far as is known. */
  readonly arrive: () => boolean
}

/** Sends and receives nothing; for a process that has the store to itself. */
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
