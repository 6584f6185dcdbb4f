/**
 * `accelerando import`: shows what an upstream database is converted to; with `--apply`, records it in an empty store.
 * All of it is written in one transaction, so a process that ends early leaves the store empty.
 */
import { misused } from '../exits.ts'
import { recordsOf } from '../../actors/upstream/appends.ts'
import { type Plan, planImport } from '../../actors/upstream/plan.ts'
import { systemClock, systemIds } from '../../vocabulary/clock.ts'
import { type UpstreamAddress, readAddress } from '../../neighbours/upstream/address.ts'
import { readUpstream } from '../../neighbours/upstream/read.ts'
import type { Log } from '../../vocabulary/log.ts'
import type { Store } from '../../persistence/store.ts'
import { visibleJson } from '../../vocabulary/text.ts'
import type { Config } from '../config/config.ts'
import { readText } from '../config/readText.ts'
import { IMPORT_FROM } from '../config/variables.ts'
import { counted } from '../doctor/check.ts'
import { readOslo } from '../oslo/osloFile.ts'
import { type Name, settingsOf } from '../oslo/settings.ts'
import { counting, withProgress } from '../progress.ts'
import { importLines, summaryOf } from './importText.ts'
import { withStore } from './stopped.ts'

export type ImportGiven = {
  readonly from?: string | undefined
  readonly fromFile?: string | undefined
  readonly apply?: true | undefined
  readonly json?: true | undefined
}

/** The names that the option had in releases of oslo.db. */
const CONNECTION: readonly Name[] = [
  ['database', 'connection'],
  ['database', 'sql_connection'],
  ['DEFAULT', 'sql_connection'],
  ['sql', 'connection'],
]
/** A file may contain only the URL, or be upstream's own configuration. */
const urlInFile = (path: string): string => {
  const text = readText(path).trim()
  const settings = settingsOf([readOslo(text, path).assignments])
  const connection = settings.last(CONNECTION)
  if (connection === null) {
    if (/^\S*$/.test(text)) return text
    throw misused(`--from-file: ${path} sets no connection in [database], and is not a URL alone`)
  }
  const more = settings.last([['database', 'connection_parameters']])?.value ?? ''
  const url = connection.value.trim()
  return more === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${more}`
}

const SOURCES = `--from, --from-file or ${IMPORT_FROM}`
/** Throws an error with a text for the operator, which never contains the URL. */
export const addressOf = ({ from, fromFile }: ImportGiven, env: NodeJS.ProcessEnv): UpstreamAddress => {
  const fromEnvironment = env[IMPORT_FROM]
  const given = [
    ...(from === undefined ? [] : [['--from', from] as const]),
    ...(fromFile === undefined ? [] : [['--from-file', urlInFile(fromFile)] as const]),
    ...(fromEnvironment === undefined || fromEnvironment === '' || from !== undefined || fromFile !== undefined
      ? []
      : [[IMPORT_FROM, fromEnvironment] as const]),
  ]
  const [first, second] = given
  if (first === undefined) throw misused(`name upstream's database with ${SOURCES}`)
  if (second !== undefined) throw misused('--from and --from-file name the same thing: leave one out')
  const reading = readAddress(first[1], readText)
  if (!reading.ok) throw misused(`${first[0]}: ${reading.problem}`)
  return reading.value
}

const sum = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((all, one) => all + one, 0)
/** Two inventories cannot be merged, and hosts and Nova may know the entities of a store that was used before. */
const expectEmpty = async ({ journalEnd, reads }: Store): Promise<void> => {
  if ((await journalEnd()) === '') return
  const [devices, arqs] = await Promise.all([reads.tally('devices', 'hostname'), reads.tally('arqs', 'state')])
  throw new Error(
    `the target was used before: it holds ${counted(sum(devices), 'device')} and ${counted(sum(arqs), 'accelerator request')} now. ` +
      'Nothing was written. Import into an empty database',
  )
}

export const recordImport = async (store: Store, plan: Plan): Promise<number> => {
  await expectEmpty(store)
  const { journalRows } = await withProgress({ what: 'appends', total: null }, (progress) =>
    store.loadWhole(counting(recordsOf(plan, systemIds, systemClock.now()), progress)),
  )
  return journalRows
}

export type ImportParts = { readonly env: NodeJS.ProcessEnv; readonly log: Log; readonly out: (line: string) => void }
export const importUpstream = async (
  config: Config,
  given: ImportGiven,
  { env, log, out }: ImportParts,
): Promise<void> => {
  const plan = planImport(await readUpstream(addressOf(given, env)))
  const rows = given.apply ? await withStore(config, log, (store) => recordImport(store, plan)) : null
  if (given.json) return out(visibleJson({ ...summaryOf(plan), notes: plan.notes, written: rows }))
  for (const line of importLines(plan)) out(line)
  out(rows === null ? 'nothing was written: --apply writes it' : `imported: ${rows} journal rows`)
}
