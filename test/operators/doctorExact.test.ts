/** What `doctor` says of made-up facts, word for word, on both sides of each limit. */
import { expect, test } from 'vitest'
import { differencesOf, wantedTopics } from '../../src/bus/kafka/topics.ts'
import type { KafkaFacts } from '../../src/bus/kafka/inspect.ts'
import { type Check, counted, judgeAll, listed, size, span } from '../../src/cli/doctor/check.ts'
import { DATABASE_CHECKS } from '../../src/cli/doctor/database.ts'
import { reportLines } from '../../src/cli/doctor/doctor.ts'
import { KAFKA_CHECKS } from '../../src/cli/doctor/kafka.ts'
import { API_CHECKS, type Answer } from '../../src/cli/doctor/neighbours.ts'
import { WORK_CHECKS } from '../../src/cli/doctor/work.ts'
import type { DatabaseFacts } from '../../src/persistence/inspect.ts'
import type { WorkFacts } from '../../src/persistence/inspectWork.ts'

/** For each case the findings that differ from those of `usual`, on one line each. */
const differing = <Facts extends object>(
  checks: readonly Check<Facts>[],
  usual: Facts,
  cases: readonly Partial<Facts>[],
): readonly string[] => {
  const linesOf = (facts: Facts) =>
    judgeAll(checks, facts).map(
      ({ check, verdict, says, advice }) =>
        `${verdict} ${check}: ${says}${advice === undefined ? '' : ` -> ${advice}`}`,
    )
  const before = linesOf(usual)
  return [
    ...before,
    ...cases.flatMap((more) => linesOf({ ...usual, ...more }).filter((line) => !before.includes(line))),
  ]
}

const DATABASE: DatabaseFacts = {
  version: 180_001,
  role: 'acc',
  superuser: false,
  skewMs: 20,
  skewErrorMs: 5,
  pending: [],
  unknown: [],
  missingRights: [],
  holder: null,
  heldRows: 0,
  restored: false,
  stopped: null,
  tables: [{ table: 'journal', bytes: 1536, live: 1, dead: 10 }],
  work: null,
}
const HOLDER = { pid: 42, name: 'psql', user: 'ann', database: 'd', state: 'idle', ageMs: 60_000 }
const due = (live: number, dead: number) => ({ tables: [...DATABASE.tables, { table: 'due', bytes: 1, live, dead }] })

