/** Each judgement on facts made up for it; what is found on real parts is in test/cluster. */
import { describe, expect, test } from 'vitest'
import type { Finding } from '../../src/cli/doctor/check.ts'
import { judgeAll, listed, size, span } from '../../src/cli/doctor/check.ts'
import { DATABASE_CHECKS } from '../../src/cli/doctor/database.ts'
import { WORK_CHECKS } from '../../src/cli/doctor/work.ts'
import type { DatabaseFacts } from '../../src/persistence/inspect.ts'
import type { WorkFacts } from '../../src/persistence/inspectWork.ts'

const DATABASE: DatabaseFacts = {
  version: 180_001,
  role: 'accelerando',
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
  tables: [{ table: 'journal', bytes: 3 * 1024 * 1024, live: 12_000, dead: 10 }],
  work: null,
}
const HOLDER = { pid: 42, name: 'psql', user: 'ann', database: 'd', state: 'idle in transaction', ageMs: 90_000 }
const HOST = { name: 'compute-1', liveness: 'up', retired: false, silentMs: 900, failed: [] }
const WORK: WorkFacts = {
  lease: { holder: 'control-a', epoch: 3, remainsMs: 4000 },
  lag: { rows: 2, oldestMs: 100 },
  hosts: [HOST],
  orders: [{ host: 'compute-1', waiting: 1, late: 0 }],
  overdue: [],
  lateBinds: [],
  sharedKeys: [],
}

const found = (findings: readonly Finding[], check: string): Finding => findings.find((each) => each.check === check)!
const database = (check: string, facts: Partial<DatabaseFacts>) =>
  found(judgeAll(DATABASE_CHECKS, { ...DATABASE, ...facts }), check)
const work = (check: string, facts: Partial<WorkFacts>) => found(judgeAll(WORK_CHECKS, { ...WORK, ...facts }), check)

describe('a database', () => {
  test('that is well gives no cause for advice', () => {
    const findings = judgeAll(DATABASE_CHECKS, DATABASE)
    expect(findings.map(({ verdict }) => verdict)).toEqual(Array.from(findings, () => 'ok'))
    expect(findings.every(({ advice }) => advice === undefined)).toBe(true)
  })
  test('that lost rows is not written: a problem, with the way out', () => {
    expect(database('writing', { stopped: { reason: 'rows are gone', lost: 3 } })).toMatchObject({
      verdict: 'problem',
      says: 'stopped: rows are gone (3 rows known to be gone)',
      advice: expect.stringContaining('accelerando migrate --adopt'),
    })
  })
  test('used by a superuser: a warning; too old: a problem', () => {
    expect(database('database', { superuser: true })).toMatchObject({ verdict: 'warning' })
    expect(database('database', { version: 130_004 })).toMatchObject({
      verdict: 'problem',
      says: expect.stringContaining('PostgreSQL 13.4'),
    })
  })
  test('that lacks migrations is a problem, one that is ahead a warning', () => {
    expect(database('schema', { pending: ['0002_sharing'] })).toEqual({
      check: 'schema',
      verdict: 'problem',
      says: '1 migration not made: 0002_sharing',
      advice: 'run accelerando migrate',
    })
    expect(database('schema', { unknown: ['0009_x'] })).toMatchObject({ verdict: 'warning' })
  })
  test('whose role may not do what it must: the rights are named, and the command that gives them', () => {
    const finding = database('rights', { missingRights: ['insert on journal', 'update on due'] })
    expect(finding).toMatchObject({
      verdict: 'problem',
      says: 'role accelerando lacks insert on journal, update on due',
    })
    expect(finding.advice).toContain('migrate --grant-to accelerando')
    expect(database('schema', { pending: null })).toBeUndefined()
  })
  test('whose clock is off: what cannot be measured is not held against it', () => {
    expect(database('clock of the database', { skewMs: -700, skewErrorMs: 400 }).verdict).toBe('ok')
    expect(database('clock of the database', { skewMs: -700, skewErrorMs: 10 })).toMatchObject({ verdict: 'warning' })
    expect(database('clock of the database', { skewMs: 7000, skewErrorMs: 10 })).toMatchObject({
      verdict: 'problem',
      says: '7 s ahead of this machine (give or take 10 ms)',
    })
  })
  test('with an old open transaction: who, how old, how many rows wait, and how to end it', () => {
    const finding = database('open transactions', { holder: HOLDER, heldRows: 7 })
    expect(finding.verdict).toBe('problem')
    expect(finding.says).toBe(
      'pid 42 (psql, ann@d, idle in transaction) has been open for 90 s; 7 rows of the journal wait for it',
    )
    expect(finding.advice).toContain('pg_terminate_backend(42)')
    expect(database('open transactions', { holder: { ...HOLDER, ageMs: 20_000 } }).verdict).toBe('warning')
    expect(database('open transactions', { holder: { ...HOLDER, ageMs: 200 } }).verdict).toBe('ok')
  })
  test('with a transaction that was prepared and forgotten, or that the role may not see', () => {
    const prepared = { ...HOLDER, pid: null, name: 'gid-1', state: 'prepared' }
    expect(database('open transactions', { holder: prepared }).advice).toContain("rollback prepared 'gid-1'")
    expect(database('open transactions', { heldRows: 3 })).toMatchObject({ verdict: 'warning' })
  })
  test('whose journal came from another server', () => {
    expect(database('origin of the journal', { restored: true })).toMatchObject({ verdict: 'problem' })
  })
  test('whose dead rows pile up', () => {
    const due = { table: 'due', bytes: 1, live: 1000, dead: 200_000 }
    expect(database('size', { tables: [...DATABASE.tables, due] })).toMatchObject({
      verdict: 'warning',
      says: 'journal 3 MiB, about 12000 rows; dead rows: due 200000',
    })
  })
  test('that is empty: nothing is said of rights and sizes of tables that are not there', () => {
    const checks = judgeAll(DATABASE_CHECKS, { ...DATABASE, pending: ['0001'], tables: [] }).map(({ check }) => check)
    expect(checks).not.toContain('rights')
    expect(checks).not.toContain('size')
  })
})

