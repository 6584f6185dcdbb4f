/** The panels of the dashboards. Grafana's dashboards and the console page of Prometheus are printed from them. */

export type Panel = {
  readonly title: string
  /** Unit name as used by Grafana. */
  readonly unit: 's' | 'ops' | 'short' | 'percentunit' | 'bytes'
  readonly lines: readonly { readonly expr: string; readonly legend: string }[]
}
export type Section = { readonly title: string; readonly panels: readonly Panel[] }

const line = (expr: string, legend: string) => ({ expr, legend })
const rate = (name: string, by = ''): string =>
  `sum${by === '' ? '' : ` by (${by})`} (rate(accelerando_${name}[$__rate_interval]))`
const quantile = (q: number, name: string, by = ''): string =>
  `histogram_quantile(${q}, ${rate(`${name}_bucket`, ['le', ...(by === '' ? [] : [by])].join(', '))})`
const quantiles = (title: string, name: string): Panel => ({
  title,
  unit: 's',
  lines: [0.5, 0.99].map((q) => line(quantile(q, name), `p${q * 100}`)),
})
const rates = (title: string, name: string, by: string): Panel => ({
  title,
  unit: 'ops',
  lines: [
    line(
      rate(name, by),
      by
        .split(', ')
        .map((label) => `{{${label}}}`)
        .join(' '),
    ),
  ],
})

const gauge = (title: string, unit: Panel['unit'], ...lines: readonly (readonly [string, string])[]): Panel => ({
  title,
  unit,
  lines: lines.map(([expr, legend]) => line(expr, legend)),
})
const amount = (title: string, ...lines: readonly (readonly [string, string])[]): Panel =>
  gauge(title, 'short', ...lines)
/** The name of a metric, of which every process that knows it shows the same value. */
const known = (name: string, by = ''): string => `max${by === '' ? '' : ` by (${by})`} (accelerando_${name})`
const all = (name: string): string => `sum(accelerando_${name})`

const BINDS: Section = {
  title: 'Binds',
  panels: [
    rates('Binds ended', 'binds_ended_total', 'outcome, reason'),
    rates('Binds refused or accepted', 'bind_requests_total', 'outcome, reason'),
    gauge(
      'Bind, from acceptance to end',
      's',
      [quantile(0.5, 'bind_seconds', 'host_work'), 'p50 host work: {{host_work}}'],
      [quantile(0.99, 'bind_seconds', 'host_work'), 'p99 host work: {{host_work}}'],
    ),
    rates('Events to Nova', 'nova_events_total', 'outcome'),
    amount(
      'Calls to Nova',
      [all('nova_calls_open'), 'under way'],
      [all('nova_instances_waiting'), 'instances that wait for one'],
    ),
    amount(
      'Deadlines missed, and work overdue',
      ['sum(increase(accelerando_deadlines_missed_total[$__rate_interval]))', 'deadlines missed'],
      [known('due_oldest_seconds'), 'oldest overdue, s'],
    ),
    amount(
      'Requests deleted by the service',
      ['sum(increase(accelerando_arqs_orphaned_deleted_total[$__rate_interval]))', 'server unknown to Nova'],
      ['sum(increase(accelerando_arqs_unbound_deleted_total[$__rate_interval]))', 'never bound'],
    ),
  ],
}
const API: Section = {
  title: 'API',
  panels: [
    rates('Requests', 'http_request_seconds_count', 'route, status'),
    gauge('Time to answer, p99', 's', [quantile(0.99, 'http_request_seconds', 'route'), '{{route}}']),
    amount(
      'Streams of events',
      [all('event_streams_open'), 'open'],
      [rate('events_streamed_total'), 'events a second'],
    ),
    rates('Streams of events ended', 'event_streams_ended_total', 'reason'),
  ],
}
const PROCESSES: Section = {
  title: 'Processes',
  panels: [
    gauge('CPU', 'percentunit', ['rate(process_cpu_seconds_total[$__rate_interval])', '{{instance}}']),
    gauge('Memory', 'bytes', ['process_resident_memory_bytes', '{{instance}}']),
    gauge('Event loop, p99', 's', ['nodejs_eventloop_lag_p99_seconds', '{{instance}}']),
    amount(
      'Actors',
      [all('actors_resident'), 'resident'],
      [rate('actors_spawned_total'), 'made a second'],
      [rate('actors_passivated_total'), 'passivated a second'],
    ),
  ],
}

