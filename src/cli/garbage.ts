/**
 * Limits the garbage of a process in proportion to its live memory. By default V8 lets the heap double, and new objects
 * take 100 MB.
 */
import { setFlagsFromString } from 'node:v8'

/** By how much the heap may grow, in percent of the live memory, before garbage is collected. */
const PERCENT = 20

/** Applies to this process, from now on. */
export const keepGarbageSmall = (): void => {
  setFlagsFromString(`--heap-growing-percent=${PERCENT}`)
  // the space for new objects keeps its present size of a few MB
  setFlagsFromString('--semi-space-growth-factor=1')
}
