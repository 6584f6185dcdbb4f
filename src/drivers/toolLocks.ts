/**
 * Keeps programs that change a card apart, also those that an earlier start of the host program has left behind.
 *
 * TOOLS-1 a program that changes a card runs below `flock` of util-linux, which holds a lock in the host's folder until
 *    the program and all that has inherited the lock have ended. The kernel keeps the lock, so it outlives a host
 *    program that is killed, and no restart of the machine;
 * TOOLS-2 a program whose card is locked is not begun, and does not wait for the lock: one that waits would begin after
 *    the host program that wanted it has ended;
 * TOOLS-3 on which cards a program works is known without a look at the locks, which would keep programs away: those
 *    that this start has begun, and those that the last look has found;
 * TOOLS-4 what the program prints goes to files, and from there to the host program when it has ended: the end of the
 *    host program closes no pipe to which it writes.
 */
import { createHash } from 'node:crypto'
import { constants } from 'node:os'
import { basename, resolve } from 'node:path'
import { textOf } from '../vocabulary/errorText.ts'
import type { HostIo } from './driver.ts'
import { listed, readJsonObject } from './files.ts'
import { type Process, belonging, parentIn, startedIn } from './processTree.ts'
import type { Ended } from './runToEnd.ts'

/** A process that works on a card. */
export type Worker = { readonly pid: number; readonly program: string; readonly ageMs: number }
/** A card on which a program works. No `workers`: no process that may be seen holds the lock. */
export type AtWork = { readonly card: string; readonly workers: readonly Worker[] }
export type ToolLocks = {
  readonly change: HostIo['change']
  /** As `change`, for a program that `run` runs, and of which it tells how it has ended. */
  readonly toEnd: (
    card: string,
    program: string,
    args: readonly string[],
    run: (program: string, args: readonly string[]) => Promise<Ended>,
  ) => Promise<Ended>
  /**
   * Cards on which a program works, whoever has begun it; of these only, where they are named. To find out takes the
   * lock of a card for a moment, in which no program is begun on it (TOOLS-2): once this start of the host program may
   * begin one, only cards may be asked about for which it begins none.
   */
  readonly atWork: (cards?: ReadonlySet<string>) => Promise<readonly AtWork[]>
  /** TOOLS-3. A process that outlives its program, and keeps the lock, does not count. */
  readonly worksOn: (card: string) => boolean
  /** Kills what works on the card, with its children. */
  readonly kill: (card: string) => Promise<void>
  /**
   * Kills the processes that hold this lock, and their children, if any of them is older than `ageMs`; returns them.
   */
  readonly killAged: (lock: string, ageMs: number) => Promise<readonly Worker[]>
}

const FLOCK = 'flock'
const SHELL = 'sh'
/** The exit status of `flock` where the lock is held. No program uses it, so it is unambiguous. */
const HELD = 213
/** The exit status of `flock` where the program cannot be begun. */
const NOT_BEGUN = 69
const WITHOUT_WAITING = ['--nonblock', '--conflict-exit-code', String(HELD)]
const BUSY = 'was not begun, because a program that was begun earlier still works on the same card'
const LOOK_MS = 10_000

/**
 * `flock` tells of a program that a signal has killed by an exit status above 128. Of several names of one signal the
 * usual one comes first.
 */
const SIGNALS = new Map(
  Object.entries(constants.signals)
    .toReversed()
    .map(([name, number]) => [128 + number, name]),
)
const killedBy = (status: number): string | null => {
  const signal = SIGNALS.get(status)
  return signal === undefined ? null : `was killed by ${signal} (exit status ${status})`
}
const statusIn = (text: string): number => Number(/^exit status (\d+)(?:: |$)/.exec(text)?.[1])

