/**
 * Metrics of the state of a control process. They are read at the scrape, and queries to the database are limited by a
 * cache.
 */
import { REFUSALS } from '../../actors/runtime/refusals.ts'
import { HANDLE_STATES } from '../../actors/deployable/states.ts'
import { LISTED_AS } from '../../actors/host/standing.ts'
import { DEVICE_STATES } from '../../actors/device/standing.ts'
import { tallyDevices } from '../../services/devices/tallyDevices.ts'
import { tallyHosts } from '../../services/hosts/tallyHosts.ts'
import { PASS_OUTCOMES } from '../../actors/placement/counts.ts'
import { PLACEMENT_ERRORS } from '../../actors/placement/port.ts'
import { PROVIDER_CHANGES } from '../../actors/placement/decider.ts'
import { HOST_STATES, dueKindOf } from '../../actors/placement/hostState.ts'
import type { Placer } from '../../services/placement/placer.ts'
import type { ControlPlane } from '../../services/controlPlane.ts'
import { type Counts, SLOT_DIFFERENCES } from '../../actors/runtime/counts.ts'
import type { Bus } from '../../bus/port.ts'
import { systemClock } from '../../vocabulary/clock.ts'
import { DEVICE_TYPES } from '../../vocabulary/hardware.ts'
import { STREAM_ENDINGS } from '../../actors/events.ts'
import type { EventSource } from '../../delivery/events/events.ts'
import type { Inbox } from '../../delivery/inbox.ts'
import type { Relay } from '../../delivery/relay/relay.ts'
import type { Store } from '../../persistence/store.ts'
import { TOKEN_REFUSALS, type TokenRefusal } from '../../neighbours/openstack/refusals.ts'
import type { Session } from '../../neighbours/openstack/session.ts'
import { type Meter, cached } from './metrics.ts'
import { AT_ZERO } from './metricsTable.ts'

/** The state of an external bus such as Kafka, as far as the client can tell. */
type BusInsight = {
  readonly state: () => { readonly connected: boolean }
  readonly lag: () => Promise<readonly { readonly topic: string; readonly group: string; readonly messages: number }[]>
}
type Shown = {
  readonly plane: ControlPlane
  readonly relay: Relay
  readonly inbox: Inbox
  readonly events: Pick<EventSource, 'state'>
  readonly bus: Bus
  readonly store: Pick<Store, 'reads' | 'isStopped'>
}

/**
 * Even when three scrapers read the page every second, the database gets these few small queries once in ten seconds.
 */
const FOR_MS = 10_000
const WITHIN_MS = 1000

const reading = <Value>(meter: Meter, name: string, read: () => Promise<Value>) =>
  cached(read, {
    forMs: FOR_MS,
    withinMs: WITHIN_MS,
    now: systemClock.now,
    failed: () => meter.count('scrape_failures_total', { read: name }),
  })

export const showDatabase = (meter: Meter, { reads, isStopped }: Shown['store']): void => {
  const stopped = reading(meter, 'stopped', isStopped)
  const hosts = reading(meter, 'hosts', () => tallyHosts(reads))
  const handles = reading(meter, 'handles', () => reads.tally('handles', 'state'))
  const devices = reading(meter, 'devices', () => reads.tally('devices', 'type'))
  const standings = reading(meter, 'device_states', () => tallyDevices(reads))
  const orders = reading(meter, 'orders', () => reads.tally('pending_orders', 'number'))
  const due = reading(meter, 'due', () => reads.dueBefore(systemClock.now(), 1))
  // not derived from refused appends: without requests there are none, although writing is stopped
  meter.show('journal_writing_stopped', async () => {
    const found = await stopped()
    return found === null ? null : Number(found)
  })
  meter.show('hosts', async () => {
    const found = await hosts()
    return found && LISTED_AS.map((liveness) => [{ liveness }, found.get(liveness) ?? 0] as const)
  })
  meter.show('attach_handles', async () => {
    const found = await handles()
    return found && HANDLE_STATES.map((state) => [{ state }, found.get(state) ?? 0] as const)
  })
  meter.show('devices', async () => {
    const found = await devices()
    return found && DEVICE_TYPES.map((type) => [{ type }, found.get(type) ?? 0] as const)
  })
  meter.show('devices_failing', async () => {
    const found = await standings()
    return found && (found.states.get('failing') ?? 0)
  })
  meter.show('device_states', async () => {
    const found = await standings()
    return found && DEVICE_STATES.map((state) => [{ state }, found.states.get(state) ?? 0] as const)
  })
  meter.show('arqs_on_missing_devices', async () => {
    const found = await standings()
    return found && found.missing.held.length
  })
  meter.show('orders_pending', async () => {
    const found = await orders()
    return found && [...found.values()].reduce((all, rows) => all + rows, 0)
  })
  meter.show('due_oldest_seconds', async () => {
    const found = await due()
    return found && Math.max(0, (systemClock.now() - (found[0]?.at ?? Number.POSITIVE_INFINITY)) / 1000)
  })
}

/** The consumer groups of hosts contain host names; all of them are shown under one label value. */
const groupOf = (group: string): string => (group.startsWith('host-') ? 'host' : group)

