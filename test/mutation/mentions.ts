/**
 * The test files that speak of the place of a mutant: they contain the rare words that stand around it. The nearest files by import alone
 * miss tests of a counter, an event or a message that a service deep inside produces.
 */
export type Mentions = (text: string, line: number) => readonly string[]

/** Identifiers, and texts such as names of events. */
const WORD = /[A-Za-z_$][\w$]{4,}/g
const LINES_AROUND = 2
/** A word that more test files contain tells nothing. */
const FILES_MAX = 10
const BEST = 4

export const mentionsIn = (tests: ReadonlyMap<string, string>): Mentions => {
  const files = new Map<string, string[]>()
  for (const [path, text] of tests)
    for (const word of new Set(text.match(WORD))) files.set(word, [...(files.get(word) ?? []), path])
  return (text, line) => {
    const around = text.split('\n').slice(Math.max(0, line - 1 - LINES_AROUND), line + LINES_AROUND)
    const scores = new Map<string, number>()
    for (const word of new Set(around.join('\n').match(WORD))) {
      const all = files.get(word) ?? []
      if (all.length <= FILES_MAX) for (const file of all) scores.set(file, (scores.get(file) ?? 0) + 1 / all.length)
    }
    return [...scores]
      .toSorted(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
      .slice(0, BEST)
      .map(([file]) => file)
  }
}
