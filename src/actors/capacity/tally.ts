/** Counts the attach handles of each kind of accelerator by whether they can be granted. Pure. */
import type { DeployableUuid, HostName } from '../../vocabulary/identifiers.ts'
import { attributeOf, traitsOf } from '../deployable/state.ts'
import { type DeviceState, stateOf } from '../device/standing.ts'
import type { Order } from '../../wire/orders.ts'
import type { Row } from '../runtime/views.ts'

/**
 * `held`: an ARQ has the handle, or the host is releasing it. `withheld`: it is not held and must not be granted,
 * because it is in quarantine, its device is disabled or being programmed, or its host is silent or out of service.
 * `broken`: the host does not report the handle, or its device is missing or failing.
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
  readonly hosts: readonly Pick<Row<'hosts'>, 'name' | 'liveness' | 'out_of_service'>[]
  readonly devices: readonly Pick<Row<'devices'>, 'uuid' | 'status' | 'presence' | 'failing'>[]
  readonly deployables: readonly Pick<
    Row<'deployables'>,
    'uuid' | 'root_uuid' | 'device_uuid' | 'hostname' | 'attributes' | 'presence' | 'bitstream_id'
  >[]
  readonly handles: readonly Pick<Row<'handles'>, 'deployable_uuid' | 'state'>[]
  readonly orders: readonly Pick<Row<'pending_orders'>, 'deployable_uuid' | 'body'>[]
}

const UNKNOWN = 'UNKNOWN'
/** A device or a host of which the views say nothing. */
const GONE = { status: 'enabled', presence: 'missing', failing: null } as const
const UNHEARD = { liveness: 'down', out_of_service: null } as const

/** What becomes of the free handles of a device. */
const UNHELD: Readonly<Record<DeviceState, CapacityState>> = {
  missing: 'broken',
  failing: 'broken',
  host_silent: 'withheld',
  disabled: 'withheld',
  enabled: 'free',
}

type Part = {
  readonly kind: string
  readonly resourceClass: string
  readonly traits: readonly string[]
  readonly host: HostName
  readonly unheld: CapacityState
}

/** Whether the order writes another image to the card than the one that is recorded: nothing else is granted then. */
const isWriting = (body: unknown, image: string | null): boolean => {
  const order = body as Order
  if (order.type === 'Program') return true
  return order.type === 'PrepareSlot' && order.bitstream !== undefined && order.bitstream !== image
}

const attributed = ({ attributes }: CapacityRows['deployables'][number]) => ({
  attributes: (attributes as readonly Readonly<Record<string, string>>[]).flatMap((one) =>
    Object.entries(one).map(([key, value]) => ({ key, value })),
  ),
})

/**
 * A request names a root, and may get a handle of a deployable below it: class, traits and rules are those of the root.
 */
const partsOf = ({ hosts, devices, deployables, orders }: CapacityRows): ReadonlyMap<DeployableUuid, Part> => {
  const places = new Map(hosts.map((host) => [host.name, host]))
  const cards = new Map(devices.map((device) => [device.uuid, device]))
  const rows = new Map(deployables.map((row) => [row.uuid, row]))
  const written = new Set(
    orders.flatMap(({ deployable_uuid: uuid, body }) =>
      isWriting(body, rows.get(uuid)?.bitstream_id ?? null) ? [uuid] : [],
    ),
  )
  return new Map(
    deployables.map((row) => {
      const root = (row.root_uuid === null ? undefined : rows.get(row.root_uuid)) ?? row
      const isThere = root.presence === 'present' && row.presence === 'present'
      const unheld =
        UNHELD[stateOf(isThere ? (cards.get(row.device_uuid) ?? GONE) : GONE, places.get(row.hostname) ?? UNHEARD)]
      const resourceClass = attributeOf(attributed(root), 'rc') ?? UNKNOWN
      const traits = [...traitsOf(attributed(root))].toSorted()
      return [
        row.uuid,
        {
          kind: JSON.stringify([resourceClass, traits]),
          resourceClass,
          traits,
          host: row.hostname,
          unheld: unheld === 'free' && [root, row].some(({ uuid }) => written.has(uuid)) ? 'withheld' : unheld,
        },
      ]
    }),
  )
}

const countedAs = (state: string, unheld: CapacityState): CapacityState => {
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
      amount[countedAs(state, of.unheld)]++
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
