/**
 * All metrics, one row each. The registry, the manual page, and the check of alerts and dashboard are derived from this
 * table.
 */
import { HTTP_REQUESTS } from '../../http/metrics.ts'
import { CATALOGUE } from '../../wire/catalogue.ts'

export type MetricRow = {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  /** Label values come from closed lists and never contain a UUID, a project or the name of a host. */
  readonly labels: readonly string[]
  readonly buckets?: readonly number[]
}

/** The topics that dead letters can belong to: each topic but their own, and this label for unreadable messages. */
export const OTHER_TOPIC = 'other'
const DEAD_LETTERS_OF = Object.values(CATALOGUE)
  .filter((one) => one !== CATALOGUE.deadLetters)
  .map(({ topic }) => topic)

/**
 * Series that exist from the start. A counter that first appears with its first increment hides that increment from
 * `rate`.
 */
export const AT_ZERO = {
  binds_ended_total: [
    { outcome: 'completed', reason: 'none' },
    { outcome: 'failed', reason: 'host' },
    { outcome: 'failed', reason: 'deadline' },
  ],
  bind_requests_total: [{ outcome: 'accepted', reason: 'none' }],
  deadlines_missed_total: [{}],
  journal_appends_total: ['appended', 'stale', 'seen', 'unknown', 'busy', 'conflict', 'refused', 'stopped'].map(
    (verdict) => ({
      verdict,
    }),
  ),
  nova_events_total: ['delivered', 'gone', 'refused', 'undeliverable', 'retry'].map((outcome) => ({ outcome })),
  dead_letters_total: [...DEAD_LETTERS_OF, OTHER_TOPIC].map((topic) => ({ topic })),
  orders_resent_total: [{}],
}
const counter = <const L extends readonly string[]>(help: string, ...labels: L) =>
  ({ type: 'counter', help, labels }) as const
const gauge = <const L extends readonly string[]>(help: string, ...labels: L) =>
  ({ type: 'gauge', help, labels }) as const
const histogram = <const L extends readonly string[]>(help: string, buckets: readonly number[], ...labels: L) =>
  ({ type: 'histogram', help, labels, buckets }) as const

const SHORT = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5] as const
const LONG = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300] as const
const COUNTS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512] as const

