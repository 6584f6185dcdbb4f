/** The attach handles part of the control port. */
import type { HandleUuid } from '../../identifiers.ts'
import { type Outcome, refuse } from '../../fault.ts'
import { arq, arqKey } from '../arq/decider.ts'
import type { Caller, Control, HandleDetail } from '../control.ts'
import { given } from './devices.ts'
import { type Retirement } from './retirement.ts'
import { MOVED } from '../runtime/draft.ts'
import { transact } from '../runtime/transact.ts'
import { type Kernel, causeOf } from './kernel.ts'
import type { HandleAdminCommand } from '../deployable/handleAdminMessages.ts'
import type { OperatorNote } from '../../operatorNote.ts'
import { deployable, deployableKey } from '../deployable/decider.ts'
import { handleRow } from '../deployable/rows.ts'
import type { Deployable } from '../deployable/state.ts'

const missing = (id: string) => refuse({ kind: 'not_found', resource: 'attach handle', id })
type HandleDecision = Extract<HandleAdminCommand, { readonly handle: HandleUuid }>

const detailOf = (held: Deployable, uuid: HandleUuid): HandleDetail | null => {
  const handle = held.exists && held.presence !== 'retired' ? held.handles[uuid] : undefined
  if (!handle) return null
  const { type, info, lastArq, pending, quarantine } = handle
  return {
    ...handleRow(held, handle),
    type,
    info,
    last_arq: handle.state === 'releasing' || handle.state === 'quarantined' ? lastArq : null,
    order: pending?.number ?? null,
    quarantine: quarantine ?? null,
  }
}

export const createHandles = (kernel: Kernel, retirement: Retirement): Control['handles'] => {
  const { readers, region } = kernel
  const ownerOf = async (uuid: HandleUuid): Promise<Outcome<Deployable>> => {
    const found = await readers.first('handles', { uuid })
    if (!found.ok) return found
    if (!found.value) return missing(uuid)
    const looked = await region.readCurrent(deployable, deployableKey(found.value.deployable_uuid))
    return looked.ok ? { ok: true, value: looked.value.state } : looked
  }
  const get = async (uuid: HandleUuid): Promise<Outcome<HandleDetail>> => {
    const owner = await ownerOf(uuid)
    if (!owner.ok) return owner
    const detail = detailOf(owner.value, uuid)
    return detail ? { ok: true, value: detail } : missing(uuid)
  }
  const decide = async (caller: Caller, command: HandleDecision): Promise<Outcome<HandleDetail>> => {
    const { handle } = command
    const done = await transact(kernel, {
      subject: `the release of handle ${handle}`,
      cause: causeOf(caller),
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
        const events = draft.decide(deployable, key, command)
        const cleared = events.some(({ type }) => type === 'HandleCleared')
        // an ARQ whose release has failed ends with the quarantine of its handle
        if (cleared && lastArq !== null && draft.state(arq, arqKey(lastArq)).status === 'UnbindFailed')
          draft.decide(arq, arqKey(lastArq), { type: 'ReportReleased', handle })
        return { host }
      },
    })
    if (!done.ok) return done
    const shown = await get(handle)
    // it may have been the last one that kept a device of a retired host in the inventory
    if (command.type === 'Clear' && done.value) await retirement.shed(caller, done.value.host)
    return shown
  }
  const asked = (type: HandleDecision['type']) => (caller: Caller, handle: HandleUuid, note: OperatorNote) =>
    decide(caller, { type, handle, ...note })
  return {
    list: (filter, page) => readers.list('handles', given(filter), { sort: 'uuid', ...page }),
    get,
    quarantine: asked('Quarantine'),
    release: asked('Clear'),
  }
}