test('of a database', () => {
  expect(
    differing(DATABASE_CHECKS, DATABASE, [
      { version: 140_000 },
      { version: 139_999 },
      { superuser: true },
      { pending: ['a'] },
      { pending: ['a', 'b', 'c', 'd', 'e', 'f'] },
      { unknown: ['z'] },
      { missingRights: ['insert on journal'] },
      { skewMs: 504 },
      { skewMs: 505 },
      { skewMs: -505 },
      { skewMs: 5004 },
      { skewMs: 5005 },
      { heldRows: 1 },
      { holder: { ...HOLDER, ageMs: 9999 } },
      { holder: { ...HOLDER, ageMs: 10_000 }, heldRows: 2 },
      { holder: { ...HOLDER, ageMs: 59_999 } },
      { holder: HOLDER },
      { holder: { ...HOLDER, pid: null, name: '' } },
      { restored: true },
      { stopped: { reason: 'gone', lost: 1 } },
      due(1, 99_999),
      due(233_334, 100_000),
      due(233_333, 100_000),
    ]),
  ).toMatchInlineSnapshot(`
    [
      "ok database: PostgreSQL 18.1 answers, as role acc",
      "ok schema: all migrations are made",
      "ok rights: role acc has all the privileges it needs",
      "ok clock of the database: 20 ms ahead of this machine (give or take 5 ms)",
      "ok open transactions: none delays the journal",
      "ok origin of the journal: written by this server",
      "ok writing: not stopped",
      "ok size: journal 1.5 KiB, about 1 row",
      "ok database: PostgreSQL 14.0 answers, as role acc",
      "problem database: PostgreSQL 13.9999 answers, as role acc, older than 14.0 -> upgrade PostgreSQL to a supported version",
      "warning database: PostgreSQL 18.1 answers, as role acc, a superuser -> use a role with the least rights: accelerando migrate --grant-to ROLE gives them",
      "problem schema: 1 migration not made: a -> run accelerando migrate",
      "problem schema: 6 migrations not made: a, b, c, d, e and 1 more -> run accelerando migrate",
      "warning schema: a newer accelerando has migrated it further: z -> fine during a rolling upgrade; otherwise use that newer version here as well",
      "problem rights: role acc lacks insert on journal -> as the owner of the tables: accelerando migrate --grant-to acc",
      "ok clock of the database: 504 ms ahead of this machine (give or take 5 ms)",
      "warning clock of the database: 505 ms ahead of this machine (give or take 5 ms) -> set both clocks by NTP; deadlines and the order of reports depend on them",
      "warning clock of the database: 505 ms behind this machine (give or take 5 ms) -> set both clocks by NTP; deadlines and the order of reports depend on them",
      "warning clock of the database: 5 s ahead of this machine (give or take 5 ms) -> set both clocks by NTP; deadlines and the order of reports depend on them",
      "problem clock of the database: 5 s ahead of this machine (give or take 5 ms) -> set both clocks by NTP; deadlines and the order of reports depend on them",
      "warning open transactions: 1 row of the journal wait for a transaction that this role may not see -> if it stays so, look at pg_stat_activity as a superuser, or grant pg_read_all_stats",
      "ok open transactions: none is old",
      "warning open transactions: pid 42 (psql, ann@d, idle) has been open for 10 s; 2 rows of the journal wait for it -> end it if it is forgotten: select pg_terminate_backend(42)",
      "warning open transactions: pid 42 (psql, ann@d, idle) has been open for 60 s; 0 rows of the journal wait for it -> end it if it is forgotten: select pg_terminate_backend(42)",
      "problem open transactions: pid 42 (psql, ann@d, idle) has been open for 60 s; 0 rows of the journal wait for it -> end it if it is forgotten: select pg_terminate_backend(42)",
      "problem open transactions: prepared transaction (no name, ann@d, idle) has been open for 60 s; 0 rows of the journal wait for it -> end it: rollback prepared ''",
      "problem origin of the journal: the journal was restored from another server: its rows have transaction ids of the future, so no reader gets them -> with all programs stopped: accelerando migrate --adopt",
      "problem writing: stopped: gone (1 row known to be gone) -> look at what is gone with \`accelerando migrate --check\`, then decide: accelerando migrate --adopt",
      "warning size: journal 1.5 KiB, about 1 row; dead rows: due 100000 -> autovacuum is too slow: look for old transactions, and let it run more often on these tables",
    ]
  `)
})

