/**
 * The decider of an instance: its present bind (called a conversation), its ARQs, the deadline, and the events that
 * Nova has yet to receive.
 */
import type { ArqUuid, EntityKey, HostName, InstanceUuid } from '../../vocabulary/identifiers.ts'
import { type Decider, type Decision, accept, refuse } from '../runtime/decider.ts'
import { type DueKind, NOVA_DUE, NOVA_UNDELIVERED } from '../runtime/dueKinds.ts'
import { traceField } from '../../vocabulary/trace.ts'
import { drop, put } from '../runtime/views.ts'
import type { BindOutcome, Ending, InstanceCommand, InstanceEvent, Part, Undelivered } from './messages.ts'

export type Instance = {
  readonly uuid: InstanceUuid
  /** The ARQs of the instance, whether being bound, bound or failed, until they leave. */
  readonly arqs: Readonly<Record<ArqUuid, Part>>
  readonly hostname: HostName
  readonly open: { readonly deadline: number; readonly since?: number } | null
  readonly requestId: string
  /** `traceparent` of the bind. */
  readonly trace?: string
  /** The events that Nova has yet to receive: the status of each ARQ. */
  readonly telling: {
    readonly statuses: Readonly<Record<ArqUuid, BindOutcome>>
    readonly nextAt: number
    readonly until: number
    readonly attempts: number
    /** For each ARQ, the number of the conversation that its status belongs to. */
    readonly of: Readonly<Record<ArqUuid, number>>
  } | null
  /** How many conversations have settled; repeated notifications that an operator asked for count too. */
  readonly conversations: number
  readonly tellUntil: number | null
  /**
   * The ARQs that are still there, and about which Nova is not notified any more although it has not taken their event.
   */
  readonly undelivered: Readonly<Record<ArqUuid, Undelivered>>
}
const initial: Instance = {
  uuid: '',
  arqs: {},
  hostname: '',
  open: null,
  requestId: '',
  telling: null,
  conversations: 0,
  tellUntil: null,
  undelivered: {},
}

const settled = (
  instance: Pick<Instance, 'arqs' | 'tellUntil' | 'open'>,
  outcome: BindOutcome,
  reason: string | null,
  at: number,
): InstanceEvent => ({
  type: 'BindSettled',
  outcome,
  arqs: Object.keys(instance.arqs),
  reason,
  tell: instance.tellUntil === null ? null : at,
  ...(instance.open?.since === undefined ? {} : { since: instance.open.since }),
})
const keyed = (parts: readonly Part[]) => Object.fromEntries(parts.map((part) => [part.arq, part]))

const bind = (instance: Instance, command: Extract<InstanceCommand, { type: 'Bind' }>): Decision<InstanceEvent> => {
  if (Object.keys(instance.arqs).length > 0)
    return refuse({ kind: 'invalid', field: 'instance_uuid', rule: 'the instance already has accelerator requests' })
  const { instance: uuid, parts, hostname, deadline, tellUntil, requestId, trace } = command
  const accepted: InstanceEvent = {
    type: 'BindAccepted',
    instance: uuid,
    parts,
    hostname,
    deadline,
    tellUntil,
    requestId,
    ...traceField(trace),
  }
  const open = { deadline, since: command.at }
  return parts.every(({ prepared }) => prepared)
    ? accept(accepted, settled({ arqs: keyed(parts), tellUntil, open }, 'completed', null, command.at))
    : accept(accepted)
}

/**
 * Events that Nova has not taken yet are sent with the repeated ones. Refused while a bind is open, since its end sends
 * all of them soon.
 */
const resend = (
  instance: Instance,
  { statuses, at, until, by, reason }: Extract<InstanceCommand, { type: 'Resend' }>,
): Decision<InstanceEvent> => {
  if (instance.open)
    return refuse({ kind: 'bad_state', resource: 'instance', id: instance.uuid, state: 'binding', allowed: ['bound'] })
  const all = { ...instance.telling?.statuses, ...statuses }
  return Object.keys(all).length === 0
    ? refuse({ kind: 'not_found', resource: 'instance', id: instance.uuid })
    : accept({ type: 'ResendAsked', statuses: all, nextAt: at, until, by, reason })
}

