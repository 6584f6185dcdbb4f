/**
 * Whether what several observers saw of one thing, each within an interval, fits one order of events. Pure; a bounded search.
 *
 * An operation takes effect at one moment between `from` and `to`. `must: false`: or never. `repeats`: or several times. `sees`: where it
 * changes nothing, the others lose nothing if it comes before them.
 */
export type Operation<State> = {
  readonly from: number
  readonly to: number
  readonly must: boolean
  readonly repeats?: boolean
  readonly sees?: boolean
  /** The state it leads to, or null where it cannot have happened. */
  readonly apply: (state: State) => State | null
}
export type Judged<State> =
  | { readonly verdict: 'fits' | 'undecided' }
  /** `stuck`: of the longest order that was found, the operations of which none can come next. */
  | { readonly verdict: 'impossible'; readonly stuck: readonly Operation<State>[] }

/** Orders looked at before the search gives up. */
const LOOKS_MAX = 200_000

type Node<State> = {
  readonly state: State
  readonly done: ReadonlySet<number>
  readonly hash: bigint
  readonly left: number
  /** The next cannot be earlier. */
  readonly moment: number
}

/** Seeded, so that the same history is judged alike each time. */
const marks = (count: number): readonly bigint[] => {
  let seed = 0x9e3779b97f4a7c15n
  return Array.from({ length: count }, () => {
    seed = BigInt.asUintN(64, seed * 6364136223846793005n + 1442695040888963407n)
    return seed ^ (seed >> 29n)
  })
}

/** Those that may come next: begun before any that must be over by then has ended. */
const nextOf = <State>(sorted: readonly Operation<State>[], { done, moment }: Node<State>): readonly number[] => {
  let limit = Infinity
  const open: number[] = []
  for (const [index, { from, to, must }] of sorted.entries()) {
    if (from > limit) break
    if (done.has(index) || to < moment) continue
    open.push(index)
    if (must) limit = Math.min(limit, to)
  }
  return open.filter((index) => sorted[index]!.from <= limit)
}

/**
 * What to try of them. One that changes nothing is no reason to branch: if it may be left out it is, and if it only sees and every other
 * one can still come after its begin, it is taken at once, since whatever order follows without it follows with it too. What must
 * happen goes first.
 */
const branchesOf = <State>(
  sorted: readonly Operation<State>[],
  node: Node<State>,
): readonly { readonly index: number; readonly state: State }[] => {
  const next = nextOf(sorted, node)
  const earliestEnd = next.reduce((least, index) => Math.min(least, sorted[index]!.to), Infinity)
  const led = next.flatMap((index) => {
    const { must, apply } = sorted[index]!
    const state = apply(node.state)
    return state === null || (!must && state === node.state) ? [] : [{ index, state }]
  })
  const idle = led.find(
    ({ index, state }) =>
      sorted[index]!.sees && state === node.state && sorted[index]!.from <= Math.max(node.moment, earliestEnd),
  )
  if (idle) return [idle]
  const order = ({ index: a }: { index: number }, { index: b }: { index: number }): number =>
    Number(sorted[b]!.must) - Number(sorted[a]!.must) || sorted[a]!.to - sorted[b]!.to
  return led.toSorted(order)
}

export const linearize = <State extends string>(
  operations: readonly Operation<State>[],
  initial: State,
): Judged<State> => {
  const sorted = operations.toSorted((a, b) => a.from - b.from)
  const mark = marks(sorted.length)
  const seen = new Set<string>()
  const open: Node<State>[] = [
    { state: initial, done: new Set(), hash: 0n, left: sorted.filter(({ must }) => must).length, moment: -Infinity },
  ]
  let best = open[0]!
  for (let looks = 0; open.length > 0; looks++) {
    if (looks >= LOOKS_MAX) return { verdict: 'undecided' }
    const node = open.pop()!
    if (node.left === 0) return { verdict: 'fits' }
    if (node.left < best.left) best = node
    for (const { index, state } of branchesOf(sorted, node).toReversed()) {
      const { from, must, repeats = false } = sorted[index]!
      const hash = repeats ? node.hash : node.hash ^ mark[index]!
      const key = `${hash} ${state} ${Math.max(node.moment, from)}`
      if (seen.has(key)) continue
      seen.add(key)
      open.push({
        state,
        done: repeats ? node.done : new Set([...node.done, index]),
        hash,
        left: node.left - Number(must),
        moment: Math.max(node.moment, from),
      })
    }
  }
  const stuck = nextOf(sorted, best).map((index) => sorted[index]!)
  return { verdict: 'impossible', stuck: stuck.filter(({ must }) => must) }
}
