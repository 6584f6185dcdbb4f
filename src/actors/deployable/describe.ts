/** Applies a report to a deployable and to its handles. Pure. */
import { rooted } from './attributes.ts'
import type { DeployableEvent, Description, KnownHandle } from './messages.ts'
import type { Deployable, SlotHandle } from './shape.ts'
import { next } from './states.ts'

const fresh = (handle: KnownHandle): SlotHandle => ({
  ...handle,
  state: 'free',
  arq: null,
  pending: null,
  pendingSince: 0,
  lastArq: null,
  attempts: 0,
  unseen: false,
})

/** A handle that the report contains again. A handle that an ARQ holds keeps its state until it is given up. */
const seen = (old: SlotHandle | undefined, shown: KnownHandle): SlotHandle => {
  if (!old) return fresh(shown)
  const { physfn: _, set: _was, ...kept } = old
  return { ...kept, ...shown, unseen: false, state: old.state === 'missing' ? next('missing', 'return')! : old.state }
}
const isQuarantined = ({ state }: SlotHandle): boolean => state === 'quarantined'
/**
 * Whether a quarantined handle is not in the report. It stays quarantined (HANDLE-1): as a missing handle it would
 * become free when it is reported again, although its host never proved that it was released, or that it is clean.
 */
const hidesQuarantined = ({ handles }: Deployable, { handles: shown }: Description): boolean => {
  const uuids = new Set(shown.map(({ uuid }) => uuid))
  return Object.values(handles).some((handle) => isQuarantined(handle) && !uuids.has(handle.uuid))
}
export const describedAs = (held: Deployable, description: Description): DeployableEvent => ({
  type: 'DeployableDescribed',
  description,
  ...(hidesQuarantined(held, description) ? { quarantinedStay: true } : {}),
})
const unseen = (old: SlotHandle, quarantinedStay: true | undefined): SlotHandle => {
  const stays = old.quarantine || (quarantinedStay && isQuarantined(old))
  return { ...old, unseen: true, state: stays ? old.state : (next(old.state, 'vanish') ?? old.state) }
}

export const describe = (
  held: Deployable,
  description: Description,
  at: number,
  quarantinedStay?: true,
): Partial<Deployable> => {
  const shown = new Map(description.handles.map((handle) => [handle.uuid, seen(held.handles[handle.uuid], handle)]))
  const gone = Object.values(held.handles)
    .filter((handle) => !shown.has(handle.uuid))
    .map((handle) => unseen(handle, quarantinedStay))
  const operators = held.attributes.filter(({ origin }) => origin !== 'driver')
  const created = new Map(held.attributes.map(({ uuid, createdAt }) => [uuid, createdAt]))
  return {
    driver: description.driver,
    numAccelerators: description.numAccelerators,
    driverName: description.driverName,
    hostWork: description.hostWork,
    programmable: description.programmable,
    kind: description.kind ?? null,
    nodes: description.nodes ?? 0,
    ...(description.card === undefined ? {} : { card: description.card }),
    ...(description.cleaning === undefined ? {} : { hostCleaning: description.cleaning }),
    handles: Object.fromEntries([...shown.values(), ...gone].map((handle) => [handle.uuid, handle])),
    attributes: rooted([
      ...description.attributes.map((attribute) => ({ ...attribute, createdAt: created.get(attribute.uuid) ?? at })),
      ...operators,
    ]),
  }
}