export const showBus = (meter: Meter, { state, lag }: BusInsight): void => {
  meter.show('bus_up', () => (state().connected ? 1 : 0))
  const lags = reading(meter, 'lag', lag)
  meter.show('bus_consumer_lag_messages', async () => {
    const found = await lags()
    return found && found.map(({ topic, group, messages }) => [{ topic, group: groupOf(group) }, messages] as const)
  })
}

const showPlacement = (meter: Meter, { counts }: Pick<Placer, 'counts'>, { reads }: Shown['store']): void => {
  const due = reading(meter, 'placement', () => reads.tally('due', 'kind'))
  meter.show('placement_passes_total', () =>
    PASS_OUTCOMES.map((outcome) => [{ outcome }, counts().passes[outcome]] as const),
  )
  meter.show('placement_pass_seconds_total', () => counts().passMs / 1000)
  meter.show('placement_changes_total', () =>
    PROVIDER_CHANGES.map((change) => [{ change }, counts().changes[change]] as const),
  )
  meter.show('placement_troubles_total', () =>
    PLACEMENT_ERRORS.map((trouble) => [{ trouble }, counts().troubles[trouble]] as const),
  )
  meter.show('placement_hosts', async () => {
    const found = await due()
    return found && HOST_STATES.map((state) => [{ state }, found.get(dueKindOf(state)) ?? 0] as const)
  })
}

type Callers = {
  readonly session: Pick<Session, 'whyFailing'> | null
  readonly tokensRefused: (() => Readonly<Record<TokenRefusal, number>>) | null
}
/** The identity service, as far as callers depend on it. Without one nothing is shown. */
export const showTokens = (meter: Meter, { session, tokensRefused }: Callers): void => {
  if (session === null || tokensRefused === null) return
  meter.show('keystone_up', () => (session.whyFailing()['identity'] === undefined ? 1 : 0))
  meter.show('tokens_refused_total', () =>
    TOKEN_REFUSALS.map((reason) => [{ reason }, tokensRefused()[reason]] as const),
  )
}

const beginAtZero = (meter: Meter): void => {
  for (const [name, series] of Object.entries(AT_ZERO))
    for (const labels of series) meter.count(name as keyof typeof AT_ZERO, labels as never, 0)
}

const showCounts = (meter: Meter, counts: () => Readonly<Counts>): void => {
  meter.show('fenced_works_total', () => {
    const { retries, refusedAfterFence, givenUp } = counts()
    return [
      [{ outcome: 'written' }, retries],
      [{ outcome: 'refused' }, refusedAfterFence],
      [{ outcome: 'given_up' }, givenUp],
    ]
  })
  meter.show('refusals_checked_total', () => {
    const { refusedAfterLook, savedByLook } = counts()
    return [
      [{ outcome: 'confirmed' }, refusedAfterLook],
      [{ outcome: 'withdrawn' }, savedByLook],
    ]
  })
  meter.show('reports_refused_total', () =>
    REFUSALS.map((reason) => [{ reason }, counts().refusedReports[reason]] as const),
  )
  meter.show('slot_differences_total', () =>
    SLOT_DIFFERENCES.map((kind) => [{ kind }, counts().slotDifferences[kind]] as const),
  )
  meter.show('images_read_total', () => counts().imagesRead)
  meter.show('views_checked_total', () => counts().viewsChecked)
  meter.show('arqs_unbound_deleted_total', () => counts().unboundDeleted)
  meter.show('arqs_orphaned_deleted_total', () => counts().orphansDeleted)
  meter.show('views_differing_total', () => counts().viewsDiffer)
  meter.show('orphan_handles_total', () => counts().orphans)
}

const showEvents = (meter: Meter, { state }: Shown['events']): void => {
  meter.show('event_streams_open', () => state().open)
  meter.show('events_streamed_total', () => state().sent)
  meter.show('event_streams_ended_total', () =>
    STREAM_ENDINGS.map((reason) => [{ reason }, state().ended[reason]] as const),
  )
  meter.show('event_ring_bytes', () => state().ringBytes)
}

export const showSystem = (meter: Meter, { plane, relay, inbox, events, bus, store }: Shown): void => {
  beginAtZero(meter)
  showCounts(meter, plane.counts)
  meter.show('actors_resident', () => plane.region.counts().resident)
  meter.show('actors_spawned_total', () => plane.region.counts().spawned)
  meter.show('actors_passivated_total', () => plane.region.counts().passivated)
  meter.show('nova_calls_open', () => plane.sweeper.nova().calls)
  meter.show('nova_instances_waiting', () => plane.sweeper.nova().waiting)
  meter.show('relay_active', () => (relay.state().active ? 1 : 0))
  meter.show('relay_epoch', () => relay.state().epoch)
  meter.show('relay_lag_seconds', () => relay.state().lagMs / 1000)
  meter.show('relay_rows_total', () => relay.state().rows)
  meter.show('relay_messages_total', () => relay.state().messages)
  meter.show('relay_failures', () => relay.state().failures)
  meter.show('relay_set_aside_total', () => relay.state().setAside)
  meter.show('inbox_messages_total', () =>
    Object.entries(inbox.counts()).map(([outcome, messages]) => [{ outcome }, messages] as const),
  )
  showEvents(meter, events)
  showDatabase(meter, store)
  if (plane.sweeper.placer) showPlacement(meter, plane.sweeper.placer, store)
  if ('state' in bus) showBus(meter, bus as BusInsight & typeof bus)
}
