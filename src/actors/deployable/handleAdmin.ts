/**
 * Decisions of operators about attach handles. Reports of hosts and requests do not overrule them.
 *
 * HANDLE-1 a quarantined handle is not granted, whether reports contain it or not, until its host proves that it is
 *    released and clean, or an operator says so;
 * HANDLE-2 only an operator releases a handle that an operator quarantined;
 * HANDLE-3 a handle that is in doubt because the journal has lost rows is withheld from the moment when its ARQ gives
 *    it up (`rowsLost.ts`).
 */
import { type Decision, accept, refuse } from '../runtime/decider.ts'
import type { HandleAdminCommand } from './handleAdminMessages.ts'
import type { OperatorNote } from '../../vocabulary/operatorNote.ts'
import type { DeployableEvent } from './messages.ts'
import { QUARANTINED_FOR_CLEANING } from './cleaning.ts'
import { orderFor } from './orders.ts'
import { undone } from './slots.ts'
import type { Deployable, SlotHandle } from './state.ts'

const no = (handle: SlotHandle, why: string) =>
  refuse({ kind: 'conflict', reason: `handle ${handle.uuid} is ${handle.state}: ${why}` })
const HELD = (handle: SlotHandle) =>
  no(handle, `accelerator request ${handle.arq} has it; unbind that first, by force where nobody else can`)
const MISSING = (handle: SlotHandle) => no(handle, 'its host does not show it, so it is given to nobody')

const quarantine = (handle: SlotHandle, { by, reason }: OperatorNote): Decision<DeployableEvent> => {
  // one that its host has still to release, or could not clean, is withheld by this operator from now on, who may then
  // release it without the host
  const isTaken = handle.state !== 'releasing' && handle.quarantine?.by !== QUARANTINED_FOR_CLEANING
  if (handle.quarantine && isTaken) return accept()
  if (handle.state === 'held') return HELD(handle)
  if (handle.state === 'missing') return MISSING(handle)
  return accept({ type: 'HandleQuarantined', handle: handle.uuid, until: 'released', by, reason })
}

/**
 * Withheld by the policy of cleaning from the moment when it was given up, and its host has not released it yet
 * (UNCLEAN-5).
 */
const isUnreleased = ({ quarantine: note, pending }: SlotHandle): boolean =>
  note?.by === QUARANTINED_FOR_CLEANING && pending?.type === 'ReleaseSlot'

const clear = (
  held: Deployable,
  handle: SlotHandle,
  { by, reason, deadline }: Extract<HandleAdminCommand, { readonly type: 'Clear' }>,
): Decision<DeployableEvent> => {
  // the ARQ that holds the handle keeps it, and the handle becomes free when the ARQ gives it up
  if (handle.state === 'held' && handle.quarantine?.inDoubt)
    return accept({ type: 'HandleCleared', handle: handle.uuid, by, reason })
  const undoing = undone(held, handle, { by, reason }, deadline)
  if (undoing) return undoing
  if (isUnreleased(handle)) return accept({ type: 'HandleCleared', handle: handle.uuid, by, reason, releasing: true })
  switch (handle.state) {
    case 'free':
      return accept()
    case 'held':
      return HELD(handle)
    case 'missing':
      return MISSING(handle)
    case 'releasing':
      return no(handle, 'its host has been told to release it; quarantine it first where the host cannot answer')
    case 'quarantined':
      return accept({ type: 'HandleCleared', handle: handle.uuid, by, reason })
  }
}

/**
 * Orders the release and the cleaning once more. From then on the handle is quarantined only until its host confirms
 * both.
 */
const clean = (
  held: Deployable,
  handle: SlotHandle,
  note: Extract<HandleAdminCommand, { readonly type: 'Clean' }>,
): Decision<DeployableEvent> => {
  const { by, reason, deadline } = note
  if (handle.state === 'held') return HELD(handle)
  if (handle.state === 'missing') return MISSING(handle)
  if (handle.pending) return no(handle, 'its host is at work on it')
  if (held.hostCleaning !== 'by_host')
    return no(handle, 'neither a command nor a playbook that cleans it is chosen on its host')
  const undoing = undone(held, handle, { by, reason }, deadline)
  if (undoing) return undoing
  const order = orderFor(held, handle, { type: 'ReleaseSlot', deadline })
  return accept(
    { type: 'HandleCleared', handle: handle.uuid, by, reason },
    { type: 'HandleQuarantined', handle: handle.uuid, until: 'confirmed', by, reason },
    { type: 'HandleReleased', handle: handle.uuid, arq: handle.lastArq ?? '', order },
  )
}

export const decideHandle = (
  held: Deployable,
  command: Extract<HandleAdminCommand, { readonly handle: string }>,
): Decision<DeployableEvent> => {
  const handle = held.handles[command.handle]
  if (!handle) return refuse({ kind: 'not_found', resource: 'attach handle', id: command.handle })
  if (command.type === 'Clean') return clean(held, handle, command)
  return command.type === 'Quarantine' ? quarantine(handle, command) : clear(held, handle, command)
}

/** A normal release. When the host cannot be reached, the handle is quarantined and does not wait for the host. */
export const forced = (
  { reachable, by, reason }: Extract<HandleAdminCommand, { readonly type: 'ForceRelease' }>,
  release: Decision<DeployableEvent>,
): Decision<DeployableEvent> => {
  if (!release.ok || reachable) return release
  return accept(
    ...release.events,
    ...release.events.flatMap((event): DeployableEvent[] =>
      event.type === 'HandleReleased' && event.order
        ? [{ type: 'HandleQuarantined', handle: event.handle, until: 'confirmed', by, reason }]
        : [],
    ),
  )
}
