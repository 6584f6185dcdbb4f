/** Pauses a control process at a chosen point of the relay, which a pause at a random time would seldom hit. */
import type { Life, Schedule } from './schedule.ts'

/**
 * `publish`: before the rows read are published. `published`: before the result of that is received. `save`: before the
 * checkpoint is saved.
 */
export const MOMENTS = ['publish', 'published', 'save'] as const
export type Moment = (typeof MOMENTS)[number]
export type Snare = {
  /** Pauses the first process that reaches that point, and then calls `caught` once. */
  readonly set: (at: Moment, caught: (life: Life) => void) => void
  readonly clear: () => void
  /** Awaited by every process at that point. */
  readonly pass: (life: Life, at: Moment) => Promise<void>
}

export const openSnare = (schedule: Schedule): Snare => {
  let set: { readonly at: Moment; readonly caught: (life: Life) => void } | null = null
  return {
    set: (at, caught) => void (set = { at, caught }),
    clear: () => void (set = null),
    pass: async (life, at) => {
      if (set?.at !== at || !life.name.startsWith('control')) return
      const { caught } = set
      set = null
      schedule.hold(life)
      caught(life)
      await new Promise<void>((resolve) => schedule.soon(life, resolve))
    },
  }
}
