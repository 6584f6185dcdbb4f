/**
 * A socket in a folder that is open as long as its process lives. Processes of other containers cannot see that process, but they can
 * connect: the kernel answers for it, also while it is stopped, and refuses when it has ended.
 */
import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, openSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { codeOf } from '../errorText.ts'

export type LockSocket = {
  /** The name of its file in the folder. */
  readonly name: string
  readonly close: () => void
}
/** `unknown`: it is there, and does not say whether its process lives. */
export type Answer = 'lives' | 'ended' | 'unknown'

/** The kernel takes no longer address of a socket. */
const PATH_MAX = 100
const ANSWER_MS = 2_000

/** Calls `use` with an address of the file; a long one is shortened by way of the open folder. */
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

/** Null: the folder is on a file system, or the machine has a system, that has no such sockets. */
export const openLockSocket = (folder: string): LockSocket | null => {
  const name = `lock.${randomUUID().slice(0, 8)}.sock`
  const path = join(folder, name)
  const server = createServer((socket) => socket.destroy())
  // whether it listens is seen by its file, which is there before `listen` returns
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
