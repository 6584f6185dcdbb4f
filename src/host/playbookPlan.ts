/**
 * Which playbooks are due on a host, and what it remembers of those that were carried out. Pure.
 *
 * PLAYBOOK-1 a driver is enabled from the first start that has it among its drivers to the first one that has not; its set-up is due at the former, its
 *   tear-down at the latter. What was enabled is what the host's own disk says;
 * PLAYBOOK-2 a set-up that was carried out well is due again only when the content of the driver's folder has changed or the machine was restarted, a
 *   tear-down never; what failed, or was interrupted, is due again.
 */
import * as v from 'valibot'
import { moment } from '../fields.ts'
import { jsonIn } from '../jsonText.ts'

export const PLAYBOOKS = ['setup', 'teardown'] as const
export type Playbook = (typeof PLAYBOOKS)[number]

/** Of the output of one run, as it is kept on the disk and reported. */
export const OUTPUT_MAX = 4000
const REASON_MAX = 1000
const DRIVERS_MAX = 100

const Run = v.object({
  playbook: v.picklist(PLAYBOOKS),
  /** Of the content of the driver's folder. */
  digest: v.string(),
  /** Which start of the machine it was carried out in. */
  machine: v.string(),
  /** `running`: its end is not known. */
  status: v.picklist(['running', 'done', 'failed']),
  startedAt: moment,
  finishedAt: v.nullable(moment),
  /** Why it failed. */
  reason: v.nullable(v.string()),
  output: v.string(),
})
export type Run = Readonly<v.InferOutput<typeof Run>>
const Kept = v.object({ enabled: v.array(v.string()), runs: v.record(v.string(), Run) })
/** `runs`: the last one of each driver. */
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

/** What lies in the folder of a driver; a text: why that cannot be told. */
export type Folder = { readonly digest: string; readonly has: readonly Playbook[] } | string
export type Task = { readonly driver: string; readonly playbook: Playbook; readonly folder: Folder }
export type Present = {
  readonly drivers: readonly string[]
  /** By driver; a driver without a folder is left out. */
  readonly folders: ReadonlyMap<string, Folder>
  readonly machine: string
}

const isDone = (run: Run | undefined, playbook: Playbook): run is Run =>
  run?.playbook === playbook && run.status === 'done'
const has = (folder: Folder | undefined, playbook: Playbook): folder is Folder =>
  folder !== undefined && (typeof folder === 'string' || folder.has.includes(playbook))

/** Tear-downs come first, because a set-up may need what they free. */
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

/** Runs of drivers that are neither enabled nor waiting for anything are forgotten, those that ended first before others. */
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

/** Enabled are the drivers of this start, and those whose tear-down is still due. */
export const enabledBy = (kept: Kept, drivers: readonly string[], tasks: readonly Task[]): Kept => {
  const leaving = tasks.flatMap(({ driver, playbook }) => (playbook === 'teardown' ? [driver] : []))
  const enabled = [...drivers, ...leaving]
  return { enabled, runs: withoutSurplus(kept.runs, enabled) }
}

/** `run` is the last one of the driver now. */
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
/** `reason` null: it was carried out well. `cut`: bytes of output that are not in `output`. */
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

/** Why the driver is not asked for its devices yet; null: nothing is due for it. */
export const heldBack = (run: Run | undefined): { readonly reason: string; readonly isOver: boolean } => {
  if (run?.playbook !== 'setup' || run.status === 'done')
    return { reason: 'its set-up playbook has not been run yet', isOver: false }
  if (run.status === 'running') return { reason: 'its set-up playbook is running', isOver: false }
  const said = run.output.trim().split('\n').slice(-3).join('\n')
  return { reason: `its set-up playbook failed: ${run.reason ?? ''}${said ? `\n${said}` : ''}`, isOver: true }
}
