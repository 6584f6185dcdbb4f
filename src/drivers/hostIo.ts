/**
 * Access to the files and programs of the real host, with size limits. This is the only file of this folder that
 * touches them.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { closeSync, constants, openSync } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, readlink, rename, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, resolve, sep } from 'node:path'
import { codeOf, messageOf } from '../vocabulary/errorText.ts'
import { askSocket } from './askSocket.ts'
import { blockDevice, type DeviceFiles } from './blockDevice.ts'
import type { HostIo } from './driver.ts'
import { atMost, oneAtATime } from './files.ts'
import { type Process, belonging, parentIn } from './processTree.ts'
import { failedWith } from './programFailed.ts'
import { readAll, readStart } from './readAll.ts'
import { type ToolLocks, toolLocks } from './toolLocks.ts'
import { HostStops, KILLED_ENDS_MS, LEFT_AT_WORK, STILL_STUCK } from './runToEnd.ts'
import { digestOf, gathered, leaveAtWork, tailOf } from './runToEnd.ts'
import type { Bounds, Ended, Exit, RunEnd, RunRequest } from './runToEnd.ts'

export type RealHost = Pick<HostIo, 'hostname' | 'stateDir' | 'warn'> & {
  /** Longer files are refused. 4 MiB when not given. */
  readonly readMaxBytes?: number
  /** Longer output is refused. 4 MiB when not given. */
  readonly outputMaxBytes?: number
  /** Environment of the tools of vendors. Absent: that of this process. */
  readonly environment?: NodeJS.ProcessEnv
}

const MIB = 1024 * 1024
/** Opens an existing file and truncates it; creates nothing. */
const EXISTING = constants.O_WRONLY | constants.O_TRUNC
const noLink = new Set(['ENOENT', 'EINVAL', 'ENOTDIR'])

const withFile = async <Answer>(path: string, work: (file: FileHandle) => Promise<Answer>): Promise<Answer> => {
  const file = await open(path)
  try {
    return await work(file)
  } finally {
    await file.close()
  }
}
const readBounded = (path: string, maxBytes: number) => withFile(path, (file) => readAll(file, path, maxBytes))
const readHead = (path: string, bytes: number) => withFile(path, (file) => readStart(file, bytes))

const linkTarget = async (path: string): Promise<string | null> => {
  try {
    return await readlink(path)
  } catch (error) {
    if (noLink.has(codeOf(error) ?? '')) return null
    throw error
  }
}

const ALONE = constants.O_RDONLY | constants.O_EXCL | constants.O_NONBLOCK
const openAlone = (path: string): void => closeSync(openSync(path, ALONE))
const DEVICES: DeviceFiles = { stat: (path) => stat(path, { bigint: true }), openAlone }

/**
 * If the process is killed, the file holds either the old or the new text; with `flush` also after a power loss, and
 * then it holds the new text once this has resolved.
 */
const replaceFile = async (path: string, text: string, flush: boolean): Promise<void> => {
  await writeFile(`${path}.tmp`, text, { flush }).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    await mkdir(dirname(path), { recursive: true })
    await writeFile(`${path}.tmp`, text, { flush })
  })
  await rename(`${path}.tmp`, path)
  if (!flush) return
  const folder = await open(dirname(path))
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Writes to sysfs at a time: each may block a thread of the process for as long as a guest holds a device. */
const SYSFS_WRITES = 2

type RunLimits = Bounds & {
  /**
   * Programs that did not end although they were killed, by name. One that does not end is left there; without it, its
   * end is waited for, however long that takes.
   */
  readonly stuck?: Map<string, ChildProcess>
  /** It changes a card: the stop of the host program leaves it at work. */
  readonly changes?: boolean
  readonly environment?: NodeJS.ProcessEnv | undefined
}

const killed = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it has ended already
  }
}
/** The program is the leader of a process group of its own, so that its children end with it. */
const killAll = ({ pid }: ChildProcess): void => {
  if (pid !== undefined) killed(-pid)
}

/**
 * What the program prints on standard output. Rejects with the name of the program and its complaint when it does not
 * end well, or within its limits; then it and its children are killed.
 */
