/**
 * Allocation candidates, as far as Nova's query for accelerators needs them (placement.md 10): groups with suffixes,
 * traits, trees, `root_required`.
 */
import { onlyKeys, type Route } from './route.ts'
import {
  type Amounts,
  amountsIn,
  capacityOf,
  checkClasses,
  checkTraits,
  follows,
  type HeldProvider,
  isUnit,
  namesIn,
  type PlacementState,
  Refusal,
  rootOf,
  share,
  type TraitRule,
  traitRuleIn,
  usedOf,
} from './state.ts'

type Group = {
  readonly suffix: string
  readonly resources: Amounts
  readonly rule: TraitRule
  /** Only providers of the tree that this one belongs to. */
  readonly inTree: string | null
}
/** One resource of a group from one provider. */
type Part = { readonly suffix: string; readonly one: HeldProvider; readonly name: string; readonly amount: number }
type Candidate = readonly Part[]

const GROUP_KEY = /^(resources|required|in_tree)([a-zA-Z0-9_-]{1,64})?$/
const OTHERS = new Set(['limit', 'group_policy', 'root_required'])
/** So many candidates are made at most, before the limit of the request. */
const MAX = 10_000

const groupsIn = (query: URLSearchParams, minor: number): readonly Group[] => {
  onlyKeys(query, (key) => OTHERS.has(key) || GROUP_KEY.test(key))
  const suffixes = new Set(
    [...query.keys()].filter((key) => !OTHERS.has(key)).map((key) => GROUP_KEY.exec(key)![2] ?? ''),
  )
  const withResources = [...suffixes].filter((suffix) => query.has(`resources${suffix}`))
  if (withResources.length === 0)
    throw new Refusal(400, 'There must be at least one resources or resources[$S] parameter.', 'query.missing_value')
  if (withResources.length < suffixes.size)
    throw new Refusal(
      400,
      'Resourceless suffixed group request should be specified in `same_subtree`',
      'query.bad_value',
    )
  if (withResources.filter(Boolean).length > 1 && !query.has('group_policy'))
    throw new Refusal(
      400,
      'The "group_policy" parameter is required when specifying more than one "resources{N}" parameter.',
    )
  return withResources.map((suffix) => ({
    suffix,
    resources: amountsIn(query.get(`resources${suffix}`)!),
    rule: traitRuleIn(query.getAll(`required${suffix}`), minor),
    inTree: query.get(`in_tree${suffix}`),
  }))
}

const offers = (state: PlacementState, one: HeldProvider, name: string, amount: number): boolean => {
  const inventory = one.inventories.get(name)
  if (inventory === undefined || !isUnit(amount, inventory)) return false
  return (usedOf(state, one)[name] ?? 0) + amount <= capacityOf(inventory)
}
const product = <Value>(lists: readonly (readonly Value[])[]): readonly (readonly Value[])[] =>
  lists.reduce<readonly (readonly Value[])[]>(
    (made, list) => made.flatMap((head) => list.map((next) => [...head, next])).slice(0, MAX),
    [[]],
  )

/**
 * A group with a suffix takes all from one provider; the one without may take each resource from another one of the
 * tree.
 */
const waysOf = (
  state: PlacementState,
  tree: readonly HeldProvider[],
  { suffix, resources, rule, inTree }: Group,
): readonly Candidate[] => {
  if (inTree !== null && !tree.some(({ uuid }) => uuid === inTree)) return []
  const wanted = Object.entries(resources)
  if (suffix !== '')
    return tree
      .filter((one) => follows(one.traits, rule) && wanted.every(([name, amount]) => offers(state, one, name, amount)))
      .map((one) => wanted.map(([name, amount]) => ({ suffix, one, name, amount })))
  const allowed = tree.filter((one) => !share(one.traits, rule.noneOf))
  const lists = wanted.map(([name, amount]) =>
    allowed.filter((one) => offers(state, one, name, amount)).map((one) => ({ suffix, one, name, amount })),
  )
  return product(lists).filter((parts) => {
    const traits = new Set(parts.flatMap(({ one }) => [...one.traits]))
    return rule.anyOf.every((set) => share(set, traits))
  })
}
const summed = (candidate: Candidate): ReadonlyMap<HeldProvider, Amounts> => {
  const sums = new Map<HeldProvider, Record<string, number>>()
  for (const { one, name, amount } of candidate) {
    const sum = sums.get(one) ?? {}
    sum[name] = (sum[name] ?? 0) + amount
    sums.set(one, sum)
  }
  return sums
}
const fits = (state: PlacementState, candidate: Candidate): boolean =>
  [...summed(candidate)].every(([one, amounts]) =>
    Object.entries(amounts).every(([name, amount]) => offers(state, one, name, amount)),
  )
const isIsolated = (candidate: Candidate): boolean => {
  const providers = new Map(
    candidate.filter(({ suffix }) => suffix !== '').map(({ suffix, one }) => [suffix, one.uuid]),
  )
  return new Set(providers.values()).size === providers.size
}

const shown = (candidate: Candidate) => {
  const mappings: Record<string, string[]> = {}
  for (const { suffix, one } of candidate) mappings[suffix] = [...new Set([...(mappings[suffix] ?? []), one.uuid])]
  const allocations = [...summed(candidate)].map(([{ uuid }, resources]) => [uuid, { resources }])
  return { allocations: Object.fromEntries(allocations), mappings }
}
const summaryOf = (state: PlacementState, one: HeldProvider) => {
  const used = usedOf(state, one)
  const resources = [...one.inventories].map(([name, inventory]) => [
    name,
    { capacity: capacityOf(inventory), used: used[name] },
  ])
  return {
    resources: Object.fromEntries(resources),
    traits: [...one.traits].toSorted(),
    parent_provider_uuid: one.parent,
    root_provider_uuid: rootOf(state, one),
  }
}

export const candidatesIn = (state: PlacementState, query: URLSearchParams, minor: number) => {
  const groups = groupsIn(query, minor)
  const rootRule = traitRuleIn(query.getAll('root_required'), minor)
  checkClasses(
    state,
    groups.flatMap(({ resources }) => Object.keys(resources)),
    'Invalid resource class in resources parameter: ',
  )
  checkTraits(state, [rootRule, ...groups.map(({ rule }) => rule)].flatMap(namesIn))
  const isolate = query.get('group_policy') === 'isolate'
  const trees = Map.groupBy(state.providers.values(), (one) => rootOf(state, one))
  const found = [...trees].flatMap(([root, tree]) => {
    if (!follows(state.providers.get(root)!.traits, rootRule)) return []
    return product(groups.map((group) => waysOf(state, tree, group)))
      .map((parts) => parts.flat())
      .filter((candidate) => fits(state, candidate) && (!isolate || isIsolated(candidate)))
  })
  const limited = found.slice(0, Number(query.get('limit') ?? MAX))
  const roots = new Set(limited.flatMap((candidate) => candidate.map(({ one }) => rootOf(state, one))))
  const summaries = [...roots].flatMap((root) => trees.get(root)!.map((one) => [one.uuid, summaryOf(state, one)]))
  return { allocation_requests: limited.map(shown), provider_summaries: Object.fromEntries(summaries) }
}
export const candidateRoute = (state: PlacementState): Route => ({
  method: 'GET',
  path: '/allocation_candidates',
  // `root_required` and everything else that Nova asks with
  since: 35,
  answer: ({ query, minor }) => ({ status: 200, body: candidatesIn(state, query, minor) }),
})
