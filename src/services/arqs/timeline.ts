/**
 * The timeline of an ARQ: each step with its cause and duration, folded from the journal, readable for a set time after
 * removal.
 */
import type { ArqUuid, EntityKey, ProjectId } from '../../vocabulary/identifiers.ts'
import { type Outcome, refuse } from '../../vocabulary/fault.ts'
import type { Event } from '../../actors/runtime/decider.ts'
import type { Caller, Control } from '../../actors/control.ts'
import { causeFor } from '../../actors/eventAudience.ts'
import type { Timeline, TimelineStep } from '../../actors/answers/timelineSteps.ts'
import { NOT_IN_TIME, instanceKey } from '../../actors/instance/decider.ts'
import type { InstanceEvent } from '../../actors/instance/messages.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { kindOf } from '../../actors/runtime/memory.ts'
import type { FeedRow } from '../../actors/runtime/ports.ts'
import { arqKey } from '../../actors/arq/decider.ts'
import type { ArqEvent } from '../../actors/arq/messages.ts'
import { stepEvent } from './stepEvents.ts'

type StepText = Pick<TimelineStep, 'step' | 'detail'>
const HISTORY_MAX = 2000
const ENDED = 'nova told: '
const TOLD_AGAIN = 'nova to be told once more'
const PREPARED = 'prepared on the host'
const ACCEPTED = 'bind accepted'
/** The host loads the image, unless the card holds it already, before it prepares anything. */
const IMAGE_ASKED = 'image asked for'

/**
 * The reason of a failure. Everybody may read the code; only administrators read the text of a driver or an operator,
 * because it may name a host, another project or a person.
 */
type Why = 'host_failed' | 'deadline_passed' | 'operator_decided'
const bindFailure = (reason: string): Why => (reason === NOT_IN_TIME ? 'deadline_passed' : 'host_failed')
/** Members of `detail` that only administrators read. */
const INTERNAL = ['by', 'reason', 'note'] as const
const forTenant = (detail: StepText['detail']): StepText['detail'] =>
  Object.fromEntries(Object.entries(detail).filter(([name]) => !INTERNAL.some((each) => each === name)))

const imageAsked = ({
  bond: { host, order, image },
}: Extract<ArqEvent, { type: 'BindStarted' }>): readonly StepText[] =>
  image === undefined || order === null ? [] : [{ step: IMAGE_ASKED, detail: { image, host, order } }]

const ofArq = (event: ArqEvent): StepText => {
  switch (event.type) {
    case 'ArqCreated':
      return { step: 'created', detail: { profile: event.profileName, group: event.groupId } }
    case 'BindStarted': {
      const { hostname, host, instanceUuid, deviceRpUuid, handle, order, image } = event.bond
      return {
        step: ACCEPTED,
        detail: {
          hostname,
          host,
          instance: instanceUuid,
          resource_provider: deviceRpUuid,
          attach_handle: handle.uuid,
          order,
          ...(image === undefined ? {} : { image }),
        },
      }
    }
    case 'Bound':
      return {
        step: 'bound',
        detail: event.workMs === null ? { host_work: 'none needed' } : { host_work_ms: event.workMs },
      }
    case 'BindFailed':
      return { step: 'bind failed', detail: { code: bindFailure(event.reason), reason: event.reason } }
    case 'Unbound': {
      const handle = event.was ? { attach_handle: event.was.handle.uuid } : {}
      return event.forced
        ? { step: 'unbound by force', detail: { ...handle, code: 'operator_decided' satisfies Why, ...event.forced } }
        : { step: 'unbound', detail: handle }
    }
    case 'ReleaseFailed':
      return {
        step: 'release failed on the host',
        detail: { code: 'host_failed' satisfies Why, reason: event.reason },
      }
    case 'Released':
      return { step: 'released on the host', detail: {} }
    case 'HandleRelocated':
      return { step: 'moved with its card', detail: { attach_handle: event.handle, ...event.info } }
    case 'ArqRemoved':
      return { step: 'deleted', detail: event.was ? { attach_handle: event.was.handle.uuid } : {} }
  }
}

const loadedIn = ({ loaded }: Extract<InstanceEvent, { readonly type: 'PartPrepared' }>): StepText['detail'] =>
  loaded ? { image_fetched_ms: loaded.fetchMs, card_programmed_ms: loaded.programMs } : {}

const moment = (at: number): string => new Date(at).toISOString()
/**
 * `pending`: a notification to Nova is pending. `until`: how long Nova is told after the present bind; null: not known.
 */
type Known = { readonly pending: boolean; readonly until: number | null }

/** The step that an event of the instance means for this ARQ; null if the ARQ's own events show it. */
const ofInstance = (event: InstanceEvent, arq: ArqUuid, { pending, until }: Known): StepText | null => {
  if (event.type === 'PartPrepared' && event.arq === arq) return { step: PREPARED, detail: loadedIn(event) }
  if (event.type === 'BindSettled' && event.arqs.includes(arq))
    return event.tell === null
      ? { step: 'nova not told', detail: { status: event.outcome, why: 'no Nova is configured' } }
      : { step: 'nova to be told', detail: { status: event.outcome, ...(until !== null && { until: moment(until) }) } }
  if (event.type === 'ResendAsked' && arq in event.statuses)
    return {
      step: TOLD_AGAIN,
      detail: {
        status: event.statuses[arq]!,
        until: moment(event.until),
        code: 'operator_decided' satisfies Why,
        by: event.by,
        reason: event.reason,
      },
    }
  if (event.type !== 'NovaTold') return null
  const ending = event.endings[arq]
  const note = event.note === null ? {} : { note: event.note }
  if (!ending && !pending) return null
  return ending
    ? { step: `${ENDED}${ending}`, detail: note }
    : { step: 'nova not reached, will be told again', detail: { ...note, next_at: moment(event.nextAt) } }
}