const decide = (instance: Instance, command: InstanceCommand): Decision<InstanceEvent> => {
  switch (command.type) {
    case 'Bind':
      return bind(instance, command)
    case 'ReportPrepared': {
      const part = instance.arqs[command.arq]
      if (!instance.open || !part || part.prepared) return accept()
      const rest = Object.values(instance.arqs).filter(({ arq, prepared }) => arq !== command.arq && !prepared)
      const { arq: uuid, loaded } = command
      const prepared: InstanceEvent = { type: 'PartPrepared', arq: uuid, ...(loaded && { loaded }) }
      return rest.length > 0 ? accept(prepared) : accept(prepared, settled(instance, 'completed', null, command.at))
    }
    case 'Fail':
      return instance.open ? accept(settled(instance, 'failed', command.reason, command.at)) : accept()
    case 'Conclude':
      if (!instance.open || (!command.isOver && deadlineOf(instance) > command.at)) return accept()
      return accept(
        everyPrepared(instance)
          ? settled(instance, 'completed', null, command.at)
          : settled(instance, 'failed', NOT_IN_TIME, command.at),
      )
    case 'Leave': {
      const leaving = command.arqs.filter((arq) => instance.arqs[arq])
      return leaving.length > 0 ? accept({ type: 'ArqsLeft', arqs: leaving }) : accept()
    }
    case 'Resend':
      return resend(instance, command)
    case 'ReportTold':
      return instance.telling ? accept(ended(instance, instance.telling, command)) : accept()
  }
}

const everyPrepared = (instance: Pick<Instance, 'arqs'>) =>
  Object.values(instance.arqs).every(({ prepared }) => prepared)
/** An open conversation is due at its deadline, or at once when all ARQs that are left in it are prepared. */
const deadlineOf = (instance: Pick<Instance, 'arqs' | 'open'>): number =>
  everyPrepared(instance) ? 0 : instance.open!.deadline

const without = <Value>(record: Readonly<Record<ArqUuid, Value>>, keys: readonly ArqUuid[]): Record<ArqUuid, Value> =>
  Object.fromEntries(Object.entries(record).filter(([key]) => !keys.includes(key)))

/** Events of earlier conversations that Nova has not taken yet are kept and sent too. */
const telling = (instance: Instance, event: Extract<InstanceEvent, { type: 'BindSettled' }>): Instance['telling'] => {
  if (event.tell === null || instance.tellUntil === null) return instance.telling
  const each = <Value>(value: Value) => Object.fromEntries(event.arqs.map((arq) => [arq, value]))
  return {
    statuses: { ...instance.telling?.statuses, ...each(event.outcome) },
    of: { ...instance.telling?.of, ...each(instance.conversations + 1) },
    nextAt: event.tell,
    until: instance.tellUntil,
    attempts: 0,
  }
}

/** Nova has refused the event, or was not reached for it in time. */
const isUndelivered = (ending: Ending): ending is Undelivered['ending'] =>
  ending === 'refused' || ending === 'undeliverable'

/** Events that settled after the request to Nova was made were not part of it, so its answer does not end them. */
const ended = (
  { arqs }: Pick<Instance, 'arqs'>,
  { of, nextAt }: NonNullable<Instance['telling']>,
  command: Extract<InstanceCommand, { type: 'ReportTold' }>,
): InstanceEvent => {
  const newer = Object.keys(of).filter((arq) => of[arq]! > command.upTo)
  const endings = without(command.endings, newer)
  const undelivered = Object.keys(endings).filter((arq) => isUndelivered(endings[arq]!) && arq in of && arq in arqs)
  const next = { nextAt: newer.length > 0 ? nextAt : command.nextAt, note: command.note }
  return { type: 'NovaTold', endings, ...next, ...(undelivered.length > 0 && { undelivered }) }
}

const tellingAfter = (instance: Instance, event: Extract<InstanceEvent, { type: 'NovaTold' }>): Instance['telling'] => {
  if (!instance.telling) return null
  const { statuses, of, attempts } = instance.telling
  const over = Object.keys(event.endings)
  const left = without(statuses, over)
  if (Object.keys(left).length === 0) return null
  return { ...instance.telling, statuses: left, of: without(of, over), nextAt: event.nextAt, attempts: attempts + 1 }
}

