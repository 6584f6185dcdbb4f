/**
 * Unbinds by an operator's decision, when the instance is gone for good or its host does not return. The unbind ends at
 * once (L6), and Nova sees an ordinary unbind. Only the handle waits for its host; if the host is silent, the handle is
 * quarantined (S8).
 */
import type { ArqUuid, DeployableUuid, HostName } from '../../vocabulary/identifiers.ts'
import { type Outcome } from '../../vocabulary/fault.ts'
import type { OperatorNote } from '../../vocabulary/operatorNote.ts'
import { type Arq, arq, arqKey } from '../../actors/arq/decider.ts'
import { arqRow } from '../../actors/arq/rows.ts'
import type { ArqRow, Caller } from '../../actors/control.ts'
import { deployable, deployableKey } from '../../actors/deployable/decider.ts'
import { host, hostKey } from '../../actors/host/decider.ts'
import { instance, instanceKey } from '../../actors/instance/decider.ts'
import { type Draft, MOVED } from '../../actors/runtime/draft.ts'
import { transact } from '../../actors/runtime/transact.ts'
import { type Kernel, RELEASE_FOR_MS, causeOf, commandOf } from '../kernel/kernel.ts'
import { gone, inventoried, missingArq, partners } from './unbind.ts'

/** The deployable to which the ARQ is bound, or which has not finished the release of the ARQ's handle. */
const targetOf = ({ bond, gaveUp, status }: Arq): DeployableUuid | null =>
  bond?.deployable ?? (status === 'UnbindFailed' ? (gaveUp?.deployable ?? null) : null)
const bindsNothing = (held: Arq) => held.status === 'Initial' || held.status === 'Unbound'

type Terms = { readonly note: OperatorNote; readonly reachable: boolean; readonly trace: string | undefined }
const unbind = (draft: Draft, uuid: ArqUuid, { note, reachable, trace }: Terms) => {
  const key = arqKey(uuid)
  const held = draft.state(arq, key)
  draft.decide(arq, key, { type: 'Unbind', forced: note })
  const target = targetOf(held)
  const release = { type: 'ForceRelease', arq: uuid, deadline: draft.at + RELEASE_FOR_MS, reachable, trace } as const
  if (target && inventoried(draft.state(deployable, deployableKey(target))))
    draft.decide(deployable, deployableKey(target), { ...release, ...note })
  if (held.bond) draft.decide(instance, instanceKey(held.bond.instanceUuid), { type: 'Leave', arqs: [uuid] })
}

type Reached = { readonly reachable: boolean; readonly host: HostName | null }
/** Whether the host of the deployable is up, so that it can carry out the release. */
const reach = async ({ region }: Kernel, target: DeployableUuid | null): Promise<Outcome<Reached>> => {
  if (target === null) return { ok: true, value: { reachable: true, host: null } }
  const place = await region.readCurrent(deployable, deployableKey(target))
  if (!place.ok) return place
  const name = place.value.state.host
  const owner = await region.readCurrent(host, hostKey(name))
  return owner.ok ? { ok: true, value: { reachable: owner.value.state.liveness === 'up', host: name } } : owner
}

/** `host`: the host on which the ARQ was bound; null when it was not bound. */
export type ForceUnbound = { readonly row: ArqRow; readonly host: HostName | null }

/** `hostGone`: the host is treated as silent even if it still reports. */
export const createForceUnbind =
  (kernel: Kernel) =>
  async (caller: Caller, uuid: ArqUuid, note: OperatorNote, hostGone = false): Promise<Outcome<ForceUnbound>> => {
    const key = arqKey(uuid)
    const done = await transact(kernel, {
      subject: `the binding of accelerator request ${uuid}`,
      cause: causeOf(caller),
      // the removal of a host unbinds many requests in one command
      ...(hostGone ? {} : commandOf(caller)),
      guess: async () => {
        const known = await kernel.region.readCurrent(arq, key)
        if (!known.ok) return known
        const held = known.value.state
        if (gone(held)) return missingArq(uuid)
        const reached = await reach(kernel, targetOf(held))
        if (!reached.ok) return reached
        return { ok: true, value: { keys: [...new Set([key, ...partners(held)])], ...reached.value } }
      },
      plan: (draft, { keys, reachable, host: name }) => {
        const now = draft.state(arq, key)
        if (gone(now)) draft.refuse(missingArq(uuid).fault)
        if (partners(now).some((one) => !keys.includes(one))) return MOVED
        const terms = { note, reachable: reachable && !hostGone, trace: caller.trace }
        if (!bindsNothing(now)) unbind(draft, uuid, terms)
        return { row: arqRow(draft.state(arq, key)), host: name }
      },
    })
    if (!done.ok) return done
    if (done.value) return { ok: true, value: done.value }
    const repeated = await kernel.region.readCurrent(arq, key)
    if (!repeated.ok) return repeated
    return { ok: true, value: { row: arqRow(repeated.value.state), host: null } }
  }
