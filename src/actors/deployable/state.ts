/** The state of a deployable, and how each event changes it. */
import type { Hardware } from '../../vocabulary/imageFits.ts'
import type { HandleUuid } from '../../vocabulary/identifiers.ts'
import type { Order } from '../../wire/orders.ts'
import { rooted, topLevel } from './attributes.ts'
import { describe } from './describe.ts'
import { formerBy, loadsBy } from './image.ts'
import type { Attribute, DeployableEvent } from './messages.ts'
import { type Deployable, type SlotHandle, initial } from './shape.ts'
import { retriedAt } from './inUse.ts'
import { type HandleMove, next } from './states.ts'

export { busy, dueAt, inUse, isTaken, markOf, mayBePrepared, repeatedUntil, retryAt, takenHandles } from './inUse.ts'
export { type Deployable, type SlotHandle, deployableKey, handleOf, initial, localNameOf } from './shape.ts'

const move = (
  held: Deployable,
  uuid: HandleUuid,
  step: HandleMove,
  change: Partial<SlotHandle>,
): Pick<Deployable, 'handles'> => {
  const handle = held.handles[uuid]!
  const state = next(handle.state, step) ?? handle.state
  // a handle that the last report did not contain has no hardware any more
  const free = handle.quarantine ? 'quarantined' : handle.unseen ? 'missing' : 'free'
  const reached = state === 'free' ? free : state
  return { handles: { ...held.handles, [uuid]: { ...handle, state: reached, ...change } } }
}

type WithChange = Exclude<DeployableEvent, { readonly type: 'HealthSet' }>
const change = (held: Deployable, event: WithChange, at: number): Partial<Deployable> | null => {
  switch (event.type) {
    case 'DeployableRecorded':
      return {
        exists: true,
        ...event.identity,
        status: event.status,
        bitstreamId: event.bitstreamId,
        ...describe(initial, event.description, at),
      }
    case 'DeployableDescribed':
      return describe(held, event.description, at, event.quarantinedStay)
    case 'PresenceSet':
      return presenceSet(held, event, at)
    case 'Relocated':
      return relocated(held, event, at)
    case 'StatusSet':
      return { status: event.status }
    case 'Granted':
      return granted(held, event, at)
    case 'HandleReleased':
      return released(held, event, at)
    case 'OrderDone':
      return done(held, event)
    case 'OrderFailed':
      return orderFailed(held, event, at)
    case 'ProgramStarted':
      return {
        program: { image: event.image, order: event.order, since: at },
        programFault: null,
        orders: event.order.number,
        ...loadsBy(event.order),
      }
    case 'Programmed':
      return { program: null, bitstreamId: event.image }
    case 'ProgramFailed':
      // the content of the region is unknown now, so no image is recorded (S14)
      return { program: null, bitstreamId: null, programFault: event.reason }
    case 'BitstreamRead':
      return { bitstreamId: event.bitstreamId }
    case 'TreeTouched':
      // only the revision rises, so that decisions on an outdated copy of the tree are made again
      return {}
    case 'AttributeAdded':
      return { attributes: [...held.attributes, { ...event.attribute, createdAt: at }] }
    case 'AttributeRemoved':
      return { attributes: rooted(held.attributes.filter(({ uuid }) => uuid !== event.uuid)) }
    case 'HandleQuarantined':
      return quarantined(held, event, at)
    case 'OrdersRaised':
      return ordersRaised(held, event)
    case 'HandleCleared':
      return cleared(without(held, event.handle, 'quarantine'), event)
    default:
      // an event of a later release, which this release ignores
      return null
  }
}
const granted = (
  held: Deployable,
  { handle, arq, order, repeated, cleaning }: Extract<DeployableEvent, { type: 'Granted' }>,
  at: number,
): Partial<Deployable> => {
  const again = repeated === undefined || !order ? {} : { repeated: order.number }
  const prepared = order ? { prepared: true as const } : {}
  // a handle that is prepared again keeps what its request asks for
  const to = repeated === undefined ? without(held, handle, ...CLEANING_DUE) : held
  const requested = cleaning === undefined ? {} : { requestedCleaning: cleaning }
  return {
    ...move(to, handle, 'grant', { arq, pending: order, pendingSince: at, ...again, ...prepared, ...requested }),
    orders: order?.number ?? held.orders,
    ...loadsBy(order),
  }
}
/** Any lost order may have written the card. */
const ordersRaised = (
  held: Deployable,
  { to, imageUnknown }: Extract<DeployableEvent, { type: 'OrdersRaised' }>,
): Partial<Deployable> => {
  const orders = Math.max(held.orders, to)
  return { orders, loads: orders, ...(imageUnknown ? { bitstreamId: null } : {}) }
}
const relocated = (
  held: Deployable,
  { localName, handles }: Extract<DeployableEvent, { type: 'Relocated' }>,
  when: number,
): Partial<Deployable> => {
  const moved = handles.flatMap(({ uuid, info, canonical, physfn }) => {
    const { physfn: _, ...handle } = held.handles[uuid] ?? {}
    const at = { info, canonical, ...(physfn === undefined ? {} : { physfn }) }
    if (!('uuid' in handle)) return []
    const there = { ...(handle as SlotHandle), ...at }
    // a card that is at no address cannot be released there
    return [[uuid, 'away' in info ? there : retriedAt(there, when)] as const]
  })
  return { localName, handles: { ...held.handles, ...Object.fromEntries(moved) } }
}

