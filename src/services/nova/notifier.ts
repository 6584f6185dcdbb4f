/**
 * Tells Nova how binds ended. Events are durable, have a verdict each, and are retried with back-off until their time
 * limit (rest-api 8.5).
 *
 * NOTIFIER-1 at most `CALLS_MAX` calls are open at once; while all are, further events wait and are put together into
 *    the next call;
 * NOTIFIER-2 a call names each ARQ once, because Nova's verdicts are matched by ARQ;
 * NOTIFIER-3 no waiting event is lost: the time of the next try is recorded with the instance, and rounds find it.
 */
import { backoffMs, endedWithin } from '../../vocabulary/waiting.ts'
import type { ArqUuid, EntityKey } from '../../vocabulary/identifiers.ts'
import { isUndecided } from '../../vocabulary/fault.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import { NOTIFIER } from '../../actors/eventAudience.ts'
import { idOf } from '../../actors/runtime/memory.ts'
import { type Kernel, newWork } from '../kernel/kernel.ts'
import type { Worker } from '../due/lanes.ts'
import type { NovaEvent, NovaVerdict } from '../../actors/neighbours.ts'
import { storable } from '../../vocabulary/text.ts'
import { type Instance, instance, instanceKey } from '../../actors/instance/decider.ts'
import { NOVA_DUE } from '../../actors/runtime/dueKinds.ts'
import { type Span, traceField } from '../../vocabulary/trace.ts'
import type { Ending } from '../../actors/instance/messages.ts'
import type { Read } from '../../actors/runtime/region.ts'

/** How long to wait before the next try after a call that did not reach Nova. */
export const BACKOFF = { firstMs: 1000, maxMs: 30_000 }
/** No control records a next try further ahead than this, even if its clock is half a minute ahead. */
const AHEAD_MS = 2 * BACKOFF.maxMs
export const CALLS_MAX = 16
/** One call tells of at most this many instances. */
export const GATHERED_MAX = 100
const WAITING_MAX = 2000
/**
 * At a stop the open calls are waited for this long. Answers that come later are not recorded, and their events are
 * sent again.
 */
const STOP_MS = 2000

/** Pure: the events that need no further try after this answer, each with the reason. */
export const endingsOf = (verdicts: readonly NovaVerdict[], late: boolean): Readonly<Record<ArqUuid, Ending>> =>
  Object.fromEntries(
    verdicts.flatMap(({ tag, outcome }): [string, Ending][] => {
      if (outcome === 'retry') return late ? [[tag, 'undeliverable']] : []
      return [[tag, outcome]]
    }),
  )

const eventsOf = ({ uuid, telling }: Instance): readonly NovaEvent[] =>
  Object.entries(telling?.statuses ?? {}).map(([tag, status]) => ({
    name: 'accelerator-request-bound',
    server_uuid: uuid,
    tag,
    status,
  }))

const notesOf = (verdicts: readonly NovaVerdict[]): string | undefined => {
  const notes = verdicts.flatMap(({ code, note, outcome }) =>
    outcome === 'delivered' ? [] : [`${code}${note ? ` ${note}` : ''}`],
  )
  return notes.length > 0 ? storable([...new Set(notes)].join('; ').slice(0, 500)) : undefined
}

const unjudged = (events: readonly NovaEvent[], note: string): readonly NovaVerdict[] =>
  events.map(({ tag }) => ({ tag, outcome: 'retry', code: 0, note }))

/** The events of one instance for one call. */
type Due = {
  readonly key: EntityKey<'instance'>
  readonly held: Instance & { readonly telling: NonNullable<Instance['telling']> }
  readonly events: readonly NovaEvent[]
}
type Notification = Due & { readonly span: Span }

/** A verdict for each event, also when Nova did not answer. */
const ask = async ({ nova, ids }: Kernel, notifications: readonly Notification[]): Promise<readonly NovaVerdict[]> => {
  const events = notifications.flatMap((one) => one.events)
  if (!nova) return unjudged(events, 'no Nova is configured any more')
  const requests = new Set(notifications.map(({ held }) => held.requestId))
  // a call for several ARQs gets a request id of its own, because that of one of them would mislead
  const requestId = requests.size === 1 ? notifications[0]!.held.requestId : `req-${ids.uuid()}`
  const trace = notifications.find(({ span }) => span.trace !== undefined)?.span.trace
  try {
    const verdicts = await nova.notify(events, requestId, trace)
    const judged = new Set(verdicts.map(({ tag }) => tag))
    const missing = events.filter(({ tag }) => !judged.has(tag))
    return [...verdicts, ...unjudged(missing, 'not judged')]
  } catch (error) {
    return unjudged(events, textOf(error))
  }
}

/** Records Nova's answer for one instance. */
const record = async (
  kernel: Kernel,
  { key, held, events, span }: Notification,
  all: ReadonlyMap<ArqUuid, NovaVerdict>,
) => {
  const { clock, region, log } = kernel
  const verdicts = events.map(({ tag }) => all.get(tag)!)
  const note = notesOf(verdicts)
  span.end(note)
  const nextAt = clock.now() + backoffMs(BACKOFF, held.telling.attempts + 1)
  const endings = endingsOf(verdicts, nextAt > held.telling.until)
  if (note) log.warn({ instance: held.uuid, note, endings }, 'nova.answer')
  const cause = { by: NOTIFIER, requestId: held.requestId, ...traceField(held.trace) }
  const recorded = await region.tell(
    key,
    newWork(kernel, cause, (draft) => {
      draft.decide(instance, key, { type: 'ReportTold', endings, nextAt, note: note ?? null, upTo: held.conversations })
      return null
    }),
  )
  if (!recorded.ok && !isUndecided(recorded.fault)) log.warn({ entity: key, fault: recorded.fault }, 'sweep.refused')
}

