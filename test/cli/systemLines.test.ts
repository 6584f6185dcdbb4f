/** The text of `accelerando system`. */
import { expect, test } from 'vitest'
import type { SystemDocument } from '../../src/cli/operators/apiShapes.ts'
import { systemLines, systemRows } from '../../src/cli/operators/systemLines.ts'

const at = '2026-11-21T12:00:00+00:00'
const option = (key: string, from: string | null): SystemDocument['configuration'][number] => ({
  key,
  value: 90,
  source: from === null ? 'default' : 'file',
  from,
  secret: false,
})
const system = (violated: string[], configuration: SystemDocument['configuration']): SystemDocument => ({
  told_at: at,
  process: { program: 'start', machine: 'm', pid: 1, started_at: at },
  versions: { accelerando: '1.0.0', node: '24.0.0', schema: null, newer: [], api: { min: '2.0', max: '2.3' } },
  store: { kind: 'memory', power_loss: 'everything' },
  neighbours: [],
  configuration,
  consumers: { bus: 'in_process', lags: [], lags_left_out: 0, problem: null },
  journal_writes: null,
  last_audit: {
    at,
    version: '1.0.0',
    invariants: 57,
    violations: violated.length,
    violated,
    rows: 9,
    seconds: 0.5,
    sources: ['the database'],
  },
  last_audit_problem: null,
})

test('one violation and one option are counted in the singular', () => {
  const lines = systemLines(system(['S1'], [option('a', '/etc/a.toml'), option('b', null), option('c', null)]))
  expect(lines.find((line) => line.includes('S1'))).toContain('1 violation: S1')
  expect(lines).toContain('configuration: 1 option is set, 2 have their defaults')
})

test('several are counted in the plural', () => {
  const lines = systemLines(
    system(
      ['S1', 'L4'],
      [option('a', '/etc/a.toml'), option('b', '/etc/a.toml'), option('c', null), option('d', null)],
    ),
  )
  expect(lines.find((line) => line.includes('S1'))).toContain('2 violations: S1, L4')
  expect(lines).toContain('configuration: 2 options are set, 2 have their defaults')
})

test('an option is shown with what set it', () => {
  const rows = systemRows(system([], [option('a', '/etc/a.toml'), option('b', null)]))
  expect(rows.filter(({ part }) => part === 'configuration').map(({ value }) => value)).toEqual([
    '90 (file: /etc/a.toml)',
    '90 (default)',
  ])
})

const told: SystemDocument = {
  told_at: at,
  process: { program: 'control', machine: 'node-7', pid: 4711, started_at: '2026-11-20T08:00:00+00:00' },
  versions: {
    accelerando: '1.2.3',
    node: '24.1.0',
    schema: '0042_handles',
    newer: ['0043_quota', '0044_notes'],
    api: { min: '2.0', max: '2.3' },
  },
  store: { kind: 'postgres', power_loss: 'as_the_server_is_set' },
  neighbours: [
    { name: 'keystone', state: 'in_use', detail: null },
    { name: 'images', state: 'in_use', detail: 'a folder' },
    { name: 'placement', state: 'absent', detail: null },
    { name: 'nova', state: 'failing', detail: 'it answers 503' },
  ],
  configuration: [
    { key: 'listen', value: '127.0.0.1:7000', source: 'argument', from: '--listen', secret: false },
    { key: 'database', value: '(hidden)', source: 'environment', from: 'ACCELERANDO_DATABASE', secret: true },
    { key: 'kafka.prefix', value: '', source: 'file', from: '/etc/a.toml', secret: false },
    { key: 'images.dir', value: null as never, source: 'file', from: '/etc/a.toml', secret: false },
    { key: 'enabled_drivers', value: ['pci_driver'], source: 'file', from: '/etc/b.toml', secret: false },
    { key: 'bind.deadline_seconds', value: 90, source: 'default', from: null, secret: false },
  ],
  consumers: {
    bus: 'kafka',
    lags: [
      { topic: 'host.reports.v1', group: 'controls', partition: 3, messages: 12 },
      { topic: 'host.orders.v1', group: 'host-a', partition: 0, messages: 1 },
    ],
    lags_left_out: 1,
    problem: null,
  },
  journal_writes: {
    count: 100,
    since: '2026-11-21T11:00:00+00:00',
    p50_ms: 1.5,
    p90_ms: 2.5,
    p99_ms: 3.5,
    max_ms: 4.5,
  },
  last_audit: {
    at: '2026-11-21T10:00:00+00:00',
    version: '1.2.2',
    invariants: 57,
    violations: 0,
    violated: [],
    rows: 900,
    seconds: 0.5,
    sources: ['the database', 'the topics'],
  },
  last_audit_problem: null,
}
/** The facts of one part, by name. */
const partOf = (part: string, more: Partial<SystemDocument>) =>
  Object.fromEntries(
    systemRows({ ...told, ...more })
      .filter((row) => row.part === part)
      .map(({ name, value }) => [name, value]),
  )