const retriedAll = (handles: Deployable['handles'], at: number): Deployable['handles'] =>
  Object.fromEntries(Object.entries(handles).map(([uuid, handle]) => [uuid, retriedAt(handle, at)]))

/** The image that a card held before it was taken out says nothing about its image when it returns (S14). */
const presenceSet = (
  held: Deployable,
  { presence, bitstreamId, retry }: Extract<DeployableEvent, { type: 'PresenceSet' }>,
  at: number,
): Partial<Deployable> => ({
  presence,
  ...(retry ? { handles: retriedAll(held.handles, at) } : {}),
  ...(held.presence === 'retired' ? { bitstreamId: bitstreamId ?? null } : {}),
})

const quarantined = (
  held: Deployable,
  { handle, until, by, reason, found, inDoubt }: Extract<DeployableEvent, { type: 'HandleQuarantined' }>,
  at: number,
): Partial<Deployable> => {
  const { state } = held.handles[handle]!
  // a free handle has no release under way; a pending release of a handle in doubt must not be carried out any more
  const free = state === 'free' ? { lastArq: null } : {}
  const done = inDoubt && state !== 'held' ? { pending: null } : {}
  const note = { by, reason, at, ...(found ? { found } : {}), ...(inDoubt ? { inDoubt } : {}) }
  return move(held, handle, 'quarantine', { ...(until === 'released' ? { quarantine: note } : {}), ...free, ...done })
}
/** If an ARQ holds the handle, or its host has still to release it, its pending order stays. */
const cleared = (
  held: Deployable,
  { handle: uuid, releasing }: Extract<DeployableEvent, { type: 'HandleCleared' }>,
): Pick<Deployable, 'handles'> => {
  if (held.handles[uuid]!.state === 'held') return { handles: held.handles }
  if (releasing) return move(without(held, uuid, ...CLEANING_DUE), uuid, 'releaseWithWork', {})
  const free = without(held, uuid, ...CLEANING_DUE, 'prepared', 'releaseFailed')
  return move(free, uuid, 'clear', { pending: null, lastArq: null })
}
/** What a handle may have and lose again. */
type Passing = 'requestedCleaning' | 'owesCleaning' | 'prepared' | 'quarantine' | 'releaseFailed'
const CLEANING_DUE = ['requestedCleaning', 'owesCleaning'] as const
const without = (held: Deployable, uuid: HandleUuid, ...what: readonly Passing[]): Deployable => {
  const handle: { -readonly [Key in keyof SlotHandle]: SlotHandle[Key] } = { ...held.handles[uuid]! }
  for (const one of what) delete handle[one]
  return { ...held, handles: { ...held.handles, [uuid]: handle } }
}

/** When a slot is given up before its image was reported, the content of the region is unknown (S14). */
const released = (
  held: Deployable,
  { handle, arq, order }: Extract<DeployableEvent, { type: 'HandleReleased' }>,
  at: number,
): Partial<Deployable> => {
  const { pending } = held.handles[handle]!
  const step = order ? 'releaseWithWork' : 'release'
  const change = { arq: null, pending: order, pendingSince: at, lastArq: arq || null, attempts: 0, ...owedBy(order) }
  return {
    ...move(without(held, handle, 'releaseFailed'), handle, step, change),
    orders: order?.number ?? held.orders,
    ...(pending?.type === 'PrepareSlot' && pending.bitstream !== undefined ? { bitstreamId: null } : {}),
  }
}

