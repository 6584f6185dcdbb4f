/** What the Placement of the tests remembers, and the questions that several of its routes ask of it. */
import type { InventoryRecord } from '../../../../src/actors/placement/port.ts'

export type Amounts = Readonly<Record<string, number>>
export type HeldProvider = {
  readonly uuid: string
  name: string
  generation: number
  parent: string | null
  inventories: ReadonlyMap<string, InventoryRecord>
  traits: ReadonlySet<string>
  aggregates: readonly string[]
}
export type Consumer = {
  readonly generation: number
  readonly project: string
  readonly user: string
  readonly type: string
  /** By provider. */
  readonly holds: ReadonlyMap<string, Amounts>
}
export type PlacementState = {
  readonly providers: Map<string, HeldProvider>
  readonly consumers: Map<string, Consumer>
  readonly traits: Set<string>
  readonly classes: Set<string>
}

/** Those of os-traits and os-resource-classes that the tests use. */
const TRAITS = [
  'COMPUTE_NODE',
  'COMPUTE_ACCELERATORS',
  'COMPUTE_STATUS_DISABLED',
  'COMPUTE_MANAGED_PCI_DEVICE',
  'OWNER_NOVA',
  'OWNER_CYBORG',
  'HW_CPU_X86_VMX',
]
const CLASSES = ['VCPU', 'MEMORY_MB', 'DISK_GB', 'PCI_DEVICE', 'SRIOV_NET_VF', 'PCPU', 'VGPU', 'PGPU', 'FPGA']
export const isStandard = (name: string): boolean => !name.startsWith('CUSTOM_')

export const emptyState = (): PlacementState => ({
  providers: new Map(),
  consumers: new Map(),
  traits: new Set(TRAITS),
  classes: new Set(CLASSES),
})

/** An answer that is no success. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, detail: string, code = 'undefined_code') {
    super(detail)
    this.status = status
    this.code = `placement.${code}`
  }
}
export const stale = (detail: string): Refusal => new Refusal(409, detail, 'concurrent_update')

export const providerOf = ({ providers }: PlacementState, uuid: string): HeldProvider => {
  const found = providers.get(uuid.toLowerCase())
  if (found === undefined) throw new Refusal(404, `No resource provider with uuid ${uuid} found `)
  return found
}
export const rootOf = (state: PlacementState, { uuid, parent }: HeldProvider): string =>
  parent === null ? uuid : rootOf(state, state.providers.get(parent)!)
export const childrenOf = ({ providers }: PlacementState, uuid: string): readonly HeldProvider[] =>
  [...providers.values()].filter(({ parent }) => parent === uuid)

/** The amounts of each consumer on a provider. */
export const holdersOf = (
  { consumers }: PlacementState,
  uuid: string,
): readonly (readonly [string, Consumer, Amounts])[] =>
  [...consumers].flatMap(([id, consumer]) => {
    const amounts = consumer.holds.get(uuid)
    return amounts === undefined ? [] : [[id, consumer, amounts] as const]
  })
/** What is allocated of a provider, by class: also 0 for what is only offered. */
export const usedOf = (state: PlacementState, { uuid, inventories }: HeldProvider): Amounts => {
  const used = Object.fromEntries([...inventories.keys()].map((name) => [name, 0]))
  for (const [, , amounts] of holdersOf(state, uuid))
    for (const [name, amount] of Object.entries(amounts)) used[name] = (used[name] ?? 0) + amount
  return used
}
export const capacityOf = ({ total, reserved, allocation_ratio }: InventoryRecord): number =>
  Math.floor((total - reserved) * allocation_ratio)
/** An amount that may be asked of it at once. */
export const isUnit = (amount: number, { min_unit, max_unit, step_size }: InventoryRecord): boolean =>
  amount >= min_unit && amount <= max_unit && amount % step_size === 0

export const checkClasses = ({ classes }: PlacementState, names: Iterable<string>, before = ''): void => {
  for (const name of names) if (!classes.has(name)) throw new Refusal(400, `${before}No such resource class ${name}.`)
}
export const checkTraits = ({ traits }: PlacementState, names: Iterable<string>, before = ''): void => {
  const unknown = [...names].filter((name) => !traits.has(name))
  if (unknown.length > 0) throw new Refusal(400, `${before}No such trait(s): ${unknown.join(', ')}.`)
}

/** What a provider has to have, and must not: each of the sets is answered by one of its traits. */
export type TraitRule = { readonly anyOf: readonly ReadonlySet<string>[]; readonly noneOf: ReadonlySet<string> }
export const traitRuleIn = (values: readonly string[], minor: number): TraitRule => {
  const lists = minor >= 39 ? values : values.slice(-1)
  const anyOf: ReadonlySet<string>[] = []
  const noneOf = new Set<string>()
  for (const value of lists) {
    const any = value.startsWith('in:') && minor >= 39
    const names = (any ? value.slice(3) : value).split(',').map((name) => name.trim())
    const forbidden = names.filter((name) => name.startsWith('!'))
    if (names.includes('') || (forbidden.length > 0 && (any || minor < 22)))
      throw new Refusal(400, "Invalid query string parameters: Expected 'required' parameter value of another form.")
    for (const name of forbidden) noneOf.add(name.slice(1))
    const wanted = names.filter((name) => !name.startsWith('!'))
    anyOf.push(...(any ? [new Set(wanted)] : wanted.map((name) => new Set([name]))))
  }
  return { anyOf, noneOf }
}
export const namesIn = ({ anyOf, noneOf }: TraitRule): readonly string[] => [
  ...anyOf.flatMap((set) => [...set]),
  ...noneOf,
]
export const share = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  [...one].some((name) => other.has(name))
export const follows = (traits: ReadonlySet<string>, { anyOf, noneOf }: TraitRule): boolean =>
  anyOf.every((set) => share(set, traits)) && !share(noneOf, traits)

export const amountsIn = (text: string): Amounts =>
  Object.fromEntries(
    text.split(',').map((part) => {
      const [name = '', amount = ''] = part.split(':')
      if (name === '' || !/^[1-9]\d*$/.test(amount)) throw new Refusal(400, 'Badly formed resources parameter.')
      return [name, Number(amount)]
    }),
  )
