/**
 * For each alert: series with which it fires, at the first moment at which it does, and series with which it stays
 * silent.
 */
import { DEVICES } from './alertCasesOfDevices.ts'
import {
  type AlertCase,
  bucketed,
  control,
  growing,
  hosts,
  lasting,
  LONG,
  MINUTES,
  NEVER,
  ONCE,
  ONCE_AT,
  ours,
  SCRAPE_SECONDS,
  type Series,
  steady,
} from './alertSeries.ts'

import { CALLERS, PLACEMENT } from './alertCasesOfNeighbours.ts'

const CONTROLS = {
  ControlDown: {
    fires: [
      {
        series: { [control(1, 'up')]: `1x1 0${LONG}`, [control(2, 'up')]: `1${LONG}` },
        at: ONCE_AT + MINUTES,
        says: [
          {
            labels: { job: 'accelerando-control', instance: 'control-1:6671' },
            summary: 'The control control-1:6671 cannot be scraped.',
          },
        ],
      },
    ],
    silent: [
      { [control(1, 'up')]: `1${LONG}` },
      { 'up{job="accelerando-host",instance="compute-1:6671"}': `0${LONG}` },
      { [control(1, 'up')]: '1x1 0x10 1x10 0x10 1x1000' },
    ],
  },
  AllControlsDown: {
    fires: [
      {
        series: { [control(1, 'up')]: `0${LONG}`, [control(2, 'up')]: `0${LONG}` },
        at: 30,
        says: [{ summary: 'No control answers.' }],
      },
      {
        series: { 'up{job="accelerando-host"}': `1${LONG}` },
        at: 30,
        says: [{ labels: { job: 'accelerando-control' }, summary: 'No control answers.' }],
      },
    ],
    silent: [{ [control(1, 'up')]: `0${LONG}`, [control(2, 'up')]: `1${LONG}` }],
  },
  EventLoopBlocked: {
    fires: [
      {
        series: { [control(1, 'nodejs_eventloop_lag_p99_seconds')]: `0.6${LONG}` },
        at: 5 * MINUTES,
        says: [
          {
            labels: { instance: 'control-1:6671' },
            summary: 'The process control-1:6671 is busy beyond its core.',
          },
        ],
      },
    ],
    silent: [{ [control(1, 'nodejs_eventloop_lag_p99_seconds')]: `0.5${LONG}` }],
  },
} as const satisfies Readonly<Record<string, AlertCase>>

const RELAY = {
  NoActiveRelay: {
    fires: [
      {
        series: { [ours('relay_active')]: `0${LONG}`, [ours('relay_active', '', 2)]: `0${LONG}` },
        at: 30,
        says: [{ summary: 'No control puts the journal on the bus: hosts get no orders.' }],
      },
      { series: {}, at: 30, says: [{ summary: 'No control puts the journal on the bus: hosts get no orders.' }] },
    ],
    silent: [{ [ours('relay_active')]: `0${LONG}`, [ours('relay_active', '', 2)]: `1${LONG}` }],
  },
  TwoActiveRelays: {
    fires: [
      {
        series: { [ours('relay_active')]: `1${LONG}`, [ours('relay_active', '', 2)]: `1${LONG}` },
        at: 30,
        says: [{ summary: '2 controls believe they hold the lease of the relay.' }],
      },
    ],
    silent: [
      { [ours('relay_active')]: `1${LONG}`, [ours('relay_active', '', 2)]: `0${LONG}` },
      // one follows the other, and both are scraped with it
      { [ours('relay_active')]: `1x10 0${LONG}`, [ours('relay_active', '', 2)]: `0x8 1${LONG}` },
    ],
  },
  RelayLags: {
    fires: [lasting('relay_lag_seconds', '', 6.25, 30, 'The journal is 6.25s ahead of the bus.')],
    silent: [steady('relay_lag_seconds', '', 5)],
  },
  RelayFails: {
    fires: [lasting('relay_failures', '', 6, 30, 'The relay failed 6 rounds in a row.')],
    silent: [steady('relay_failures', '', 5)],
  },
  BusAway: {
    fires: [lasting('bus_up', '', 0, 30, 'A process does not reach Kafka.')],
    // where the bus is inside the process there is no such metric
    silent: [steady('bus_up', '', 1), {}],
  },
  ConsumersLag: {
    fires: [
      {
        series: { [ours('bus_consumer_lag_messages', ',topic="host.reports.v1",group="control"')]: `1001${LONG}` },
        at: 2 * MINUTES,
        says: [
          {
            labels: { topic: 'host.reports.v1', group: 'control' },
            summary: '1001 messages of host.reports.v1 wait for control.',
          },
        ],
      },
    ],
    silent: [steady('bus_consumer_lag_messages', ',topic="host.reports.v1",group="control"', 1000)],
  },
  DeadLetters: {
    fires: [
      {
        series: {
          [ours('dead_letters_total', ',topic="arq.events.v1"')]: ONCE,
          [ours('dead_letters_total', ',topic="host.reports.v1"')]: `0${LONG}`,
        },
        at: ONCE_AT,
        says: [{ labels: { topic: 'arq.events.v1' }, summary: '1 messages of arq.events.v1 could not be taken.' }],
      },
      growing(
        hosts('dead_letters_total', ',topic="host.orders.v1"'),
        { topic: 'host.orders.v1' },
        '1 messages of host.orders.v1 could not be taken.',
      ),
    ],
    silent: [{ [ours('dead_letters_total', ',topic="arq.events.v1"')]: NEVER }],
  },
} as const satisfies Readonly<Record<string, AlertCase>>

