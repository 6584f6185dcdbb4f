/** The real host: its files and programs, each use bounded. The one file of this room that touches them. */
import { execFile } from 'node:child_process'
import { constants, createReadStream } from 'node:fs'
import { mkdir, readdir, readlink, rename, writeFile } from 'node:fs/promises'
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
/** Opens for writing anew, but makes nothing. */
const EXISTING = constants.O_WRONLY | constants.O_TRUNC
const noLink = new Set(['ENOENT', 'EINVAL', 'ENOTDIR'])

const readBounded = async (path: string, maxBytes: number): Promise<string> => {
  const chunks: Buffer[] = []
  let bytes = 0
  // Counted while reading: sysfs and procfs files do not know their own size.
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new Error(`${path}: must not be longer than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const linkTarget = async (path: string): Promise<string | null> => {
  try {
    return await readlink(path)
  } catch (error) {
    if (noLink.has((error as NodeJS.ErrnoException).code ?? '')) return null
    throw error
  }
}

/** A killed process leaves the old text or the new one. Power loss is not covered: nothing is flushed to the disk. */
const replaceFile = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(`${path}.tmp`, text)
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
 * The port over this machine. Files under `stateDir` are replaced as a whole and their folders made; anywhere else only
 * existing files are written, as sysfs wants it.
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