describe('the work', () => {
  test('that goes on well', () => {
    expect(judgeAll(WORK_CHECKS, WORK).every(({ verdict }) => verdict === 'ok')).toBe(true)
    expect(work('relay', {}).says).toBe('control-a holds the lease (epoch 3); 2 rows to tell, the oldest 100 ms old')
  })
  test('that nobody relays is a problem only when something waits for it', () => {
    const late = { rows: 5, oldestMs: 9000 }
    for (const lease of [
      null,
      { holder: 'a', epoch: 1, remainsMs: -9000 },
      { holder: 'a', epoch: 1, remainsMs: null },
    ]) {
      expect(work('relay', { lease }).verdict).toBe('ok')
      expect(work('relay', { lease, lag: late }).verdict).toBe('problem')
    }
  })
  test('whose relay lags', () => {
    expect(work('relay', { lag: { rows: 9, oldestMs: 6000 } }).verdict).toBe('warning')
    expect(work('relay', { lag: { rows: 9, oldestMs: 61_000 } }).verdict).toBe('problem')
  })
  test('with hosts that are silent; those that were removed or taken out of service are not missed', () => {
    const host = (liveness: string) => ({ ...HOST, liveness, silentMs: 30_000 })
    expect(work('hosts', { hosts: [host('down'), HOST] })).toMatchObject({
      verdict: 'problem',
      says: '1 of 2 hosts down: compute-1 (silent for 30 s)',
    })
    expect(work('hosts', { hosts: [host('stale')] }).verdict).toBe('warning')
    expect(work('hosts', { hosts: [host('removed')] }).verdict).toBe('ok')
    const away = { ...host('down'), retired: true }
    expect(work('hosts', { hosts: [away, HOST] })).toMatchObject({
      verdict: 'ok',
      says: '1 host, all up; 1 out of service',
    })
    expect(work('hosts', { hosts: [{ ...HOST, liveness: 'pending', silentMs: null }] })).toMatchObject({
      verdict: 'warning',
      says: expect.stringContaining('waits for approval, or without a report since: compute-1'),
    })
  })
  test('with a driver that failed', () => {
    const hosts = [{ ...HOST, failed: ['pci_driver: no sysfs'] }]
    expect(work('drivers', { hosts })).toMatchObject({ verdict: 'problem', says: 'compute-1: pci_driver: no sysfs' })
  })
  test('with orders, deadlines and binds past their time', () => {
    expect(work('orders', { orders: [{ host: 'h', waiting: 3, late: 2 }] })).toMatchObject({ verdict: 'warning' })
    expect(work('deadlines', { overdue: [{ kind: 'instance', count: 4, oldestMs: 60_000 }] })).toMatchObject({
      verdict: 'problem',
      says: '4 of kind instance overdue for up to 60 s',
    })
    expect(work('binds', { lateBinds: ['u-1'] })).toMatchObject({ verdict: 'problem' })
  })
})

test('numbers and lists are told as people tell them', () => {
  expect([span(90), span(1500), span(600_000), span(10_800_000)]).toEqual(['90 ms', '1.5 s', '10 min', '3 h'])
  expect([size(0), size(1024), size(5.5 * 1024 ** 3)]).toEqual(['0 B', '1 KiB', '5.5 GiB'])
  expect(listed(['a', 'b', 'c', 'd', 'e', 'f', 'g'])).toBe('a, b, c, d, e and 2 more')
})
