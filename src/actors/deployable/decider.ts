/** The decider of a deployable: grants each handle to at most one ARQ, and numbers the orders for the host. */
import type { ArqUuid, AttributeUuid } from '../../vocabulary/identifiers.ts'
import type { Fault } from '../../vocabulary/fault.ts'
import { type Decider, type Decision, accept, refuse } from '../runtime/decider.ts'
import { unfitAttribute } from './attributes.ts'
import { notCleaned, withheldFor } from './cleaning.ts'
import { describedAs } from './describe.ts'
import { decideHandle, forced } from './handleAdmin.ts'
import {
  NOT_PROGRAMMABLE,
  NOT_RELEASED,
  PROGRAMMED_NOW,
  WITHHELD_BELOW,
  conflict,
  grant,
  notReleased,
} from './granting.ts'
import { readImage } from './image.ts'
import { rowsLost } from './rowsLost.ts'
import { type OrderOf, orderFor, programOrderFor } from './orders.ts'
import type { DeployableCommand, DeployableEvent } from './messages.ts'
import { rows } from './rows.ts'
import { compared, lost } from './slots.ts'
import {
  type Deployable,
  type SlotHandle,
  busy,
  evolve,
  handleOf,
  initial,
  localNameOf,
  repeatedUntil,
  retryAt,
} from './state.ts'

const RESOURCE = 'deployable'
/** The handle that the ARQ holds; if it holds none, the handle that it gave up and the host could not release. */
const slotOf = (held: Deployable, arq: ArqUuid): SlotHandle | undefined => {
  const handles = Object.values(held.handles)
  return (
    handles.find((one) => one.arq === arq) ??
    handles.find(({ lastArq, state }) => lastArq === arq && state === 'quarantined')
  )
}
/**
 * The host gets a release order when the device needs its work or its cleaning, when it was ordered to prepare the slot
 * and has not released it since, and when the last release failed. It gets none for a slot in doubt (ROWS-LOST-2).
 */
const release = (
  held: Deployable,
  { arq, deadline, trace }: Extract<DeployableCommand, { type: 'Release' }>,
): Decision<DeployableEvent> => {
  const handle = slotOf(held, arq)
  if (!handle) return accept()
  const left = held.hostWork || handle.prepared || handle.state === 'quarantined'
  const work = (left || held.hostCleaning === 'by_host') && !handle.quarantine?.inDoubt
  const order = work ? orderFor(held, handle, { type: 'ReleaseSlot', deadline, trace }) : null
  return accept({ type: 'HandleReleased', handle: handle.uuid, arq, order }, ...withheldFor(held, handle))
}

export const NO_ANSWER = 'the host did not answer in time'
/**
 * Programming ends at its deadline. A later answer changes nothing, since the content of the region is unknown by then.
 */
const overdueProgram = ({ program }: Deployable, at: number): readonly DeployableEvent[] =>
  program && at >= program.order.deadline
    ? [{ type: 'ProgramFailed', image: program.image, number: program.order.number, reason: NO_ANSWER }]
    : []

/**
 * Orders each due release again, with a new number, and ends programming and repeated preparations that are overdue.
 */
const due = (held: Deployable, at: number, deadline: number): Decision<DeployableEvent> => {
  const waiting = Object.values(held.handles).filter((handle) => (retryAt(handle) ?? Number.POSITIVE_INFINITY) <= at)
  const events = waiting.flatMap((handle, n): readonly DeployableEvent[] => {
    const numbered = { ...held, orders: held.orders + n }
    const order = orderFor(numbered, handle, { type: 'ReleaseSlot', deadline })
    const again: DeployableEvent = { type: 'HandleReleased', handle: handle.uuid, arq: handle.lastArq ?? '', order }
    return [again, ...withheldFor(held, handle)]
  })
  const gone = Object.values(held.handles).filter((handle) => (repeatedUntil(handle) ?? Number.POSITIVE_INFINITY) <= at)
  return accept(...overdueProgram(held, at), ...events, ...gone.flatMap((handle) => lost(handle, NO_ANSWER)))
}

/**
 * After this many failures the release is not ordered again at once, only at its next due time or on demand of an
 * operator or the ARQ.
 */
const RELEASE_ATTEMPTS = 3

const answerSlot = (
  held: Deployable,
  handle: SlotHandle,
  command: Extract<DeployableCommand, { type: 'Answer' }>,
): Decision<DeployableEvent> => {
  if (handle.pending?.number !== command.number) return accept() // an answer to an older order, or a repeated answer
  if (command.order !== undefined && handle.pending.type !== command.order) return accept()
  const { number, failed, cleaned } = command
  const slot = handle.uuid
  const unclean = notCleaned(handle, command)
  if (unclean !== null) return accept(...unclean)
  if (failed === null) return accept({ type: 'OrderDone', slot, number, ...(cleaned ? { cleaned } : {}) })
  // an ordinary preparation: the bind conversation fails the ARQ and releases the handle
  if (handle.pending.type === 'PrepareSlot')
    return accept(...(repeatedUntil(handle) === null ? [] : lost(handle, failed)))
  const again =
    command.final || handle.attempts >= RELEASE_ATTEMPTS - 1
      ? null
      : orderFor(held, handle, { type: 'ReleaseSlot', deadline: command.retryBy })
  // the policy of its host may have become another one since the release was ordered
  const kept = again === null ? [] : withheldFor(held, handle)
  return accept({ type: 'OrderFailed', slot, number, reason: failed, again }, ...kept)
}

