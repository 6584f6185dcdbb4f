/**
 * Checks linearizability: whether there is an order of the operations of several observers that explains all their
 * results. Pure; the search is bounded.
 *
 * An operation takes effect at one moment between `from` and `to`. `must: false`: it may also never take effect.
 * `repeats`: it may take effect several times. `sees`: it is a read; when it does not change the state, placing it
 * before the others excludes no solution.
 */
export type Operation<State> = {
  readonly from: number
  readonly to: number
  readonly must: boolean
  readonly repeats?: boolean
  readonly sees?: boolean
  /** The resulting state, or null if the operation is impossible in this state. */
  readonly apply: (state: State) => State | null
}
export type Judged<State> =
  | { readonly verdict: 'fits' | 'undecided' }
  /** `stuck`: the operations that must follow the longest order found, none of which is possible there. */
  | { readonly verdict: 'impossible'; readonly stuck: readonly Operation<State>[] }

const LOOKS_MAX = 200_000

type Node<State> = {
  readonly state: State
  /**
   * The operations of this order that would otherwise be taken again. Those that end before `moment` are left out,
   * because they cannot be taken any more.
   */
  readonly done: readonly number[]
  readonly left: number
  /** The next operation cannot take effect earlier than this. */
  readonly moment: number
}

/** Pseudo-random hash values with a fixed seed, so that the result is deterministic. */
const marks = (count: number): readonly bigint[] => {
  let seed = 0x9e3779b97f4a7c15n
  return Array.from({ length: count }, () => {
    seed = BigInt.asUintN(64, seed * 6364136223846793005n + 1442695040888963407n)
    return seed ^ (seed >> 29n)
  })
}

/**
 * The operations that may come next: those that start before the earliest end of all pending operations that must take
 * effect.
 */
const nextOf = <State>(
  sorted: readonly Operation<State>[],
  { done: taken, moment }: Node<State>,
): readonly number[] => {
  const done = new Set(taken)
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
 * Selects which of the next operations the search tries. Operations that do not change the state need no branch: an
 * optional one is left out; a read is taken at once if all others can still take effect after its start, since each
 * order without it is also possible with it. Operations that must take effect are tried first.
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

/** `looksMax`: the number of search nodes after which the search gives up. */
export const linearize = <State extends string>(
  operations: readonly Operation<State>[],
  initial: State,
  looksMax = LOOKS_MAX,
): Judged<State> => {
  const sorted = operations.toSorted((a, b) => a.from - b.from)
  const mark = marks(sorted.length)
  const seen = new Set<string>()
  const open: Node<State>[] = [
    { state: initial, done: [], left: sorted.filter(({ must }) => must).length, moment: -Infinity },
  ]
  let best = open[0]!
  for (let looks = 0; open.length > 0; looks++) {
    if (looks >= looksMax) return { verdict: 'undecided' }
    const node = open.pop()!
    if (node.left === 0) return { verdict: 'fits' }
    if (node.left < best.left) best = node
    for (const { index, state } of branchesOf(sorted, node).toReversed()) {
      const { from, must, repeats = false } = sorted[index]!
      const moment = Math.max(node.moment, from)
      const taken = repeats ? node.done : [...node.done, index]
      const done = taken.filter((one) => sorted[one]!.to >= moment)
      const hash = done.reduce((all, one) => all ^ mark[one]!, 0n)
      const key = `${hash} ${state} ${moment}`
      if (seen.has(key)) continue
      seen.add(key)
      open.push({
        state,
        done,
        left: node.left - Number(must),
        moment,
      })
    }
  }
  const stuck = nextOf(sorted, best).map((index) => sorted[index]!)
  return { verdict: 'impossible', stuck: stuck.filter(({ must }) => must) }
}
