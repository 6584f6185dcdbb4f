/** The table that operators see is the one of rest-api 9.3. */
import { describe, expect, test } from 'vitest'
import { ROLE_NAMES, policyTable } from '../../src/cli/operators/policyTable.ts'

const COLUMNS = ['admin', 'manager', 'member', 'reader', 'service', 'other']
const shown = (enforceNewDefaults: boolean, rules: Readonly<Record<string, string>> = {}) => {
  const { heads, rows } = policyTable({ enforceNewDefaults, rules })
  expect(heads).toEqual(COLUMNS)
  return Object.fromEntries(
    rows.map(({ operation, allowed }) => [operation.slice('cyborg:'.length), heads.filter((head) => allowed[head])]),
  )
}

describe('who may do what', () => {
  test('under the new defaults', () => {
    expect(shown(true)).toMatchObject({
      'device_profile:get_all': ['admin', 'manager', 'member', 'reader'],
      'device_profile:create': ['admin'],
      'arq:get_one': ['admin', 'manager', 'member', 'reader'],
      'arq:create': ['admin', 'manager', 'member', 'service'],
      'device:get_all': ['admin', 'manager'],
      'device:disable': ['admin'],
      'handle:release': ['admin'],
    })
  })
  test('while the older defaults are accepted as well', () => {
    expect(shown(false)).toMatchObject({
      'device_profile:get_all': COLUMNS,
      'device_profile:create': ['admin'],
      'arq:create': COLUMNS.filter((role) => role !== 'reader'),
      'device:get_all': ['admin', 'manager'],
      'device:disable': ['admin'],
    })
  })
  test('with a rule of the operator, whose text is shown', () => {
    const rules = { 'cyborg:device:get_all': 'role:reader or rule:service_api' }
    expect(shown(true, rules)['device:get_all']).toEqual(['admin', 'manager', 'member', 'reader', 'service'])
    const row = policyTable({ enforceNewDefaults: true, rules }).rows.find(
      ({ operation }) => operation === 'cyborg:device:get_all',
    )
    expect(row?.rule).toBe('role:reader or rule:service_api')
  })
  test('for the roles of one token', () => {
    const { heads, rows } = policyTable({ enforceNewDefaults: true, rules: {} }, ' Admin ,service')
    expect(heads).toEqual(['admin+service'])
    expect(rows.find(({ operation }) => operation === 'cyborg:device:disable')?.allowed).toEqual({
      'admin+service': true,
    })
    expect(() => policyTable({ enforceNewDefaults: true, rules: {} }, 'a,,b')).toThrow(
      '--as: must be roles with commas between them',
    )
  })
  test('a role implies the lower ones, service and others nothing', () => {
    const allowed = (role: string) => shown(true, { 'cyborg:device:get_all': `role:${role}` })['device:get_all']
    expect(Object.fromEntries([...COLUMNS, 'nobody'].map((role) => [role, allowed(role)]))).toEqual({
      admin: ['admin'],
      manager: ['admin', 'manager'],
      member: ['admin', 'manager', 'member'],
      reader: ['admin', 'manager', 'member', 'reader'],
      service: ['service'],
      other: ['other'],
      nobody: [],
    })
    expect(ROLE_NAMES).toEqual(COLUMNS)
  })
})
