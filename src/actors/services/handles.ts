/** Attach handles, as http asks for them. */
import { type Outcome, refuse } from '../../fault.ts'
import { type Arq, arq, arqKey } from '../arq/decider.ts'
import type { Caller, Control, HandleDetail } from '../control.ts'
import { given } from './devices.ts'
import type { Draft } from '../runtime/draft.ts'
import { type Retirement } from './retirement.ts'
import { type Kernel, causeOf, newWork } from './kernel.ts'
import type { HandleAdminCommand, OperatorNote } from '../deployable/handleAdminMessages.ts'
import { deployable, deployableKey } from '../deployable/decider.ts'
import { handleRow } from '../deployable/rows.ts'
import type { Deployable } from '../deployable/state.ts'

const missing = (id: string) => refuse({ kind: 'not_found', resource: 'attach handle', id })
const ROUNDS = 3

const detailOf = (held: Deployable, uuid: string): HandleDetail | null => {
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

export const createHandles = (kernel: Kernel, takingOut: Retirement): Control['handles'] => {
  const { readers, region, units } = kernel
  const ownerOf = async (uuid: string): Promise<Outcome<Deployable>> => {
    const found = await readers.first('handles', { uuid })
    if (!found.ok) return found
    if (!found.value) return missing(uuid)
    const looked = await region.readCurrent(deployableKey(found.value.deployable_uuid))
    return looked.ok ? { ok: true, value: looked.value.state as Deployable } : looked
  }
  const get = async (uuid: string): Promise<Outcome<HandleDetail>> => {
    const owner = await ownerOf(uuid)
    if (!owner.ok) return owner
    const detail = detailOf(owner.value, uuid)
    return detail ? { ok: true, value: detail } : missing(uuid)
  }
  /** An ARQ whose release has failed ends with the quarantine of its handle. */
  const planOf =
    (command: Extract<HandleAdminCommand, { readonly handle: string }>, key: string, known: string | null) =>
    (draft: Draft) => {
      const { handle } = command
      const { lastArq = null } = draft.state(deployable, key).handles[handle] ?? {}
      if (lastArq !== known) return 'moved' as const
      const events = draft.decide(deployable, key, command)
      const released = events.some(({ type }) => type === 'HandleCleared')
      const waiting = released && lastArq !== null && draft.state<Arq>(arq, arqKey(lastArq)).status === 'UnbindFailed'
      if (waiting) draft.decide(arq, arqKey(lastArq), { type: 'ReportReleased', handle })
      return 'done' as const
    }
  const care = async (
    caller: Caller,
    command: Extract<HandleAdminCommand, { readonly handle: string }>,
  ): Promise<Outcome<HandleDetail>> => {
    for (let round = 0; round < ROUNDS; round++) {
      const owner = await ownerOf(command.handle)
      if (!owner.ok) return owner
      const key = deployableKey(owner.value.uuid)
      const lastArq = owner.value.handles[command.handle]?.lastArq ?? null
      const keys = [key, ...(lastArq === null ? [] : [arqKey(lastArq)])]
      const done = await units.together(keys, newWork(kernel, causeOf(caller), planOf(command, key, lastArq)))
      if (!done.ok) return done
      if (done.value === 'moved') continue
      const shown = await get(command.handle)
      // the last of what kept a device of a retired host
      if (command.type === 'Clear') await takingOut.shed(caller, owner.value.host)
      return shown
    }
    return refuse({ kind: 'unavailable', reason: `handle ${command.handle} keeps changing`, retryAfterSeconds: 1 })
  }
  const asked = (type: 'Quarantine' | 'Clear') => (caller: Caller, handle: string, word: OperatorNote) =>
    care(caller, { type, handle, ...word })
  return {
    list: (filter, page) => readers.list('handles', given(filter) as never, { sort: 'uuid', ...page }),
    get,
    quarantine: asked('Quarantine'),
    release: asked('Clear'),
  }
}
