/**
 * Sends Nova the outcomes of an instance's binds once more, at an operator's request: Nova was unreachable for longer
 * than events are retried, or has lost an event.
 */
import type { ArqUuid } from '../../vocabulary/identifiers.ts'
import { type Outcome, done, refuse } from '../../vocabulary/fault.ts'
import type { Control } from '../../actors/control.ts'
import type { Delivery } from '../../actors/answers/tallied.ts'
import { arq, arqKey } from '../../actors/arq/decider.ts'
import { type Instance, instance, instanceKey } from '../../actors/instance/decider.ts'
import type { BindOutcome } from '../../actors/instance/messages.ts'
import { type Draft, MOVED } from '../../actors/runtime/draft.ts'
import { transact } from '../../actors/runtime/transact.ts'
import { type Kernel, causeOf, commandOf } from '../kernel/kernel.ts'

/** The outcome of each bound or failed request; requests in other states need no event. */
const endsOf = (draft: Draft, { arqs }: Instance): Readonly<Record<ArqUuid, BindOutcome>> =>
  Object.fromEntries(
    Object.keys(arqs).flatMap((uuid): [string, BindOutcome][] => {
      const { status } = draft.state(arq, arqKey(uuid))
      if (status === 'Bound') return [[uuid, 'completed']]
      return status === 'BindFailed' ? [[uuid, 'failed']] : []
    }),
  )
const keysOf = ({ arqs }: Instance) => Object.keys(arqs).map(arqKey)

/**
 * What Nova has not taken of an instance, as the API shows it; `nextAt`: when it is told next, ms since the epoch,
 * unless delivery has ended.
 */
export const deliveryOf = ({ uuid, hostname, requestId, telling, undelivered }: Instance, nextAt: number): Delivery => {
  const about = { instance: uuid, hostname, requestId }
  const over = Object.entries(undelivered)
  if (telling !== null || over.length === 0) {
    const { statuses = {}, attempts = 0, until = null } = telling ?? {}
    return { state: 'waiting', ...about, statuses, attempts, nextAt, until, answers: {} }
  }
  return {
    state: 'undelivered',
    ...about,
    statuses: Object.fromEntries(over.map(([uuid, { status }]) => [uuid, status])),
    attempts: Math.max(...over.map(([, { attempts }]) => attempts)),
    nextAt: null,
    until: Math.min(...over.map(([, { at }]) => at)),
    answers: Object.fromEntries(over.flatMap(([uuid, { note }]) => (note === null ? [] : [[uuid, note]]))),
  }
}

export const createDeliveryResend =
  (kernel: Kernel): Control['resendDelivery'] =>
  async (caller, uuid, note): Promise<Outcome<Delivery>> => {
    const { region, options, nova } = kernel
    if (!nova) return refuse({ kind: 'conflict', reason: 'No Nova is configured that could be told.' })
    const key = instanceKey(uuid)
    const asked = await transact(kernel, {
      subject: `what Nova is told of instance ${uuid}`,
      cause: causeOf(caller),
      ...commandOf(caller),
      guess: async () => {
        const known = await region.readCurrent(instance, key)
        return known.ok ? done({ keys: [key, ...keysOf(known.value.state)] }) : known
      },
      plan: (draft, { keys }) => {
        const held = draft.state(instance, key)
        if (keysOf(held).some((one) => !keys.includes(one))) return MOVED
        if (held.uuid === '') draft.refuse({ kind: 'not_found', resource: 'instance', id: uuid })
        const until = draft.at + options.tellForMs
        draft.decide(instance, key, { type: 'Resend', statuses: endsOf(draft, held), at: draft.at, until, ...note })
        return deliveryOf(draft.state(instance, key), draft.at)
      },
    })
    if (!asked.ok) return asked
    kernel.notifyNova(key)
    if (asked.value) return done(asked.value)
    const repeated = await region.readCurrent(instance, key)
    return repeated.ok ? done(deliveryOf(repeated.value.state, kernel.clock.now())) : repeated
  }
