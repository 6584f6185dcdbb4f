/** Keeps parts running. A part that died is started again, with increasing delays if it keeps dying. */
import { setTimeout as wait } from 'node:timers/promises'
import { reasonOf } from './failure.ts'
import type { Part } from './part.ts'

type State = 'starting' | 'ready' | 'dead' | 'stopped'
export type Status = {
  readonly name: string
  readonly state: State
  readonly pid: number | null
  readonly address: string
  readonly restarts: number
  /** Why the part died. */
  readonly note: string
}
export type Watched = {
  readonly part: Part
  readonly status: () => Status
  /** The first start, which is not retried when it fails. */
  readonly first: Promise<void>
  /** Rejects when the part could not be stopped. */
  readonly stop: () => Promise<void>
}

const LOOK_MS = 200
const BACKOFF_MS = [500, 1000, 2000, 5000, 10_000]
/** A part that has run this long counts as recovered. */
const WELL_MS = 60_000

const firstLine = (error: unknown): string => reasonOf(error).split('\n', 1)[0]!

export const watched = (part: Part, changed: (status: Status) => void): Watched => {
  let [state, note, restarts, failures] = ['starting' as State, '', 0, 0]
  const stopping = new AbortController()
  const status = (): Status => ({
    name: part.name,
    state,
    pid: part.pid(),
    address: part.address(),
    restarts,
    note,
  })
  const become = (next: State, why = ''): void => {
    ;[state, note] = [next, why]
    changed(status())
  }
  const stopped = (): boolean => stopping.signal.aborted
  const rest = (ms: number) => wait(ms, null, { signal: stopping.signal }).catch(() => null)
  const begin = async (): Promise<void> => {
    become('starting')
    await part.start()
    become('ready')
  }
  const lived = async (): Promise<void> => {
    const since = performance.now()
    while (!stopped() && part.pid() !== null) await rest(LOOK_MS)
    if (performance.now() - since > WELL_MS) failures = 0
  }
  const again = async (): Promise<void> => {
    restarts++
    await begin().catch((error: unknown) => become('dead', firstLine(error)))
  }
  const keep = async (): Promise<void> => {
    while (!stopped()) {
      await lived()
      if (stopped()) return
      const ms = BACKOFF_MS[Math.min(failures++, BACKOFF_MS.length - 1)]!
      become('dead', note === '' ? `again in ${ms / 1000} s` : `${note}; again in ${ms / 1000} s`)
      await rest(ms)
      if (!stopped()) await again()
    }
  }
  const first = begin().catch((error: unknown) => {
    if (!stopped()) become('dead', firstLine(error))
    throw error
  })
  const keeping = first.then(keep, () => undefined)
  return {
    part,
    status,
    first,
    stop: async () => {
      stopping.abort()
      await part.stop()
      await keeping
      const pid = part.pid()
      if (pid !== null) throw new Error(`${part.name} was stopped but still runs: pid ${pid}`)
      become('stopped')
    },
  }
}