const WORK: WorkFacts = {
  lease: { holder: 'c1', epoch: 3, remainsMs: 1 },
  lag: { rows: 2, oldestMs: 100 },
  hosts: [{ name: 'h1', liveness: 'up', retired: false, silentMs: 900, failed: [] }],
  orders: [{ host: 'h1', waiting: 1, late: 0 }],
  overdue: [],
  lateBinds: [],
  sharedKeys: [],
}
const host = (liveness: string, silentMs: number | null = null, failed: readonly string[] = []) => ({
  hosts: [...WORK.hosts, { name: 'h2', liveness, retired: false, silentMs, failed: [...failed] }],
})
const LATE = { rows: 1, oldestMs: 5000 }
test('of the work', () => {
  expect(
    differing(WORK_CHECKS, WORK, [
      { lag: { rows: 1, oldestMs: 4999 } },
      { lag: { rows: 0, oldestMs: 5000 } },
      { lag: LATE },
      { lag: { rows: 1, oldestMs: 59_999 } },
      { lag: { rows: 1, oldestMs: 60_000 } },
      { lease: null },
      { lease: null, lag: LATE },
      { lease: { holder: 'c1', epoch: 3, remainsMs: null } },
      { lease: { holder: 'c1', epoch: 3, remainsMs: 0 } },
      { lease: { holder: 'c1', epoch: 3, remainsMs: -2000 }, lag: LATE },
      host('down', 90_000),
      host('down'),
      host('stale', 7200_000),
      host('pending'),
      host('removed', 1, ['pci_driver']),
      host('up', 1, ['pci_driver: no bus', 'other']),
      { hosts: [...WORK.hosts, { name: 'h3', liveness: 'up', retired: true, silentMs: 1, failed: ['pci_driver'] }] },
      { orders: [...WORK.orders, { host: 'h2', waiting: 5, late: 2 }] },
      { orders: [...WORK.orders, { host: 'h2', waiting: 5, late: 0 }] },
      { overdue: [{ kind: 'deadline', count: 2, oldestMs: 1000 }] },
      { lateBinds: ['i1', 'i2'] },
      {
        sharedKeys: [
          ['h1', 'h2'],
          ['h3', 'h4'],
        ],
      },
    ] as readonly Partial<WorkFacts>[]),
  ).toMatchInlineSnapshot(`
    [
      "ok relay: c1 holds the lease (epoch 3); 2 rows to tell, the oldest 100 ms old",
      "ok hosts: 1 host, all up",
      "ok keys of hosts: none is that of two hosts",
      "ok drivers: none has failed",
      "ok orders: 1 without an answer, none past its deadline",
      "ok deadlines: none was missed",
      "ok binds: every accepted bind is within its time",
      "ok relay: c1 holds the lease (epoch 3); 1 row to tell, the oldest 5 s old",
      "ok relay: c1 holds the lease (epoch 3); 0 rows to tell, the oldest 5 s old",
      "warning relay: c1 holds the lease (epoch 3); 1 row to tell, the oldest 5 s old -> read the log of c1: is Kafka slow or unreachable, or an old transaction open?",
      "warning relay: c1 holds the lease (epoch 3); 1 row to tell, the oldest 60 s old -> read the log of c1: is Kafka slow or unreachable, or an old transaction open?",
      "problem relay: c1 holds the lease (epoch 3); 1 row to tell, the oldest 60 s old -> read the log of c1: is Kafka slow or unreachable, or an old transaction open?",
      "ok relay: no relay has ever run; nothing has waited for long",
      "problem relay: no relay has ever run; 1 row to tell, the oldest 5 s old -> no control runs, or none reaches database and Kafka: start one, read its log",
      "ok relay: nobody relays: c1 gave the lease back; nothing has waited for long",
      "ok relay: the lease of c1 ended 0 ms ago and nobody took it; nothing has waited for long",
      "problem relay: the lease of c1 ended 2 s ago and nobody took it; 1 row to tell, the oldest 5 s old -> no control runs, or none reaches database and Kafka: start one, read its log",
      "problem hosts: 1 of 2 hosts down: h2 (silent for 90 s) -> start the host program there, read its log, or remove the host if it will not return",
      "problem hosts: 1 of 2 hosts down: h2 -> start the host program there, read its log, or remove the host if it will not return",
      "warning hosts: 1 of 2 hosts stale: h2 (silent for 2 h) -> check the host and its network",
      "warning hosts: 1 host with a key that waits for approval, or without a report since: h2 -> compare the key with the log of the host: accelerando host show, then host approve, or host remove",
      "ok hosts: 2 hosts, all up",
      "problem drivers: h2: pci_driver: no bus, h2: other -> fix the reported error on that host; until then its devices are shown as last reported",
      "ok hosts: 1 host, all up; 1 out of service",
      "warning orders: past their deadline without an answer: h2 2 -> these hosts are unreachable or cannot do the work: see their liveness and logs; a release is retried until it is answered",
      "ok orders: 6 without an answer, none past its deadline",
      "problem deadlines: 2 of kind deadline overdue for up to 1 s -> no control handles them: check that a control is running and reaches the database",
      "problem binds: still being bound after their time: i1, i2 -> their deadline was not handled: see deadlines, and accelerando audit for what was recorded",
      "problem keys of hosts: the same for h1, h2; for h3, h4: each is believed in the name of the others -> on all but one: stop the host program, remove key.pem in its data folder, start it, and name the new key of its log: accelerando host rekey NAME --key KEY --reason TEXT",
    ]
  `)
})

const [ORDERS] = wantedTopics('', { partitions: 12, replicas: 1, retentionMs: null }).filter(
  ({ topic }) => topic === 'host.orders.v1',
)
const FOUND = { ...ORDERS!, leaderless: 0, behind: 0 }
const KAFKA: KafkaFacts = {
  brokers: ['k1:9092', 'k2:9092'],
  topics: [{ topic: 'host.orders.v1', state: 'there', differences: [] }],
  found: [FOUND],
  groups: {
    control: { group: 'control', state: 'Stable', members: ['a'] },
    lag: [{ partition: 0, behind: 0, never: false }],
    hosts: [
      { group: 'host-a', state: 'Stable', members: ['x'] },
      { group: 'host-b', state: 'Empty', members: [] },
    ],
    leftOver: [],
  },
  deadLetters: 0,
}
const groups = (more: Partial<KafkaFacts['groups']>): Partial<KafkaFacts> => ({ groups: { ...KAFKA.groups, ...more } })
const lag = (...behind: readonly number[]) =>
  groups({ lag: behind.map((each, partition) => ({ partition, behind: each, never: false })) })