test('the text has every fact under its part, and of the options those that are set', () => {
  expect(systemLines(told).join('\n')).toMatchInlineSnapshot(`
    "process
      program  control
      machine  node-7
      pid      4711
      started  2026-11-20T08:00:00+00:00

    versions
      accelerando         1.2.3
      schema              0042_handles
      of a newer program  0043_quota 0044_notes
      api                 2.0 to 2.3
      node                24.1.0

    store
      kind             postgres
      at a power loss  as the settings of the server allow

    neighbours
      keystone   in use
      images     in use: a folder
      placement  not configured
      nova       failing: it answers 503

    journal writes
      writes   100
      since    2026-11-21T11:00:00+00:00
      p50      1.5 ms
      p90      2.5 ms
      p99      3.5 ms
      longest  4.5 ms

    consumer lag
      host.reports.v1/3 controls  12
      host.orders.v1/0 host-a     1
      not shown                   1

    last audit
      at       2026-11-21T10:00:00+00:00
      result   clean: 57 invariants hold
      read     900 journal rows in 0.5 s
      sources  the database; the topics
      version  1.2.2

    configuration: 5 options are set, 1 have their defaults
      listen           127.0.0.1:7000  argument: --listen
      database         (hidden)        environment: ACCELERANDO_DATABASE
      kafka.prefix     ""              file: /etc/a.toml
      images.dir       -               file: /etc/a.toml
      enabled_drivers  ["pci_driver"]  file: /etc/b.toml"
  `)
})
test('the rows have every fact, and every option', () => {
  expect(systemRows(told).map(({ part, name, value }) => `${part} | ${name} | ${value}`)).toMatchInlineSnapshot(`
    [
      "process | program | control",
      "process | machine | node-7",
      "process | pid | 4711",
      "process | started | 2026-11-20T08:00:00+00:00",
      "versions | accelerando | 1.2.3",
      "versions | schema | 0042_handles",
      "versions | of a newer program | 0043_quota 0044_notes",
      "versions | api | 2.0 to 2.3",
      "versions | node | 24.1.0",
      "store | kind | postgres",
      "store | at a power loss | as the settings of the server allow",
      "neighbours | keystone | in use",
      "neighbours | images | in use: a folder",
      "neighbours | placement | not configured",
      "neighbours | nova | failing: it answers 503",
      "journal writes | writes | 100",
      "journal writes | since | 2026-11-21T11:00:00+00:00",
      "journal writes | p50 | 1.5 ms",
      "journal writes | p90 | 2.5 ms",
      "journal writes | p99 | 3.5 ms",
      "journal writes | longest | 4.5 ms",
      "consumer lag | host.reports.v1/3 controls | 12",
      "consumer lag | host.orders.v1/0 host-a | 1",
      "consumer lag | not shown | 1",
      "last audit | at | 2026-11-21T10:00:00+00:00",
      "last audit | result | clean: 57 invariants hold",
      "last audit | read | 900 journal rows in 0.5 s",
      "last audit | sources | the database; the topics",
      "last audit | version | 1.2.2",
      "configuration | listen | 127.0.0.1:7000 (argument: --listen)",
      "configuration | database | (hidden) (environment: ACCELERANDO_DATABASE)",
      "configuration | kafka.prefix | "" (file: /etc/a.toml)",
      "configuration | images.dir | - (file: /etc/a.toml)",
      "configuration | enabled_drivers | ["pci_driver"] (file: /etc/b.toml)",
      "configuration | bind.deadline_seconds | 90 (default)",
    ]
  `)
})
test('without migrations of a newer program, and without a schema, the versions say so', () => {
  const { versions } = told
  expect(partOf('versions', { versions: { ...versions, newer: [], schema: null } })).toEqual({
    accelerando: '1.2.3',
    schema: '-',
    api: '2.0 to 2.3',
    node: '24.1.0',
  })
})
test.each([
  ['memory', 'everything', 'everything is lost'],
  ['pglite', 'last_commits', 'the last commits may be lost'],
] as const)('a store of the kind %s says what a power loss takes away', (kind, loss, said) => {
  expect(partOf('store', { store: { kind, power_loss: loss } })).toEqual({ kind, 'at a power loss': said })
})
test('a lag that is not known says why, and none is left out where all are shown', () => {
  const { consumers } = told
  const unknown = { ...consumers, lags: null }
  expect(partOf('consumer lag', { consumers: { ...unknown, problem: 'no broker answers' } })).toEqual({
    problem: 'no broker answers',
  })
  expect(partOf('consumer lag', { consumers: unknown })).toEqual({ problem: 'not known' })
  expect(partOf('consumer lag', { consumers: { ...consumers, lags_left_out: 0 } })).toEqual({
    'host.reports.v1/3 controls': '12',
    'host.orders.v1/0 host-a': '1',
  })
})
test('without an audit the text says whether there is none or whether it cannot be read', () => {
  expect(partOf('last audit', { last_audit: null })).toEqual({ at: 'none is recorded' })
  expect(partOf('last audit', { last_audit: null, last_audit_problem: 'the store is away' })).toEqual({
    at: 'unknown: the store is away',
  })
})
test('without writes their number is 0', () => {
  expect(partOf('journal writes', { journal_writes: null })).toEqual({ writes: '0' })
})
