/** Unbind and removal: the ARQ leaves at once, its handle goes back to the deployable, which finishes the release with its host. */
import { type Fault, type Outcome, refuse } from '../../fault.ts'
import { type Arq, arq, arqKey } from '../arq/decider.ts'
import type { Caller, Control } from '../control.ts'
import { deployable, deployableKey } from '../deployable/decider.ts'
import type { Deployable } from '../deployable/state.ts'
import type { Draft } from '../runtime/draft.ts'
import { type Kernel, causeOf, newWork } from './kernel.ts'
import type { Region } from '../runtime/region.ts'
import { type Instance, instance, instanceKey } from '../instance/decider.ts'

type How = 'Unbind' | 'Remove'
export const RELEASE_FOR_MS = 600_000
const ROUNDS = 3
const missing = (id: string) => refuse({ kind: 'not_found', resource: 'accelerator request', id })
export const gone = (held: Arq) => held.status === 'Absent' || held.status === 'Gone'

/** Foreign ARQs do not exist for the caller (rest-api 9.5). */
export const visible = (caller: Caller, held: Arq, serviceSeesAll: boolean): boolean =>
  !gone(held) && (caller.isAdmin || held.projectId === caller.projectId || (serviceSeesAll && caller.isService))

/** Who has to be asked when this ARQ leaves. */
export const partners = (held: Arq): readonly string[] => [
  ...(held.bond ? [instanceKey(held.bond.instanceUuid), deployableKey(held.bond.deployable)] : []),
  ...(held.gaveUp ? [deployableKey(held.gaveUp.deployable)] : []),
]

/** Hardware that was retired has nothing left to release. */
export const inventoried = ({ exists, presence }: Deployable) => exists && presence !== 'retired'

const unbindOne = (draft: Draft, uuid: string, how: How, trace: string | undefined) => {
  const held = draft.state(arq, arqKey(uuid))
  draft.decide(arq, arqKey(uuid), { type: how })
  const release = { type: 'Release', arq: uuid, deadline: draft.at + RELEASE_FOR_MS, trace } as const
  const retry = held.status === 'UnbindFailed' && held.gaveUp
  const target = held.bond?.deployable ?? (retry ? retry.deployable : null)
  if (target && inventoried(draft.state(deployable, deployableKey(target))))
    draft.decide(deployable, deployableKey(target), release)
  if (held.bond) draft.decide(instance, instanceKey(held.bond.instanceUuid), { type: 'Leave', arqs: [uuid] })
}

type Guard = (held: Arq, uuid: string) => Fault | null

/** `moved`: somebody takes part who was not borrowed; then nothing is decided yet. */
const unbindPlan =
  (uuids: readonly string[], how: How, guard: Guard, borrowed: ReadonlySet<string>, trace: string | undefined) =>
  (draft: Draft) => {
    const held = uuids.map((uuid) => [uuid, draft.state(arq, arqKey(uuid))] as const)
    for (const [uuid, one] of held) {
      const fault = guard(one, uuid)
      if (fault) draft.refuse(fault)
    }
    if (held.some(([, one]) => partners(one).some((key) => !borrowed.has(key)))) return 'moved' as const
    for (const [uuid, one] of held) if (!gone(one)) unbindOne(draft, uuid, how, trace)
    return 'left' as const
  }

const createReadAll =
  (look: Region['readCurrent']) =>
  async (uuids: readonly string[]): Promise<Outcome<ReadonlyMap<string, Arq>>> => {
    const looked = await Promise.all(uuids.map((uuid) => look(arqKey(uuid))))
    const refused = looked.find((one) => !one.ok)
    if (refused && !refused.ok) return refused
    return {
      ok: true,
      value: new Map(looked.map((one, at) => [uuids[at]!, (one.ok ? one.value.state : undefined) as Arq])),
    }
  }

