/** Stops a control process at a chosen moment of its work, where a stop at random would seldom find it. */
import type { Life, Schedule } from './schedule.ts'

/** `publish`: what was read is not sent yet. `published`: it is sent, and the answer not heard. `save`: the checkpoint is not asked for yet. */
export const MOMENTS = ['publish', 'published', 'save'] as const
export type Moment = (typeof MOMENTS)[number]
export type Snare = {
  /** Called, once, for the first that comes to that moment, with the process standing still. */
  readonly set: (at: Moment, caught: (life: Life) => void) => void
  readonly clear: () => void
  /** Waited for by a process at that moment. */
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
