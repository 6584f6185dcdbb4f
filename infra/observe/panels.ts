/** The panels of the dashboard. The Grafana dashboard and the Prometheus console page are generated from them. */

export type Panel = {
  readonly title: string
  /** Unit name as used by Grafana. */
  readonly unit: 's' | 'ops' | 'short' | 'percentunit' | 'bytes'
  readonly lines: readonly { readonly expr: string; readonly legend: string }[]
}
type Section = { readonly title: string; readonly panels: readonly Panel[] }

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

export const SECTIONS: readonly Section[] = [
  {
    title: 'Binds',
    panels: [
      rates('Binds ended', 'binds_ended_total', 'outcome, reason'),
      rates('Binds refused or accepted', 'bind_requests_total', 'outcome, reason'),
      {
        title: 'Bind, from acceptance to end',
        unit: 's',
        lines: [
          line(quantile(0.5, 'bind_seconds', 'host_work'), 'p50 host work: {{host_work}}'),
          line(quantile(0.99, 'bind_seconds', 'host_work'), 'p99 host work: {{host_work}}'),
        ],
      },
      rates('Events to Nova', 'nova_events_total', 'outcome'),
      {
        title: 'Deadlines missed, and work overdue',
        unit: 'short',
        lines: [
          line('sum(increase(accelerando_deadlines_missed_total[$__rate_interval]))', 'deadlines missed'),
          line('max(accelerando_due_oldest_seconds)', 'oldest overdue, s'),
        ],
      },
    ],
  },
  {
    title: 'API',
    panels: [
      rates('Requests', 'http_request_seconds_count', 'route, status'),
      {
        title: 'Time to answer, p99',
        unit: 's',
        lines: [line(quantile(0.99, 'http_request_seconds', 'route'), '{{route}}')],
      },
    ],
  },
  {
    title: 'Journal and relay',
    panels: [
      rates('Appends', 'journal_appends_total', 'verdict'),
      quantiles('Append', 'journal_append_seconds'),
      rates('Overtaken by another process', 'fenced_works_total', 'outcome'),
      {
        title: 'Appends in one statement',
        unit: 'short',
        lines: [
          line(quantile(0.5, 'journal_batch_appends'), 'p50'),
          line(quantile(0.99, 'journal_batch_appends'), 'p99'),
        ],
      },
      {
        title: 'Relay',
        unit: 'short',
        lines: [
          line('max(accelerando_relay_lag_seconds)', 'lag, s'),
          line('sum(accelerando_relay_active)', 'active relays'),
          line('max(accelerando_relay_failures)', 'failed rounds'),
        ],
      },
      {
        title: 'Actors',
        unit: 'short',
        lines: [
          line('sum(accelerando_actors_resident)', 'resident'),
          line(rate('actors_spawned_total'), 'made a second'),
          line(rate('actors_passivated_total'), 'passivated a second'),
        ],
      },
    ],
  },
  {
    title: 'Bus',
    panels: [
      rates('Messages', 'bus_messages_total', 'topic'),
      quantiles('Publish', 'bus_publish_seconds'),
      {
        title: 'Messages not taken yet',
        unit: 'short',
        lines: [line('max by (topic, group) (accelerando_bus_consumer_lag_messages)', '{{topic}} {{group}}')],
      },
      rates('Reports', 'inbox_messages_total', 'outcome'),
      rates('Dead letters', 'dead_letters_total', 'topic'),
    ],
  },
  {
    title: 'Hosts',
    panels: [
      {
        title: 'Hosts',
        unit: 'short',
        lines: [line('max by (liveness) (accelerando_hosts)', '{{liveness}}')],
      },
      {
        title: 'Orders without an answer',
        unit: 'short',
        lines: [
          line('max(accelerando_orders_pending)', 'pending'),
          line(rate('orders_resent_total'), 'sent again a second'),
          line('sum(accelerando_host_orders_in_hand)', 'in hand'),
          line('sum(accelerando_host_results_waiting)', 'results waiting'),
        ],
      },
      rates('Orders ended', 'host_orders_total', 'type, outcome'),
      {
        title: 'Driver calls, p99',
        unit: 's',
        lines: [line(quantile(0.99, 'host_driver_seconds', 'driver, call'), '{{driver}} {{call}}')],
      },
    ],
  },
  {
    title: 'Placement',
    panels: [
      {
        title: 'Hosts in Placement',
        unit: 'short',
        lines: [line('max by (state) (accelerando_placement_hosts)', '{{state}}')],
      },
      rates('Passes', 'placement_passes_total', 'outcome'),
      {
        title: 'A pass, mean',
        unit: 's',
        lines: [line(`${rate('placement_pass_seconds_total')} / ${rate('placement_passes_total')}`, 'mean')],
      },
      rates('Changes', 'placement_changes_total', 'change'),
      rates('Answers that were no success', 'placement_troubles_total', 'trouble'),
    ],
  },
  {
    title: 'Processes',
    panels: [
      {
        title: 'CPU',
        unit: 'percentunit',
        lines: [line('rate(process_cpu_seconds_total[$__rate_interval])', '{{instance}}')],
      },
      { title: 'Memory', unit: 'bytes', lines: [line('process_resident_memory_bytes', '{{instance}}')] },
      { title: 'Event loop, p99', unit: 's', lines: [line('nodejs_eventloop_lag_p99_seconds', '{{instance}}')] },
    ],
  },
]