const answer = (
  held: Deployable,
  command: Extract<DeployableCommand, { type: 'Answer' }>,
): Decision<DeployableEvent> => {
  const handle = handleOf(held, command.slot)
  if (handle) return answerSlot(held, handle, command)
  if (held.program?.order.number !== command.number) return accept()
  const { image } = held.program
  return accept(
    command.failed === null
      ? { type: 'Programmed', image, number: command.number }
      : { type: 'ProgramFailed', image, number: command.number, reason: command.failed },
  )
}

const program = (held: Deployable, order: OrderOf<'Program'>): Decision<DeployableEvent> => {
  if (!held.programmable) return conflict(held, NOT_PROGRAMMABLE)
  if (held.presence !== 'present') return conflict(held, `its device is ${held.presence}`)
  if (held.program) return conflict(held, PROGRAMMED_NOW)
  if (busy(held)) return conflict(held, 'a request uses it, so it cannot be programmed now')
  if (notReleased(held)) return conflict(held, NOT_RELEASED)
  return accept({ type: 'ProgramStarted', image: order.image, order: programOrderFor(held, order) })
}

const addAttribute = (
  held: Deployable,
  attribute: Extract<DeployableCommand, { type: 'AddAttribute' }>['attribute'],
): Decision<DeployableEvent> => {
  const unfit = unfitAttribute(held.attributes, attribute)
  if (unfit !== null) return refuse({ kind: 'invalid', ...unfit })
  const { key, parent } = attribute
  if (held.attributes.some((one) => one.key === key && one.parent === parent))
    return refuse({ kind: 'exists', resource: 'attribute', field: 'key', value: key })
  return accept({ type: 'AttributeAdded', attribute: { ...attribute, origin: 'operator' } })
}
/**
 * Why the root of this deployable cannot be programmed now; null: it can. Programming may remove this deployable, so no
 * handle may be used or withheld.
 */
export const programmingBelow = (held: Deployable): Fault | null => {
  const why = busy(held)
    ? 'a request uses it, so its root cannot be programmed now'
    : Object.values(held.handles).some(({ state }) => state === 'quarantined')
      ? WITHHELD_BELOW
      : null
  return why && { kind: 'conflict', reason: `deployable ${held.name}: ${why}` }
}

/** The driver's class attribute stays: a deployable without a resource class cannot be granted (I11). */
const removeAttribute = (held: Deployable, uuid: AttributeUuid): Decision<DeployableEvent> => {
  const attribute = held.attributes.find((one) => one.uuid === uuid)
  if (!attribute) return refuse({ kind: 'not_found', resource: 'attribute', id: uuid })
  if (attribute.key === 'rc' && attribute.origin === 'driver')
    return conflict(held, 'its driver reports its resource class')
  return accept({ type: 'AttributeRemoved', uuid })
}

const setPresence = (
  { presence: was, handles }: Deployable,
  { presence, bitstreamId }: Extract<DeployableCommand, { type: 'SetPresence' }>,
): Decision<DeployableEvent> => {
  if (was === presence) return accept()
  const holds = was === 'retired' && bitstreamId !== undefined ? { bitstreamId } : {}
  const failed = presence === 'present' && Object.values(handles).some((handle) => retryAt(handle) !== null)
  return accept({ type: 'PresenceSet', presence, ...holds, ...(failed ? { retry: true as const } : {}) })
}

const decide = (held: Deployable, command: DeployableCommand): Decision<DeployableEvent> => {
  if (command.type === 'Record') return held.exists ? accept() : accept({ ...command, type: 'DeployableRecorded' })
  // a retired deployable accepts only its return, also at another address, and the loss of rows, which may put its
  // handles in doubt
  const concerned = ['SetPresence', 'RowsLost', 'Relocate'].includes(command.type)
  if (!held.exists || (held.presence === 'retired' && !concerned))
    return refuse({ kind: 'not_found', resource: RESOURCE, id: held.uuid })
  switch (command.type) {
    case 'Describe':
      return accept(describedAs(held, command.description))
    case 'SetPresence':
      return setPresence(held, command)
    case 'Relocate':
      return command.handles.length === 0 && command.localName === localNameOf(held)
        ? accept()
        : accept({ ...command, type: 'Relocated' })
    case 'SetStatus':
      return held.status === command.status ? accept() : accept({ type: 'StatusSet', status: command.status })
    case 'SetHealth':
      return (held.failing ?? null) === command.failing
        ? accept()
        : accept({ type: 'HealthSet', failing: command.failing })
    case 'TouchTree':
      return accept({ type: 'TreeTouched' })
    case 'Grant':
      return grant(held, command)
    case 'Release':
      return release(held, command)
    case 'Answer':
      return answer(held, command)
    case 'Due':
      return due(held, command.at, command.deadline)
    case 'Program':
      return program(held, command)
    case 'ReadImage':
      return readImage(held, command)
    case 'AddAttribute':
      return addAttribute(held, command.attribute)
    case 'RemoveAttribute':
      return removeAttribute(held, command.uuid)
    case 'ForceRelease':
      return forced(command, release(held, { ...command, type: 'Release' }))
    case 'RowsLost':
      return accept(...rowsLost(held, command))
    case 'Quarantine':
    case 'Clear':
    case 'Clean':
      return decideHandle(held, command)
    case 'Withhold':
    case 'PrepareAgain':
      return compared(held, command)
  }
}

export const deployable: Decider<Deployable, DeployableCommand, DeployableEvent, 'deployable'> = {
  kind: 'deployable',
  initial,
  decide,
  evolve,
  rows,
}
export { deployableKey } from './state.ts'
