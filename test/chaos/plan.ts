/** The faults of a run and their order, derived from the seed only. Pure. */
import { type Random, random } from '../kill/random.ts'

export const CONTROLS = ['control-1', 'control-2', 'control-3'] as const
export const HOSTS = ['compute1', 'compute2', 'compute3', 'compute4'] as const
/** The host whose folder has little free space. */
export const SMALL_DISK = 'compute4'

const PROCESSES = ['control', 'host', 'broker', 'database'] as const
const WIRES = ['control-database', 'control-broker', 'host-broker'] as const
const WEATHERS = ['cut', 'silence', 'delay'] as const
const ACTORS = ['arq', 'instance', 'deployable'] as const

/** Faults of a run that has an OpenStack beside it. */
export const CLOUD_KINDS = [
  'kill placement',
  'pause placement',
  'cut placement',
  'silence placement',
  'refuse placement',
  'delay placement',
  'pause keystone',
  'cut keystone',
] as const
export type CloudKind = (typeof CLOUD_KINDS)[number]

export type Kind =
  | CloudKind
  | `kill ${(typeof PROCESSES)[number]}`
  | `pause ${(typeof PROCESSES)[number]}`
  | `${(typeof WEATHERS)[number]} ${(typeof WIRES)[number]}`
  | `skew ${'control' | 'host'}`
  | `${'fail over' | 'demote' | 'step clock of'} database`
  | 'lose last rows of database'
  | 'fill disk'
  | `kill actor ${(typeof ACTORS)[number]}`
export const KINDS: readonly Kind[] = [
  ...PROCESSES.map((process) => `kill ${process}` as const),
  ...PROCESSES.map((process) => `pause ${process}` as const),
  ...WIRES.flatMap((wire) => WEATHERS.map((weather) => `${weather} ${wire}` as const)),
  'fail over database',
  'lose last rows of database',
  'demote database',
  'step clock of database',
  'skew control',
  'skew host',
  'fill disk',
  ...ACTORS.map((actor) => `kill actor ${actor}` as const),
]

/** Those that a run must contain. */
export const kindsOf = (withCloud: boolean): readonly Kind[] => (withCloud ? [...KINDS, ...CLOUD_KINDS] : KINDS)
export const isOfCloud = (kind: Kind): kind is CloudKind => (CLOUD_KINDS as readonly Kind[]).includes(kind)

export type Fault = {
  readonly kind: Kind
  /** Target of the fault: a process, the broker or the database. */
  readonly target: string
  readonly forMs: number
  /** Of a `delay`: how late each part passes; of a `skew`: how wrong the clock goes. */
  readonly byMs: number
}
/** Faults that start together, after a pause. */
export type Step = { readonly restMs: number; readonly faults: readonly Fault[] }

/** Share of the steps with two faults. */
const TWO_AT_A_TIME = 0.5
const REST_MS = { from: 800, to: 3000 }
const MIN_MS = 60_000

const targetOf = (kind: Kind, { pick }: Random): string => {
  if (isOfCloud(kind)) return kind.endsWith('keystone') ? 'keystone' : 'placement'
  if (kind === 'fill disk') return SMALL_DISK
  if (/control|actor/.test(kind)) return pick(CONTROLS)
  if (/host/.test(kind)) return pick(HOSTS)
  return kind.endsWith('broker') ? 'broker' : 'database'
}
/** Short ones leave room for all kinds in a short run. */
const lengthOf = (kind: Kind, short: boolean, { between }: Random): number => {
  if (kind.startsWith('kill actor') || kind.startsWith('step')) return 0
  if (kind === ALONE) return 1000
  // clients repeat what nobody can tell them for so long
  if (kind.endsWith('keystone')) return between(3000, short ? 7000 : 12_000)
  if (kind.startsWith('kill') || kind.startsWith('fail over')) return between(200, short ? 1500 : 6000)
  if (kind.startsWith('pause')) return between(5000, short ? 8000 : 20_000)
  return between(3000, short ? 7000 : 15_000)
}
const amountOf = (kind: Kind, { between, chance }: Random): number => {
  if (kind.startsWith('delay')) return between(50, 800)
  if (kind.startsWith('step')) return 3_600_000 * (chance(0.5) ? 1 : -1)
  return kind.startsWith('skew') ? between(2000, 10_000) * (chance(0.5) ? 1 : -1) : 0
}
const shuffled = <Item>(items: readonly Item[], { between }: Random): Item[] => {
  const left = [...items]
  return items.map(() => left.splice(between(0, left.length - 1), 1)[0]!)
}

/** No control may end between the loss and its look: what only that one knew nobody could name. */
const ALONE: Kind = 'lose last rows of database'
/** A run has it so often at most: each time an operator ends the guests of a second, and nobody writes for 20 s. */
const LOSSES_MAX = 3

/** What each is done to stays apart: a process that is killed cannot be paused as well. */
const apart = (one: Fault, other: Fault): boolean =>
  one.target !== other.target && one.kind !== ALONE && other.kind !== ALONE

const stepsOf = (faults: readonly Fault[], chance: Random): readonly Step[] => {
  const steps: Step[] = []
  for (const fault of faults) {
    const last = steps.at(-1)
    const joins = last?.faults.length === 1 && apart(last.faults[0]!, fault) && chance.chance(TWO_AT_A_TIME)
    if (joins) steps.splice(-1, 1, { ...last, faults: [...last.faults, fault] })
    else steps.push({ restMs: chance.between(REST_MS.from, REST_MS.to), faults: [fault] })
  }
  return steps
}
const timeOf = ({ restMs, faults }: Step): number => restMs + Math.max(...faults.map(({ forMs }) => forMs))

/** Rounds that each contain every kind once, for at least the given minutes; the first round is always complete. */
export const planOf = (seed: number, minutes: number, withCloud = false): readonly Step[] => {
  const chance = random(seed)
  const short = minutes <= 5
  const steps: Step[] = []
  for (let [ms, rounds] = [0, 0]; steps.length === 0 || ms < minutes * MIN_MS; rounds++) {
    const kinds = kindsOf(withCloud).filter((kind) => kind !== ALONE || rounds < LOSSES_MAX)
    const faults = shuffled(kinds, chance).map((kind) => ({
      kind,
      target: targetOf(kind, chance),
      forMs: lengthOf(kind, short, chance),
      byMs: amountOf(kind, chance),
    }))
    const round = stepsOf(faults, chance)
    steps.push(...round)
    ms += round.reduce((sum, step) => sum + timeOf(step), 0)
  }
  return steps
}

export const inWords = ({ kind, target, forMs, byMs }: Fault): string =>
  [
    kind,
    ...(kind.endsWith(target) ? [] : [target]),
    ...(byMs === 0 ? [] : [`by ${byMs} ms`]),
    ...(forMs === 0 ? [] : [`for ${(forMs / 1000).toFixed(1)} s`]),
  ].join(' ')
export const planLine = ({ restMs, faults }: Step): string =>
  `after ${(restMs / 1000).toFixed(1)} s: ${faults.map(inWords).join(' and ')}`