export const CONTROL_METRICS = {
  http_request_seconds: HTTP_REQUESTS,
  bind_requests_total: counter(
    'Requested binds, by whether they were accepted, and by the kind of refusal.',
    'outcome',
    'reason',
  ),
  binds_ended_total: counter('Accepted binds that this process ended, by outcome and reason.', 'outcome', 'reason'),
  bind_seconds: histogram(
    'From the acceptance of a bind to its end; host_work says whether a host took part.',
    LONG,
    'host_work',
    'outcome',
  ),
  deadlines_missed_total: counter('Binds that ended because their host did not answer in time.'),
  nova_events_total: counter(
    'Events to Nova by the answer to them; retry: no final answer yet, to be sent again.',
    'outcome',
  ),
  nova_calls_open: gauge('Calls to Nova under way.'),
  nova_instances_waiting: gauge('Instances whose events wait for a free call to Nova.'),
  journal_appends_total: counter(
    'Appends by outcome; stale: fenced because another process had written, and decided again; refused: the store takes no such values.',
    'verdict',
  ),
  journal_append_seconds: histogram('Time from the request to append to its outcome.', SHORT),
  journal_batch_appends: histogram('Appends that one statement wrote together.', COUNTS),
  journal_rows_total: counter('Journal rows written.'),
  journal_recalls_total: counter('Reads of the tail of the journal, by outcome.', 'outcome'),
  journal_writing_stopped: gauge(
    '1: the database has lost rows, and nothing is written until an operator adopts what it holds; 0: it has not.',
  ),
  event_streams_open: gauge('Streams of events that are open.'),
  events_streamed_total: counter('Events that streams were given.'),
  event_streams_ended_total: counter(
    'Streams of events that have ended, by reason; slow: the client fell too far behind, stalled: it took nothing.',
    'reason',
  ),
  event_ring_bytes: gauge('Newest events that are kept in memory for all streams together.'),
  relay_active: gauge('1: this process publishes the journal on the bus, 0: another process does.'),
  relay_epoch: gauge('Epoch of the lease under which this process last relayed.'),
  relay_lag_seconds: gauge('Age of the oldest journal row that this relay has read and not published yet.'),
  relay_rows_total: counter('Journal rows published on the bus.'),
  relay_messages_total: counter('Messages published by the relay.'),
  relay_failures: gauge('Consecutive failed rounds of the relay.'),
  relay_set_aside_total: counter('Messages that the bus never took: they are dead letters, and the relay went on.'),
  bus_publish_seconds: histogram('Time to store a batch on the bus, by outcome.', SHORT, 'outcome'),
  bus_messages_total: counter('Messages stored on the bus, by topic.', 'topic'),
  bus_up: gauge('1: the bus answers. Absent when the bus is inside the process.'),
  bus_consumer_lag_messages: gauge('Messages not consumed yet, by topic and consumer group.', 'topic', 'group'),
  inbox_messages_total: counter('Reports of hosts by outcome.', 'outcome'),
  reports_refused_total: counter(
    'Reports that were not taken because of who sent them, by reason; each is a dead letter.',
    'reason',
  ),
  slot_differences_total: counter(
    'Slots that a host had prepared differently from the journal; lost: the handle was prepared again; unexplained, in_use: it was quarantined.',
    'kind',
  ),
  images_read_total: counter(
    'Cards of which a host has shown another image than was recorded: the machine has restarted, or somebody has programmed the card by other means.',
  ),
  dead_letters_total: counter('Messages that could not be read or handled, by the topic they came from.', 'topic'),
  keystone_up: gauge('1: Keystone answers, or was not asked yet, 0: it does not. Absent without auth = keystone.'),
  tokens_refused_total: counter(
    'Requests refused because of their token; invalid: Keystone does not know it, unavailable: it could not be validated.',
    'reason',
  ),
  sign_ins_refused_total: counter('Sign-ins to the console with a wrong user, password or project.'),
  hosts: gauge('Hosts by liveness; retired: an operator took them out of service.', 'liveness'),
  attach_handles: gauge(
    'Attach handles by state; free: it can be granted if its device is enabled and its host answers.',
    'state',
  ),
  devices: gauge('Recorded devices by type.', 'type'),
  devices_failing: gauge('Devices that are there, count as bad and are not offered.'),
  device_states: gauge('Devices by the worst of what is known of each and of its host.', 'state'),
  arqs_on_missing_devices: gauge(
    'Accelerator requests that hold a part of a device that its host does not report any more.',
  ),
  orders_pending: gauge('Orders that their hosts have not answered yet.'),
  orders_resent_total: counter('Orders sent again because no answer came.'),
  due_oldest_seconds: gauge('Time since the oldest recorded deadline passed; 0 when none has passed.'),
  actors_resident: gauge('Persistent actors in memory.'),
  actors_spawned_total: counter('Actors created.'),
  actors_passivated_total: counter('Idle actors that were removed from memory.'),
  fenced_works_total: counter(
    'Decisions that were fenced because another process had written first, by outcome after deciding again.',
    'outcome',
  ),
  refusals_checked_total: counter('Refusals decided from memory, by whether the journal confirmed them.', 'outcome'),
  views_checked_total: counter('Entities whose view rows were compared with their journal.'),
  arqs_orphaned_deleted_total: counter(
    'Accelerator requests that were deleted because Nova does not know their server any more.',
  ),
  arqs_unbound_deleted_total: counter(
    'Accelerator requests that were deleted because nobody had bound them for arq.unbound_ttl.',
  ),
  views_differing_total: counter('Entities whose view rows were found to differ from their journal.'),
  orphan_handles_total: counter('Handles found held for an accelerator request that does not hold them.'),
  placement_passes_total: counter('Passes over a host in Placement, by how they ended.', 'outcome'),
  placement_pass_seconds_total: counter('Time of all passes over hosts in Placement.'),
  placement_changes_total: counter(
    'What passes changed in Placement, by kind; inventory, traits: one write each.',
    'change',
  ),
  placement_troubles_total: counter(
    'Answers of Placement to passes that were no success, by what they mean; gone, duplicate and stale are part of the work.',
    'trouble',
  ),
  placement_hosts: gauge(
    'Hosts by the worst that is recorded of them in Placement; one that is compared for the first time is not counted.',
    'state',
  ),
  scrape_failures_total: counter(
    'Reads for this page that failed or took too long, so that the last known values are shown.',
    'read',
  ),
} as const satisfies Readonly<Record<string, MetricRow>>

export const HOST_METRICS = {
  host_orders_total: counter('Orders that ended on this host, by type and outcome.', 'type', 'outcome'),
  host_order_seconds: histogram('From the acceptance of an order to its recorded result.', LONG, 'type'),
  host_driver_seconds: histogram('Calls of drivers, by outcome.', LONG, 'driver', 'call', 'outcome'),
  host_ready: gauge('1: this host takes orders.'),
  host_orders_in_hand: gauge('Orders that this host is carrying out now.'),
  host_results_waiting: gauge('Results that are not stored on the bus yet.'),
  host_devices: gauge('Devices of this host by what was last measured of them.', 'driver', 'health'),
  host_measured_highest: gauge(
    'The highest value that was last measured among the devices of a driver, by quantity.',
    'driver',
    'quantity',
  ),
} as const satisfies Readonly<Record<string, MetricRow>>

export const METRICS = { ...CONTROL_METRICS, ...HOST_METRICS }
export const METRIC_PREFIX = 'accelerando_'

type Table = typeof METRICS
export type MetricName = keyof Table
export type NameOf<Type extends MetricRow['type']> = {
  [Name in MetricName]: Table[Name]['type'] extends Type ? Name : never
}[MetricName]
export type LabelsOf<Name extends MetricName> = Readonly<Record<Table[Name]['labels'][number], string>>
