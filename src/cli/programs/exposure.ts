/**
 * Who else may replace a file: another user who may write to it, or to a folder above it, in which a file can be
 * exchanged for another one.
 */
import { readdir, realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Config } from '../config/config.ts'
import type { Log } from '../../vocabulary/log.ts'

type Facts = { readonly uid: number; readonly gid: number; readonly mode: number }
export type User = { readonly uid: number; readonly gid: number }

const [EVERYBODY, GROUP, STICKY] = [0o002, 0o020, 0o1000]
const ROOT = 0

/** Why another user may write to it; null: nobody else may. The group of the user itself is its own. */
export const exposureOf = ({ uid, gid, mode }: Facts, user: User | null): string | null => {
  if ((mode & EVERYBODY) !== 0) return 'everybody on this machine may write to it'
  if (user === null) return null
  if ((mode & GROUP) !== 0 && gid !== user.gid && gid !== ROOT) return `its group (${gid}) may write to it`
  return uid === user.uid || uid === ROOT ? null : `it belongs to another user (${uid})`
}

type Exposed = { readonly path: string; readonly reason: string }
const userHere = (): User | null =>
  process.getuid && process.getgid ? { uid: process.getuid(), gid: process.getgid() } : null

const above = async (path: string, user: User | null): Promise<readonly Exposed[]> => {
  const folder = dirname(path)
  if (folder === path) return []
  const facts = await stat(folder)
  // with the sticky bit, as in /tmp, nobody takes the place of what belongs to others
  const reason = (facts.mode & STICKY) === 0 ? exposureOf(facts, user) : null
  return [...(reason === null ? [] : [{ path: folder, reason }]), ...(await above(folder, user))]
}
/** What others may write to of a path and the folders above it, the nearest first. Rejects when it is not there. */
export const exposedOn = async (path: string, user = userHere()): Promise<readonly Exposed[]> => {
  const real = await realpath(path)
  const reason = exposureOf(await stat(real), user)
  return [...(reason === null ? [] : [{ path: real, reason }]), ...(await above(real, user))]
}

const ENTRIES_MAX = 1000
const contentsOf = async (folder: string): Promise<readonly string[]> =>
  (await readdir(folder, { recursive: true })).slice(0, ENTRIES_MAX).map((name) => join(folder, name))

/** The programs and playbooks that a host runs with all rights. */
const runBy = async ({ cleaning, playbooks }: Pick<Config, 'cleaning' | 'playbooks'>): Promise<readonly string[]> => {
  const { dir } = playbooks
  const cleaners = cleaning.flatMap((policy) => {
    if (policy.kind === 'quarantine') return []
    return policy.kind === 'command' ? [policy.command[0]] : [policy.playbook]
  })
  return [...cleaners, ...(dir === null ? [] : [dir, ...(await contentsOf(dir).catch(() => []))])]
}
export const warnOfExposed = async (config: Pick<Config, 'cleaning' | 'playbooks'>, log: Log): Promise<void> => {
  const found = await Promise.all((await runBy(config)).map((path) => exposedOn(path).catch(() => [])))
  const reasons = new Map(found.flat().map(({ path, reason }) => [path, reason]))
  for (const [path, reason] of reasons) log.warn({ path, reason }, 'cleaning.pathExposed')
}