const unlocked = (text: string): string => text.replace(/^(?:flock: )+/, '')
/** An error of `flock` in the words of the program that it was to run. */
const translated = (program: string, error: unknown): Error => {
  const text = unlocked(textOf(error))
  const missing = text === `spawn ${FLOCK} ENOENT`
  const reason = missing
    ? `was not begun, because ${FLOCK} (of util-linux) is not installed on this host`
    : statusIn(text) === HELD
      ? BUSY
      : (killedBy(statusIn(text)) ?? text)
  return new Error(`${basename(program)}: ${reason}`, { cause: error })
}
/** The end of a program that ran below `flock`, as if it had run by itself. */
const endedUnlocked = (end: Ended): Ended => {
  if (end.code === HELD) return { ...end, code: null, why: BUSY }
  const killed = end.code === null ? null : killedBy(end.code)
  if (killed !== null) return { ...end, code: null, why: killed }
  const notBegun = end.code === NOT_BEGUN && end.outputEnd.startsWith(`${FLOCK}: failed to execute`)
  return notBegun ? { ...end, code: null, why: `was not begun: ${unlocked(end.outputEnd).trim()}` } : end
}

/**
 * `$1`: the beginning of the paths of the files; then the program and its arguments. No pipe is between the program and
 * the files: what it has started may hold its output longer than it lives. A program that prints without end is killed
 * at 256 MiB.
 */
const TO_FILES = (errors: string): string =>
  [
    'files=$1; shift',
    'command -v "$1" >/dev/null || { echo "flock: failed to execute $1: it is not there, or no program" >&2; exit 69; }',
    // the shell itself tells of signals on its standard error
    'ulimit -f 524288; rm -f "$files.out" "$files.err"; : >"$files.err"; exec 9>&2 2>/dev/null',
    `(exec "$@") >"$files.out" ${errors} 9>&-; status=$?`,
    'exec 7<"$files.out" 8<"$files.err"; rm -f "$files.out" "$files.err"; cat <&7; cat <&8 >&9; exit $status',
  ].join('\n')
/** Standard output and standard error, each by itself. */
const APART = TO_FILES('2>"$files.err"')
/** Both in the order in which they come. */
const TOGETHER = TO_FILES('2>&1')

type Reach = Pick<HostIo, 'stateDir' | 'read' | 'list' | 'link' | 'write' | 'run'>
type Seen = Process & { readonly name: string; readonly startedMs: number; readonly isHolder: boolean }

const folderOf = ({ stateDir }: Reach): string => `${stateDir}/tools`
/**
 * Contains the folder, so that a lock is found among the open files of a process by whatever path the folder was
 * reached.
 */
const nameOf = (io: Reach, card: string): string =>
  createHash('sha256')
    .update(`${resolve(folderOf(io))} ${card}`)
    .digest('hex')
    .slice(0, 32)
const pathOf = (io: Reach, name: string): string => `${folderOf(io)}/${name}.lock`

const seenAt = async (io: Reach, pid: string, lock: string): Promise<readonly Seen[]> => {
  const stat = await io.read(`/proc/${pid}/stat`).catch(() => '')
  const parent = parentIn(stat)
  if (parent === null) return []
  const open = await io.list(`/proc/${pid}/fd`).catch(() => [])
  const files = await Promise.all(open.map((fd) => io.link(`/proc/${pid}/fd/${fd}`).catch(() => null)))
  const isHolder = files.some((file) => file?.endsWith(lock))
  return [{ pid: Number(pid), parent, environment: '', isHolder, ...startedIn(stat) }]
}
/** Processes that hold the lock whose path ends like this, and what they have begun, the oldest first. */
const holdersOf = async (io: Reach, lock: string): Promise<readonly Seen[]> => {
  const pids = (await listed(io, '/proc')).filter((entry) => /^\d+$/.test(entry))
  const all = (await Promise.all(pids.map((pid) => seenAt(io, pid, lock)))).flat()
  const found = new Set(
    all.filter(({ isHolder }) => isHolder).flatMap(({ pid }) => belonging(all, pid, 'no process has this mark')),
  )
  return all.filter(({ pid }) => found.has(pid)).toSorted((a, b) => a.startedMs - b.startedMs || a.pid - b.pid)
}
const onCard = (io: Reach, name: string): Promise<readonly Seen[]> => holdersOf(io, `/${name}.lock`)
const workersIn = async (io: Reach, seen: readonly Seen[]): Promise<readonly Worker[]> => {
  const lockers = new Set(seen.filter(({ name }) => name === FLOCK).map(({ pid }) => pid))
  const upMs = Number.parseFloat(await io.read('/proc/uptime')) * 1000
  return (
    seen
      // these hold the lock for the program, and do nothing themselves
      .filter(({ name, parent }) => name !== FLOCK && !(name === SHELL && lockers.has(parent)))
      .map(({ pid, name: program, startedMs }) => ({ pid, program, ageMs: Math.max(0, upMs - startedMs) }))
  )
}
const isHeld = async (io: Reach, name: string): Promise<boolean> => {
  try {
    await io.run(FLOCK, [...WITHOUT_WAITING, pathOf(io, name), 'true'], LOOK_MS)
    return false
  } catch (error) {
    if (unlocked(textOf(error)) === `exit status ${HELD}`) return true
    throw error
  }
}
const cardOf = async (io: Reach, name: string): Promise<string> => {
  const { card } = (await readJsonObject(io, `${folderOf(io)}/${name}.json`).catch(() => null)) ?? {}
  return typeof card === 'string' ? card : name
}
/** The locks of these cards; null: all. */
const locksOf = async (
  io: Reach,
  cards: ReadonlySet<string> | null,
): Promise<readonly { readonly name: string; readonly card: string }[]> => {
  const names = (await listed(io, folderOf(io))).flatMap((file) => (file.endsWith('.lock') ? [file.slice(0, -5)] : []))
  const locks = await Promise.all(names.map(async (name) => ({ name, card: await cardOf(io, name) })))
  return locks.filter(({ card }) => cards?.has(card) ?? true)
}
const atWork = async (io: Reach, cards: ReadonlySet<string> | null): Promise<readonly AtWork[]> => {
  const found: AtWork[] = []
  for (const { name, card } of await locksOf(io, cards)) {
    if (!(await isHeld(io, name))) continue
    found.push({ card, workers: await workersIn(io, await onCard(io, name)) })
  }
  return found
}

