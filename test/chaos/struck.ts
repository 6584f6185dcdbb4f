/** The injected faults, and what must hold for them and for requests at the same time. Pure. */
import type { Served } from '../kill/account.ts'
import type { Kind } from './plan.ts'

/** One injected fault. `to`: when it ended; Infinity while it lasts. */
export type Struck = {
  readonly kind: Kind
  readonly target: string
  readonly from: number
  to: number
  /** Binds that were requested and had not ended, by the client's own record. */
  readonly inFlight: number
  done: boolean
}
/** A request that a control took and had not answered when the client gave up. */
export type Hung = { readonly control: string; readonly what: string; readonly from: number; readonly to: number }
export type Run = {
  readonly struck: readonly Struck[]
  /** Those that it must contain. */
  readonly kinds: readonly Kind[]
  readonly hung: readonly Hung[]
  readonly accepted: number
  readonly wanted: number
}

/** A process that lost the database needs this long to reconnect. */
const FOUND_AGAIN_MS = 5000

/** Periods in which no process could reach the database. */
export const outagesOf = (struck: readonly Struck[]): readonly Served[] =>
  struck
    .filter(({ target }) => target === 'database')
    .map(({ from, to }) => ({ from, to: to + FOUND_AGAIN_MS }))
    .toSorted((one, other) => one.from - other.from)

/** The periods from the start that are outside the outages. */
export const servedIn = (outages: readonly Served[], from: number): Served[] => {
  const served: Served[] = []
  let since = from
  for (const outage of outages) {
    if (outage.from > since) served.push({ from: since, to: outage.from })
    since = Math.max(since, outage.to)
  }
  return [...served, { from: since, to: Infinity }]
}

export const countsOf = ({ struck, kinds }: Pick<Run, 'struck' | 'kinds'>): ReadonlyMap<Kind, number> =>
  new Map(kinds.map((kind) => [kind, struck.filter((one) => one.kind === kind && one.done).length]))

type Rule = (run: Run) => readonly string[]
const everyKind: Rule = (run) =>
  [...countsOf(run)].flatMap(([kind, count]) => (count === 0 ? [`"${kind}" did not happen`] : []))

const underLoad: Rule = ({ struck }) =>
  struck.flatMap(({ kind, target, inFlight }) =>
    inFlight === 0 ? [`"${kind}" of ${target} happened with no bind in flight`] : [],
  )

const enoughBinds: Rule = ({ accepted, wanted }) =>
  accepted < wanted ? [`${accepted} binds were accepted, fewer than ${wanted}`] : []

/** A paused process answers no requests. */
const excused = ({ control, from, to }: Hung, struck: readonly Struck[]): boolean =>
  struck.some(
    (one) => one.target === control && /^(kill|pause|skew)/.test(one.kind) && one.from <= to && one.to >= from,
  )
const answered: Rule = ({ hung, struck }) =>
  hung
    .filter((one) => !excused(one, struck))
    .map(({ control, what, from, to }) => `${control} had not answered ${what} after ${to - from} ms`)

export const CHAOS_RULES: Readonly<Record<string, Rule>> = {
  'every kind of fault happens': everyKind,
  'faults happen while binds are in flight': underLoad,
  'there are enough binds': enoughBinds,
  'a control that runs answers': answered,
}
export const judgeRun = (run: Run): readonly string[] =>
  Object.entries(CHAOS_RULES).flatMap(([rule, find]) => find(run).map((found) => `${rule}: ${found}`))