/** UNCLEAN-6 */
const owedBy = (order: Order | null): Pick<SlotHandle, 'owesCleaning'> =>
  order?.type === 'ReleaseSlot' && order.clean ? { owesCleaning: true } : {}
const cleanedIn = ({ cleaned }: Pick<SlotHandle, 'cleaned'>): Pick<SlotHandle, 'cleaned'> =>
  cleaned === undefined ? {} : { cleaned }
/** A successful `PrepareSlot` leaves it held and may have loaded a bitstream; a successful `ReleaseSlot` frees it. */
const done = (held: Deployable, event: Extract<DeployableEvent, { type: 'OrderDone' }>): Partial<Deployable> => {
  const { slot } = event
  const { pending, quarantine } = held.handles[slot]!
  const bitstream = pending?.type === 'PrepareSlot' ? pending.bitstream : undefined
  // the cleaning that was due no longer applies once the handle is free
  const due = quarantine ? [] : CLEANING_DUE
  const left = pending?.type === 'PrepareSlot' ? held : without(held, slot, 'prepared', 'releaseFailed', ...due)
  return {
    ...move(left, slot, 'done', { pending: null, ...cleanedIn(event) }),
    ...(bitstream === undefined || bitstream === held.bitstreamId ? {} : { bitstreamId: bitstream }),
  }
}

const orderFailed = (
  held: Deployable,
  event: Extract<DeployableEvent, { type: 'OrderFailed' }>,
  at: number,
): Partial<Deployable> => {
  const { slot, again, reason } = event
  const { pending, attempts } = held.handles[slot]!
  // a cleaning begins only when the driver has released the slot
  const left = event.released || event.cleaned ? without(held, slot, 'prepared') : held
  return {
    ...move(left, slot, again ? 'releaseWithWork' : 'failed', {
      pending: again,
      pendingSince: at,
      attempts: attempts + 1,
      ...(pending?.type === 'ReleaseSlot' && !again ? { releaseFailed: { reason, at } } : {}),
      ...owedBy(again),
      ...cleanedIn(event),
    }),
    orders: again?.number ?? held.orders,
  }
}

const healthSet = (held: Deployable, reason: string | null, at: number): Deployable => {
  const { failing: _, ...rest } = held
  return { ...rest, ...(reason === null ? {} : { failing: reason }), updatedAt: at }
}

/** Events about single handles change the row of the deployable only with the content of its region. */
const QUIET: ReadonlySet<DeployableEvent['type']> = new Set([
  'Granted',
  'HandleReleased',
  'OrderDone',
  'OrderFailed',
  'HandleQuarantined',
  'HandleCleared',
  'OrdersRaised',
  'StatusSet',
])

/** Applies the place that the description names, and removes a cleaning policy that it no longer names. */
const placed = (held: Deployable, event: DeployableEvent): Deployable => {
  if (event.type !== 'DeployableDescribed') return held
  const { hostCleaning: _was, ...withoutCleaning } = held
  if (!event.description.place) return withoutCleaning
  const { tree: _, ...rest } = withoutCleaning
  const { tree, rpUuid } = event.description.place
  return { ...rest, rpUuid, ...(tree ? { tree } : {}) }
}

export const evolve = (held: Deployable, event: DeployableEvent, at: number): Deployable => {
  if (event.type === 'HealthSet') return healthSet(held, event.failing, at)
  const changed = change(held, event, at)
  if (!changed) return held
  if (event.type === 'DeployableRecorded') return { ...held, ...changed, createdAt: at }
  const quiet = QUIET.has(event.type) && !('bitstreamId' in changed)
  return {
    ...placed(held, event),
    ...changed,
    ...formerBy(held, changed),
    updatedAt: at,
    ...(quiet ? {} : { describedAt: at, revision: held.revision + 1 }),
  }
}

type Attributed = { readonly attributes: readonly Pick<Attribute, 'key' | 'value' | 'parent'>[] }
export const attributeOf = (held: Attributed, key: string): string | null =>
  topLevel(held.attributes).find((attribute) => attribute.key === key)?.value ?? null
export const traitsOf = (held: Attributed): ReadonlySet<string> =>
  new Set(
    topLevel(held.attributes)
      .filter(({ key }) => key.startsWith('trait'))
      .map(({ value }) => value),
  )
/** The properties of the deployable that decide whether an image fits. */
export const hardwareOf = (held: Deployable): Hardware => ({
  vendor: held.vendor,
  attribute: (key) => attributeOf(held, key),
  loaded: held.bitstreamId,
})
