/** The attach handles part of the control port. */
import type { ArqUuid, HandleUuid } from '../../vocabulary/identifiers.ts'
import { type Outcome, done, refuse } from '../../vocabulary/fault.ts'
import { arq, arqKey } from '../../actors/arq/decider.ts'
import type { Caller, Control, HandleDetail, HandleRow } from '../../actors/control.ts'
import { createVisibility } from '../kernel/visibility.ts'
import { given } from '../devices/devices.ts'
import { type Retirement } from '../retirement/retirement.ts'
import { MOVED } from '../../actors/runtime/draft.ts'
import { transact } from '../../actors/runtime/transact.ts'
import { type Kernel, RELEASE_FOR_MS, causeOf, commandOf } from '../kernel/kernel.ts'
import type { HandleAdminCommand } from '../../actors/deployable/handleAdminMessages.ts'
import type { DatedNote, OperatorNote } from '../../vocabulary/operatorNote.ts'
import { dueCleaning, isBeingCleaned } from '../../actors/deployable/cleaning.ts'
import { deployable, deployableKey } from '../../actors/deployable/decider.ts'
import { device, deviceKey } from '../../actors/device/decider.ts'
import { standingOf } from '../../actors/device/standing.ts'
import { host, hostKey } from '../../actors/host/decider.ts'
import { handleRow } from '../../actors/deployable/rows.ts'
import type { Deployable, SlotHandle } from '../../actors/deployable/state.ts'

const missing = (id: string) => refuse({ kind: 'not_found', resource: 'attach handle', id })
type HandleDecision = Extract<HandleAdminCommand, { readonly handle: HandleUuid }>
type OperatorDecision = { readonly type: HandleDecision['type']; readonly handle: HandleUuid } & OperatorNote

const arqsIn = (arqs: readonly (ArqUuid | null)[]): readonly ArqUuid[] => arqs.filter((arq) => arq !== null)

/** By whom a failed release withholds a handle until it succeeds. */
const BY_FAILURE = 'failed release'
const withheldBy = ({ state, quarantine, releaseFailed }: SlotHandle): DatedNote | null =>
  quarantine ?? (state === 'quarantined' && releaseFailed ? { by: BY_FAILURE, ...releaseFailed } : null)

const detailOf = (held: Deployable, uuid: HandleUuid): Omit<HandleDetail, 'device'> | null => {
  const handle = held.exists && held.presence !== 'retired' ? held.handles[uuid] : undefined
  if (!handle) return null
  const { type, info, lastArq, pending, cleaned } = handle
  return {
    ...handleRow(held, handle),
    type,
    info,
    last_arq: handle.state === 'releasing' || handle.state === 'quarantined' ? lastArq : null,
    order: pending?.number ?? null,
    quarantine: withheldBy(handle),
    cleaning: {
      due: dueCleaning(held, handle),
      policy: held.hostCleaning ?? null,
      underWay: isBeingCleaned(handle),
      last: cleaned ?? null,
    },
  }
}

/** The one state of the device that has the handle. */
const deviceOf = async (
  { region }: Kernel,
  { deviceUuid: uuid, host: name }: Deployable,
): Promise<Outcome<HandleDetail['device']>> => {
  const [card, owner] = [
    await region.readCurrent(device, deviceKey(uuid)),
    await region.readCurrent(host, hostKey(name)),
  ]
  if (!card.ok) return card
  return owner.ok ? done({ uuid, ...standingOf(card.value.state, owner.value.state) }) : owner
}

type OwnerOf = (uuid: HandleUuid) => Promise<Outcome<Deployable>>
const createOwnerOf =
  ({ readers, region }: Kernel): OwnerOf =>
  async (uuid) => {
    const found = await readers.first('handles', { uuid })
    if (!found.ok) return found
    if (!found.value) return missing(uuid)
    const looked = await region.readCurrent(deployable, deployableKey(found.value.deployable_uuid))
    return looked.ok ? { ok: true, value: looked.value.state } : looked
  }

