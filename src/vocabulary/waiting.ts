/** Functions for waiting: each wait has a limit, can be interrupted, and uses the clock that is passed in. */
import { setImmediate } from 'node:timers/promises'
import type { Cancel, Clock } from './clock.ts'

type Timer = Pick<Clock, 'after'>

export type Backoff = { readonly firstMs: number; readonly maxMs: number }
/** Limits the exponent; every `maxMs` is reached long before. */
const DOUBLINGS_MAX = 30
/**
 * The pause before the next attempt after this many failures in a row (counted from 1): it doubles each time, up to
 * `maxMs`.
 */
export const backoffMs = ({ firstMs, maxMs }: Backoff, failures: number): number =>
  Math.min(maxMs, firstMs * 2 ** Math.min(Math.max(failures - 1, 0), DOUBLINGS_MAX))

/**
 * Whether the work ended within `ms`, with or without success. Rejects with the signal's reason when that comes first.
 */
export const endedWithin = async (
  clock: Timer,
  ms: number,
  work: Promise<unknown>,
  signal?: AbortSignal,
): Promise<boolean> => {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  const aborted = () => reject(signal?.reason)
  if (signal?.aborted) aborted()
  signal?.addEventListener('abort', aborted, { once: true })
  const cancel = clock.after(Math.max(0, ms), () => resolve(false))
  const ended = () => resolve(true)
  work.then(ended, ended)
  try {
    return await promise
  } finally {
    cancel()
    signal?.removeEventListener('abort', aborted)
  }
}

/** Resolves after `ms`. Rejects with the signal's reason when that comes first. */
export const pause = async (clock: Timer, ms: number, signal?: AbortSignal): Promise<void> => {
  await endedWithin(clock, ms, new Promise(() => {}), signal)
}

/** The pauses of one owner, which can be ended early together. */
export type Pauses = {
  /** Resolves after `ms`, or earlier on `wake`; at once after `stop`. */
  readonly pause: (ms: number) => Promise<void>
  /** Ends the present pauses. */
  readonly wake: () => void
  /** Ends the present pauses, and makes all later ones end at once. */
  readonly stop: () => void
}
export const createPauses = (clock: Timer): Pauses => {
  const sleeping = new Set<() => void>()
  let stopped = false
  const wake = () => {
    for (const resolve of sleeping) resolve()
  }
  return {
    pause: async (ms) => {
      if (stopped) return
      const { promise, resolve } = Promise.withResolvers<void>()
      const cancel = clock.after(ms, resolve)
      sleeping.add(resolve)
      await promise
      sleeping.delete(resolve)
      cancel()
    },
    wake,
    stop: () => {
      stopped = true
      wake()
    },
  }
}

/**
 * Repeats the work until it is stopped, each time `everyMs` after the previous run ended. The first run is at once.
 * Stopping does not wait for a run under way, which can ask whether it was stopped. The work must not reject.
 */
export const repeatedly = (
  clock: Timer,
  { everyMs }: { readonly everyMs: number },
  work: (isStopped: () => boolean) => Promise<void>,
): Cancel => {
  let stopped = false
  let cancel: Cancel = () => {}
  const once = async (): Promise<void> => {
    await work(() => stopped)
    if (!stopped) cancel = clock.after(everyMs, () => void once())
  }
  void once()
  return () => {
    stopped = true
    cancel()
  }
}

/** For how long work may hold up other work of the process, approximately. */
const SLICE_MS = 10
/**
 * Gives other work a turn wherever it is awaited, but only when that was last done `SLICE_MS` ago. A wait for the store
 * may have been a turn too, or none: a store in memory answers at once.
 */
export const createTurns = (clock: Pick<Clock, 'monotonic'>): (() => Promise<void>) => {
  let since = clock.monotonic()
  return async () => {
    if (clock.monotonic() - since < SLICE_MS) return
    await setImmediate()
    since = clock.monotonic()
  }
}

/** If `promise` takes longer than `ms`, `late` is called, and its value or exception is the result instead. */
export const orLate = async <Value, Otherwise>(
  clock: Timer,
  promise: Promise<Value>,
  ms: number,
  late: () => Otherwise,
): Promise<Value | Otherwise> => {
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const cancel = clock.after(ms, resolve)
  try {
    return await Promise.race([promise, over.then(late)])
  } finally {
    cancel()
  }
}

/** Resolves with `otherwise` when `promise` takes longer than `ms`. */
export const bounded = <Value, Otherwise>(
  clock: Timer,
  promise: Promise<Value>,
  ms: number,
  otherwise: Otherwise,
): Promise<Value | Otherwise> => orLate(clock, promise, ms, () => otherwise)

/**
 * The result of work that the signal asks to end. If the work has not ended `graceMs` after the signal, rejects with
 * the signal's reason; without a grace it rejects at once.
 */
export const orAborted = async <Value>(
  work: Promise<Value>,
  signal: AbortSignal,
  grace?: { readonly clock: Timer; readonly graceMs: number },
): Promise<Value> => {
  const { promise, reject } = Promise.withResolvers<never>()
  let cancel: Cancel = () => {}
  const giveUp = (): void => reject(signal.reason)
  const aborted = (): void => {
    if (grace) cancel = grace.clock.after(grace.graceMs, giveUp)
    else giveUp()
  }
  if (signal.aborted) aborted()
  else signal.addEventListener('abort', aborted, { once: true })
  try {
    return await Promise.race([work, promise])
  } finally {
    cancel()
    signal.removeEventListener('abort', aborted)
  }
}
