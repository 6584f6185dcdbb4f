/** What each number of the page is read from: every value is made up and different. */
import { expect, test } from 'vitest'
import type { Bus } from '../../src/bus/port.ts'
import { openMeter } from '../../src/cli/observe/metrics.ts'
import { showDatabase, showSystem } from '../../src/cli/observe/metricsControl.ts'
import { observedJournal } from '../../src/cli/observe/metricsJournal.ts'
import { observedBus } from '../../src/cli/observe/observedBus.ts'
import { memoryStore } from '../support/memoryStore/memory.ts'
import { type Tracer, untraced } from '../../src/vocabulary/trace.ts'
import { one } from '../persistence/samples.ts'
import { lines, shownOf, zeros } from './page.ts'

const STORE = {
  reads: { page: async () => [], tally: async () => new Map(), dueBefore: async () => [] },
  isStopped: async () => true,
}
const COUNTS = {
  retries: 1,
  refusedAfterFence: 2,
  givenUp: 3,
  refusedAfterLook: 4,
  savedByLook: 5,
  refusedReports: zeros({ foreign_host: 30, former_boot: 31, shared_key: 40 }),
  slotDifferences: { unexplained: 8, lost: 9, in_use: 10 },
  imagesRead: 53,
  viewsChecked: 11,
  unboundDeleted: 12,
  orphansDeleted: 42,
  viewsDiffer: 13,
  orphans: 14,
}
const ENDED = { lifetime: 46, stopping: 47, slow: 48, failed: 49, stalled: 50, left: 51 }
const EVENTS = { state: () => ({ open: 44, sent: 45, ended: ENDED, ringBytes: 52 }) }
test('of a control', async () => {
  const meter = openMeter()
  showSystem(meter, {
    plane: {
      counts: () => COUNTS,
      region: { counts: () => ({ resident: 15, spawned: 16, passivated: 17 }) },
      sweeper: { nova: () => ({ calls: 18, waiting: 19 }) },
    },
    relay: {
      state: () => ({ active: true, epoch: 20, lagMs: 21_500, rows: 22, messages: 23, failures: 24, setAside: 25 }),
    },
    inbox: { counts: () => ({ taken: 26, buried: 27 }) },
    events: EVENTS,
    bus: { state: () => ({ connected: true }), lag: async () => [{ topic: 't', group: 'host-a-b', messages: 28 }] },
    store: STORE,
  } as never)
  expect(shownOf(await lines(meter))).toMatchInlineSnapshot(`
    [
      "fenced_works_total outcome=written 1",
      "fenced_works_total outcome=refused 2",
      "fenced_works_total outcome=given_up 3",
      "refusals_checked_total outcome=confirmed 4",
      "refusals_checked_total outcome=withdrawn 5",
      "reports_refused_total reason=foreign_host 30",
      "reports_refused_total reason=former_boot 31",
      "reports_refused_total reason=shared_key 40",
      "slot_differences_total kind=unexplained 8",
      "slot_differences_total kind=lost 9",
      "slot_differences_total kind=in_use 10",
      "images_read_total 53",
      "views_checked_total 11",
      "arqs_unbound_deleted_total 12",
      "arqs_orphaned_deleted_total 42",
      "views_differing_total 13",
      "orphan_handles_total 14",
      "actors_resident 15",
      "actors_spawned_total 16",
      "actors_passivated_total 17",
      "nova_calls_open 18",
      "nova_instances_waiting 19",
      "relay_active 1",
      "relay_epoch 20",
      "relay_lag_seconds 21.5",
      "relay_rows_total 22",
      "relay_messages_total 23",
      "relay_failures 24",
      "relay_set_aside_total 25",
      "inbox_messages_total outcome=taken 26",
      "inbox_messages_total outcome=buried 27",
      "event_streams_open 44",
      "events_streamed_total 45",
      "event_streams_ended_total reason=lifetime 46",
      "event_streams_ended_total reason=stopping 47",
      "event_streams_ended_total reason=slow 48",
      "event_streams_ended_total reason=failed 49",
      "event_streams_ended_total reason=expired 1",
      "event_streams_ended_total reason=rights 1",
      "event_streams_ended_total reason=stalled 50",
      "event_streams_ended_total reason=left 51",
      "event_ring_bytes 52",
      "journal_writing_stopped 1",
      "bus_up 1",
      "bus_consumer_lag_messages topic=t group=host 28",
    ]
  `)
})

