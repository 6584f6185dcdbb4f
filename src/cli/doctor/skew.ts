/** Compares the clock of an HTTP service with the local one, by the `date` header of its answer. Pure. */
import { type Judged, ok, span, warning } from './check.ts'

/** HTTP dates have a resolution of one second. */
const SKEW = { errorMs: 1000, warnMs: 2000 }

/** The time in the header minus the local clock, in ms. Null: the answer had no such header. */
export const skewOf = (date: string | undefined, now: number): number | null => {
  const theirs = Date.parse(date ?? '')
  return Number.isNaN(theirs) ? null : theirs + 500 - now
}

export const judgeSkew = (skewMs: number | null): Judged | null => {
  if (skewMs === null) return null
  const off = Math.max(0, Math.abs(skewMs) - SKEW.errorMs)
  const says = `${span(skewMs)} ${skewMs < 0 ? 'behind' : 'ahead of'} this machine (give or take 1 s)`
  return off < SKEW.warnMs ? ok(says) : warning(says, 'set both clocks by NTP')
}
