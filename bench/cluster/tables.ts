/** What a cluster did, as tables: the ratio to the floor first. Pure. */
import { type Summary, type Table, digits, ratio } from '../figures.ts'
import { floorRatio } from '../tables.ts'
import type { Fences } from './page.ts'
import type { ClusterResults, ControlsResult, WholeResult } from './results.ts'
import type { Cpu } from './stand.ts'

const yes = (value: boolean): string => (value ? 'yes' : 'no')
const whole = ({ stages }: Summary) => stages['whole'] ?? { mean: Number.NaN, p50: Number.NaN, p99: Number.NaN }
const costs = ({ controls, hosts, broker, database }: Cpu, { generatorCpuMs }: Summary): string =>
  [controls, hosts, broker, database, generatorCpuMs].map(digits).join(' / ')
const COSTS = 'CPU ms a bind: controls / hosts / broker / database / callers'
const share = ({ appends, stale }: Fences): string => `${digits((stale / appends) * 100)}%`
const failures = (all: readonly Summary[]): number => all.reduce((sum, one) => sum + one.failures.length, 0)

const ways = ({ whole: all }: ClusterResults): Table => ({
  title: 'A whole bind through three controls: POST, PATCH, until Nova is told, GET',
  head: [
    'to the floor',
    'host work',
    'ARQs present',
    'callers',
    'binds/s',
    'p50 ms',
    'p99 ms',
    'POST / PATCH / until told / GET ms',
    COSTS,
    'floor/s',
  ],
  rows: all.map((one) => [
    floorRatio(one),
    yes(one.hostWork),
    one.arqs.toLocaleString('en'),
    String(one.lanes),
    digits(one.found.perSecond),
    digits(whole(one.found).p50),
    digits(whole(one.found).p99),
    ['post', 'patch', 'until told', 'get']
      .map((name) => digits(one.found.stages[name]?.mean ?? Number.NaN))
      .join(' / '),
    costs(one.cpu, one.found),
    digits(one.floor.binds.get(one.lanes)?.perSecond ?? Number.NaN),
  ]),
})

const grownFrom = (last: WholeResult, all: readonly WholeResult[]): readonly string[] | null => {
  const first = all.find(({ hostWork, lanes }) => hostWork === last.hostWork && lanes === last.lanes)!
  if (first === last || first.arqs === last.arqs) return null
  return [
    ratio(whole(last.found).mean, whole(first.found).mean),
    ratio(last.cpu.controls, first.cpu.controls),
    ratio(last.cpu.database, first.cpu.database),
    yes(last.hostWork),
    `${first.arqs.toLocaleString('en')} -> ${last.arqs.toLocaleString('en')}`,
    String(last.lanes),
  ]
}
const growth = ({ whole: all }: ClusterResults): Table => ({
  title: 'Growth with the ARQs present',
  head: ['time', 'CPU of controls', 'CPU of the database', 'host work', 'ARQs present', 'callers'],
  rows: all.map((one) => grownFrom(one, all)).filter((row) => row !== null),
})

/** CPU of a bind without what the controls use anyway while it is made. */
const beyondRest = ({ cpu, restMs, found }: ControlsResult): number => cpu.controls - restMs / found.perSecond
const comparedRow = (one: ControlsResult, first: ControlsResult): readonly string[] => {
  const { controls, lanes, found, cpu, fences, restMs } = one
  return [
    String(controls),
    String(lanes),
    ratio(cpu.controls, first.cpu.controls),
    ratio(beyondRest(one), beyondRest(first)),
    digits(found.perSecond),
    digits(whole(found).p50),
    digits(whole(found).p99),
    costs(cpu, found),
    `${fences.stale} of ${fences.appends} (${share(fences)})`,
    digits(fences.recalls / found.count),
    `${digits(restMs)} ms CPU/s`,
  ]
}
const byControls = ({ controls }: ClusterResults): readonly ControlsResult[] =>
  controls.toSorted((a, b) => a.controls - b.controls || a.lanes - b.lanes)
/** Those with as many callers in all, or as many for each control, as the one with the most controls. */
const alike = (all: readonly ControlsResult[], callers: (one: ControlsResult) => number): readonly ControlsResult[] =>
  all.filter((one) => callers(one) === callers(all.at(-1)!))
