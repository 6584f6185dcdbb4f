/**
 * An unbind that nobody else will ever ask for: the instance is gone for good, or its host does not come back. It ends at once (L6) and
 * as any unbind does for Nova; only the handle has to wait for its host, in quarantine where the host is silent (S8).
 */
import { type Outcome, refuse } from '../../fault.ts'
import { type Arq, arq, arqKey } from '../arq/decider.ts'
import { arqRow } from '../arq/rows.ts'
import type { ArqRow, Caller } from '../control.ts'
import type { OperatorNote } from '../deployable/handleAdminMessages.ts'
import { deployable, deployableKey } from '../deployable/decider.ts'
import type { Deployable } from '../deployable/state.ts'
import type { Draft } from '../runtime/draft.ts'
import { type Host, hostKey } from '../host/decider.ts'
import { type Kernel, causeOf, newWork } from './kernel.ts'
import { instance, instanceKey } from '../instance/decider.ts'
import { RELEASE_FOR_MS, gone, inventoried, partners } from './unbind.ts'

const ROUNDS = 3
const missing = (id: string) => refuse({ kind: 'not_found', resource: 'accelerator request', id })

/** It has, or gave up and was not rid of, what is on this deployable. */
const targetOf = ({ bond, gaveUp, status }: Arq): string | null =>
  bond?.deployable ?? (status === 'UnbindFailed' ? (gaveUp?.deployable ?? null) : null)
const bindsNothing = (held: Arq) => held.status === 'Initial' || held.status === 'Unbound'

type Terms = { readonly word: OperatorNote; readonly reachable: boolean; readonly trace: string | undefined }
const leave = (draft: Draft, uuid: string, { word, reachable, trace }: Terms) => {
  const key = arqKey(uuid)
  const held = draft.state(arq, key)
  draft.decide(arq, key, { type: 'Unbind', forced: word })
  const target = targetOf(held)
  const release = { type: 'ForceRelease', arq: uuid, deadline: draft.at + RELEASE_FOR_MS, reachable, trace } as const
  if (target && inventoried(draft.state(deployable, deployableKey(target))))
    draft.decide(deployable, deployableKey(target), { ...release, ...word })
  if (held.bond) draft.decide(instance, instanceKey(held.bond.instanceUuid), { type: 'Leave', arqs: [uuid] })
}

/** Only a host that is heard of now can do its part of a release. */
const createReachable =
  ({ region }: Kernel) =>
  async (target: string | null): Promise<Outcome<{ readonly reachable: boolean; readonly host: string | null }>> => {
    if (target === null) return { ok: true, value: { reachable: true, host: null } }
    const place = await region.readCurrent(deployableKey(target))
    if (!place.ok) return place
    const { host: name } = place.value.state as Deployable
    const owner = await region.readCurrent(hostKey(name))
    if (!owner.ok) return owner
    return { ok: true, value: { reachable: (owner.value.state as Host).liveness === 'up', host: name } }
  }

/** `host`: on whose hardware it was; null when on nobody's. `gone`: the host counts as silent whatever is heard of it. */
export const createForceUnbind = (kernel: Kernel) => {
  const { region, units } = kernel
  const reach = createReachable(kernel)
  return async (
    caller: Caller,
    uuid: string,
    word: OperatorNote,
    given: { readonly gone: boolean } = { gone: false },
  ): Promise<Outcome<{ readonly row: ArqRow; readonly host: string | null }>> => {
    const key = arqKey(uuid)
    for (let round = 0; round < ROUNDS; round++) {
      const looked = await region.readCurrent(key)
      if (!looked.ok) return looked
      const known = looked.value.state as Arq
      if (gone(known)) return missing(uuid)
      const reached = await reach(targetOf(known))
      if (!reached.ok) return reached
      const { host } = reached.value
      if (bindsNothing(known)) return { ok: true, value: { row: arqRow(known), host } }
      const keys = new Set([key, ...partners(known)])
      const terms = { word, reachable: reached.value.reachable && !given.gone, trace: caller.trace }
      const plan = (draft: Draft): ArqRow | 'moved' => {
        const now = draft.state(arq, key)
        if (gone(now)) draft.refuse(missing(uuid).fault)
        if (partners(now).some((one) => !keys.has(one))) return 'moved'
        if (!bindsNothing(now)) leave(draft, uuid, terms)
        return arqRow(draft.state(arq, key))
      }
      const left = await units.together([...keys], newWork(kernel, causeOf(caller), plan))
      if (!left.ok) return left
      if (left.value !== 'moved' && left.value !== null) return { ok: true, value: { row: left.value, host } }
    }
    return refuse({
      kind: 'unavailable',
      reason: `accelerator request ${uuid} keeps being bound elsewhere`,
      retryAfterSeconds: 1,
    })
  }
}