/** The handles as the caller may see them: without ARQs that the caller may not know of. */
const createShown = (kernel: Kernel, ownerOf: OwnerOf): Pick<Control['handles'], 'get' | 'list'> => {
  const visibility = createVisibility(kernel)
  return {
    get: async (caller, uuid) => {
      const owner = await ownerOf(uuid)
      if (!owner.ok) return owner
      const detail = detailOf(owner.value, uuid)
      if (detail === null) return missing(uuid)
      const knows = await visibility(caller, arqsIn([detail.arq_uuid, detail.last_arq]))
      if (!knows.ok) return knows
      const card = await deviceOf(kernel, owner.value)
      if (!card.ok) return card
      const shown = (arq: ArqUuid | null) => (arq !== null && knows.value(arq) ? arq : null)
      const { quarantine } = detail
      return done({
        ...detail,
        device: card.value,
        arq_uuid: shown(detail.arq_uuid),
        last_arq: shown(detail.last_arq),
        // the words of a driver may name a tenant's data: they are for administrators
        quarantine: quarantine?.by === BY_FAILURE && !caller.isAdmin ? { ...quarantine, reason: '' } : quarantine,
      })
    },
    list: async (caller, filter, page) => {
      const listed = await kernel.readers.list('handles', given(filter), { sort: 'uuid', ...page })
      if (!listed.ok) return listed
      const { items, next } = listed.value
      const knows = await visibility(caller, arqsIn(items.map(({ arq_uuid: arq }) => arq)))
      if (!knows.ok) return knows
      const shown = (row: HandleRow) =>
        row.arq_uuid === null || knows.value(row.arq_uuid) ? row : { ...row, arq_uuid: null }
      return done({ items: items.map(shown), next })
    },
  }
}

export const createHandles = (kernel: Kernel, retirement: Retirement): Control['handles'] => {
  const ownerOf = createOwnerOf(kernel)
  const { get, list } = createShown(kernel, ownerOf)
  const decide = async (caller: Caller, command: OperatorDecision): Promise<Outcome<HandleDetail>> => {
    const { handle } = command
    const decided = await transact(kernel, {
      subject: `the release of handle ${handle}`,
      cause: causeOf(caller),
      ...commandOf(caller),
      guess: async () => {
        const owner = await ownerOf(handle)
        if (!owner.ok) return owner
        const { uuid, host, handles } = owner.value
        const key = deployableKey(uuid)
        const lastArq = handles[handle]?.lastArq ?? null
        return { ok: true, value: { keys: [key, ...(lastArq === null ? [] : [arqKey(lastArq)])], key, lastArq, host } }
      },
      plan: (draft, { key, lastArq, host }) => {
        if ((draft.state(deployable, key).handles[handle]?.lastArq ?? null) !== lastArq) return MOVED
        const events = draft.decide(deployable, key, { ...command, deadline: draft.at + RELEASE_FOR_MS })
        const cleared = events.some((event) => event.type === 'HandleCleared' && !event.releasing)
        const ordered = events.some(({ type }) => type === 'HandleReleased')
        // an ARQ whose release failed leaves that state when its handle is released, by an operator or by its host
        if (cleared && !ordered && lastArq !== null && draft.state(arq, arqKey(lastArq)).status === 'UnbindFailed')
          draft.decide(arq, arqKey(lastArq), { type: 'ReportReleased', handle })
        return { host }
      },
    })
    if (!decided.ok) return decided
    const shown = await get(caller, handle)
    // this handle may have been the last one that kept a device of a retired host in the inventory
    const host = decided.value?.host ?? (shown.ok ? shown.value.hostname : null)
    if (command.type === 'Clear' && host !== null) await retirement.shed(caller, host)
    return shown
  }
  const asked = (type: HandleDecision['type']) => (caller: Caller, handle: HandleUuid, note: OperatorNote) =>
    decide(caller, { type, handle, ...note })
  return {
    list,
    get,
    quarantine: asked('Quarantine'),
    release: asked('Clear'),
    clean: asked('Clean'),
  }
}
