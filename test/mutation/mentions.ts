/**
 * The test files that speak of a mutant: of its place, when they contain the rare words that stand around it, or of its
 * file. The nearest files by import alone miss tests of a counter, an event or a message that a service deep inside
 * produces.
 */
export type Mentions = {
  /** The best few, best first. */
  readonly ofPlace: (text: string, line: number) => readonly string[]
  /** How much each test file has in common with a file: 1 for the one that has the most. */
  readonly ofFile: (text: string) => ReadonlyMap<string, number>
}

/** Identifiers, and texts such as names of events. */
const WORD = /[A-Za-z_$][\w$]{4,}/g
const LINES_AROUND = 2
/** A word that more test files contain tells nothing. Of a whole file there are many words, and each tells less. */
const FILES_MAX = { place: 10, file: 20 }
const BEST = 4

export const mentionsIn = (tests: ReadonlyMap<string, string>): Mentions => {
  const files = new Map<string, string[]>()
  for (const [path, text] of tests)
    for (const word of new Set(text.match(WORD))) files.set(word, [...(files.get(word) ?? []), path])
  const scoresOf = (text: string, filesMax: number): readonly (readonly [string, number])[] => {
    const scores = new Map<string, number>()
    for (const word of new Set(text.match(WORD))) {
      const all = files.get(word) ?? []
      if (all.length <= filesMax) for (const file of all) scores.set(file, (scores.get(file) ?? 0) + 1 / all.length)
    }
    return [...scores].toSorted(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
  }
  return {
    ofPlace: (text, line) => {
      const around = text.split('\n').slice(Math.max(0, line - 1 - LINES_AROUND), line + LINES_AROUND)
      return scoresOf(around.join('\n'), FILES_MAX.place)
        .slice(0, BEST)
        .map(([file]) => file)
    },
    ofFile: (text) => {
      const scores = scoresOf(text, FILES_MAX.file)
      return new Map(scores.map(([file, score]) => [file, score / scores[0]![1]]))
    },
  }
}
