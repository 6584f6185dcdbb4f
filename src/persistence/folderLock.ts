/** A lock file that lets one process at a time use a folder. It names its holder; the lock of a process that has ended is void. */
import { codeOf } from '../errorText.ts'
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

export type FolderLock = {
  /** False when another process has taken the lock at the same time. */
  readonly held: () => boolean
  readonly release: () => void
}
type Holder = { readonly pid: number; readonly started: string; readonly boot: string }

const FILE = 'lock'

const readOr = (path: string, otherwise: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return otherwise
  }
}

/** The fields of `/proc/PID/stat` from the third on. Linux only; empty elsewhere. */
const statOf = (pid: number): readonly string[] => {
  const stat = readOr(`/proc/${pid}/stat`, '')
  // The second field, the program name in parentheses, may contain spaces and parentheses.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}
/** Clock ticks from boot to the start of the process. Together with the pid it identifies a process even when pids are reused. */
const startOf = (pid: number): string => statOf(pid)[19] ?? ''
/** The process is a zombie: it has ended, but its parent has not collected its exit status. In a container the parent may never do so. */
const isOver = (pid: number): boolean => /^[ZX]/.test(statOf(pid)[0] ?? '')
const bootOf = (): string => readOr('/proc/sys/kernel/random/boot_id', '').trim()
const holderOf = (pid: number): Holder => ({ pid, started: startOf(pid), boot: bootOf() })

const exists = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return codeOf(cause) === 'EPERM'
  }
}

const parsed = (text: string): Holder | null => {
  try {
    return JSON.parse(text) as Holder
  } catch {
    return null
  }
}

const alive = (holder: Holder): boolean => {
  if (!exists(holder.pid) || isOver(holder.pid)) return false
  const now = holderOf(holder.pid)
  return now.boot === holder.boot && now.started === holder.started
}

const create = (path: string, text: string): boolean => {
  try {
    const file = openSync(path, 'wx')
    writeSync(file, text)
    closeSync(file)
    return true
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') return false
    throw cause
  }
}

/** Removes the lock file of a process that has ended; of several processes that try at once, one succeeds. */
const clear = (path: string): void => {
  try {
    renameSync(path, `${path}.${process.pid}`)
  } catch (cause) {
    if (codeOf(cause) !== 'ENOENT') throw cause
  }
  rmSync(`${path}.${process.pid}`, { force: true })
}

export const lockFolder = (folder: string): FolderLock => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, FILE)
  const text = JSON.stringify(holderOf(process.pid))
  for (let tries = 0; tries < 5; tries++) {
    if (create(path, text)) return { held: () => readOr(path, '') === text, release: () => release(path, text) }
    const holder = parsed(readOr(path, ''))
    if (holder !== null && alive(holder))
      throw new Error(`${folder} is in use by process ${holder.pid}: only one process may open it at a time`)
    clear(path)
  }
  throw new Error(`${folder} is being opened by other processes at the same time`)
}

const release = (path: string, text: string): void => {
  if (readOr(path, '') === text) rmSync(path, { force: true })
}
