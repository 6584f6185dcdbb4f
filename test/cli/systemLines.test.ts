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
