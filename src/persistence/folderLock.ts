/**
 * A lock file that lets one process at a time use a folder. The file names its holder; the lock of a process that has
 * ended is void.
 *
 * FOLDER-1 a holder in the PID namespace of this process is looked up by its process number and its start time;
 * FOLDER-2 a holder in another container of this machine is asked through its socket, since its process number means
 *    nothing here;
 * FOLDER-3 if neither shows whether the holder still runs, the folder stays locked, and an operator decides.
 */
import { codeOf } from '../vocabulary/errorText.ts'
import { closeSync, mkdirSync, openSync, readFileSync, readlinkSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type ProcStat, hasEnded, procStat } from '../vocabulary/procStat.ts'
import { type Answer, askLockSocket, openLockSocket } from './lockSocket.ts'

export type FolderLock = {
  /** False when another process has taken the lock at the same time. */
  readonly held: () => boolean
  readonly release: () => void
}
/** `space`: the PID namespace of the holder. Locks of older releases lack it. */
type Holder = {
  readonly pid: number
  readonly started: string
  readonly boot: string
  readonly space?: string
  readonly socket?: string | null
}

const FILE = 'lock'

const readOr = (path: string, otherwise: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return otherwise
  }
}

/** All fields are empty on other systems than Linux. */
const statOf = (pid: number): ProcStat => procStat(readOr(`/proc/${pid}/stat`, ''))
/**
 * Clock ticks from boot to the start of the process. Together with the pid it identifies a process even when pids are
 * reused.
 */
const startOf = (pid: number): string => statOf(pid).started
const isOver = (pid: number): boolean => hasEnded(statOf(pid))
const bootOf = (): string => readOr('/proc/sys/kernel/random/boot_id', '').trim()
/** Returns the PID namespace of this process; empty on systems that have none. */
const spaceOf = (): string => {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}
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
  return startOf(holder.pid) === holder.started
}
const answerOf = async (folder: string, holder: Holder): Promise<Answer> => {
  if (holder.boot !== bootOf()) return 'ended'
  if (holder.space === undefined || holder.space === spaceOf()) return alive(holder) ? 'lives' : 'ended'
  return isSocket(holder.socket) ? askLockSocket(folder, holder.socket) : 'unknown'
}
/**
 * Anybody may have written the lock file: its socket is touched only if the name is that of a socket in this folder.
 */
const isSocket = (name: unknown): name is string => typeof name === 'string' && /^lock\.[\da-f]+\.sock$/.test(name)

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

const inUse = (folder: string, { pid }: Holder, answer: 'lives' | 'unknown'): Error =>
  new Error(
    answer === 'lives'
      ? `${folder} is in use by process ${pid}: only one process may open it at a time`
      : `${folder} is locked by process ${pid} of another container, and nothing here says whether it still runs. If it does not, delete ${join(folder, FILE)}`,
  )

export const lockFolder = async (folder: string): Promise<FolderLock> => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, FILE)
  const socket = openLockSocket(folder)
  const text = JSON.stringify({ ...holderOf(process.pid), space: spaceOf(), socket: socket?.name ?? null })
  const end = () => {
    if (readOr(path, '') === text) rmSync(path, { force: true })
    socket?.close()
  }
  try {
    for (let tries = 0; tries < 5; tries++) {
      if (create(path, text)) return { held: () => readOr(path, '') === text, release: end }
      const holder = parsed(readOr(path, ''))
      const answer = holder === null ? 'ended' : await answerOf(folder, holder)
      if (holder !== null && answer !== 'ended') throw inUse(folder, holder, answer)
      clear(path)
      if (isSocket(holder?.socket)) rmSync(join(folder, holder.socket), { force: true })
    }
    throw new Error(`${folder} is being opened by other processes at the same time`)
  } catch (error) {
    end()
    throw error
  }
}
