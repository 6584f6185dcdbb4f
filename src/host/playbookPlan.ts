/**
 * Decides which playbooks are due on a host, and what the host remembers of their runs. Pure.
 *
 * PLAYBOOK-1 a driver is enabled from the first start of the host program that has it among its drivers to the first
 *    one that does not. Its set-up is due at the former start, its tear-down at the latter. The host's own disk tells
 *    which drivers were enabled;
 * PLAYBOOK-2 a set-up that succeeded is due again only when the content of the driver's folder has changed or the
 *    machine was restarted, a tear-down that succeeded never. A playbook that failed, or was interrupted, is due again.
 */
import * as v from 'valibot'
import { moment } from '../vocabulary/fields.ts'
import { jsonIn } from '../vocabulary/jsonText.ts'

export const PLAYBOOKS = ['setup', 'teardown'] as const
export type Playbook = (typeof PLAYBOOKS)[number]

/** The most characters of the output of one run that are kept on the disk and reported. */
const OUTPUT_MAX = 4000
const REASON_MAX = 1000
const DRIVERS_MAX = 100

const Run = v.object({
  playbook: v.picklist(PLAYBOOKS),
  /** The digest of the content of the driver's folder. */
  digest: v.string(),
  /** The id of the machine's start in which the playbook ran. */
  machine: v.string(),
  /** `running`: the end of the run is not known. */
  status: v.picklist(['running', 'done', 'failed']),
  startedAt: moment,
  finishedAt: v.nullable(moment),
  /** Why the run failed. */
  reason: v.nullable(v.string()),
  output: v.string(),
})
export type Run = Readonly<v.InferOutput<typeof Run>>
const Kept = v.object({ enabled: v.array(v.string()), runs: v.record(v.string(), Run) })
/** `runs`: the last run of each driver. */
export type Kept = {
  readonly enabled: readonly string[]
  readonly runs: Readonly<Record<string, Run>>
}
export const NOTHING_KEPT: Kept = { enabled: [], runs: {} }

/** Null: the text cannot be read. */
export const keptIn = (text: string | null): Kept | null => {
  if (text === null) return NOTHING_KEPT
  const read = v.safeParse(Kept, jsonIn(text))
  return read.success ? read.output : null
}

/** The folder of a driver; a text: why it cannot be read. */
export type Folder = { readonly digest: string; readonly has: readonly Playbook[] } | string
export type Task = { readonly driver: string; readonly playbook: Playbook; readonly folder: Folder }
export type Present = {
  readonly drivers: readonly string[]
  /** By driver; drivers without a folder are left out. */
  readonly folders: ReadonlyMap<string, Folder>
  readonly machine: string
}

const isDone = (run: Run | undefined, playbook: Playbook): run is Run =>
  run?.playbook === playbook && run.status === 'done'
const has = (folder: Folder | undefined, playbook: Playbook): folder is Folder =>
  folder !== undefined && (typeof folder === 'string' || folder.has.includes(playbook))

/** Tear-downs come first, because a set-up may need something that they free. */
export const due = ({ enabled, runs }: Kept, { drivers, folders, machine }: Present): readonly Task[] => {
  const isUpToDate = (driver: string, folder: Folder): boolean => {
    const run = runs[driver]
    return isDone(run, 'setup') && typeof folder !== 'string' && run.digest === folder.digest && run.machine === machine
  }
  const task = (driver: string, playbook: Playbook, isOver: (folder: Folder) => boolean): readonly Task[] => {
    const folder = folders.get(driver)
    return has(folder, playbook) && !isOver(folder) ? [{ driver, playbook, folder }] : []
  }
  const gone = enabled.filter((driver) => !drivers.includes(driver))
  return [
    ...gone.flatMap((driver) => task(driver, 'teardown', () => isDone(runs[driver], 'teardown'))),
    ...drivers.flatMap((driver) => task(driver, 'setup', (folder) => isUpToDate(driver, folder))),
  ]
}

/** Forgets runs of drivers that are not enabled when there are too many, those that started first before others. */
const withoutSurplus = (runs: Kept['runs'], enabled: readonly string[]): Kept['runs'] => {
  const all = Object.entries(runs)
  const surplus = all.length - DRIVERS_MAX
  if (surplus <= 0) return runs
  const forgotten = all
    .filter(([driver]) => !enabled.includes(driver))
    .toSorted(([, a], [, b]) => a.startedAt - b.startedAt)
    .slice(0, surplus)
    .map(([driver]) => driver)
  return Object.fromEntries(all.filter(([driver]) => !forgotten.includes(driver)))
}

/** Enables the drivers of this start, and those whose tear-down is still due. */
export const enabledBy = (kept: Kept, drivers: readonly string[], tasks: readonly Task[]): Kept => {
  const leaving = tasks.flatMap(({ driver, playbook }) => (playbook === 'teardown' ? [driver] : []))
  const enabled = [...drivers, ...leaving]
  return { enabled, runs: withoutSurplus(kept.runs, enabled) }
}

/** Records `run` as the last run of the driver. */
export const withRun = ({ enabled, runs }: Kept, driver: string, run: Run): Kept => ({
  enabled: run.playbook === 'teardown' && run.status === 'done' ? enabled.filter((one) => one !== driver) : enabled,
  runs: { ...runs, [driver]: run },
})

export const begun = ({ playbook, folder }: Task, machine: string, at: number): Run => ({
  playbook,
  digest: typeof folder === 'string' ? '' : folder.digest,
  machine,
  status: 'running',
  startedAt: at,
  finishedAt: null,
  reason: null,
  output: '',
})
/** `reason` null: the run succeeded. `cut`: how many bytes of the output are missing in `output`. */
export const over = (
  run: Run,
  at: number,
  reason: string | null,
  { output, cut }: { readonly output: string; readonly cut: number },
): Run => {
  const text = output.toWellFormed().replaceAll('\0', '')
  const surplus = Math.max(0, text.length - OUTPUT_MAX)
  const missing = cut + surplus
  const mark = missing > 0 ? `[${missing} bytes or more before this are on the host]\n` : ''
  return {
    ...run,
    status: reason === null ? 'done' : 'failed',
    finishedAt: at,
    reason: reason?.slice(0, REASON_MAX) ?? null,
    output: mark + text.slice(surplus + mark.length).toWellFormed(),
  }
}

/**
 * Returns why a driver whose set-up is due is not asked for its devices yet. `isOver`: its set-up failed, so this will
 * not change soon.
 */
export const heldBack = (run: Run | undefined): { readonly reason: string; readonly isOver: boolean } => {
  if (run?.playbook !== 'setup' || run.status === 'done')
    return { reason: 'its set-up playbook has not been run yet', isOver: false }
  if (run.status === 'running') return { reason: 'its set-up playbook is running', isOver: false }
  const said = run.output.trim().split('\n').slice(-3).join('\n')
  return { reason: `its set-up playbook failed: ${run.reason ?? ''}${said ? `\n${said}` : ''}`, isOver: true }
}
