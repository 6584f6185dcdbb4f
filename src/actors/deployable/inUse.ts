/** What of a deployable is in use, and when something has to be done about its handles next. Pure. */
import type { Deployable, SlotHandle } from './shape.ts'

/**
 * Whether handles are held, being released, or quarantined with an unanswered order. `but`: selects held handles that
 * do not count.
 */
export const busy = (held: Deployable, but: (handle: SlotHandle) => boolean = () => false): boolean =>
  Object.values(held.handles).some(
    (handle) =>
      (handle.state === 'held' && !but(handle)) ||
      handle.state === 'releasing' ||
      (handle.state === 'quarantined' && handle.pending !== null),
  )

/** A release that was given up is tried again after this time, because the cause may be over. */
const QUARANTINE_MS = 300_000
/** Whether handles are in use (`busy`), or the deployable is being programmed. */
export const inUse = (held: Deployable): boolean => busy(held) || held.program !== null
/**
 * As `inUse`, but quarantined handles count too: the host may still have them prepared, so the deployable must not be
 * forgotten.
 */
export const mayBePrepared = (held: Deployable): boolean =>
  inUse(held) || Object.values(held.handles).some(({ state }) => state === 'quarantined')
/** Whether a request has or may have the handle, or it is quarantined: its hardware is not given to others. */
export const isTaken = ({ state }: SlotHandle): boolean => state !== 'free' && state !== 'missing'
export const takenHandles = (held: Deployable): readonly SlotHandle[] => Object.values(held.handles).filter(isTaken)
/**
 * When the release of a quarantined handle is tried again; null while an order is unanswered or an operator withholds
 * it.
 */
export const retryAt = ({ state, pending, pendingSince, quarantine }: SlotHandle): number | null =>
  state === 'quarantined' && !pending && !quarantine ? pendingSince + QUARANTINE_MS : null
/** The handle when something has changed that may have kept its host from releasing it: it is tried again at once. */
export const retriedAt = (handle: SlotHandle, at: number): SlotHandle =>
  retryAt(handle) === null ? handle : { ...handle, pendingSince: Math.min(handle.pendingSince, at - QUARANTINE_MS) }
/** The deadline of a repeated preparation; null: none is under way. */
export const repeatedUntil = ({ pending, repeated }: SlotHandle): number | null =>
  pending?.type === 'PrepareSlot' && pending.number === repeated ? pending.deadline : null
/** When the sweeper must work on the deployable next; null: never. */
export const dueAt = (held: Deployable): number | null => {
  const moments = Object.values(held.handles).flatMap((handle) => retryAt(handle) ?? repeatedUntil(handle) ?? [])
  return moments.length > 0 ? Math.min(...moments) : null
}
/**
 * A mark that changes with the holder of the handle and with each order; a comparison made under another mark does not
 * count.
 */
export const markOf = ({ state, arq, pending, pendingSince, quarantine }: SlotHandle): string =>
  [state, arq, pending?.number, pendingSince, quarantine?.at].join(' ')
