/** How far long work has come: one line on standard error, which is written over, and only where a person looks at a terminal. */
import type { Clock } from '../clock.ts'
import { systemClock } from '../clock.ts'

/** `columns` 0: the terminal does not say how wide it is. */
export type Terminal = {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly write: (text: string) => unknown
}
export type Progress = {
  /** So many more are done. */
  readonly add: (count: number) => void
  /** The line is taken away, so that the result stands alone. Later calls change nothing. */
  readonly end: () => void
}
type Work = {
  /** What is counted, in the plural. */
  readonly what: string
  /** Null: it is not known how many there are. */
  readonly total: number | null
}
type Parts = { readonly terminal?: Terminal; readonly clock?: Pick<Clock, 'monotonic'> }

const EVERY_MS = 100
const BAR = 24
const USUAL_COLUMNS = 80
const CLEAR = '\r\u001B[K'

const SILENT: Progress = { add: () => {}, end: () => {} }

/** `[########----------------]  33 %  3300 of 10000 rows, 12 s, 24 s to go` */
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

/** Passes everything on, and counts it. */
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

/** The work, and the line ends with it however it ends. */
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
