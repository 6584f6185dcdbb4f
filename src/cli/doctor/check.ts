/**
 * A check takes facts and returns one finding. Checks are pure functions, so that each can be tested with made-up
 * facts.
 */
export type Verdict = 'ok' | 'warning' | 'problem'
export type Judged = {
  readonly verdict: Verdict
  readonly says: string
  /** The action that the operator should take. */
  readonly advice?: string
}
export type Finding = Judged & { readonly check: string }
/** Null: the check does not apply to this installation. */
export type Check<Facts> = { readonly name: string; readonly judge: (facts: Facts) => Judged | null }

export const ok = (says: string): Judged => ({ verdict: 'ok', says })
export const warning = (says: string, advice: string): Judged => ({ verdict: 'warning', says, advice })
export const problem = (says: string, advice: string): Judged => ({ verdict: 'problem', says, advice })

export const judgeAll = <Facts>(checks: readonly Check<Facts>[], facts: Facts): readonly Finding[] =>
  checks.flatMap(({ name, judge }) => {
    const judged = judge(facts)
    return judged === null ? [] : [{ check: name, ...judged }]
  })

const LISTED_MAX = 5
/** The first few names, and the number of those left out. */
export const listed = (names: readonly string[]): string =>
  names.length <= LISTED_MAX
    ? names.join(', ')
    : `${names.slice(0, LISTED_MAX).join(', ')} and ${names.length - LISTED_MAX} more`

export const span = (ms: number): string => {
  const seconds = Math.abs(ms) / 1000
  if (seconds < 1) return `${Math.round(Math.abs(ms))} ms`
  if (seconds < 120) return `${Math.round(seconds * 10) / 10} s`
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 360) / 10} h`
}
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
export const size = (bytes: number): string => {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  return `${Math.round((bytes / 1024 ** step) * 10) / 10} ${UNITS[step]!}`
}
/** A count with its noun, such as `1 host` or `2 hosts`. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