type Bare = Omit<TimelineStep, 'tookMs'>
type TimelineQuery = { readonly arq: ArqUuid; readonly caller: Caller }
const stepsOf = (row: FeedRow, known: Known, { arq, caller }: TimelineQuery): readonly Bare[] =>
  row.events.flatMap((event: Event, index) => {
    const { by = null, requestId = null } = caller.isAdmin ? row.cause : causeFor(row.cause, caller.userId)
    return meant(kindOf(row.key) === 'arq', event, arq, known).map((step) => ({
      ...{ at: row.at, ...step, cause: by, requestId },
      event: () => stepEvent(row, index, arq, caller),
    }))
  })
const meant = (isOfArq: boolean, event: Event, arq: ArqUuid, known: Known): readonly StepText[] => {
  const own = isOfArq ? (event as ArqEvent) : null
  if (own !== null) return [ofArq(own), ...(own.type === 'BindStarted' ? imageAsked(own) : [])]
  const step = ofInstance(event as InstanceEvent, arq, known)
  return step === null ? [] : [step]
}

/** The bind that the instance has accepted in this append. */
const acceptedIn = (append: readonly FeedRow[]) =>
  append
    .flatMap(({ events }) => events as readonly (InstanceEvent | ArqEvent)[])
    .find((event) => event.type === 'BindAccepted')

/**
 * Rows in commit order; within one append: the host's work first, then the steps of the ARQ, then the events for Nova.
 */
const fold = (rows: readonly FeedRow[], asked: TimelineQuery): readonly TimelineStep[] => {
  let known: Known = { pending: false, until: null }
  const appends = [...Map.groupBy(rows, ({ commandId }) => commandId).values()]
  const steps = appends.flatMap((append) => {
    const accepted = acceptedIn(append)
    if (accepted) known = { ...known, until: accepted.tellUntil }
    const found = append.flatMap((row) => stepsOf(row, known, asked))
    for (const { step } of found) {
      if (step === 'nova to be told' || step === TOLD_AGAIN) known = { ...known, pending: true }
      if (step.startsWith(ENDED)) known = { ...known, pending: false }
    }
    return found
      .map((one) => (accepted && one.step === ACCEPTED ? withDeadline(one, accepted.deadline) : one))
      .toSorted((one, other) => rank(one) - rank(other))
  })
  return steps.map((step, at) => ({ ...step, tookMs: at === 0 ? null : Math.max(0, step.at - steps[at - 1]!.at) }))
}
const withDeadline = (one: Bare, deadline: number): Bare => ({
  ...one,
  detail: { ...one.detail, deadline: moment(deadline) },
})
const rank = ({ step }: Bare) => (step === PREPARED ? 0 : 1)

/** The rows that were decided by that moment: of each entity those before its first later one (PAST-1). */
const decidedBy = (rows: readonly FeedRow[], at: number): readonly FeedRow[] => {
  const later = new Set<EntityKey>()
  return rows.filter((row) => {
    if (row.at > at) later.add(row.key)
    return !later.has(row.key)
  })
}

/** The project of the ARQ and the instances it was bound to; null when it was never created. */
const outlineOf = (own: readonly FeedRow[]) => {
  const events = own.flatMap((row) => row.events as readonly ArqEvent[])
  const created = events.find((event) => event.type === 'ArqCreated')
  if (!created) return null
  const binds = events.filter((event) => event.type === 'BindStarted')
  return {
    projectId: binds.reduce<ProjectId | null>((owner, bind) => bind.projectId ?? owner, created.projectId),
    instances: new Set(binds.map(({ bond }) => bond.instanceUuid)),
    removedAt: own.find((row) => row.events.some(({ type }) => type === 'ArqRemoved'))?.at ?? null,
  }
}

/** `asOf`: the moment whose answer is given, in ms since the epoch; null: the present one. */
export const createTimeline = (
  { journal, clock, options, guard }: Pick<Kernel, 'journal' | 'clock' | 'options' | 'guard'>,
  asOf: number | null = null,
): Control['arqs']['timeline'] => {
  const history = (keys: readonly EntityKey[]) => journal.history(keys, HISTORY_MAX)
  const shown = (rows: readonly FeedRow[]) => (asOf === null ? rows : decidedBy(rows, asOf))
  /** Counted from now, whatever moment is asked for: what may not be read any more may not be read as of then. */
  const isOver = (rows: readonly FeedRow[]): boolean => {
    const removedAt = outlineOf(rows)?.removedAt ?? null
    return removedAt !== null && removedAt + options.timelineKeptMs < clock.now()
  }
  const timeline = async (caller: Caller, uuid: ArqUuid): Promise<Outcome<Timeline>> => {
    const missing = refuse({ kind: 'not_found', resource: 'accelerator request', id: uuid })
    const present = await history([arqKey(uuid)])
    const own = shown(present)
    const outline = outlineOf(own)
    if (!outline || isOver(present)) return missing
    const { projectId, instances, removedAt } = outline
    if (!caller.isAdmin && projectId !== caller.projectId) return missing
    const keys = [arqKey(uuid), ...[...instances].map(instanceKey)]
    const rows = instances.size > 0 ? shown(await history(keys)) : own
    const all = fold(rows, { arq: uuid, caller })
    const steps = caller.isAdmin ? all : all.map((step) => ({ ...step, detail: forTenant(step.detail) }))
    return { ok: true, value: { arq: uuid, projectId, deleted: removedAt !== null, steps } }
  }
  return (caller, uuid) => guard(timeline(caller, uuid), 'journal')
}
