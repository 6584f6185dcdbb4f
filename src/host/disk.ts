/**
 * Reads and writes the files in which a host keeps data that must survive a restart. No other file in this folder opens
 * files.
 */
import { codeOf } from '../vocabulary/errorText.ts'
import { constants, mkdir, open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

export type Disk = {
  /** Null: there is no such file. */
  readonly read: (path: string) => Promise<string | null>
  /**
   * When it has resolved, the new text survives a kill and a power loss; before, either the old text or the new text
   * does.
   */
  readonly replace: (path: string, text: string) => Promise<void>
  /**
   * Adds to the end of an existing file. When it has resolved, the text survives a kill and a power loss; before, any
   * beginning of the text may be in the file.
   */
  readonly append: (path: string, text: string) => Promise<void>
}

/** Only the user of the host program may read and write its files. */
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

/** The flag for writes that return only when the data is on the disk; 0 where the system lacks it. */
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
  // a missing file is not created, since a new one would hide the loss of the earlier lines
  append: async (path, text) => {
    const file = await open(path, APPENDING)
    try {
      await file.writeFile(text)
      if (!DSYNC) await file.datasync()
    } finally {
      // the data is on the disk or the write has failed, so nothing has to wait until the file is closed
      void file.close().catch(() => undefined)
    }
  },
}

export type MemoryDisk = Disk & {
  /** Undoes the last write, like a disk that lied about its cache. False: no write is left to undo. */
  readonly loseLast: () => boolean
  /** Cuts the last write in two if it was an append, like a power loss. */
  readonly tearLast: () => boolean
}
type Step = { readonly path: string; readonly before: string | undefined; readonly added: string | null }
const STEPS_MAX = 8

/** A disk in memory that outlives the host. The last eight writes can be undone, one with each call. */
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
