/** What is kept of a program that did not end well: why, in its own words, and what it printed all the same. Pure. */

const BETWEEN = ' [...] '
/** The beginning and the end of a text: a program may tell its error first and how it is used after that. */
export const excerpt = (text: string, max: number): string => {
  if (text.length <= max) return text
  const kept = max - BETWEEN.length
  const first = Math.ceil(kept / 2)
  return `${text.slice(0, first)}${BETWEEN}${text.slice(text.length - (kept - first))}`.toWellFormed()
}

/** What it printed may be of use whatever its exit status says. */
export class ProgramFailed extends Error {
  readonly output: string
  /** What it said on standard error, all of it. */
  readonly complaint: string
  constructor(reason: string, output: string, complaint: string) {
    super(reason)
    this.output = output
    this.complaint = complaint
  }
}

const COMPLAINT_MAX = 500
/** `ended`: how it ended, in words. */
export const failedWith = (name: string, ended: string, printed: string, said: string): ProgramFailed => {
  // some tell their errors on standard output
  const told = printed.trim() === '' ? ended : `${ended}: ${excerpt(printed.trim(), COMPLAINT_MAX)}`
  return new ProgramFailed(`${name}: ${excerpt(said.trim(), COMPLAINT_MAX) || told}`, printed, said)
}
