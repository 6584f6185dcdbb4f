/** Keeps the garbage of a process small in proportion to what it holds. V8 by itself lets the heap double, and new objects take 100 MB. */
import { setFlagsFromString } from 'node:v8'

/** How much may come on top of what is held before it is collected. */
const PERCENT = 20

/** For this process, from now on. */
export const keepGarbageSmall = (): void => {
  setFlagsFromString(`--heap-growing-percent=${PERCENT}`)
  // the space for new objects stays as large as it is now: a few MB
  setFlagsFromString('--semi-space-growth-factor=1')
}
