/** The files in which a host keeps what must survive a restart. The only file of this room that opens files. */
import { codeOf } from '../errorText.ts'
import { constants, mkdir, open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

export type Disk = {
  /** Null: there is no such file. */
  readonly read: (path: string) => Promise<string | null>
  /** After it resolved, the new text survives a kill and a power loss; before, the old text or the new one does. */
  readonly replace: (path: string, text: string) => Promise<void>
  /**
   * Adds to the end of a file that is there. After it resolved, the text survives a kill and a power loss; before, any
   * beginning of it may be there.
   */
  readonly append: (path: string, text: string) => Promise<void>
}

/** What a host keeps is read and written by its own user only. */
const MODE = 0o600
const flushed = async (path: string, flags: string, text?: string): Promise<void> => {
  const file = await open(path, flags, MODE)
  try {
    if (text !== undefined) await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** The flag for writes that return when the data is on the disk; 0 where the system does not have it. */
const DSYNC = constants.O_DSYNC ?? 0
const APPENDING = constants.O_WRONLY | constants.O_APPEND | DSYNC

export const fileDisk: Disk = {
  read: async (path) => {
    try {
      return await readFile(path, 'utf8')
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null
      throw error
    }
  },
  replace: async (path, text) => {
    const folder = dirname(path)
    await mkdir(folder, { recursive: true })
    await flushed(`${path}.tmp`, 'w', text)
    await rename(`${path}.tmp`, path)
    // the new name is an entry of the folder, so the folder is flushed too
    await flushed(folder, 'r')
  },
  // a missing file is not created: its earlier lines would be lost silently
  append: async (path, text) => {
    const file = await open(path, APPENDING)
    try {
      await file.writeFile(text)
      if (!DSYNC) await file.datasync()
    } finally {
      // the data is on the disk, or writing was refused: closing need not be waited for
      void file.close().catch(() => undefined)
    }
  },
}

export type MemoryDisk = Disk & {
  /** Undoes the last write, as a disk does that lied about its cache. False: there is none left to undo. */
  readonly loseLast: () => boolean
  /** Cuts the last write in two, if it was an append, as a power loss does. */
  readonly tearLast: () => boolean
}
type Step = { readonly path: string; readonly before: string | undefined; readonly added: string | null }
const STEPS_MAX = 8

/** A disk in memory that outlives the host; it can undo one write for each call, at most eight. */
export const memoryDisk = (): MemoryDisk => {
  const files = new Map<string, string>()
  const steps: Step[] = []
  const write = (path: string, text: string, added: string | null): void => {
    steps.push({ path, before: files.get(path), added })
    if (steps.length > STEPS_MAX) steps.shift()
    files.set(path, text)
  }
  const back = (keep: number): boolean => {
    const last = steps.pop()
    if (last?.before !== undefined) files.set(last.path, last.before + (last.added ?? '').slice(0, keep))
    else if (last !== undefined) files.delete(last.path)
    return last !== undefined
  }
  return {
    read: async (path) => files.get(path) ?? null,
    replace: async (path, text) => write(path, text, null),
    append: async (path, text) => {
      const before = files.get(path)
      if (before === undefined) throw new Error(`ENOENT: ${path}`)
      write(path, before + text, text)
    },
    loseLast: () => back(0),
    tearLast: () => {
      const added = steps.at(-1)?.added ?? null
      return added !== null && back(Math.ceil(added.length / 2))
    },
  }
}