const runBounded = (program: string, args: readonly string[], limits: RunLimits): Promise<string> => {
  const { timeoutMs, maxBytes, signal, stuck, changes, environment } = limits
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const failed = (reason: string) => reject(new Error(`${basename(program)}: ${reason}`))
  if (signal?.aborted || stuck?.has(program)) {
    failed(signal?.aborted ? 'was not begun, because its time is over' : STILL_STUCK)
    return promise
  }
  const child = spawn(program, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'], env: environment })
  let stopped: string | null = null
  let leaving: NodeJS.Timeout | undefined
  const leave = () => {
    stuck?.set(program, child)
    child.unref()
    failed(`${stopped}, and it does not end although it was killed`)
  }
  // it has ended when the program is gone: until then it may still be at work
  const stop = (reason: string) => {
    stopped ??= reason
    killAll(child)
    // a process that left the group may keep the other end open
    child.stdout.destroy()
    child.stderr.destroy()
    if (stuck !== undefined) leaving ??= setTimeout(leave, KILLED_ENDS_MS)
  }
  const timer = setTimeout(() => stop(`no end within ${timeoutMs} ms`), timeoutMs)
  const aborted = () => {
    if (!changes || !(signal?.reason instanceof HostStops)) return stop('was stopped, because its time is over')
    leaveAtWork(child)
    failed(LEFT_AT_WORK)
  }
  signal?.addEventListener('abort', aborted, { once: true })
  const out = gathered(child.stdout, maxBytes, () => stop(`more than ${maxBytes} bytes of output`))
  const complaint = gathered(child.stderr, maxBytes, () => stop(`more than ${maxBytes} bytes of output`))
  child.on('error', (error) => failed(messageOf(error)))
  child.on('close', (code, by) => {
    if (stuck?.get(program) === child) stuck.delete(program)
    if (stopped !== null) return failed(stopped)
    if (code === 0) return resolve(out())
    const ended = by === null ? `exit status ${code}` : `killed by ${by}`
    reject(failedWith(basename(program), ended, out(), complaint()))
  })
  return promise.finally(() => {
    clearTimeout(timer)
    clearTimeout(leaving)
    signal?.removeEventListener('abort', aborted)
  })
}

const LEFT_OPEN_MS = 1000
/** Inherited by whatever a program starts, by which it is found again. */
const MARK = 'ACCELERANDO_RUN'
const KILL_ROUNDS = 5

const processAt = async (pid: string): Promise<readonly Process[]> => {
  const read = (file: string): Promise<string> => readBounded(`/proc/${pid}/${file}`, MIB).catch(() => '')
  const [stat, environment] = await Promise.all([read('stat'), read('environ')])
  const parent = parentIn(stat)
  return parent === null ? [] : [{ pid: Number(pid), parent, environment }]
}
/** Kills a program that may have started others in groups of their own, as Ansible does. */
const killFamily = async (child: ChildProcess, mark: string): Promise<void> => {
  for (let round = 0; round < KILL_ROUNDS; round++) {
    const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
    const all = (await Promise.all(pids.map(processAt))).flat()
    const found = belonging(all, child.pid ?? 0, mark)
    for (const pid of found) killed(pid)
    if (found.length === 0) break
  }
  killAll(child)
}

/**
 * Runs a program to its end, with nothing of this process's environment. Rejects when it cannot be started. After
 * `timeoutMs`, and once `signal` is aborted, it is killed with whatever it has started.
 */
const ran = (
  { program, args, folder, environment, timeoutMs, signal }: Omit<RunRequest, 'keepBytes'>,
  take: (chunk: Buffer) => void,
  changes = false,
): Promise<Exit> => {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<Exit>()
  const run = randomUUID()
  const env = { [MARK]: run, ...environment }
  const child = spawn(program, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'], cwd: folder, env })
  const closeOutput = (): void => {
    child.stdout.destroy()
    child.stderr.destroy()
  }
  let why: string | null = null
  const stop = (reason: string): void => {
    why ??= reason
    void killFamily(child, `${MARK}=${run}`).then(closeOutput)
  }
  const timer = setTimeout(() => stop(`did not end within ${timeoutMs} ms`), timeoutMs)
  const aborted = (): void => {
    if (!changes || !(signal.reason instanceof HostStops)) return stop('was stopped')
    leaveAtWork(child)
    resolve({ code: null, why: LEFT_AT_WORK })
  }
  signal.addEventListener('abort', aborted, { once: true })
  for (const stream of [child.stdout, child.stderr]) stream.on('data', take)
  child.on('error', reject)
  // what it left running, as a service that it started, may keep the other end of its output for ever
  child.on('exit', () => setTimeout(closeOutput, LEFT_OPEN_MS).unref())
  child.on('close', (code, by) => {
    const reason = why ?? (by === null ? null : `was killed by ${by}`)
    resolve({ code: reason === null ? code : null, why: reason })
  })
  return promise.finally(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', aborted)
  })
}

/** Of the output of a program only its digest, its beginning and its end are kept, however long it is. */
const END_KEPT = 4096
const SEARCH_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Runs a program that changes a card to its end, and says how that was. Rejects when it cannot be started. */
export const runToEnd = async (
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  limits: { readonly timeoutMs: number; readonly folder: string; readonly signal: AbortSignal },
): Promise<Ended> => {
  const { add, end } = digestOf(END_KEPT)
  const env = { PATH: SEARCH_PATH, ...environment }
  const exit = await ran({ program, args, environment: env, ...limits }, add, true)
  return { ...exit, ...end() }
}

/** Runs a program to its end, and says how that was, also when it could not be started. */
export const runTailed = async (request: RunRequest): Promise<RunEnd> => {
  const tail = tailOf(request.keepBytes)
  try {
    const { code, why } = await ran(request, tail.add)
    return { failure: why ?? (code === 0 ? null : `exit status ${code}`), ...tail.end() }
  } catch (error) {
    return { failure: messageOf(error), ...tail.end() }
  }
}

/**
 * The host interface for this machine. Files below `stateDir` are replaced as a whole and missing folders are created;
 * anywhere else only existing files are written, as sysfs requires.
 */
export const realHostIo = ({
  hostname,
  stateDir,
  warn,
  readMaxBytes = 4 * MIB,
  outputMaxBytes = 4 * MIB,
  environment,
}: RealHost): HostIo & { readonly locks: ToolLocks } => {
  const own = resolve(stateDir) + sep
  const [inTurn, lookedInTurn] = [oneAtATime(), oneAtATime()]
  const limited = atMost(SYSFS_WRITES)
  const stuck = new Map<string, ChildProcess>()
  const io: Omit<HostIo, 'change'> = {
    hostname,
    stateDir,
    warn,
    read: (path) => readBounded(path, readMaxBytes),
    list: async (path) => (await readdir(path)).toSorted(),
    link: linkTarget,
    write: (path, text) =>
      resolve(path).startsWith(own)
        ? inTurn(() => replaceFile(path, text, false))
        : limited(() => writeFile(path, text, { flag: EXISTING })),
    keep: async (path, text) => {
      if (!resolve(path).startsWith(own)) throw new Error(`${path}: is not below ${stateDir}`)
      await inTurn(() => replaceFile(path, text, true))
    },
    run: (program, args, timeoutMs, signal) =>
      runBounded(program, args, { timeoutMs, maxBytes: outputMaxBytes, signal, stuck, environment }),
    head: readHead,
    // one look would find the drive taken by the other
    blockDevice: (path) => lookedInTurn(() => blockDevice(path, DEVICES)),
    askSocket: (path, text, timeoutMs) => askSocket(path, text, timeoutMs, outputMaxBytes),
  }
  // one that is stuck keeps its own card only
  const run: HostIo['run'] = (program, args, timeoutMs, signal) =>
    runBounded(program, args, { timeoutMs, maxBytes: outputMaxBytes, signal, changes: true, environment })
  const locks = toolLocks({ ...io, run }, killed)
  return { ...io, change: locks.change, worksOn: locks.worksOn, locks }
}