const HOSTS: Section = {
  title: 'Hosts',
  panels: [
    amount('Hosts', [known('hosts', 'liveness'), '{{liveness}}']),
    amount(
      'Orders without an answer',
      [known('orders_pending'), 'pending'],
      [rate('orders_resent_total'), 'sent again a second'],
      [all('host_orders_in_hand'), 'in hand'],
      [all('host_results_waiting'), 'results waiting'],
    ),
    rates('Orders ended', 'host_orders_total', 'type, outcome'),
    gauge('Order, from acceptance to result, p99', 's', [quantile(0.99, 'host_order_seconds', 'type'), '{{type}}']),
    gauge('Driver calls, p99', 's', [quantile(0.99, 'host_driver_seconds', 'driver, call'), '{{driver}} {{call}}']),
  ],
}
const HARDWARE: Section = {
  title: 'Hardware',
  panels: [
    amount('Devices by what is measured', [
      'sum by (driver, health) (accelerando_host_devices)',
      '{{driver}} {{health}}',
    ]),
    amount('The highest value measured', [
      known('host_measured_highest', 'driver, quantity'),
      '{{driver}} {{quantity}}',
    ]),
    rates('Slots prepared differently from the journal', 'slot_differences_total', 'kind'),
    amount('Cards with another image than recorded', [
      'sum(increase(accelerando_images_read_total[$__rate_interval]))',
      'cards',
    ]),
    rates('Reports refused because of their sender', 'reports_refused_total', 'reason'),
  ],
}

const ACCELERATORS: Section = {
  title: 'Accelerators',
  panels: [
    amount('Attach handles', [known('attach_handles', 'state'), '{{state}}']),
    gauge('Share of the attach handles that are held', 'percentunit', [
      `${known('attach_handles{state="held"}')} / sum (${known('attach_handles', 'state')})`,
      'held',
    ]),
    amount('Devices', [known('devices', 'type'), '{{type}}'], [known('device_states', 'state'), '{{state}}']),
    gauge('Binds refused', 'ops', [
      'sum by (reason) (rate(accelerando_bind_requests_total{outcome="refused"}[$__rate_interval]))',
      '{{reason}}',
    ]),
  ],
}
const PLACEMENT: Section = {
  title: 'Placement',
  panels: [
    amount('Hosts in Placement', [known('placement_hosts', 'state'), '{{state}}']),
    rates('Passes', 'placement_passes_total', 'outcome'),
    gauge('A pass, mean', 's', [`${rate('placement_pass_seconds_total')} / ${rate('placement_passes_total')}`, 'mean']),
    rates('Changes', 'placement_changes_total', 'change'),
    rates('Answers that were no success', 'placement_troubles_total', 'trouble'),
  ],
}

const JOURNAL: Section = {
  title: 'Journal',
  panels: [
    rates('Appends', 'journal_appends_total', 'verdict'),
    quantiles('Append', 'journal_append_seconds'),
    rates('Overtaken by another process', 'fenced_works_total', 'outcome'),
    amount(
      'Appends in one statement',
      [quantile(0.5, 'journal_batch_appends'), 'p50'],
      [quantile(0.99, 'journal_batch_appends'), 'p99'],
    ),
    amount(
      'Rows',
      [rate('journal_rows_total'), 'written a second'],
      [rate('journal_recalls_total'), 'tails read a second'],
    ),
    amount(
      'Views and handles that differ from the journal',
      ['sum(increase(accelerando_views_differing_total[$__rate_interval]))', 'views'],
      ['sum(increase(accelerando_orphan_handles_total[$__rate_interval]))', 'handles'],
      [known('journal_writing_stopped'), '1: nothing is written'],
    ),
  ],
}
const RELAY: Section = {
  title: 'Relay',
  panels: [
    amount(
      'Relay',
      [known('relay_lag_seconds'), 'lag, s'],
      [all('relay_active'), 'active relays'],
      [known('relay_failures'), 'failed rounds'],
    ),
    amount(
      'Published by the relay',
      [rate('relay_rows_total'), 'rows a second'],
      [rate('relay_messages_total'), 'messages a second'],
    ),
    amount(
      'Lease of the relay',
      [known('relay_epoch'), 'epoch'],
      ['sum(increase(accelerando_relay_set_aside_total[$__rate_interval]))', 'messages set aside'],
    ),
  ],
}
const BUS: Section = {
  title: 'Bus',
  panels: [
    rates('Messages', 'bus_messages_total', 'topic'),
    quantiles('Publish', 'bus_publish_seconds'),
    amount('Messages not taken yet', [known('bus_consumer_lag_messages', 'topic, group'), '{{topic}} {{group}}']),
    amount('Processes that reach the bus', [all('bus_up'), 'reach it']),
    rates('Reports', 'inbox_messages_total', 'outcome'),
    rates('Dead letters', 'dead_letters_total', 'topic'),
  ],
}

export type Dashboard = {
  /** Of the file, and of the address in Grafana. */
  readonly name: string
  readonly title: string
  readonly sections: readonly Section[]
}
export const DASHBOARDS: readonly Dashboard[] = [
  { name: 'service', title: 'accelerando: service', sections: [BINDS, API, PROCESSES] },
  { name: 'hosts', title: 'accelerando: hosts', sections: [HOSTS, HARDWARE] },
  { name: 'capacity', title: 'accelerando: capacity', sections: [ACCELERATORS, PLACEMENT] },
  { name: 'bus-and-journal', title: 'accelerando: bus and journal', sections: [JOURNAL, RELAY, BUS] },
]
export const SECTIONS: readonly Section[] = DASHBOARDS.flatMap(({ sections }) => sections)