const other = (found: Partial<typeof FOUND>): Partial<KafkaFacts> => ({
  topics: [
    { topic: 'host.orders.v1', state: 'differs', differences: differencesOf(ORDERS!, { ...FOUND, ...found }) },
    ...KAFKA.topics,
  ],
})
const config = (name: string, value: string) => other({ configs: { ...ORDERS!.configs, [name]: value } })
test('of the brokers', () => {
  expect(
    differing(KAFKA_CHECKS, KAFKA, [
      { brokers: ['k1:9092'] },
      { topics: [...KAFKA.topics, { topic: 'a', state: 'missing', differences: [] }] },
      other({ partitions: 6 }),
      other({ partitions: 24 }),
      other({ replicas: 3 }),
      config('cleanup.policy', 'compact'),
      config('retention.ms', '1'),
      config('min.insync.replicas', '2'),
      config('compression.type', 'gzip'),
      { found: [{ ...FOUND, leaderless: 1, behind: 1 }] },
      { found: [{ ...FOUND, behind: 1 }, FOUND] },
      { found: [{ ...FOUND, configs: { 'min.insync.replicas': '2' } }] },
      {
        found: [
          { ...FOUND, configs: { 'min.insync.replicas': '3' } },
          { ...FOUND, configs: {} },
        ],
      },
      groups({ lag: null }),
      groups({ control: { group: 'control', state: 'Empty', members: [] } }),
      lag(0, 1),
      lag(500, 499),
      lag(500, 500),
      lag(99_999),
      lag(100_000),
      groups({ leftOver: ['host-b'] }),
      { deadLetters: 1 },
    ]),
  ).toMatchInlineSnapshot(`
    [
      "ok kafka: 2 brokers: k1:9092, k2:9092",
      "ok topics: all 1 exist",
      "ok copies: all in sync",
      "ok writable: enough brokers for min.insync.replicas",
      "ok controls: 1 member in group control (Stable), all reports consumed",
      "ok host groups: 1 with a host, none left over",
      "ok dead letters: none",
      "ok kafka: 1 broker: k1:9092",
      "problem topics: 1 of 2 missing: a -> run accelerando topic create",
      "ok topics: all 2 exist",
      "problem topics: partitions: host.orders.v1 has 6, not 12 -> the count is never changed here: partitions are added with kafka-topics.sh --alter, and running controls and hosts follow within 10 s; or set kafka.partitions to what is there",
      "ok topics: all 2 exist",
      "problem topics: partitions: host.orders.v1 has 24, not 12 -> the count is never changed here: partitions are added with kafka-topics.sh --alter, and running controls and hosts follow within 10 s; or set kafka.partitions to what is there",
      "ok topics: all 2 exist",
      "warning topics: replicas: host.orders.v1 has 3, not 1 -> copy the partitions with kafka-reassign-partitions.sh, or set kafka.replicas to what is there",
      "ok topics: all 2 exist",
      "problem topics: cleanup.policy: host.orders.v1 has compact, not delete -> topics create --apply sets it",
      "ok topics: all 2 exist",
      "warning topics: retention.ms: host.orders.v1 has 1, not 259200000 -> topics create --apply sets it",
      "ok topics: all 2 exist",
      "warning topics: min.insync.replicas: host.orders.v1 has 2, not 1 -> topics create --apply sets it",
      "ok topics: all 2 exist",
      "warning topics: compression.type: host.orders.v1 has gzip, not uncompressed -> topics create --apply sets it",
      "problem copies: partitions without a leader: host.orders.v1 -> start the brokers that are down",
      "warning copies: replicas are missing or behind: host.orders.v1 -> a broker is down or slow: check the brokers",
      "problem writable: min.insync.replicas is above the number of brokers (2): host.orders.v1 -> nothing can be published there: start the other brokers, or lower it with accelerando topic create --apply",
      "problem controls: 0 members in group control (Empty), all reports consumed -> no control consumes the reports of hosts: start one",
      "ok controls: 1 member in group control (Stable), reports not consumed: 1 (partition 1: 1)",
      "ok controls: 1 member in group control (Stable), reports not consumed: 999 (partition 0: 500, partition 1: 499)",
      "warning controls: 1 member in group control (Stable), reports not consumed: 1000 (partition 0: 500, partition 1: 500) -> check again later: if it grows, add a control",
      "warning controls: 1 member in group control (Stable), reports not consumed: 99999 (partition 0: 99999) -> check again later: if it grows, add a control",
      "problem controls: 1 member in group control (Stable), reports not consumed: 100000 (partition 0: 100000) -> the controls are too slow: add one, and check the database",
      "warning host groups: 1 with a host, 1 left over: host-b -> harmless; accelerando doctor --mend deletes them, else the broker does after offsets.retention.minutes",
      "warning dead letters: 1 message on the topic -> see accelerando dead-letter list; when the cause is mended, accelerando dead-letter retry",
    ]
  `)
})

