/**
 * Ends a bind, by the answers of its hosts or at its deadline. All its ARQs end with the same outcome, in one append
 * (S16).
 */
import type { ArqUuid, DeployableUuid, EntityKey, InstanceUuid, SlotUuid } from '../../vocabulary/identifiers.ts'
import { arq, arqKey } from '../../actors/arq/decider.ts'
import { deployable, deployableKey } from '../../actors/deployable/decider.ts'
import { type Draft, MOVED } from '../../actors/runtime/draft.ts'
import type { Outcome } from '../../vocabulary/fault.ts'
import type { Loaded } from '../../vocabulary/loaded.ts'
import { transact } from '../../actors/runtime/transact.ts'
import { type Kernel, RELEASE_FOR_MS } from '../kernel/kernel.ts'
import type { Cause } from '../../actors/runtime/ports.ts'
import { type Instance, instance, instanceKey } from '../../actors/instance/decider.ts'
import type { InstanceCommand } from '../../actors/instance/messages.ts'

/** An answer of a host to the order that prepares a slot. */
export type Prepared = {
  readonly arq: ArqUuid
  readonly deployable: DeployableUuid
  readonly slot: SlotUuid
  readonly number: number
  readonly failed: string | null
  readonly workMs: number
  readonly loaded?: Loaded | undefined
}

/** Returns true when this command ended the bind; then all its ARQs have ended too. */
const endBy = (draft: Draft, key: EntityKey<'instance'>, command: InstanceCommand, workMs: number | null): boolean => {
  const before = draft.state(instance, key)
  const settled = draft.decide(instance, key, command).find((event) => event.type === 'BindSettled')
  if (!settled) return false
  for (const { arq: uuid, deployable: target } of Object.values(before.arqs)) {
    if (settled.outcome === 'completed') draft.decide(arq, arqKey(uuid), { type: 'ReportBound', workMs })
    else {
      draft.decide(arq, arqKey(uuid), { type: 'ReportBindFailed', reason: settled.reason ?? 'failed' })
      draft.decide(deployable, deployableKey(target), {
        type: 'Release',
        arq: uuid,
        deadline: draft.at + RELEASE_FOR_MS,
        trace: before.trace,
      })
    }
  }
  return true
}

const keysOf = (key: EntityKey<'instance'>, held: Instance): readonly EntityKey[] => [
  key,
  ...Object.values(held.arqs).flatMap((part) => [arqKey(part.arq), deployableKey(part.deployable)]),
]

/**
 * Runs `plan` over the instance and the ARQs and deployables of its bind, as cached state names them, and over `more`,
 * which names those that an answer concerns even if the instance is not cached. Returns true when the bind ended.
 */
const withConversation = async (
  kernel: Kernel,
  uuid: InstanceUuid,
  {
    cause,
    commandId,
    more = [],
  }: { readonly cause: Cause; readonly commandId?: string; readonly more?: readonly EntityKey[] },
  plan: (draft: Draft, key: EntityKey<'instance'>) => boolean,
): Promise<Outcome<boolean>> => {
  const { region } = kernel
  const key = instanceKey(uuid)
  const done = await transact(kernel, {
    subject: `the binding of instance ${uuid}`,
    cause,
    ...(commandId === undefined ? {} : { commandId }),
    guess: async (attempt) => {
      const known = attempt > 0 || region.has(key) ? await region.readCached(instance, key) : null
      if (known && !known.ok) return known
      const keys = known ? keysOf(key, known.value.state) : [key]
      return { ok: true, value: { keys: [...new Set([...keys, ...more])] } }
    },
    plan: (draft, { keys }) =>
      keysOf(key, draft.state(instance, key)).every((one) => keys.includes(one)) ? plan(draft, key) : MOVED,
  })
  if (!done.ok) return done
  const ended = done.value ?? false
  if (ended && kernel.nova) kernel.notifyNova(key)
  return { ok: true, value: ended }
}

/** A host's answer to the order that prepares a slot. Faults: `unavailable`, when the journal does not answer. */
export const reportPrepared = (
  kernel: Kernel,
  uuid: InstanceUuid,
  commandId: string,
  report: Prepared,
  cause: Cause,
): Promise<Outcome<boolean>> => {
  const { slot, number, failed } = report
  const target = deployableKey(report.deployable)
  const more = [target, arqKey(report.arq)]
  return withConversation(kernel, uuid, { cause, commandId, more }, (draft, key) => {
    const held = draft.state(arq, arqKey(report.arq))
    draft.decide(deployable, target, { type: 'Answer', slot, number, failed, final: true, retryBy: draft.at })
    // an answer to an order of an earlier bind ends that order only
    const { bond } = held
    if (held.status !== 'BindStarted' || bond?.order !== number || bond.handle.uuid !== slot) return false
    // the host was authorised for the deployable that its answer names, so the ARQ must be bound to that one
    if (bond.deployable !== report.deployable) return false
    const command: InstanceCommand =
      failed === null
        ? { type: 'ReportPrepared', arq: report.arq, at: draft.at, loaded: report.loaded }
        : { type: 'Fail', reason: failed, at: draft.at }
    return endBy(draft, key, command, report.workMs)
  })
}

/** Called by the sweeper. Ends the bind if its deadline has passed; otherwise it does nothing. */
export const conclude = (kernel: Kernel, uuid: InstanceUuid, isOver = false): Promise<Outcome<boolean>> =>
  withConversation(kernel, uuid, { cause: { by: 'deadline' } }, (draft, key) =>
    endBy(draft, key, { type: 'Conclude', at: draft.at, isOver }, null),
  )
