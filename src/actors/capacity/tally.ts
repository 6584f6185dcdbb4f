/** Counts the attach handles of each kind of accelerator by whether they can be granted. Pure. */
import type { DeployableUuid, HostName } from '../../identifiers.ts'
import { attributeOf, traitsOf } from '../deployable/state.ts'
import type { Row } from '../runtime/views.ts'

/**
 * `held`: an ARQ has the handle, or the host is releasing it. `withheld`: it is not held and must not be granted,
 * because it is in quarantine, its device is disabled, or its host is silent or out of service. `broken`: the host does
 * not report the handle, or its device fails.
 */
export const CAPACITY_STATES = ['held', 'free', 'withheld', 'broken'] as const
type CapacityState = (typeof CAPACITY_STATES)[number]
export type Amount = Readonly<Record<CapacityState | 'total', number>>
export type CapacityLine = {
  readonly resourceClass: string
  readonly traits: readonly string[]
  readonly amount: Amount
  readonly hosts: readonly { readonly host: HostName; readonly amount: Amount }[]
}
export type Capacity = { readonly countedAt: number; readonly lines: readonly CapacityLine[] }

export type CapacityRows = {
  readonly hosts: readonly Pick<Row<'hosts'>, 'name' | 'liveness'>[]
  readonly devices: readonly Pick<Row<'devices'>, 'uuid' | 'status' | 'presence' | 'failing'>[]
  readonly deployables: readonly Pick<
    Row<'deployables'>,
    'uuid' | 'device_uuid' | 'hostname' | 'attributes' | 'presence'
  >[]
  readonly handles: readonly Pick<Row<'handles'>, 'deployable_uuid' | 'state'>[]
}

/** In these states of liveness a host still gets binds. */
const ANSWERING = new Set(['up', 'stale'])
const UNKNOWN = 'UNKNOWN'

type Part = {
  readonly kind: string
  readonly resourceClass: string
  readonly traits: readonly string[]
  readonly host: HostName
  readonly unheld: CapacityState
}

const partsOf = ({ hosts, devices, deployables }: CapacityRows): ReadonlyMap<DeployableUuid, Part> => {
  const answering = new Map(hosts.map(({ name, liveness }) => [name, ANSWERING.has(liveness)]))
  const cards = new Map(devices.map((device) => [device.uuid, device]))
  const unheldOf = ({ device_uuid: uuid, hostname, presence }: CapacityRows['deployables'][number]): CapacityState => {
    const card = cards.get(uuid)
    if (card === undefined || card.failing !== null || card.presence !== 'present' || presence !== 'present')
      return 'broken'
    return card.status === 'enabled' && answering.get(hostname) === true ? 'free' : 'withheld'
  }
  return new Map(
    deployables.map((row) => {
      const attributes = (row.attributes as readonly Readonly<Record<string, string>>[]).flatMap((one) =>
        Object.entries(one).map(([key, value]) => ({ key, value })),
      )
      const resourceClass = attributeOf({ attributes }, 'rc') ?? UNKNOWN
      const traits = [...traitsOf({ attributes })].toSorted()
      return [
        row.uuid,
        {
          kind: JSON.stringify([resourceClass, traits]),
          resourceClass,
          traits,
          host: row.hostname,
          unheld: unheldOf(row),
        },
      ]
    }),
  )
}

const stateOf = (state: string, unheld: CapacityState): CapacityState => {
  if (state === 'held' || state === 'releasing') return 'held'
  if (state === 'missing') return 'broken'
  return state === 'free' || unheld === 'broken' ? unheld : 'withheld'
}

type Counting = Record<CapacityState | 'total', number>
const nothing = (): Counting => ({ total: 0, held: 0, free: 0, withheld: 0, broken: 0 })

/** Ordered by class and traits; within a line, the hosts with the most free handles come first. */
export const capacityOf = (rows: CapacityRows): readonly CapacityLine[] => {
  const parts = partsOf(rows)
  const kinds = new Map<
    string,
    { readonly of: Part; readonly amount: Counting; readonly hosts: Map<HostName, Counting> }
  >()
  for (const { deployable_uuid: uuid, state } of rows.handles) {
    const of = parts.get(uuid)
    if (of === undefined) continue
    const kind = kinds.get(of.kind) ?? { of, amount: nothing(), hosts: new Map<HostName, Counting>() }
    const here = kind.hosts.get(of.host) ?? nothing()
    kinds.set(of.kind, kind)
    kind.hosts.set(of.host, here)
    for (const amount of [kind.amount, here]) {
      amount.total++
      amount[stateOf(state, of.unheld)]++
    }
  }
  return [...kinds.entries()]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, { of, amount, hosts }]) => ({
      resourceClass: of.resourceClass,
      traits: of.traits,
      amount,
      hosts: [...hosts]
        .map(([host, its]) => ({ host, amount: its }))
        .toSorted((one, other) => other.amount.free - one.amount.free || (one.host < other.host ? -1 : 1)),
    }))
}
