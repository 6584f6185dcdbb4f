/**
 * Unbind and removal: the ARQ is unbound or deleted at once; the deployable takes the handle back and finishes the
 * release with its host.
 */
import type { ArqCommand } from '../../actors/arq/messages.ts'
import type { ArqUuid, EntityKey, InstanceUuid } from '../../vocabulary/identifiers.ts'
import { type Fault, type Outcome, allOf, refuse } from '../../vocabulary/fault.ts'
import { type Arq, arq, arqKey } from '../../actors/arq/decider.ts'
import type { Caller, Control } from '../../actors/control.ts'
import { deployable, deployableKey } from '../../actors/deployable/decider.ts'
import type { Deployable } from '../../actors/deployable/state.ts'
import { instance, instanceKey } from '../../actors/instance/decider.ts'
import { type Draft, MOVED } from '../../actors/runtime/draft.ts'
import type { Read } from '../../actors/runtime/region.ts'
import { transact } from '../../actors/runtime/transact.ts'
import { type Kernel, type Origin, RELEASE_FOR_MS, causeOf, commandOf, hasRecorded } from '../kernel/kernel.ts'

type UnbindCommand = Extract<ArqCommand, { readonly type: 'Unbind' | 'Remove' }>
export const missingArq = (id: string) => refuse({ kind: 'not_found', resource: 'accelerator request', id })
export const gone = (held: Arq) => held.status === 'Absent' || held.status === 'Gone'

/** For the caller, ARQs of other projects do not exist (rest-api 9.5). */
export const visible = (caller: Caller, held: Arq, serviceSeesAll: boolean): boolean =>
  !gone(held) && (caller.isAdmin || held.projectId === caller.projectId || (serviceSeesAll && caller.isService))

/** The entities that change together when this ARQ is unbound or removed. */
export const partners = (held: Arq): readonly EntityKey[] => [
  ...(held.bond ? [instanceKey(held.bond.instanceUuid), deployableKey(held.bond.deployable)] : []),
  ...(held.gaveUp ? [deployableKey(held.gaveUp.deployable)] : []),
]

/** Whether the deployable is in the inventory. Retired hardware has nothing left to release. */
export const inventoried = ({ exists, presence }: Deployable) => exists && presence !== 'retired'

const unbindOne = (draft: Draft, uuid: ArqUuid, how: UnbindCommand, trace: string | undefined) => {
  const held = draft.state(arq, arqKey(uuid))
  draft.decide(arq, arqKey(uuid), how)
  const release = { type: 'Release', arq: uuid, deadline: draft.at + RELEASE_FOR_MS, trace } as const
  const retry = held.status === 'UnbindFailed' && held.gaveUp
  const target = held.bond?.deployable ?? (retry ? retry.deployable : null)
  if (target && inventoried(draft.state(deployable, deployableKey(target))))
    draft.decide(deployable, deployableKey(target), release)
  if (held.bond) draft.decide(instance, instanceKey(held.bond.instanceUuid), { type: 'Leave', arqs: [uuid] })
}

/** The states of these ARQs. If one cannot be read, the fault of that read is returned. */
const readAll = async (read: Read, uuids: readonly ArqUuid[]): Promise<Outcome<ReadonlyMap<ArqUuid, Arq>>> => {
  const answers = await Promise.all(uuids.map((uuid) => read(arq, arqKey(uuid))))
  const states = new Map<ArqUuid, Arq>()
  for (const [at, answer] of answers.entries()) {
    if (!answer.ok) return answer
    states.set(uuids[at]!, answer.value.state)
  }
  return { ok: true, value: states }
}

/** The fault that forbids the unbind or removal, decided from the ARQ's state; null: none does. */
type Guard = (held: Arq, uuid: ArqUuid) => Fault | null

/** Unbinds or removes all these ARQs in one append, or none of them. */
const unbindAll = (
  kernel: Kernel,
  origin: Origin,
  uuids: readonly ArqUuid[],
  how: UnbindCommand,
  guard: Guard,
  command: ReturnType<typeof commandOf> = {},
): Promise<Outcome<null>> =>
  transact(kernel, {
    subject: 'who holds the accelerator requests',
    cause: origin,
    ...command,
    guess: async (attempt) => {
      const { readCached, readCurrent } = kernel.region
      const states = await readAll(attempt === 0 ? readCached : readCurrent, uuids)
      if (!states.ok) return states
      const keys = new Set([...states.value].flatMap(([uuid, held]) => [arqKey(uuid), ...partners(held)]))
      return { ok: true, value: { keys: [...keys] } }
    },
    plan: (draft, { keys }) => {
      const held = uuids.map((uuid) => [uuid, draft.state(arq, arqKey(uuid))] as const)
      for (const [uuid, one] of held) {
        const fault = guard(one, uuid)
        if (fault) draft.refuse(fault)
      }
      if (held.some(([, one]) => partners(one).some((key) => !keys.includes(key)))) return MOVED
      for (const [uuid, one] of held) if (!gone(one)) unbindOne(draft, uuid, how, origin.trace)
      return null
    },
  })

