/**
 * Runs the playbooks that set drivers up and tear them down.
 *
 * PLAYBOOKS-1 one playbook runs at a time, also if an earlier start of the host program began it: each run holds a lock
 *    in the host's folder;
 * PLAYBOOKS-2 the begin of a run is recorded on the disk before the run begins, so that an interrupted run is known;
 * PLAYBOOKS-3 a driver is not asked for its devices before its set-up succeeded; the other drivers do not wait for it;
 * PLAYBOOKS-4 a driver is not torn down while any slot may be prepared through it;
 * PLAYBOOKS-5 a playbook that failed is tried again, after pauses that become longer;
 * PLAYBOOKS-6 one that an earlier start left behind is killed when it is as old as a playbook may become, since nobody
 *    else watches it.
 */
import { join } from 'node:path'
import type { Cancel, Clock } from '../vocabulary/clock.ts'
import type { ToolLocks } from '../drivers/toolLocks.ts'
import type { RunEnd, RunRequest } from '../drivers/runToEnd.ts'
import { textOf } from '../vocabulary/errorText.ts'
import type { HostName } from '../vocabulary/identifiers.ts'
import type { Log } from '../vocabulary/log.ts'
import type { PlaybookRun } from '../wire/playbooks.ts'
import { ANSIBLE_ENVIRONMENT, notInstalled, playOf } from './ansible.ts'
import type { Disk } from './disk.ts'
import { type Reading, foldersIn, machineStart } from './playbookFolders.ts'
import {
  type Kept,
  NOTHING_KEPT,
  type Task,
  begun,
  due,
  enabledBy,
  heldBack,
  keptIn,
  over,
  withRun,
} from './playbookPlan.ts'

/** The tools and settings with which a host runs playbooks. */
export type PlaybookTools = {
  /** Holds a folder for each driver, with `setup.yml`, `teardown.yml` and the files that they use. */
  readonly dir: string
  /** The name or the path of `ansible-playbook`. */
  readonly program: string
  readonly limitMs: number
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Returns the path of a program; null: it is not installed. */
  readonly programAt: (program: string) => Promise<string | null>
  readonly run: (request: RunRequest) => Promise<RunEnd>
  readonly killAged: ToolLocks['killAged']
}
export type PlaybookSettings = {
  readonly tools: PlaybookTools | null
  readonly host: HostName
  readonly drivers: readonly string[]
  readonly stateDir: string
  readonly io: Reading
  readonly disk: Disk
  readonly clock: Clock
  readonly log: Log
}
/** How many attach handles may be prepared through the driver. */
export type PreparedBy = (driver: string) => number

const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [60_000, 3_600_000]
/** The most bytes of the output of one run, as it is written to the host's folder. */
const KEPT_BYTES = 256 * 1024
/** The most bytes of the output of all runs together, as it is reported. */
const TOLD_BYTES = 64 * 1024
/** The exit status of `flock` when the lock is held. */
const LOCKED = 75

/**
 * The runs as they are told: output is removed until the rest fits. Runs that did not succeed keep theirs first, then
 * the newest ones. Pure.
 */
const fitting = (runs: readonly PlaybookRun[]): readonly PlaybookRun[] => {
  const kept = new Set<PlaybookRun>()
  let left = TOLD_BYTES
  for (const run of runs.toSorted(
    (a, b) => Number(a.status === 'done') - Number(b.status === 'done') || b.startedAt - a.startedAt,
  )) {
    const bytes = Buffer.byteLength(JSON.stringify(run.output))
    if (bytes > left) continue
    left -= bytes
    kept.add(run)
  }
  return runs.map((run) => (kept.has(run) ? run : { ...run, output: '' }))
}

const failure = (reason: string): RunEnd => ({ failure: reason, output: '', cut: 0 })

