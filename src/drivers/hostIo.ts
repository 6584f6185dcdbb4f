/**
 * Access to the files and programs of the real host, with size limits. This is the only file of this folder that
 * touches them.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, readlink, rename, writeFile } from 'node:fs/promises'
import { basename, dirname, resolve, sep } from 'node:path'
import { codeOf, messageOf } from '../errorText.ts'
import type { HostIo } from './driver.ts'
import { oneAtATime } from './files.ts'

export type RealHost = Pick<HostIo, 'hostname' | 'stateDir' | 'warn'> & {
  /** Longer files are refused. 4 MiB when not given. */
  readonly readMaxBytes?: number
  /** Longer output is refused. 4 MiB when not given. */
  readonly outputMaxBytes?: number
}

const MIB = 1024 * 1024
/** Opens an existing file and truncates it; creates nothing. */
const EXISTING = constants.O_WRONLY | constants.O_TRUNC
const noLink = new Set(['ENOENT', 'EINVAL', 'ENOTDIR'])

const PORTION = 64 * 1024

const readAll = async (file: FileHandle, path: string, maxBytes: number): Promise<string> => {
  const chunks: Buffer[] = []
  // The size is counted while reading, because sysfs and procfs report no correct size.
  for (let bytes = 0; ;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(PORTION))
    if (bytesRead === 0) return Buffer.concat(chunks).toString('utf8')
    bytes += bytesRead
    if (bytes > maxBytes) throw new Error(`${path}: must not be longer than ${maxBytes} bytes`)
    chunks.push(buffer.subarray(0, bytesRead))
  }
}

const readBounded = async (path: string, maxBytes: number): Promise<string> => {
  const file = await open(path)
  try {
    return await readAll(file, path, maxBytes)
  } finally {
    await file.close()
  }
}

/** Reads on until it has enough or the file ends: one read may give less. */
const readHead = async (path: string, bytes: number): Promise<Uint8Array> => {
  const file = await open(path)
  try {
    const buffer = Buffer.alloc(bytes)
    for (let at = 0; ;) {
      const { bytesRead } = await file.read(buffer, at, bytes - at)
      at += bytesRead
      if (bytesRead === 0 || at === bytes) return buffer.subarray(0, at)
    }
  } finally {
    await file.close()
  }
}

const linkTarget = async (path: string): Promise<string | null> => {
  try {
    return await readlink(path)
  } catch (error) {
    if (noLink.has(codeOf(error) ?? '')) return null
    throw error
  }
}

/**
 * If the process is killed, the file holds either the old or the new text; with `flush` also after a power loss, and then it holds the new text once this
 * has resolved.
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

/** At most so many writes to sysfs at a time: one may block for as long as a guest holds a device, and takes a thread of the process with it. */
const SYSFS_WRITES = 2
const atMost = (most: number): (<Result>(work: () => Promise<Result>) => Promise<Result>) => {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}

type RunLimits = {
  readonly timeoutMs: number
  /** Of standard output and standard error each. */
  readonly maxBytes: number
  readonly signal?: AbortSignal | undefined
}
const COMPLAINT_MAX = 500

/** The program is the leader of a process group of its own, so that its children end with it. */
const killAll = ({ pid }: ChildProcess): void => {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // the group has ended already
  }
}

const gathered = (stream: NodeJS.ReadableStream, maxBytes: number, tooMuch: () => void): (() => string) => {
  const chunks: Buffer[] = []
  let bytes = 0
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > maxBytes) tooMuch()
    else chunks.push(chunk)
  })
  return () => Buffer.concat(chunks).toString('utf8')
}

/**
 * What the program prints on standard output. Rejects with the name of the program and its complaint when it does not end well, or within its
 * limits; then it and its children are killed.
 */
const runBounded = (program: string, args: readonly string[], limits: RunLimits): Promise<string> => {
  const { timeoutMs, maxBytes, signal } = limits
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const failed = (reason: string) => reject(new Error(`${basename(program)}: ${reason}`))
  if (signal?.aborted) {
    failed('was not begun, because its time is over')
    return promise
  }
  const child = spawn(program, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let stopped: string | null = null
  // it has ended when the program is gone: until then it may still be at work
  const stop = (reason: string) => {
    stopped ??= reason
    killAll(child)
    // a process that left the group may keep the other end open
    child.stdout.destroy()
    child.stderr.destroy()
  }
  const timer = setTimeout(() => stop(`no end within ${timeoutMs} ms`), timeoutMs)
  const aborted = () => stop('was stopped, because its time is over')
  signal?.addEventListener('abort', aborted, { once: true })
  const out = gathered(child.stdout, maxBytes, () => stop(`more than ${maxBytes} bytes of output`))
  const complaint = gathered(child.stderr, maxBytes, () => stop(`more than ${maxBytes} bytes of output`))
  child.on('error', (error) => failed(messageOf(error)))
  child.on('close', (code, by) => {
    if (stopped !== null) return failed(stopped)
    if (code === 0) return resolve(out())
    const said = complaint().trim().slice(0, COMPLAINT_MAX)
    failed(said || (by === null ? `exit status ${code}` : `killed by ${by}`))
  })
  return promise.finally(() => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', aborted)
  })
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
}: RealHost): HostIo => {
  const own = resolve(stateDir) + sep
  const inTurn = oneAtATime()
  const limited = atMost(SYSFS_WRITES)
  return {
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
      runBounded(program, args, { timeoutMs, maxBytes: outputMaxBytes, signal }),
    head: readHead,
  }
}