/** TOOLS-3 */
const cardsWorkedOn = () => {
  const begun = new Map<string, number>()
  const left = new Set<string>()
  return {
    worksOn: (card: string): boolean => begun.has(card) || left.has(card),
    during: async <Answer>(card: string, work: () => Promise<Answer>): Promise<Answer> => {
      begun.set(card, (begun.get(card) ?? 0) + 1)
      try {
        return await work()
      } finally {
        const others = begun.get(card)! - 1
        if (others > 0) begun.set(card, others)
        else begun.delete(card)
      }
    },
    /** `asked`: the cards that were looked at; null: all. */
    found: (asked: ReadonlySet<string> | null, held: readonly AtWork[]): void => {
      for (const card of asked ?? left) left.delete(card)
      for (const { card } of held) left.add(card)
    },
  }
}

/** `end` kills a process. */
export const toolLocks = (io: Reach, end: (pid: number) => void): ToolLocks => {
  const { worksOn, during, found } = cardsWorkedOn()
  /** Runs the program below `flock`, and the `script` between them. */
  const below = async <Answer>(
    card: string,
    [script, program, args]: readonly [string, string, readonly string[]],
    run: (program: string, args: readonly string[]) => Promise<Answer>,
  ): Promise<Answer> => {
    const name = nameOf(io, card)
    await io.write(`${folderOf(io)}/${name}.json`, `${JSON.stringify({ card })}\n`)
    const files = `${folderOf(io)}/${name}`
    const locked = [...WITHOUT_WAITING, pathOf(io, name), SHELL, '-c', script, SHELL, files, program, ...args]
    return during(card, () => run(FLOCK, locked)).catch((error: unknown) => {
      throw translated(program, error)
    })
  }
  return {
    change: (card, program, args, timeoutMs, signal) =>
      below(card, [APART, program, args], (flock, all) => io.run(flock, all, timeoutMs, signal)),
    toEnd: async (card, program, args, run) => endedUnlocked(await below(card, [TOGETHER, program, args], run)),
    worksOn,
    atWork: async (cards) => {
      const held = await atWork(io, cards ?? null)
      found(cards ?? null, held)
      return held
    },
    kill: async (card) => {
      for (const { name } of await locksOf(io, new Set([card]))) for (const { pid } of await onCard(io, name)) end(pid)
    },
    killAged: async (lock, ageMs) => {
      const seen = await holdersOf(io, resolve(lock))
      const workers = await workersIn(io, seen)
      if (!workers.some((worker) => worker.ageMs >= ageMs)) return []
      for (const { pid } of seen) end(pid)
      return workers
    },
  }
}
