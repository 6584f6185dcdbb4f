/**
 * The database changes its server: with all that it acknowledged, without the last of it, or for one that cannot be
 * written.
 */
import { GRACE_MS } from '../../src/persistence/incarnation.ts'
import { type Fault, type Stage, later, mayStop } from './stage.ts'

/** A process needs this long at most to be told, to find the new server and to look. */
const LOOKED_MS = GRACE_MS
const AGAIN_MS = 8000
const LOOK_MS = 2000
const TRIES = 30

/** No deadline need be kept until the returned function is called, and for a moment after. */
const pauseUntil = ({ now, pauses }: Stage): (() => void) => {
  const open = { from: now(), to: Infinity }
  pauses.push(open)
  return () => void (open.to = now() + AGAIN_MS)
}

const failsOver: Fault = (stage) => {
  if (!mayStop(stage)) return
  const resume = pauseUntil(stage)
  stage.store.server.failOver()
  later(stage, GRACE_MS, resume)
}

const isReadOnlyFor: Fault = (stage) => {
  const { store, random, say } = stage
  const [ms, resume] = [random.between(1000, 15_000), pauseUntil(stage)]
  store.server.readOnly = true
  say(`fault: the database is read-only for ${ms} ms`)
  later(stage, ms, () => {
    store.server.readOnly = false
    resume()
  })
}

/** The operator looks until every process has looked, and adopts when writing is stopped. */
const operate = async (stage: Stage, untilMs: number, resume: () => void): Promise<void> => {
  const { store, schedule, say, adopt } = stage
  const isStopped = (): boolean => store.server.records.stopped() !== null
  try {
    if (isStopped()) await adopt()
  } catch (error) {
    say(`the operator cannot adopt: ${String(error)}`)
  }
  if (!isStopped() && schedule.elapsed() >= untilMs) return resume()
  later(stage, LOOK_MS, () => void operate(stage, untilMs, resume))
}

/** Replication stops, the server goes on for a while, and then the standby takes its place. */
export const comesBackWithLess: Fault = (stage) => {
  const { store, random, schedule, processes, snare, say } = stage
  const begin = (tries: number): void => {
    // one at a time: a second standby would be one of the server that the first has replaced
    if (schedule.elapsed() < stage.witnessesUntilMs) return
    // one that stands would look too late, and its answers would be as old as that
    if (processes.some(({ stands }) => stands()))
      return tries > 0 ? later(stage, LOOK_MS, () => begin(tries - 1)) : undefined
    const ms = random.pick([200, 1000, 3000, 8000])
    snare.clear()
    stage.witnessesUntilMs = schedule.elapsed() + ms + LOOKED_MS
    const promote = store.server.standby()
    say(`fault: the standby of the database does not follow, and takes over in ${ms} ms`)
    later(stage, ms, () => {
      const resume = pauseUntil(stage)
      promote()
      later(stage, random.between(2000, 20_000), () => void operate(stage, stage.witnessesUntilMs, resume))
    })
  }
  begin(TRIES)
}

export const DATABASE_FAULTS: readonly Fault[] = [failsOver, isReadOnlyFor, comesBackWithLess, comesBackWithLess]
