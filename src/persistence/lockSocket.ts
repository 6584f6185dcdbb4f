/**
 * A socket in a folder that is open as long as its process lives. Processes of other containers cannot see that
 * process, but they can connect: while the process exists, even stopped, the kernel accepts the connection; after its
 * end the kernel refuses it.
 */
import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, openSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { codeOf } from '../vocabulary/errorText.ts'

export type LockSocket = {
  /** The name of the socket's file in the folder. */
  readonly name: string
  readonly close: () => void
}
/** `unknown`: the socket does not show whether its process lives. */
export type Answer = 'lives' | 'ended' | 'unknown'

/** In bytes. Kernels refuse the address of a socket that is much longer. */
const PATH_MAX = 100
const ANSWER_MS = 2_000

/** Calls `use` with an address of the socket's file; too long an address is shortened by way of the open folder. */
const addressed = <Value>(folder: string, name: string, use: (path: string) => Value): Value => {
  const path = join(folder, name)
  if (Buffer.byteLength(path) <= PATH_MAX) return use(path)
  const open = openSync(folder, 'r')
  try {
    return use(`/proc/self/fd/${open}/${name}`)
  } finally {
    closeSync(open)
  }
}

/** Null: the file system or the operating system has no such sockets. */
export const openLockSocket = (folder: string): LockSocket | null => {
  const name = `lock.${randomUUID().slice(0, 8)}.sock`
  const path = join(folder, name)
  const server = createServer((socket) => socket.destroy())
  // errors need no handling: `listen` creates the file of the socket before it returns, and the file shows whether it
  // succeeded
  server.on('error', () => undefined)
  try {
    addressed(folder, name, (address) => server.listen(address))
  } catch {
    return null
  }
  if (!existsSync(path)) return null
  server.unref()
  return {
    name,
    close: () => {
      server.close()
      rmSync(path, { force: true })
    },
  }
}

export const askLockSocket = (folder: string, name: string): Promise<Answer> =>
  new Promise((resolve) => {
    const socket = addressed(folder, name, (path) => connect({ path }))
    const ended = (answer: Answer) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(ANSWER_MS, () => ended('unknown'))
    socket.on('connect', () => ended('lives'))
    socket.on('error', (error) => ended(['ECONNREFUSED', 'ENOENT'].includes(codeOf(error) ?? '') ? 'ended' : 'unknown'))
  })
