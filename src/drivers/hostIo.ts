/**
 * Access to the files and programs of the real host, with size limits. This is the only file of this folder that
 * touches them.
 */
import { codeOf } from '../errorText.ts'
import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, readlink, rename, writeFile } from 'node:fs/promises'
import { basename, dirname, resolve, sep } from 'node:path'
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

const linkTarget = async (path: string): Promise<string | null> => {
  try {
    return await readlink(path)
  } catch (error) {
    if (noLink.has(codeOf(error) ?? '')) return null
    throw error
  }
}

/**
 * If the process is killed, the file holds either the old or the new text. Power loss is not covered, because nothing
 * is flushed to the disk.
 */
const replaceFile = async (path: string, text: string): Promise<void> => {
  await writeFile(`${path}.tmp`, text).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    await mkdir(dirname(path), { recursive: true })
    await writeFile(`${path}.tmp`, text)
  })
  await rename(`${path}.tmp`, path)
}

const runBounded = (program: string, args: readonly string[], timeout: number, maxBuffer: number): Promise<string> =>
  new Promise((done, fail) => {
    execFile(program, args, { timeout, maxBuffer, killSignal: 'SIGKILL' }, (error, stdout, stderr) => {
      if (error === null) return done(stdout)
      const reason = error.killed
        ? `no end within ${timeout} ms or too much output`
        : stderr.trim().slice(0, 500) || error.message
      fail(new Error(`${basename(program)}: ${reason}`))
    })
  })

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
  return {
    hostname,
    stateDir,
    warn,
    read: (path) => readBounded(path, readMaxBytes),
    list: async (path) => (await readdir(path)).toSorted(),
    link: linkTarget,
    write: (path, text) =>
      resolve(path).startsWith(own) ? inTurn(() => replaceFile(path, text)) : writeFile(path, text, { flag: EXISTING }),
    run: (program, args, timeoutMs) => runBounded(program, args, timeoutMs, outputMaxBytes),
  }
}
