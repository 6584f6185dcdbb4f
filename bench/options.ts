/** What a run of the bench measures, as its command line says. */

export type StoreKind = 'postgres' | 'pglite'
export const PARTS = [
  'binds',
  'reads',
  'reports',
  'start',
  'kill',
  'rebuild',
  'memory',
  'cluster',
  'trace',
  'scale',
] as const
export type Part = (typeof PARTS)[number]
/** They are measured on stands of their own, and only when they are named. */
export const OF_THEIR_OWN: readonly Part[] = ['cluster', 'trace', 'scale']

export type Options = {
  readonly arqs: readonly number[]
  readonly stores: readonly StoreKind[]
  readonly concurrency: readonly number[]
  /** Whether the bound device needs work on its host. */
  readonly hostWork: readonly boolean[]
  /** Measured time of each figure. */
  readonly seconds: number
  readonly parts: readonly Part[]
  /** How long a cluster is kept under half of the load it bears. */
  readonly steadySeconds: number
  /** In flight at the kill. */
  readonly inFlight: number
  /** Folder for CPU profiles of the measured program; null: none are taken. */
  readonly profile: string | null
  /** Where the tables go besides standard output; null: nowhere. */
  readonly write: string | null
}

const FULL: Options = {
  arqs: [0, 1_000, 10_000, 100_000],
  stores: ['postgres', 'pglite'],
  concurrency: [1, 8, 32],
  hostWork: [false, true],
  seconds: 6,
  parts: PARTS.filter((part) => !OF_THEIR_OWN.includes(part)),
  steadySeconds: 300,
  inFlight: 1_000,
  profile: null,
  write: null,
}
const QUICK: Partial<Options> = {
  arqs: [0, 1_000],
  seconds: 2,
  parts: ['binds', 'reads', 'reports', 'start', 'kill'],
  steadySeconds: 20,
}
const SMOKE: Partial<Options> = {
  arqs: [0],
  stores: ['pglite'],
  concurrency: [4],
  seconds: 0.5,
  parts: ['binds', 'reads', 'reports', 'kill'],
  inFlight: 50,
}

export const USAGE = `npm run bench -- [options]
  --quick              0 and 1,000 ARQs, short
  --smoke              whether the bench itself works
  --arqs N,N,...       ARQs present (default 0,1000,10000,100000)
  --store S,S          postgres, pglite
  --concurrency N,...  callers at once (default 1,8,32)
  --host-work W,W      no, yes: devices that need their host at a bind
  --seconds S          measured time of each figure (default 6)
  --parts P,P          ${PARTS.join(', ')};
                       only when named: cluster (controls and hosts over Kafka), trace (where the time
                       of one bind in a cluster goes) and scale (costs of a unit)
  --steady-seconds S   how long a cluster is kept under half of the load it bears (default 300)
  --in-flight N        binds in flight at the kill (default 1000)
  --profile DIR        CPU profiles of the program, one a start
  --write FILE         appends the tables, as Markdown`

const numbers = (text: string): readonly number[] => text.split(',').map(Number)
const words = <Word extends string>(text: string, known: readonly Word[]): readonly Word[] =>
  text.split(',').map((word) => {
    if (!known.includes(word as Word)) throw new Error(`${word} is none of ${known.join(', ')}\n\n${USAGE}`)
    return word as Word
  })

const READ: Readonly<Record<string, (text: string) => Partial<Options>>> = {
  '--arqs': (text) => ({ arqs: numbers(text) }),
  '--store': (text) => ({ stores: words(text, ['postgres', 'pglite']) }),
  '--concurrency': (text) => ({ concurrency: numbers(text) }),
  '--host-work': (text) => ({ hostWork: words(text, ['no', 'yes']).map((word) => word === 'yes') }),
  '--seconds': (text) => ({ seconds: Number(text) }),
  '--parts': (text) => ({ parts: words(text, PARTS) }),
  '--steady-seconds': (text) => ({ steadySeconds: Number(text) }),
  '--in-flight': (text) => ({ inFlight: Number(text) }),
  '--profile': (text) => ({ profile: text }),
  '--write': (text) => ({ write: text }),
}

const PRESETS: Readonly<Record<string, Partial<Options>>> = { '--quick': QUICK, '--smoke': SMOKE }

/**
 * Throws with the usage when an argument is not understood. Later ones win, and each wins over `--quick` and `--smoke`.
 */
export const readOptions = (args: readonly string[]): Options => {
  let options = args.reduce((from, name) => ({ ...from, ...PRESETS[name] }), FULL)
  const rest = args.filter((name) => PRESETS[name] === undefined)
  for (let at = 0; at < rest.length; at++) {
    const name = rest[at]!
    const set = READ[name]?.(rest[++at] ?? '')
    if (set === undefined) throw new Error(`${name} is not understood\n\n${USAGE}`)
    options = { ...options, ...set }
  }
  return options
}