/** One append for all of them; who takes part is what is remembered, and looked at when it was others. `guard` decides on the states it finds. */
const createUnbindAll = (kernel: Kernel) => {
  const [peekAll, lookAll] = [createReadAll(kernel.region.readCached), createReadAll(kernel.region.readCurrent)]
  return async (caller: Caller, uuids: readonly string[], how: How, guard: Guard): Promise<Outcome<null>> => {
    for (let round = 0; round < ROUNDS; round++) {
      const looked = await (round === 0 ? peekAll : lookAll)(uuids)
      if (!looked.ok) return looked
      const keys = new Set([...looked.value].flatMap(([uuid, held]) => [arqKey(uuid), ...partners(held)]))
      const left = await kernel.units.together(
        [...keys],
        newWork(kernel, causeOf(caller), unbindPlan(uuids, how, guard, keys, caller.trace)),
      )
      if (!left.ok) return left
      if (left.value !== 'moved') return { ok: true, value: null }
    }
    return refuse({
      kind: 'unavailable',
      reason: 'the accelerator requests are being bound elsewhere',
      retryAfterSeconds: 1,
    })
  }
}
type UnbindAll = ReturnType<typeof createUnbindAll>

const createUnbindCommand =
  (leaveAll: UnbindAll): Control['arqs']['unbind'] =>
  async (caller, uuids) => {
    if (!caller.isService) return refuse({ kind: 'service_token', action: 'unbinding accelerator requests' })
    return leaveAll(caller, [...new Set(uuids)], 'Unbind', (held, uuid) => (gone(held) ? missing(uuid).fault : null))
  }

const createRemove = (kernel: Kernel, leaveAll: UnbindAll): Control['arqs']['remove'] => {
  const lookAll = createReadAll(kernel.region.readCurrent)
  return async (caller, uuids) => {
    const wanted = [...new Set(uuids)]
    const looked = await lookAll(wanted)
    if (!looked.ok) return looked
    const known = wanted.filter((uuid) => visible(caller, looked.value.get(uuid)!, false))
    const needsService: Guard = (held) =>
      held.bond && !caller.isService && !gone(held)
        ? { kind: 'service_token', action: 'deleting a bound accelerator request' }
        : null
    const left =
      known.length > 0 ? await leaveAll(caller, known, 'Remove', needsService) : ({ ok: true, value: null } as const)
    if (!left.ok) return left
    const unknown = wanted.filter((uuid) => !known.includes(uuid))
    return unknown.length > 0 ? missing(unknown.join(', ')) : left
  }
}

const createRemoveByInstance =
  ({ region }: Kernel, leaveAll: UnbindAll): Control['arqs']['removeByInstance'] =>
  async (caller, uuid) => {
    if (!caller.isService) return refuse({ kind: 'service_token', action: 'deleting accelerator requests by instance' })
    for (let round = 0; round < ROUNDS; round++) {
      const looked = await region.readCurrent(instanceKey(uuid))
      if (!looked.ok) return looked
      const arqs = Object.keys((looked.value.state as Instance).arqs)
      if (arqs.length === 0) return { ok: true, value: null }
      // one that left meanwhile is no obstacle, one that was bound elsewhere meanwhile stays
      const left = await leaveAll(caller, arqs, 'Remove', (held) =>
        held.bond && held.bond.instanceUuid !== uuid
          ? { kind: 'conflict', reason: `accelerator request ${held.uuid} was bound elsewhere` }
          : null,
      )
      if (!left.ok && left.fault.kind !== 'conflict') return left
    }
    return refuse({ kind: 'unavailable', reason: `instance ${uuid} keeps being bound`, retryAfterSeconds: 1 })
  }

export const createUnbind = (kernel: Kernel): Pick<Control['arqs'], 'unbind' | 'remove' | 'removeByInstance'> => {
  const leaveAll = createUnbindAll(kernel)
  return {
    unbind: createUnbindCommand(leaveAll),
    remove: createRemove(kernel, leaveAll),
    removeByInstance: createRemoveByInstance(kernel, leaveAll),
  }
}