const verdicts = (each: Readonly<Record<string, number>>): Series =>
  Object.fromEntries(
    Object.entries(each).map(([verdict, by]) => [
      ours('journal_appends_total', `,verdict="${verdict}"`),
      `0+${by}${LONG}`,
    ]),
  )

const JOURNAL = {
  ManyFences: {
    fires: [
      {
        series: verdicts({ appended: 8, stale: 2 }),
        at: SCRAPE_SECONDS + 10 * MINUTES,
        says: [{ summary: '20% of the appends are decided twice.' }],
      },
    ],
    // without any append the share is no number
    silent: [verdicts({ appended: 9, stale: 1 }), verdicts({ appended: 0, stale: 0 })],
  },
  JournalDoesNotKeepUp: {
    fires: ['unknown', 'busy'].map((verdict) =>
      growing(
        ours('journal_appends_total', `,verdict="${verdict}"`),
        {},
        'The journal does not answer, or too many wait for it.',
        MINUTES,
      ),
    ),
    silent: [verdicts({ appended: 50, stale: 1, seen: 1, conflict: 1, refused: 1, unknown: 0, busy: 0 })],
  },
  JournalWritingStopped: {
    fires: [
      {
        series: {
          [ours('journal_writing_stopped')]: `0x1 1${LONG}`,
          [ours('journal_writing_stopped', '', 2)]: `0${LONG}`,
        },
        at: ONCE_AT,
        says: [{ summary: 'The database has lost rows: nothing is written until an operator adopts what it holds.' }],
      },
    ],
    silent: [steady('journal_writing_stopped', '', 0)],
  },
  JournalSlow: {
    fires: [
      {
        series: bucketed('journal_append_seconds_bucket', { '0.25': 0, '1': 100, '+Inf': 100 }),
        at: SCRAPE_SECONDS + 5 * MINUTES,
        says: [{ summary: 'One append in a hundred takes longer than 992.5ms.' }],
      },
    ],
    silent: [
      bucketed('journal_append_seconds_bucket', { '0.25': 100, '1': 100, '+Inf': 100 }),
      bucketed('journal_append_seconds_bucket', { '0.25': 0, '1': 0, '+Inf': 0 }),
    ],
  },
  ViewsDiffer: {
    fires: [
      ['views_differing_total', 'orphan_handles_total'],
      ['orphan_handles_total', 'views_differing_total'],
    ].map(([grows, stays]) => ({
      series: { [ours(grows!)]: ONCE, [ours(stays!)]: `0${LONG}` },
      at: ONCE_AT,
      says: [{ summary: 'What lists show is not what the journal says.' }],
    })),
    silent: [{ [ours('views_differing_total')]: NEVER, [ours('orphan_handles_total')]: NEVER }],
  },
  WorkOverdue: {
    fires: [
      lasting('due_oldest_seconds', '', 90, MINUTES, 'A recorded deadline is over for 1m 30s, and nobody works on it.'),
    ],
    silent: [steady('due_oldest_seconds', '', 30)],
  },
} as const satisfies Readonly<Record<string, AlertCase>>

