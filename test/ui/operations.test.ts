/** What operators look at: the system, what differs from Placement, and what is ignored of it. */
import { describe, expect, it, test } from 'vitest'
import { type Documents, ago, expectOwnKeys, expectSaid, pageOf, uuid } from './drawing.ts'
import { type Facts, LINKS, MAY, NOTE, compared, difference, found, may, overview, times } from './samples.ts'

const says = async (documents: Documents, place: string, texts: readonly string[]) =>
  expectSaid((await pageOf({ '/permissions': MAY, ...documents }, place)).said, texts)

const option = (key: string, value: unknown, source: string, from: string | null, secret = false) => ({
  ...{ key, value, source, from, secret },
})
const lag = (partition: number, messages: number) => ({
  ...{ topic: 'host.reports.v1', group: 'controls', partition, messages },
})
const AUDIT = {
  ...{ at: ago(3_600_000), version: '9.8', invariants: 57, violations: 3, violated: ['S1', 'L4'], rows: 123_456 },
  ...{ seconds: 12.3, sources: ['the database', 'the topics on kafka-1:9092'] },
}
const SYSTEM = {
  told_at: ago(0),
  process: { program: 'control', machine: 'control-1', pid: 4711, started_at: ago(86_400_000) },
  versions: { accelerando: '9.9', node: '24.0.0', schema: '0015', newer: ['0016'], api: { min: '2.0', max: '2.5' } },
  store: { kind: 'postgres', power_loss: 'as_the_server_is_set' },
  neighbours: [
    { name: 'keystone', state: 'in_use', detail: null },
    { name: 'images', state: 'in_use', detail: 'the image service' },
    { name: 'nova', state: 'failing', detail: 'connect ECONNREFUSED' },
    { name: 'placement', state: 'absent', detail: null },
  ],
  configuration: [
    option('listen', '0.0.0.0:6666', 'argument', '--listen'),
    option('enabled_drivers', ['pci_driver'], 'file', '/etc/accelerando.toml'),
    option('database', '(hidden)', 'environment', 'ACCELERANDO_DATABASE', true),
    option('bind.deadline_seconds', 120, 'default', null),
    option('images', null, 'default', null),
  ],
  consumers: { bus: 'kafka', lags: [lag(3, 1200), lag(0, 0), lag(1, 0)], lags_left_out: 2, problem: null },
  journal_writes: { count: 1000, since: ago(600_000), p50_ms: 0.42, p90_ms: 3, p99_ms: 41.5, max_ms: 1234 },
  last_audit: AUDIT,
  last_audit_problem: null,
}
const system = (more: Facts = {}): Documents => ({ '/system': { ...SYSTEM, ...more }, ...overview() })
const kafka = (more: Facts) => ({ consumers: { ...SYSTEM.consumers, ...more } })
describe('the system', () => {
  it.each<[string, Documents, readonly string[]]>([
    [
      'that is a control on PostgreSQL and Kafka',
      { ...system(), ...may({ 'cyborg:device:disable': true, 'cyborg:host:retire': false }) },
      [
        '|Program|accelerando control|Machine|control-1|Process ID|4711|Started|1 d ago|',
        '|Other controls of this cloud have times, consumers and neighbours of their own.|',
        '|Version|9.9|Schema|0015|API|2.0 to 2.5|Node|24.0.0|A newer program has migrated the database: 0016|',
        '|Kind|PostgreSQL|A power loss takes away what the settings of the PostgreSQL server allow',
        '|Keystone|in use|Images|in use|· the image service|Nova|failing|· connect ECONNREFUSED|Placement|not configured|',
        '|Half within|0.4 ms|90 % within|3.0 ms|99 % within|42 ms|Longest|1.23 s|Writes|1 000, the first |10 min ago|',
        '|host.reports.v1|controls|3|1 200|2 partitions are read to the end|',
        '|2 further partitions are not shown.|',
        '|List rows agree with the journal|holds|0|–|',
        '|Result|3 violations: S1, L4|Made|1 h ago|Read|123 456 journal rows in 12 s|',
        '|Sources|the database; the topics on kafka-1:9092|By version|9.8|',
        '|listen|0.0.0.0:6666|argument|--listen|enabled_drivers|["pci_driver"]|file|/etc/accelerando.toml|',
        '|database|(hidden)|environment|ACCELERANDO_DATABASE|2 options with their defaults|',
        '|Download the support bundle|',
        '|What you may do|device:disable|host:retire|not allowed|',
      ],
    ],
    [
      'that is one process with an embedded store',
      system({
        process: { program: 'start', machine: 'laptop', pid: 12, started_at: ago(5000) },
        versions: { ...SYSTEM.versions, newer: [] },
        store: { kind: 'pglite', power_loss: 'last_commits' },
        configuration: [option('images', null, 'default', null)],
        ...{ consumers: { bus: 'in_process', lags: [], lags_left_out: 0, problem: null }, journal_writes: null },
        last_audit: null,
      }),
      [
        '|accelerando start|',
        '!A newer program',
        '|Kind|Embedded, in the data folder|A power loss may take away the last requests that were answered',
        '|It has written nothing lately|',
        '|the bus inside this process|This process reads no topic|',
        '|No audit of this store is recorded|',
        '|No option is set: all have their defaults|1 option with its default|',
      ],
    ],
    [
      'that is in memory',
      system({ store: { kind: 'memory', power_loss: 'everything' } }),
      ['|Kind|Memory|A power loss, or the end of the process, takes everything away'],
    ],
    ['without a schema', system({ versions: { ...SYSTEM.versions, schema: null } }), ['|Schema|–|']],
    ['whose last audit found nothing', system({ last_audit: { ...AUDIT, violations: 0 } }), ['|57 invariants hold|']],
    [
      'whose last audit cannot be read',
      system({ last_audit_problem: 'a row is damaged' }),
      ['|The last audit cannot be read: a row is damaged|'],
    ],
    [
      'whose Kafka says why it does not know',
      system(kafka({ lags: null, problem: 'away' })),
      ['|Kafka|It is not known: away|'],
    ],
    ['whose Kafka says nothing', system(kafka({ lags: null })), ['|Kafka|It is not known: no answer|']],
    [
      'that broke a rule and writes nothing',
      {
        ...system(),
        ...overview({
          ...found('orphan_handles', 1200, 4000),
          journal: { newest_at: null, untold_since: ago(5000), writing_stopped: true },
        }),
      },
      ['|was broken|1 200|4 s ago|', '|The database has lost rows, and nothing is written.|'],
    ],
    [
      'of which a user may not make a support bundle',
      { ...system(), ...may({ 'cyborg:system:support_bundle': false }) },
      ['|You may not make one. The policy rule is |cyborg:system:support_bundle|.|', '|accelerando support-bundle|'],
    ],
    [
      'that cannot be read shows what holds all the same',
      overview(),
      ['|System|', '|There is no such thing|', '|List rows agree with the journal|holds|'],
    ],
  ])('%s', (_, documents, texts) => says(documents, 'system', texts))
})

