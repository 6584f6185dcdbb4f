/** How a bind conversation ends: by its hosts' answers, or at its deadline. All its ARQs end alike, in one append (S16). */
import { arq, arqKey } from '../arq/decider.ts'
import { deployable, deployableKey } from '../deployable/decider.ts'
import type { Draft } from '../runtime/draft.ts'
import { type Kernel, newWork } from './kernel.ts'
import type { Cause } from '../runtime/ports.ts'
import { type Instance, instance, instanceKey } from '../instance/decider.ts'
import type { InstanceCommand } from '../instance/messages.ts'

/** An answer of a host to the order that prepares a slot. */
export type Prepared = {
  readonly arq: string
  readonly deployable: string
  readonly slot: string
  readonly number: number
  readonly failed: string | null
  readonly workMs: number
}

/** A release has no one who waits for it, but an end: past it the order is given anew. */
const RELEASE_FOR_MS = 600_000

const settle = (draft: Draft, key: string, command: InstanceCommand, workMs: number | null): boolean => {
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

const keysOf = (key: string, held: Instance): readonly string[] => [
  key,
  ...Object.values(held.arqs).flatMap((part) => [arqKey(part.arq), deployableKey(part.deployable)]),
]

const ROUNDS = 3
/**
 * Runs `plan` over the instance and all that take part in its conversation. Who takes part is a guess by what is remembered, or by
 * `more` when nothing is; what was borrowed on a wrong guess is known better the next time.
 */
const overConversation = async (
  { region, units, log }: Kernel,
  uuid: string,
  more: readonly string[],
  cause: Cause,
  work: Pick<ReturnType<typeof newWork>, 'commandId' | 'at'>,
  plan: (draft: Draft, key: string) => boolean,
): Promise<boolean> => {
  const key = instanceKey(uuid)
  for (let round = 0; round < ROUNDS; round++) {
    const looked = round > 0 || region.has(key) ? await region.readCached(key) : null
    if (looked && !looked.ok) return false
    const keys = [...new Set([...(looked ? keysOf(key, looked.value.state as Instance) : [key]), ...more])]
    const borrowed = new Set(keys)
    const done = await units.together(keys, {
      ...work,
      cause,
      plan: (draft) =>
        keysOf(key, draft.state(instance, key)).every((one) => borrowed.has(one)) ? plan(draft, key) : 'others',
    })
    if (!done.ok) {
      log.warn({ instance: uuid, fault: done.fault }, 'conversation.refused')
      if (done.fault.kind === 'unavailable') throw new Error(done.fault.reason)
      return false
    }
    if (done.value !== 'others') return done.value ?? false
  }
  return false
}

/** True: the conversation settled by this. Throws when the journal does not answer, so that the report comes again. */
export const reportPrepared = async (
  kernel: Kernel,
  uuid: string,
  commandId: string,
  report: Prepared,
  cause: Cause,
): Promise<boolean> => {
  const { slot, number, failed } = report
  const target = deployableKey(report.deployable)
  const settled = await overConversation(
    kernel,
    uuid,
    [target, arqKey(report.arq)],
    cause,
    { commandId, at: kernel.clock.now() },
    (draft, key) => {
      const held = draft.state(arq, arqKey(report.arq))
      draft.decide(deployable, target, { type: 'Answer', slot, number, failed, final: true, retryBy: draft.at })
      // the answer to an order of an earlier bind changes nothing but that order
      if (held.status !== 'BindStarted' || held.bond?.order !== number || held.bond.handle.uuid !== slot) return false
      const command: InstanceCommand =
        failed === null
          ? { type: 'ReportPrepared', arq: report.arq, at: draft.at }
          : { type: 'Fail', reason: failed, at: draft.at }
      return settle(draft, key, command, report.workMs)
    },
  )
  if (settled && kernel.nova) kernel.nudge(instanceKey(uuid))
  return settled
}

/** The sweeper's call: what is due is concluded, nothing else happens. */
export const conclude = async (kernel: Kernel, uuid: string): Promise<boolean> => {
  const { commandId, at } = newWork(kernel, {}, () => null)
  const settled = await overConversation(kernel, uuid, [], { by: 'deadline' }, { commandId, at }, (draft, key) =>
    settle(draft, key, { type: 'Conclude', at: draft.at }, null),
  )
  if (settled && kernel.nova) kernel.nudge(instanceKey(uuid))
  return settled
}