const ended = (completed: number, failed: number): Series => ({
  [ours('binds_ended_total', ',outcome="completed",reason="none"')]: `0+${completed}${LONG}`,
  [ours('binds_ended_total', ',outcome="failed",reason="host"')]: `0+${failed}${LONG}`,
  [ours('binds_ended_total', ',outcome="failed",reason="deadline"')]: `0${LONG}`,
})

const BINDS = {
  DeadlinesMissed: {
    fires: [
      {
        series: { [ours('deadlines_missed_total')]: `0x1 3${LONG}`, [ours('deadlines_missed_total', '', 2)]: NEVER },
        at: ONCE_AT,
        says: [{ summary: 'Hosts did not answer 3 binds within their deadline.' }],
      },
    ],
    silent: [steady('deadlines_missed_total', '', 7)],
  },
  BindsFail: {
    fires: [
      {
        series: ended(15, 5),
        at: SCRAPE_SECONDS + 10 * MINUTES,
        says: [{ summary: '25% of the binds fail.' }],
      },
    ],
    silent: [ended(95, 5), ended(0, 0)],
  },
  NovaNotTold: {
    fires: ['undeliverable', 'refused'].map((outcome) =>
      growing(
        ours('nova_events_total', `,outcome="${outcome}"`),
        {},
        'Nova did not take 1 events; the guests they are about may hang in building.',
      ),
    ),
    silent: ['delivered', 'gone', 'retry'].map((outcome) => ({
      [ours('nova_events_total', `,outcome="${outcome}"`)]: `0+3${LONG}`,
    })),
  },
} as const satisfies Readonly<Record<string, AlertCase>>

const PENDING = 'Hosts wait until an operator approves their keys.'
const HOSTS = {
  HostsDown: {
    fires: [lasting('hosts', ',liveness="down"', 2, MINUTES, '2 hosts are down.')],
    silent: [{ ...steady('hosts', ',liveness="down"', 0), ...steady('hosts', ',liveness="up"', 9) }],
  },
  HostsSilent: {
    fires: [lasting('hosts', ',liveness="stale"', 3, 5 * MINUTES, '3 hosts have been silent for a while.')],
    silent: [{ ...steady('hosts', ',liveness="stale"', 0), ...steady('hosts', ',liveness="down"', 9) }],
  },
  HostsPending: {
    fires: [
      lasting('hosts', ',liveness="pending"', 1, 5 * MINUTES, PENDING),
      growing(ours('reports_refused_total', ',reason="not_approved"'), {}, PENDING, 5 * MINUTES),
    ],
    silent: [
      {
        ...steady('hosts', ',liveness="pending"', 0),
        [ours('reports_refused_total', ',reason="unsigned"')]: `0+1${LONG}`,
        [ours('reports_refused_total', ',reason="not_approved"')]: NEVER,
      },
    ],
  },
  HostCannotReport: {
    fires: [
      {
        series: { [hosts('host_results_waiting')]: `1${LONG}` },
        at: 5 * MINUTES,
        says: [
          {
            labels: { instance: 'compute-1:6671' },
            summary: 'The host program compute-1:6671 has results that the bus does not take.',
          },
        ],
      },
    ],
    silent: [
      { [hosts('host_results_waiting')]: `0${LONG}` },
      { [hosts('host_results_waiting')]: '4x50 0x5 4x50 0x1000' },
    ],
  },
  ReportsRefused: {
    fires: [
      growing(
        ours('reports_refused_total', ',reason="unsigned"'),
        { reason: 'unsigned' },
        '1 reports were refused because of their sender: unsigned.',
      ),
    ],
    silent: [{ [ours('reports_refused_total', ',reason="not_approved"')]: `0+1${LONG}` }],
  },
  SlotsDiffer: {
    fires: [
      growing(
        ours('slot_differences_total', ',kind="unexplained"'),
        { kind: 'unexplained' },
        'Hosts had prepared 1 slots differently from the journal: unexplained.',
      ),
    ],
    silent: [{ [ours('slot_differences_total', ',kind="lost"')]: NEVER }],
  },
} as const satisfies Readonly<Record<string, AlertCase>>

export const ALERT_CASES: Readonly<Record<string, AlertCase>> = {
  ...CONTROLS,
  ...RELAY,
  ...JOURNAL,
  ...BINDS,
  ...HOSTS,
  ...DEVICES,
  ...CALLERS,
  ...PLACEMENT,
}