test('of a relay at rest, over a bus that does not tell how it is', async () => {
  const meter = openMeter()
  const relay = { active: false, epoch: 0, lagMs: 0, rows: 0, messages: 0, failures: 0, setAside: 0 }
  showSystem(meter, {
    plane: {
      counts: () => COUNTS,
      region: { counts: () => ({ resident: 0, spawned: 0, passivated: 0 }) },
      sweeper: { nova: () => ({ calls: 0, waiting: 0 }) },
    },
    relay: { state: () => relay },
    inbox: { counts: () => ({}) },
    events: EVENTS,
    bus: {},
    store: STORE,
  } as never)
  expect((await lines(meter)).filter((line) => /^(relay_active|bus_)/.test(line))).toEqual(['relay_active 0'])
})

test('of a database, and nothing of one that does not answer', async () => {
  const meter = openMeter()
  const tallies: Readonly<Record<string, ReadonlyMap<string, number>>> = {
    'hosts liveness': new Map([
      ['up', 3],
      ['down', 1],
    ]),
    'handles state': new Map([
      ['held', 9],
      ['quarantined', 1],
    ]),
    'devices type': new Map([['GPU', 4]]),
    'devices status': new Map([['enabled', 4]]),
    'devices failing': new Map([
      ['hot', 2],
      ['old', 3],
    ]),
    'pending_orders number': new Map([
      ['1', 2],
      ['2', 5],
    ]),
  }
  const gone = { uuid: 'd1', hostname: 'h2', presence: 'missing', failing: null, status: 'enabled' }
  const hot = { ...gone, uuid: 'd2', presence: 'present', failing: 'hot' }
  const devicesOf = (where: object) => ('presence' in where ? [gone] : 'failing' in where ? [hot] : [])
  const rows: Readonly<Record<string, readonly object[]>> = {
    hosts: [{ name: 'h1', liveness: 'down', out_of_service: true }],
    deployables: [{ uuid: 'p1', device_uuid: 'd1' }],
    handles: ['q', null].map((arq) => ({ uuid: `of ${arq}`, deployable_uuid: 'p1', arq_uuid: arq })),
  }
  showDatabase(meter, {
    reads: {
      tally: async (view: string, column: string) => tallies[`${view} ${column}`]!,
      page: async ({ view, where }: { readonly view: string; readonly where: object }) =>
        view === 'devices' ? devicesOf(where) : rows[view],
      dueBefore: async (_: number, limit: number) => [{ at: Date.now() - 60_000 * limit }],
    },
    isStopped: async () => false,
  } as never)
  expect(shownOf(await lines(meter)).map((line) => line.replace(/ 6\d\.?\d*$/, ' SIXTY'))).toMatchInlineSnapshot(`
    [
      "hosts liveness=up 3",
      "hosts liveness=retired 1",
      "attach_handles state=held 9",
      "attach_handles state=quarantined 1",
      "devices type=GPU 4",
      "devices_failing 1",
      "device_states state=missing 1",
      "device_states state=failing 1",
      "device_states state=enabled 2",
      "arqs_on_missing_devices 1",
      "orders_pending 7",
      "due_oldest_seconds SIXTY",
    ]
  `)

  const silent = openMeter()
  const away = () => Promise.reject(new Error('away'))
  showDatabase(silent, { reads: { tally: away, page: away, dueBefore: away }, isStopped: away })
  await lines(silent)
  expect(await lines(silent)).toMatchInlineSnapshot(`
    [
      "scrape_failures_total read=stopped 1",
      "scrape_failures_total read=handles 1",
      "scrape_failures_total read=devices 1",
      "scrape_failures_total read=orders 1",
      "scrape_failures_total read=due 1",
      "scrape_failures_total read=hosts 1",
      "scrape_failures_total read=device_states 1",
    ]
  `)

  const idle = openMeter()
  showDatabase(idle, STORE)
  expect(shownOf(await lines(idle))).toEqual(['journal_writing_stopped 1'])
})