const ANSWER: Answer = { url: 'http://a', status: 200, reason: '', skewMs: 300 }
test('of the services that answer over HTTP', () => {
  const cases: readonly Partial<Answer>[] = [
    { status: null, reason: 'refused', skewMs: null },
    { status: 503 },
    { status: 404 },
    { status: 499 },
    { status: 500 },
    { skewMs: 2999 },
    { skewMs: 3000 },
    { skewMs: -3000 },
  ]
  expect(differing(API_CHECKS, ANSWER, cases)).toMatchInlineSnapshot(`
    [
      "ok api: http://a is ready",
      "ok clock of the api: 300 ms ahead of this machine (give or take 1 s)",
      "problem api: http://a does not answer: refused -> check that a control is running there",
      "problem api: http://a is not ready -> its log and /readyz of its admin listener say why",
      "problem api: http://a answered 404 -> check that this is the address of the API of a control",
      "problem api: http://a answered 499 -> check that this is the address of the API of a control",
      "problem api: http://a answered 500 -> check that this is the address of the API of a control",
      "ok clock of the api: 3 s ahead of this machine (give or take 1 s)",
      "warning clock of the api: 3 s ahead of this machine (give or take 1 s) -> set both clocks by NTP",
      "warning clock of the api: 3 s behind this machine (give or take 1 s) -> set both clocks by NTP",
    ]
  `)
})

test('names, spans, sizes and numbers', () => {
  expect(['1', '2', '3', '4', '5', '6', '7'].map((_, at, all) => listed(all.slice(0, at + 1)))).toMatchInlineSnapshot(`
    [
      "1",
      "1, 2",
      "1, 2, 3",
      "1, 2, 3, 4",
      "1, 2, 3, 4, 5",
      "1, 2, 3, 4, 5 and 1 more",
      "1, 2, 3, 4, 5 and 2 more",
    ]
  `)
  expect([0, 0.4, -999, 1000, 1049, 1050, 119_999, 120_000, 7_199_999, 7_200_000, -9_000_000].map(span))
    .toMatchInlineSnapshot(`
    [
      "0 ms",
      "0 ms",
      "999 ms",
      "1 s",
      "1 s",
      "1.1 s",
      "120 s",
      "2 min",
      "120 min",
      "2 h",
      "2.5 h",
    ]
  `)
  expect([0, 1, 1023, 1024, 1100, 1024 ** 2 - 1, 1024 ** 2, 1024 ** 3, 1024 ** 4, 1024 ** 5].map(size))
    .toMatchInlineSnapshot(`
    [
      "0 B",
      "1 B",
      "1023 B",
      "1 KiB",
      "1.1 KiB",
      "1024 KiB",
      "1 MiB",
      "1 GiB",
      "1 TiB",
      "1024 TiB",
    ]
  `)
  expect([0, 1, 2].map((count) => counted(count, 'row'))).toEqual(['0 rows', '1 row', '2 rows'])
})

test('the report: a line for each finding, its advice below, and the sum', () => {
  expect(
    reportLines([
      { check: 'short', verdict: 'ok', says: 'a' },
      { check: 'longer name', verdict: 'warning', says: 'b', advice: 'c' },
      { check: 'x', verdict: 'problem', says: 'd', advice: 'e' },
    ]),
  ).toEqual([
    'ok       short        a',
    'warning  longer name  b',
    '                      -> c',
    'problem  x            d',
    '                      -> e',
    '1 problem, 1 warning, 1 ok',
  ])
  expect(reportLines([])).toEqual(['0 problems, 0 warnings, 0 ok'])
})
