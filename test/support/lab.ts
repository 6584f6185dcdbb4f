/** Helpers for tests: a virtual clock, a log that records its lines, and waiting with a time limit. */
import type { Clock } from '../../src/vocabulary/clock.ts'

/** Time advances only by `pass`. */
export const handClock = (): Clock & { readonly pass: (ms: number) => Promise<void> } => {
  const timers = new Set<{ readonly at: number; readonly run: () => void }>()
  let now = Date.UTC(2026, 0, 1)
  const next = (until: number) => [...timers].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)[0]
  return {
    now: () => now,
    monotonic: () => now,
    after: (ms, run) => {
      const timer = { at: now + Math.max(0, ms), run }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    pass: async (ms) => {
      const until = now + ms
      await quiet()
      for (let timer = next(until); timer !== undefined; timer = next(until)) {
        timers.delete(timer)
        now = Math.max(now, timer.at)
        timer.run()
        await quiet()
      }
      now = until
    },
  }
}

/** Lets everything that is ready to run, run. */
export const quiet = async (turns = 20): Promise<void> => {
  for (let turn = 0; turn < turns; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}

export const until = async (holds: () => boolean, what = 'it', ms = 5000): Promise<void> => {
  const end = performance.now() + ms
  while (!holds()) {
    if (performance.now() > end) throw new Error(`${what} did not happen within ${ms} ms: ${holds.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

export type Said = {
  readonly level: string
  readonly detail: Readonly<Record<string, unknown>>
  readonly message: string
}
export const memoryLog = () => {
  const said: Said[] = []
  const at = (level: string) => (detail: object, message: string) =>
    void said.push({ level, detail: { ...detail }, message })
  return { said, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