const AT = 10_000
test.each<readonly [what: string, events: readonly object[], shown: readonly string[]]>([
  [
    'a bind that was done at once',
    [{ type: 'BindAccepted' }, { type: 'BindSettled', outcome: 'completed', reason: null, since: AT - 2000 }],
    ['binds_ended_total outcome=completed reason=none 1', 'bind_seconds_count host_work=no outcome=completed 1'],
  ],
  [
    'a bind that a host refused, of a release that recorded no beginning',
    [{ type: 'BindSettled', outcome: 'failed', reason: 'no bus' }],
    ['binds_ended_total outcome=failed reason=host 1'],
  ],
  [
    'a bind that was late',
    [{ type: 'BindSettled', outcome: 'failed', reason: 'the host did not answer in time', since: AT + 1 }],
    [
      'binds_ended_total outcome=failed reason=deadline 1',
      'deadlines_missed_total 1',
      'bind_seconds_count host_work=yes outcome=failed 1',
    ],
  ],
  [
    'what Nova was told',
    [{ type: 'NovaTold', endings: { a: 'delivered', b: 'delivered', c: 'gone' } }],
    ['nova_events_total outcome=delivered 2', 'nova_events_total outcome=gone 1'],
  ],
  ['what Nova has to be told again', [{ type: 'NovaTold', endings: {} }], ['nova_events_total outcome=retry 1']],
  ['what ends nothing', [{ type: 'BindAccepted' }], []],
])('of the journal: %s', async (_, events, shown) => {
  const meter = openMeter()
  const journal = observedJournal(memoryStore().journal, meter)
  const append = one('instance/i1', 1)
  const rows = append.rows.map((row) => ({ ...row, at: AT, events }))
  expect(await journal.append({ ...append, rows } as never)).toBe('appended')
  const counted = await lines(meter)
  expect(counted.filter((line) => /^(bind|nova|deadlines)/.test(line))).toEqual(shown)
  expect(counted).toContain('journal_rows_total 1')
  // events of other entities are not counted as binds
  const other = { ...append, rows: rows.map((row) => ({ ...row, key: 'arq/a1' })) }
  await journal.append({ ...other, commandId: 'c2' } as never)
  expect((await lines(meter)).filter((line) => /^(bind|nova|deadlines)/.test(line))).toEqual(shown)
})

test('of the bus: messages by topic, and a span for each trace', async () => {
  const meter = openMeter()
  const spans: unknown[] = []
  const tracer: Tracer = {
    ...untraced,
    part: (...given: readonly unknown[]) => {
      spans.push(given)
      return { trace: '', end: (failed?: string) => void spans.push(['end', failed]) }
    },
  }
  const record = (topic: string, traceparent?: string) => ({
    topic,
    key: 'k',
    value: 'v',
    headers: traceparent === undefined ? {} : { traceparent },
  })
  const published: unknown[] = []
  const port: Pick<Bus, 'publish'> = { publish: async (batch) => void published.push(...batch) }
  const batch = [
    record('arq.events.v1', 't1'),
    record('host.orders.v1', 't1'),
    record('x', 't2'),
    record('arq.events.v1'),
  ]
  await observedBus(port, { meter, tracer }).publish(batch)
  expect(published).toEqual(batch)
  expect(spans).toEqual([
    [
      'producer',
      'publish',
      't1',
      { 'messaging.destination.name': 'arq.events.v1 host.orders.v1', 'messaging.batch.message_count': 2 },
    ],
    ['producer', 'publish', 't2', { 'messaging.destination.name': 'x', 'messaging.batch.message_count': 1 }],
    ['end', undefined],
    ['end', undefined],
  ])
  expect(await lines(meter)).toMatchInlineSnapshot(`
    [
      "bus_publish_seconds_count outcome=stored 1",
      "bus_messages_total topic=arq.events.v1 2",
      "bus_messages_total topic=host.orders.v1 1",
      "bus_messages_total topic=other 1",
    ]
  `)
  expect(observedBus(port, {})).toBe(port)
  const failing: Pick<Bus, 'publish'> = { publish: () => Promise.reject(new Error('away')) }
  await expect(observedBus(failing, { tracer }).publish([record('x', 't3')])).rejects.toThrow('away')
  expect(spans.at(-1)).toEqual(['end', 'Error: away'])
})