/**
 * The events that end undelivered with this answer are added; of an ARQ about which Nova has said something else since,
 * nothing is kept.
 */
const undeliveredAfter = (
  { undelivered, telling: before }: Instance,
  { endings, note, undelivered: added = [] }: Extract<InstanceEvent, { type: 'NovaTold' }>,
  at: number,
): Instance['undelivered'] => ({
  ...without(undelivered, Object.keys(endings)),
  ...Object.fromEntries(
    added.flatMap((arq): [ArqUuid, Undelivered][] => {
      const [status, ending, attempts] = [before?.statuses[arq], endings[arq], (before?.attempts ?? 0) + 1]
      return status && ending && isUndelivered(ending) ? [[arq, { status, ending, note, attempts, at }]] : []
    }),
  ),
})

const evolve = (instance: Instance, event: InstanceEvent, at: number): Instance => {
  switch (event.type) {
    case 'BindAccepted': {
      const { instance: uuid, parts, hostname, deadline, requestId, tellUntil, trace } = event
      const { trace: _earlier, ...held } = instance
      const open = { deadline, since: at }
      const bound = { ...held, uuid, arqs: keyed(parts), hostname, open, requestId, tellUntil, undelivered: {} }
      return { ...bound, ...traceField(trace) }
    }
    case 'PartPrepared':
      return { ...instance, arqs: { ...instance.arqs, [event.arq]: { ...instance.arqs[event.arq]!, prepared: true } } }
    case 'BindSettled':
      return {
        ...instance,
        open: null,
        telling: telling(instance, event),
        conversations: instance.conversations + 1,
      }
    case 'ArqsLeft': {
      const arqs = without(instance.arqs, event.arqs)
      const undelivered = without(instance.undelivered, event.arqs)
      return { ...instance, arqs, undelivered, open: Object.keys(arqs).length > 0 ? instance.open : null }
    }
    case 'ResendAsked': {
      // counted as a conversation, so that the answer to a request that is under way does not end it
      const conversations = instance.conversations + 1
      const { statuses, nextAt, until } = event
      const of = Object.fromEntries(Object.keys(statuses).map((arq) => [arq, conversations]))
      const undelivered = without(instance.undelivered, Object.keys(statuses))
      return { ...instance, conversations, undelivered, telling: { statuses, of, nextAt, until, attempts: 0 } }
    }
    case 'NovaTold':
      return { ...instance, telling: tellingAfter(instance, event), undelivered: undeliveredAfter(instance, event, at) }
    default:
      // an event of a later release, which this release ignores
      return instance
  }
}

/**
 * When the sweeper must work on the instance next, and for what; null: never. An open conversation is due at its
 * deadline; events of earlier conversations are sent with its own. Undelivered events wait for an operator since their
 * delivery ended.
 */
export const dueOfInstance = ({
  telling,
  undelivered,
  ...instance
}: Instance): { readonly kind: DueKind; readonly at: number } | null => {
  if (instance.open) return { kind: 'instance', at: deadlineOf(instance) }
  if (telling) return { kind: NOVA_DUE, at: telling.nextAt }
  const since = Object.values(undelivered).map(({ at }) => at)
  return since.length > 0 ? { kind: NOVA_UNDELIVERED, at: Math.min(...since) } : null
}

/** The failure reason of a bind that passed its deadline. */
export const NOT_IN_TIME = 'the host did not answer in time'
export const instanceKey = (uuid: InstanceUuid): EntityKey<'instance'> => `instance/${uuid}`

export const instance: Decider<Instance, InstanceCommand, InstanceEvent, 'instance'> = {
  kind: 'instance',
  initial,
  decide,
  evolve,
  rows: (before, after) => {
    const [was, is] = [dueOfInstance(before), dueOfInstance(after)]
    if (was?.at === is?.at && was?.kind === is?.kind) return []
    const entity = instanceKey(after.uuid)
    return is === null ? [drop('due', entity)] : [put('due', { entity, ...is })]
  },
}
