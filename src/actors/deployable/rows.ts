/**
 * The view rows of a deployable: its own, those of its attributes and handles, and the orders that its host has not
 * answered.
 */
import type { SlotUuid } from '../../vocabulary/identifiers.ts'
import type { Order } from '../../wire/orders.ts'
import { type Row, type ViewChange, drop, put } from '../runtime/views.ts'
import type { Attribute } from './messages.ts'
import { type Deployable, type SlotHandle, deployableKey, dueAt, initial } from './state.ts'
import { waitingOrders } from './waiting.ts'

export const deployableRow = (held: Deployable): Row<'deployables'> => ({
  uuid: held.uuid,
  id: held.id,
  device_id: held.deviceId,
  device_uuid: held.deviceUuid,
  parent_id: held.tree?.parentId ?? null,
  parent_uuid: held.tree?.parentUuid ?? null,
  root_id: held.tree?.rootId ?? null,
  root_uuid: held.tree?.rootUuid ?? null,
  name: held.name,
  num_accelerators: held.numAccelerators,
  attributes: held.attributes.map(({ key, value }) => ({ [key]: value })),
  hostname: held.host,
  // only a root has a provider of its own (R4)
  rp_uuid: held.tree ? null : held.rpUuid,
  driver_name: held.driverName,
  bitstream_id: held.bitstreamId,
  presence: held.presence,
  kind: held.kind,
  created_at: held.createdAt,
  // the time of the last change of the description, because grants and releases do not change this row
  updated_at: held.describedAt,
})
export const attributeRow = (held: Deployable, attribute: Attribute): Row<'attributes'> => ({
  uuid: attribute.uuid,
  deployable_uuid: held.uuid,
  deployable_id: held.id,
  key: attribute.key,
  value: attribute.value,
  origin: attribute.origin,
  parent_uuid: attribute.parent ?? null,
  created_at: attribute.createdAt,
  updated_at: null,
})
export const handleRow = (held: Deployable, handle: SlotHandle): Row<'handles'> => ({
  uuid: handle.uuid,
  deployable_uuid: held.uuid,
  hostname: held.host,
  canonical: handle.canonical,
  state: handle.state,
  arq_uuid: handle.arq,
})
const orderRow = (order: Order, at: number): Row<'pending_orders'> => ({
  slot: order.slot,
  hostname: order.host,
  deployable_uuid: order.deployableUuid,
  number: order.number,
  body: order,
  sent_at: at,
})

const shown = (held: Deployable) => held.exists && held.presence !== 'retired'

const orderChange = (
  slot: SlotUuid,
  before: Order | null | undefined,
  after: Order | null,
  at: number,
): readonly ViewChange[] => {
  if (before?.number === after?.number) return []
  return [after ? put('pending_orders', orderRow(after, at)) : drop('pending_orders', slot)]
}

const handleChanges = (before: Deployable, after: Deployable): readonly ViewChange[] => {
  if (before.handles === after.handles) return []
  const changed = Object.values(after.handles).filter((handle) => before.handles[handle.uuid] !== handle)
  return changed.flatMap((handle) => [
    put('handles', handleRow(after, handle)),
    ...orderChange(handle.uuid, before.handles[handle.uuid]?.pending, handle.pending, handle.pendingSince),
  ])
}

const attributeChanges = (before: Deployable, after: Deployable): readonly ViewChange[] => {
  if (before.attributes === after.attributes) return []
  const kept = new Map(after.attributes.map((attribute) => [attribute.uuid, attribute]))
  const old = new Map(before.attributes.map((attribute) => [attribute.uuid, attribute]))
  const differs = (one: Attribute, other: Attribute | undefined) =>
    one.key !== other?.key || one.value !== other.value || one.parent !== other.parent
  return [
    ...before.attributes.filter(({ uuid }) => !kept.has(uuid)).map(({ uuid }) => drop('attributes', uuid)),
    ...after.attributes
      .filter((one) => differs(one, old.get(one.uuid)))
      .map((one) => put('attributes', attributeRow(after, one))),
  ]
}

const dueChange = (before: Deployable, after: Deployable): readonly ViewChange[] => {
  if (before.handles === after.handles) return []
  const [was, is] = [dueAt(before), dueAt(after)]
  if (was === is) return []
  const entity = deployableKey(after.uuid)
  return is === null ? [drop('due', entity)] : [put('due', { entity, kind: 'deployable', at: is })]
}

const retired = (before: Deployable): readonly ViewChange[] => [
  drop('deployables', before.uuid),
  ...before.attributes.map(({ uuid }) => drop('attributes', uuid)),
  ...Object.values(before.handles).map(({ uuid }) => drop('handles', uuid)),
  ...waitingOrders(before).map(({ slot }) => drop('pending_orders', slot)),
  ...(dueAt(before) === null ? [] : [drop('due', deployableKey(before.uuid))]),
]

/**
 * A grant or a release changes only the row of its handle; the row of the deployable is written when its content has
 * changed.
 */
const ownRow = (before: Deployable, after: Deployable): readonly ViewChange[] =>
  before.revision === after.revision && before.exists ? [] : [put('deployables', deployableRow(after))]

export const rows = (was: Deployable, after: Deployable): readonly ViewChange[] => {
  if (was === after || !after.exists) return []
  if (!shown(after)) return shown(was) ? retired(was) : []
  // a deployable that returns has no rows left, so all rows are written
  const before = shown(was) ? was : initial
  return [
    ...ownRow(before, after),
    ...attributeChanges(before, after),
    ...handleChanges(before, after),
    ...dueChange(before, after),
    ...orderChange(after.uuid, before.program?.order, after.program?.order ?? null, after.program?.since ?? 0),
  ]
}