const compared = (title: string, results: readonly ControlsResult[]): Table => ({
  title,
  head: [
    'controls',
    'callers',
    'CPU of controls, to one control',
    'less what they need at rest',
    'binds/s',
    'p50 ms',
    'p99 ms',
    COSTS,
    'appends fenced',
    'tails read a bind',
    'at rest',
  ],
  rows: results.map((one) => comparedRow(one, results[0]!)),
})

type Row = readonly [string, string]
const steadyRows = ({ steady }: ClusterResults): readonly Row[] => {
  if (steady === null) return []
  const { found, perSecond, seconds, arqs, cpu, fences, grown, triedAgain } = steady
  const { p50, p99 } = whole(found)
  return [
    [
      `${digits(perSecond)} binds/s for ${digits(seconds)} s (half of the maximum), each deleted again, ${arqs.toLocaleString('en')} ARQs present`,
      `${found.count} binds, ${found.failures.length} errors, ${triedAgain} deletions of 50 told to come again, p50 ${digits(p50)} ms, p99 ${digits(p99)} ms; ${COSTS} ${costs(cpu, found)}; appends fenced ${share(fences)}`,
    ],
    ...grown.map(({ name, residentMb: [first, middle, last] }): Row => [
      `resident memory of ${name} over that time`,
      `${first} MB, in the middle ${middle} MB, at the end ${last} MB`,
    ]),
  ]
}
const lagRows = ({ lag }: ClusterResults): readonly Row[] => {
  if (lag === null) return []
  const { facts, ms, steady } = lag
  return [
    [
      `from the journal's own time to a reader of arq.events.v1, ${digits(steady.perSecond)} binds/s`,
      `p50 ${digits(ms.p50)} ms, p99 ${digits(ms.p99)} ms, ${facts.toLocaleString('en')} facts; the binds themselves p50 ${digits(whole(steady.found).p50)} ms, p99 ${digits(whole(steady.found).p99)} ms, ${steady.found.failures.length} errors`,
    ],
  ]
}
const rest = (results: ClusterResults): Table => ({
  title: 'Everything else',
  head: ['what', 'found'],
  rows: [
    ...steadyRows(results),
    ...lagRows(results),
    ...(results.kill === null
      ? []
      : [
          [
            `${results.kill.inFlight.toLocaleString('en')} binds in flight at a SIGKILL of the control that relays, two others left`,
            `all ended ${digits(results.kill.allMs / 1000)} s after it (the hosts had stood still for ${digits(results.kill.stoodMs / 1000)} s until then): ${JSON.stringify(results.kill.states)}`,
          ],
        ]),
    ...results.lists.map(({ arqs, what, found }) => [
      `list of ARQs, ${what}, ${arqs.toLocaleString('en')} present`,
      `p50 ${digits(whole(found).p50)} ms, ${found.count} times, ${found.failures.length} errors`,
    ]),
    ...results.seeds.map(({ arqs, said }) => [`seed, ${arqs.toLocaleString('en')} ARQs`, said]),
  ],
})

const more = 'what one bind with host work costs'
const comparedBoth = (results: ClusterResults): readonly Table[] => {
  const all = byControls(results)
  if (all.length === 0) return []
  return [
    compared(
      `More controls, as many callers for each: ${more}`,
      alike(all, ({ lanes, controls }) => lanes / controls),
    ),
    compared(
      `More controls, the same callers: ${more}`,
      alike(all, ({ lanes }) => lanes),
    ),
  ]
}

export const clusterTables = (results: ClusterResults): readonly Table[] =>
  [ways(results), growth(results), ...comparedBoth(results), rest(results)].filter(({ rows }) => rows.length > 0)
export const clusterFailures = ({ whole: ways, controls, steady, lag, kill }: ClusterResults): number =>
  failures([
    ...[...ways, ...controls].map(({ found }) => found),
    ...(steady === null ? [] : [steady.found]),
    ...(lag === null ? [] : [lag.steady.found]),
  ]) + (kill === null ? 0 : kill.inFlight - (kill.states['Bound'] ?? 0))