const createUnbindByUuid =
  (kernel: Kernel): Control['arqs']['unbind'] =>
  async (caller, uuids) => {
    if (!caller.isService) return refuse({ kind: 'service_token', action: 'unbinding accelerator requests' })
    const guard: Guard = (held, uuid) => (gone(held) ? missingArq(uuid).fault : null)
    return unbindAll(kernel, causeOf(caller), [...new Set(uuids)], { type: 'Unbind' }, guard)
  }

const createRemove =
  (kernel: Kernel): Control['arqs']['remove'] =>
  async (caller, uuids) => {
    const wanted = [...new Set(uuids)]
    const states = await readAll(kernel.region.readCurrent, wanted)
    if (!states.ok) return states
    const known = wanted.filter((uuid) => visible(caller, states.value.get(uuid)!, false))
    const needsService: Guard = (held) =>
      held.bond && !caller.isService && !gone(held)
        ? { kind: 'service_token', action: 'deleting a bound accelerator request' }
        : null
    if (known.length > 0) {
      const removed = await unbindAll(
        kernel,
        causeOf(caller),
        known,
        { type: 'Remove' },
        needsService,
        commandOf(caller),
      )
      if (!removed.ok) return removed
    }
    const others = wanted.filter((uuid) => !known.includes(uuid))
    const wasRemoved = async (uuid: ArqUuid): Promise<Outcome<boolean>> =>
      hasRecorded(await kernel.region.readCurrent(arq, arqKey(uuid)), caller)
    const before = await allOf(others.map(wasRemoved))
    if (!before.ok) return before
    const unknown = others.filter((_, at) => !before.value[at])
    return unknown.length > 0 ? missingArq(unknown.join(', ')) : { ok: true, value: null }
  }

/** Once this is acknowledged, the instance has no ARQ. */
const createRemoveByInstance =
  (kernel: Kernel): Control['arqs']['removeByInstance'] =>
  async (caller, uuid) => {
    if (!caller.isService) return refuse({ kind: 'service_token', action: 'deleting accelerator requests by instance' })
    const key = instanceKey(uuid)
    return transact(kernel, {
      subject: `the binding of instance ${uuid}`,
      cause: causeOf(caller),
      guess: async () => {
        const { readCurrent } = kernel.region
        const held = await readCurrent(instance, key)
        if (!held.ok) return held
        const parts = Object.values(held.value.state.arqs)
        const keys = parts.flatMap((part) => [arqKey(part.arq), deployableKey(part.deployable)])
        return { ok: true, value: { keys: [...new Set<EntityKey>([key, ...keys])] } }
      },
      plan: (draft, { keys }) => {
        const arqs = Object.keys(draft.state(instance, key).arqs)
        if (arqs.some((one) => !keys.includes(arqKey(one)))) return MOVED
        const held = arqs.map((one) => draft.state(arq, arqKey(one)))
        if (held.some((one) => partners(one).some((partner) => !keys.includes(partner)))) return MOVED
        for (const one of arqs) unbindOne(draft, one, { type: 'Remove' }, caller.trace)
        return null
      },
    })
  }

export const createUnbind = (kernel: Kernel): Pick<Control['arqs'], 'unbind' | 'remove' | 'removeByInstance'> => ({
  unbind: createUnbindByUuid(kernel),
  remove: createRemove(kernel),
  removeByInstance: createRemoveByInstance(kernel),
})

/**
 * The ARQs as an earlier read showed them. One that has another instance, or has changed since that read, prevents all
 * deletions.
 */
type Unchanged = { readonly instance: InstanceUuid; readonly arqs: readonly ArqUuid[]; readonly before: number }

/** Deletes ARQs of an instance for which Nova will not ask any more. Fault: conflict, when one has changed. */
export const removeUnchanged = (
  kernel: Kernel,
  cause: Origin,
  { instance: uuid, arqs, before }: Unchanged,
): Promise<Outcome<null>> => {
  const guard: Guard = (held) => {
    if (gone(held)) return null
    const isSame = held.bond?.instanceUuid === uuid && (held.updatedAt ?? held.createdAt) <= before
    return isSame ? null : { kind: 'conflict', reason: 'its accelerator requests have changed meanwhile' }
  }
  return unbindAll(kernel, cause, arqs, { type: 'Remove', orphan: true }, guard)
}
