/** Shows the progress of long work on standard error: one line that is overwritten, and only on a terminal. */
import type { Clock } from '../vocabulary/clock.ts'
import { systemClock } from '../vocabulary/clock.ts'

/** `columns` 0: the width of the terminal is not known. */
export type Terminal = {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly write: (text: string) => unknown
}
export type Progress = {
  /** Adds to the number of finished items. */
  readonly add: (count: number) => void
  /** Removes the line, so that only the result remains. Later calls do nothing. */
  readonly end: () => void
}
type Work = {
  /** The name of the counted items, in the plural. */
  readonly what: string
  /** Null: the total is not known. */
  readonly total: number | null
}
type Parts = { readonly terminal?: Terminal; readonly clock?: Pick<Clock, 'monotonic'> }

const EVERY_MS = 100
const BAR = 24
const USUAL_COLUMNS = 80
const CLEAR = '\r\u001B[K'

const SILENT: Progress = { add: () => {}, end: () => {} }

/** A line such as `[########----------------]  33 %  3300 of 10000 rows, 12 s, 24 s to go`. */
export const progressLine = ({ what, total }: Work, done: number, ms: number): string => {
  const seconds = `${Math.round(ms / 1000)} s`
  if (total === null || total <= 0) return `${done} ${what}, ${seconds}`
  const part = Math.min(1, done / total)
  const full = Math.floor(part * BAR)
  const left = done === 0 ? '' : `, ${Math.round(((ms / done) * Math.max(0, total - done)) / 1000)} s to go`
  const bar = `[${'#'.repeat(full)}${'-'.repeat(BAR - full)}]`
  return `${bar} ${String(Math.floor(part * 100)).padStart(3)} %  ${done} of ${total} ${what}, ${seconds}${left}`
}

export const openProgress = (work: Work, { terminal = process.stderr, clock = systemClock }: Parts = {}): Progress => {
  if (!terminal.isTTY) return SILENT
  const began = clock.monotonic()
  let [done, drawn, over] = [0, Number.NEGATIVE_INFINITY, false]
  return {
    add: (count) => {
      done += count
      const now = clock.monotonic()
      if (over || now - drawn < EVERY_MS) return
      drawn = now
      terminal.write(
        `${CLEAR}${progressLine(work, done, now - began).slice(0, (terminal.columns || USUAL_COLUMNS) - 1)}`,
      )
    },
    end: () => {
      if (!over) terminal.write(CLEAR)
      over = true
    },
  }
}

/** Passes all items on, and counts them. */
export function* counting<Item>(
  items: Iterable<Item>,
  { add }: Pick<Progress, 'add'>,
  of: (item: Item) => number = () => 1,
): Generator<Item> {
  for (const item of items) {
    yield item
    add(of(item))
  }
}

/** Runs the work, and removes the line when the work ends or fails. */
export const withProgress = async <Value>(
  work: Work,
  run: (progress: Progress) => Promise<Value>,
  parts: Parts = {},
): Promise<Value> => {
  const progress = openProgress(work, parts)
  try {
    return await run(progress)
  } finally {
    progress.end()
  }
}