const IGNORED = { by: 'kim', reason: 'known', at: ago(9000), until: ago(-86_400_000) }
const ignoredRow = (n: number, more: Facts = {}) => ({
  ...IGNORED,
  ...{ uuid: uuid(n), host: `host ${n}`, kind: 'provider', name: 'board', consumer_uuid: uuid(3) },
  ...{ difference_reason: 'Nova has it', ended: null, ...more },
})
const drift = (...all: readonly object[]): Documents => ({ '/drift': { drift: all } })
const ignored = (count: number): Documents => ({ '/drift/ignored': { ignored: times(count, ignoredRow) } })
const kind = (name: string, more: Facts = {}) => difference(1, { uuid: `of ${name}`, kind: name, ...more })
const MANY = {
  '/drift': {
    drift: [
      compared('agrees', []),
      compared('host-0', [
        kind('hardware', { repairs: ['a', 'b'], reason: 'gone' }),
        kind('provider'),
        kind('allocation_without_arq', { consumer_uuid: uuid(101) }),
        ...['arq_without_allocation', 'nova_device', 'server', 'something new'].map((name) => kind(name)),
        kind('server', { uuid: 'of another', ignored: { ...NOTE, until: ago(-90_000) } }),
      ]),
      compared('host-1', [], { state: 'away', reason: 'no answer' }),
      compared('host-2', [], { state: 'off', reason: null }),
    ],
    drift_links: LINKS,
  },
  ...ignored(2),
}
const HOST_1 = [
  difference(1, { reason: 'gone', consumer_uuid: uuid(9) }),
  difference(2, { repairs: ['provider'] }),
  difference(3, { ignored: IGNORED, kind: 'something new' }),
]
const AWAY = drift(compared('host 1', [], { state: 'unreachable', reason: 'no answer' }))
describe('drift', () => {
  it.each<[string, Documents, readonly string[]]>([
    [
      'names each kind of difference, what repairs it, and which hosts could not be compared',
      MANY,
      [
        '!|agrees|',
        '|host-0|last pass |5 s ago|Repair|What differs|Provider|Reason|Repair|Instance|Actions|',
        '|hardware and records differ|provider|gone|a, b|–|–|Placement shows it otherwise|provider|–|–|–|Ignore|',
        `|allocated in Placement, not bound|provider|–|–|${uuid(101)}|Ignore|bound, not allocated in Placement|`,
        '|Nova shows it otherwise|provider|–|–|–|Ignore|Nova does not know the server|',
        '|something new|provider|–|–|–|Ignore|host-1|last pass |5 s ago|away: no answer|',
        '|host-2|last pass |5 s ago|off|',
        '|Ignored|not counted until they are back|',
        '|host 0|Placement shows it otherwise|board|Nova has it|known|kim|in 1 d|Ignore no longer|',
        '|Further hosts|accelerando drift heal|',
      ],
    ],
    [
      'that is ignored is not counted',
      { ...drift(compared('h1', [difference(1, { ignored: IGNORED })])), ...ignored(1) },
      ['|Everything else agrees|1 host was compared just now.|1 difference is ignored.|'],
    ],
    [
      'that is none',
      drift(compared('h1', []), compared('h2', [])),
      ['|Everything agrees|2 hosts were compared just now.|'],
    ],
    [
      'that a user may not repair',
      { ...drift(compared('host 1', HOST_1)), ...may({ 'cyborg:drift:heal': false }) },
      ['|Repair: your roles do not allow cyborg:drift:heal.|'],
    ],
    ['that cannot be read', {}, ['|There is no such thing|', '|accelerando drift heal|']],
    ['of which 100 are ignored', ignored(100), ['!There are more']],
    ['of which 101 are ignored', ignored(101), ['There are more: accelerando drift ignored']],
  ])('%s', (_, documents, texts) => says(documents, 'drift', texts))
  test('is asked for anew, of one host or after one', async () => {
    const one = await pageOf({ '/permissions': MAY, ...MANY }, 'drift?host=host%201&after=h%201')
    expect(one.asked).toContain('/drift?limit=20&marker=h%201&host=host%201')
    expect(one.said).toContain('|Only host host 1 is shown. |All hosts|')
  })
  const ignore = (n: number) => `differences/${uuid(n)}.host%201/do/ignore`
  const unignore = `ignored/${uuid(1)}/do/unignore`
  const GONE = '|it is not there any more, or a pass over its host repairs it|Back|'
  const UNKNOWN = '|its host cannot be compared now, so nobody knows whether it is still there|Back|'
  it.each<[string, Documents, string, readonly string[]]>([
    [
      'that is there can be ignored',
      drift(compared('host 1', HOST_1)),
      ignore(1),
      [
        '|What differs|Nova does not know the server|Provider|provider|Reason|gone|',
        '|Until|· the beginning of this day in UTC, at most 90 days ahead|Reason|· kept in the journal|Ignore|Cancel|',
        `|accelerando drift ignore ${uuid(1)} --host 'host 1' --until DAY --reason TEXT|`,
      ],
    ],
    ['that a pass repairs cannot', drift(compared('host 1', HOST_1)), ignore(2), [GONE]],
    ['that is not there cannot', drift(compared('host 1', HOST_1)), ignore(4), [GONE]],
    ['of a host that is away cannot', AWAY, ignore(1), ['|Not compared|unreachable: no answer|', UNKNOWN]],
    ['that cannot be read cannot', {}, ignore(1), ['|Not compared|The API answered 404, without a reason.|', UNKNOWN]],
    [
      'that is ignored can be counted again',
      { [`/drift/ignored/${uuid(1)}`]: ignoredRow(1) },
      unignore,
      ['|Ignored|until 2026-03-02T12:00:00.000Z by kim: known|', '|Ignore no longer|Cancel|'],
    ],
    [
      'whose end of being ignored has come cannot',
      { [`/drift/ignored/${uuid(1)}`]: ignoredRow(1, { ended: IGNORED }) },
      unignore,
      ['|it is not ignored|Back|'],
    ],
    ['that nobody ignored cannot', {}, unignore, ['|it is not ignored|Back|']],
  ])('%s', (_, documents, place, texts) => says(documents, place, texts))
})
test('the entries of these pages have keys of their own', async () => {
  const documents = { '/permissions': MAY, ...MANY, ...system() }
  await expectOwnKeys(['system', 'drift'], (place) => pageOf(documents, place))
})