export class Playbooks {
  readonly #settings: PlaybookSettings
  readonly #machine: string
  readonly #path: string
  #kept: Kept
  /** Drivers that had a due playbook at the start. */
  readonly #waiting: ReadonlySet<string>
  #tasks: readonly Task[]
  #changed: () => unknown = () => {}
  #preparedBy: PreparedBy = () => 0
  #pauseMs = FIRST_PAUSE_MS
  #timer: Cancel = () => {}
  readonly #stop = new AbortController()
  #current: Promise<void> = Promise.resolve()

  private constructor(settings: PlaybookSettings, machine: string, kept: Kept, tasks: readonly Task[]) {
    this.#settings = settings
    this.#machine = machine
    this.#path = pathIn(settings)
    this.#kept = kept
    this.#tasks = tasks
    this.#waiting = new Set(tasks.map(({ driver }) => driver))
  }
  /** Finds the playbooks that are due, and remembers which drivers are enabled. Rejects when the disk fails. */
  static async open(settings: PlaybookSettings): Promise<Playbooks> {
    const { tools, host, disk, log, drivers, io } = settings
    if (tools === null) return new Playbooks(settings, '', NOTHING_KEPT, [])
    const read = keptIn(await disk.read(pathIn(settings)))
    if (read === null) log.warn({ host, path: pathIn(settings) }, 'playbooks.unreadable')
    const before = read ?? NOTHING_KEPT
    const machine = await machineStart(io)
    const folders = await foldersIn(io, tools.dir, [...new Set([...before.enabled, ...drivers])])
    const tasks = due(before, { drivers, folders, machine })
    const kept = enabledBy(before, drivers, tasks)
    await disk.replace(pathIn(settings), JSON.stringify(kept))
    return new Playbooks(settings, machine, kept, tasks)
  }
  /** Runs the playbooks that are due, one after the other. `changed` is called whenever a run has begun or ended. */
  start(preparedBy: PreparedBy, changed: () => unknown): void {
    this.#preparedBy = preparedBy
    this.#changed = changed
    if (this.#tasks.length > 0) this.#current = this.#round()
  }
  /** Kills the playbook that is running, with its children. */
  async stop(): Promise<void> {
    this.#timer()
    this.#stop.abort()
    await this.#current
  }
  /** Why the driver must not be asked for its devices now; null: it may be. `isOver`: this will not change soon. */
  readonly heldBack = (driver: string): ReturnType<typeof heldBack> | null =>
    this.#tasks.some((task) => task.driver === driver && task.playbook === 'setup')
      ? heldBack(this.#kept.runs[driver])
      : null
  /** The last run of each driver; null: this host has no playbooks. */
  lastRuns(): readonly PlaybookRun[] | null {
    if (this.#settings.tools === null) return null
    const { runs } = this.#kept
    return fitting(
      Object.keys(runs)
        .toSorted()
        .map((driver) => {
          const { playbook, status, startedAt, finishedAt, reason, output } = runs[driver]!
          return { driver, playbook, status, startedAt, finishedAt, reason, output }
        }),
    )
  }

  async #round(): Promise<void> {
    for (const { driver } of [...this.#tasks]) {
      if (this.#stop.signal.aborted) return
      await this.#look()
      const task = this.#tasks.find((one) => one.driver === driver)
      if (task !== undefined) await this.#carryOut(task)
    }
    await this.#look()
    if (this.#tasks.length === 0 || this.#stop.signal.aborted) return
    const { clock, log, host } = this.#settings
    this.#timer = clock.after(this.#pauseMs, () => void (this.#current = this.#round()))
    log.info({ host, due: this.#tasks.length, inMs: this.#pauseMs }, 'playbooks.again')
    this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS)
  }
  /** Finds the playbooks that were due at the start and still are, with the present content of their folders. */
  async #look(): Promise<void> {
    const { tools, io, drivers } = this.#settings
    const folders = await foldersIn(io, tools!.dir, [...this.#waiting])
    const left = new Set(this.#tasks.map(({ driver }) => driver))
    const present = { drivers, folders, machine: this.#machine }
    this.#tasks = due(this.#kept, present).filter(({ driver }) => left.has(driver))
  }
  async #carryOut(task: Task): Promise<void> {
    const { clock, log, host } = this.#settings
    const { driver, playbook } = task
    const run = begun(task, this.#machine, clock.now())
    const ended = await this.#ended(task, run)
    // the playbook is due again at the next start
    if (ended === null) return
    const result = over(run, clock.now(), ended.failure, ended)
    await this.#keep(driver, result).catch((error: unknown) =>
      log.error({ host, driver, playbook, reason: textOf(error) }, 'playbook.notKept'),
    )
    this.#kept = withRun(this.#kept, driver, result)
    await this.#look()
    const detail = { host, driver, playbook, ms: clock.now() - run.startedAt }
    if (ended.failure === null) log.info(detail, 'playbook.done')
    else log.warn({ ...detail, reason: ended.failure }, 'playbook.failed')
    this.#changed()
  }
  /** Null: the host program stops. */
  async #ended(task: Task, run: Kept['runs'][string]): Promise<RunEnd | null> {
    const { log, host } = this.#settings
    const { driver, playbook } = task
    try {
      const request = await this.#requestOf(task)
      if (typeof request === 'string') return failure(request)
      await this.#keep(driver, run)
      log.info({ host, driver, playbook }, 'playbook.begun')
      this.#changed()
      const ended = await this.#settings.tools!.run(request)
      if (this.#stop.signal.aborted && ended.failure !== null) return null
      await this.#settings.disk.replace(this.#logOf(task), ended.output)
      if (ended.failure !== `exit status ${LOCKED}`) return ended
      await this.#killSurvivor()
      return {
        ...ended,
        failure: 'another playbook still runs on this host, begun by an earlier start of the host program',
      }
    } catch (error) {
      return failure(textOf(error))
    }
  }
  async #killSurvivor(): Promise<void> {
    const { tools, host, log } = this.#settings
    const processes = await tools!.killAged(lockIn(this.#settings), tools!.limitMs)
    if (processes.length > 0) log.warn({ host, processes, limitMs: tools!.limitMs }, 'playbook.survivorKilled')
  }
  /** A text: why the playbook cannot be run. */
  async #requestOf({ driver, playbook, folder }: Task): Promise<RunRequest | string> {
    const { tools, host } = this.#settings
    const { dir, program, limitMs, environment, programAt } = tools!
    if (typeof folder === 'string') return folder
    const prepared = playbook === 'teardown' ? this.#preparedBy(driver) : 0
    if (prepared > 0)
      return `${prepared} attach handles may be prepared through ${driver}: enable it again until they are released`
    const [ansible, flock] = await Promise.all([programAt(program), programAt('flock')])
    if (ansible === null) return notInstalled(program)
    if (flock === null) return 'flock (of util-linux) is not installed on this host'
    const facts = { accelerando_host: host, accelerando_driver: driver }
    const lock = ['--nonblock', '--conflict-exit-code', String(LOCKED), lockIn(this.#settings)]
    return {
      program: flock,
      args: [...lock, ansible, ...playOf(`${playbook}.yml`, facts)],
      folder: join(dir, driver),
      environment: { ...environment, ...ANSIBLE_ENVIRONMENT },
      timeoutMs: limitMs,
      keepBytes: KEPT_BYTES,
      signal: this.#stop.signal,
    }
  }
  #logOf({ driver, playbook }: Task): string {
    return join(this.#settings.stateDir, 'playbooks', `${driver}-${playbook}.log`)
  }
  async #keep(driver: string, run: Kept['runs'][string]): Promise<void> {
    const next = withRun(this.#kept, driver, run)
    await this.#settings.disk.replace(this.#path, JSON.stringify(next))
    this.#kept = next
  }
}

const lockIn = ({ stateDir }: PlaybookSettings): string => join(stateDir, 'playbooks.lock')
const pathIn = ({ stateDir }: PlaybookSettings): string => join(stateDir, 'playbooks.json')