/** The due events of an instance; null: there are none. Uses cached state, so an event may be sent twice at worst. */
const dueOf = async ({ clock, log }: Kernel, key: EntityKey<'instance'>, read: Read): Promise<Due | null> => {
  const known = await read(instance, key)
  if (!known.ok) {
    if (!isUndecided(known.fault)) log.warn({ entity: key, fault: known.fault }, 'sweep.refused')
    return null
  }
  const { state: held } = known.value
  const { telling } = held
  // a moment further ahead than possible was recorded before the clock was set back
  const isDue = telling !== null && (telling.nextAt <= clock.now() || telling.nextAt > clock.now() + AHEAD_MS)
  return isDue ? { key, held: { ...held, telling }, events: eventsOf(held) } : null
}
const withSpan = ({ tracer }: Kernel, due: Due): Notification => ({
  ...due,
  span: tracer.part('client', 'nova notify', due.held.trace, { 'accelerando.events': due.events.length }),
})

/** Pure: splits the instances into those that one call can name (NOTIFIER-2) and those that need a later call. */
export const gatheredOf = <One extends { readonly events: readonly Pick<NovaEvent, 'tag'>[] }>(due: readonly One[]) => {
  const tags = new Set<ArqUuid>()
  const [now, later]: [One[], One[]] = [[], []]
  for (const one of due) {
    const isNamed = one.events.some(({ tag }) => tags.has(tag))
    ;(isNamed ? later : now).push(one)
    if (!isNamed) for (const { tag } of one.events) tags.add(tag)
  }
  return { now, later }
}

export type Notifier = Worker & {
  /** Also begun by an append of this process, for which no moment is known. */
  readonly begin: (entity: EntityKey, read: Read) => void
  readonly state: () => { readonly calls: number; readonly waiting: number }
}

type Taken = readonly (readonly [EntityKey, Read])[]

/** Tells Nova of the instances in one call. Before that, instances that need a later call are given to `postpone`. */
const tellTogether = async (kernel: Kernel, taken: Taken, postpone: (key: EntityKey) => void): Promise<void> => {
  const found = await Promise.all(taken.map(([key, read]) => dueOf(kernel, instanceKey(idOf(key)), read)))
  const { now, later } = gatheredOf(found.filter((one) => one !== null))
  for (const { key } of later) postpone(key)
  if (now.length === 0) return
  const notifications = now.map((due) => withSpan(kernel, due))
  const verdicts = new Map((await ask(kernel, notifications)).map((verdict) => [verdict.tag, verdict]))
  await Promise.all(notifications.map((one) => record(kernel, one, verdicts)))
}

export const createNotifier = (kernel: Kernel): Notifier => {
  const { clock, log } = kernel
  const waiting = new Map<EntityKey, Read>()
  /** By instance: all entities that the same call was given. */
  const inHand = new Map<EntityKey, Taken>()
  const calls = new Set<Promise<void>>()
  let stopped = false

  const postpone = (key: EntityKey) => {
    inHand.delete(key)
    waiting.set(key, kernel.region.readCached)
  }
  const call = async (taken: Taken): Promise<void> => {
    try {
      await tellTogether(kernel, taken, postpone)
    } catch (error) {
      log.error({ error: textOf(error) }, 'sweep.failed')
    } finally {
      // an instance that was postponed may already belong to the next call
      for (const [key] of taken) if (inHand.get(key) === taken) inHand.delete(key)
    }
  }
  const begin = () => {
    while (!stopped && calls.size < CALLS_MAX && waiting.size > 0) {
      const taken = [...waiting].slice(0, GATHERED_MAX)
      for (const [key] of taken) {
        waiting.delete(key)
        inHand.set(key, taken)
      }
      const mine = call(taken).finally(() => {
        calls.delete(mine)
        begin()
      })
      calls.add(mine)
    }
  }
  const ended = async () => {
    while (calls.size > 0) await Promise.allSettled(calls)
  }
  return {
    kinds: [NOVA_DUE],
    // the process that recorded an event sends it at once: other processes leave it alone for a while
    moment: () => clock.now() - (kernel.journal.exclusive ? 0 : kernel.options.headStartMs),
    aheadMs: () => AHEAD_MS,
    room: () => Math.max(0, (CALLS_MAX - calls.size) * GATHERED_MAX - waiting.size),
    begin: (entity, read) => {
      if (stopped || inHand.has(entity) || waiting.has(entity) || waiting.size >= WAITING_MAX) return
      waiting.set(entity, read)
      begin()
    },
    isInHand: (entity) => inHand.has(entity) || waiting.has(entity),
    ended,
    stop: async () => {
      stopped = true
      waiting.clear()
      await endedWithin(clock, STOP_MS, ended())
    },
    state: () => ({ calls: calls.size, waiting: waiting.size }),
  }
}
