/** Where a host keeps what must outlive it: whole files, replaced whole. The one file of this room that opens files. */
import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

export type Disk = {
  /** Null: there is no such file. */
  readonly read: (path: string) => Promise<string | null>
  /** After it resolved, the new text survives a kill and a power loss; before, the old text or the new one does. */
  readonly replace: (path: string, text: string) => Promise<void>
}

const flushed = async (path: string, flags: string, text?: string): Promise<void> => {
  const file = await open(path, flags)
  try {
    if (text !== undefined) await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

export const fileDisk: Disk = {
  read: async (path) => {
    try {
      return await readFile(path, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw error
    }
  },
  replace: async (path, text) => {
    const folder = dirname(path)
    await mkdir(folder, { recursive: true })
    await flushed(`${path}.tmp`, 'w', text)
    await rename(`${path}.tmp`, path)
    // the new name is in the folder, so the folder is flushed too
    await flushed(folder, 'r')
  },
}

export type MemoryDisk = Disk & {
  /** Takes the last write back, as a disk does that lied about its cache. False: there is none left to take back. */
  readonly loseLast: () => boolean
}

/** Outlives the host that wrote to it, as a disk does; `loseLast` goes back one write a call, at most eight. */
export const memoryDisk = (): MemoryDisk => {
  const files = new Map<string, string>()
  const undo: { readonly path: string; readonly before: string | undefined }[] = []
  return {
    read: async (path) => files.get(path) ?? null,
    replace: async (path, text) => {
      undo.push({ path, before: files.get(path) })
      if (undo.length > 8) undo.shift()
      files.set(path, text)
    },
    loseLast: () => {
      const last = undo.pop()
      if (last?.before !== undefined) files.set(last.path, last.before)
      else if (last !== undefined) files.delete(last.path)
      return last !== undefined
    },
  }
}
