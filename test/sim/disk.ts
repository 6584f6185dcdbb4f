/**
 * A disk with slow writes. A write in progress at a crash is stored, lost or stored in part, as the crash specifies.
 */
import type { Cancel } from '../../src/vocabulary/clock.ts'
import type { Disk } from '../../src/host/disk.ts'
import type { Random } from './random.ts'
import type { Life, Schedule } from './schedule.ts'
import type { Tap } from './tap.ts'

export type Fate = 'kept' | 'lost' | 'torn'
export type SlowDisk = {
  readonly files: Map<string, string>
  /** The disk as seen by one life of a process. */
  readonly usedBy: (life: Life) => Disk
  readonly crash: (fate: Fate) => void
  /** The number of next writes that fail. */
  refusals: number
}
type Ports = {
  readonly schedule: Schedule
  readonly tap: Tap
  readonly random: Random
  /** What was added to a file, or all of its new text. */
  readonly written: (path: string, text: string, whole: boolean) => void
}
type Write = { readonly land: (part: number) => void; readonly cancel: Cancel }

export const slowDisk = ({ schedule, tap, random, written }: Ports): SlowDisk => {
  const files = new Map<string, string>()
  const writes = new Set<Write>()
  const write = (life: Life, path: string, text: string, whole: boolean): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    /** A file is replaced as a whole or not at all; what is added may be there in part. */
    const land = (part: number): void => {
      const added = text.slice(0, Math.ceil(text.length * part))
      if (whole && part < 1) return
      files.set(path, whole ? text : (files.get(path) ?? '') + added)
      written(path, added, whole)
    }
    const ready = (): void => {
      writes.delete(mine)
      const refused = disk.refusals > 0 && disk.refusals--
      if (!refused) land(1)
      schedule.after(life, 0, refused ? () => reject(new Error('the disk refuses')) : resolve)
    }
    const mine: Write = { land, cancel: schedule.after(life, random.chance(0.3) ? random.below(30) : 0, ready) }
    writes.add(mine)
    return promise
  }
  const disk: SlowDisk = {
    files,
    refusals: 0,
    usedBy: (life) => ({
      read: async (path) => files.get(path) ?? null,
      replace: (path, text) => write(life, path, text, true),
      append: (path, text) => tap.pass(life, 'ledger', () => write(life, path, text, false)),
    }),
    crash: (fate) => {
      for (const { land, cancel } of writes) {
        cancel()
        if (fate !== 'lost') land(fate === 'kept' ? 1 : random.unit())
      }
      writes.clear()
    },
  }
  return disk
}
