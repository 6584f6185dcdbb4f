import { describe, expect, test } from 'vitest'
import { parseRule } from '../../src/http/policy/language.ts'
import { readPolicy } from '../../src/http/policy/policy.ts'
import { BASE_RULES, OPERATION_RULES } from '../../src/http/policy/rules.ts'
import type { RuleName } from '../../src/http/policy/rules.ts'

const creds = (roles: string, projectId = 'p1', userId = 'u1') => ({ roles: roles.split(' '), projectId, userId })
const holds = (text: string, roles: string): boolean => parseRule(text, () => undefined).check(creds(roles))

describe('the policy language', () => {
  test.each([
    ['', 'x', true],
    ['@', 'x', true],
    ['!', 'admin', false],
    ['role:admin', 'admin', true],
    ['role:Admin', 'admin', true],
    ['role:admin', 'member', false],
    ['not role:admin', 'member', true],
    ['not not role:admin', 'member', false],
    ['role:a and role:b', 'a b', true],
    ['role:a and role:b', 'a', false],
    ['role:a or role:b', 'b', true],
    ['role:a and role:b or role:c', 'c', true],
    ['role:c or role:a and role:b', 'a', false],
    ['(role:c or role:a) and role:b', 'a b', true],
    ['( role:c or role:a )and role:b', 'c', false],
    ['not role:a or role:a', 'a', true],
    ['not (role:a or role:b)', 'b', false],
    ['role:A AND NOT role:B', 'a', true],
    ['is_admin:True', 'admin', true],
    ['is_admin:True', 'member', false],
    ['is_admin:False', 'member', true],
    ['is_public_api:True', 'admin', false],
    ['project_id:%(project_id)s', 'x', true],
    ['project_id:p1', 'x', true],
    ['project_id:p2', 'x', false],
    ['user_id:%(user_id)s', 'x', true],
    ['user_id:u2', 'x', false],
    ['user_id:%(project_id)s', 'x', false],
    ['rule:nothing', 'admin', false],
    ['system_scope:all', 'admin', false],
    ['not system_scope:all', 'admin', true],
    ['is_admin_project:True', 'x', true],
    ['is_admin_project:False', 'x', false],
    ['tenant:%(project_id)s or user:nobody', 'x', true],
    ["'Member':%(role.name)s", 'member', false],
    ["'p1':%(project_id)s", 'x', true],
    ['"p2":%(project_id)s', 'x', false],
    ['True:True', 'x', true],
    ['project_id:%(target.project.id)s', 'x', false],
    ['token.project.domain.id:default', 'x', false],
    ['role:%(project_id)s', 'p1', true],
  ])('"%s" for %s is %s', (text, roles, expected) => expect(holds(text, roles)).toBe(expected))

  test.each([
    ['role:a and', 'it ends too early'],
    ['(role:a', 'a parenthesis is not closed'],
    ['role:a role:b', 'unexpected "role:b"'],
    ['role:a)', 'unexpected ")"'],
    ['admin', '"admin" is not a check'],
    ['rolex', '"rolex" is not a check'],
    ['rules', '"rules" is not a check'],
    [':admin', '":admin" is not a check'],
    ['color:red', '"color:red" is not a check'],
    ['http://example.org/check', '"http://example.org/check" is not a check'],
    ["'Member:x", `"'Member:x" is not a check`],
    ['constructor:x', '"constructor:x" is not a check'],
  ])('"%s" cannot be read', (text, why) => expect(() => parseRule(text, () => undefined)).toThrow(why))
})

test('rules see the domains of a token, and whether its project is the one of administrators', () => {
  const sees = (text: string) =>
    parseRule(text, () => undefined).check({
      ...creds('x'),
      fields: { project_domain_id: 'default', user_domain_id: 'ldap', is_admin_project: 'False' },
    })
  expect(
    ['project_domain_id:default', 'project_domain_id:ldap', 'user_domain_id:ldap', 'is_admin_project:True'].map(sees),
  ).toEqual([true, false, true, false])
  expect(holds('project_domain_id:default', 'x')).toBe(false)
})

describe('the rules in force', () => {
  const allows = (rules: Record<string, string>, rule: RuleName, roles: string, enforceNewDefaults = false): boolean =>
    readPolicy({ enforceNewDefaults, rules }).allows(rule, creds(roles))

  test('an override replaces the default and its older form', () => {
    const rules = { 'cyborg:arq:create': 'role:wizard' }
    expect(allows(rules, 'cyborg:arq:create', 'wizard')).toBe(true)
    expect(allows(rules, 'cyborg:arq:create', 'admin member')).toBe(false)
    expect(allows(rules, 'cyborg:arq:delete', 'member')).toBe(true)
  })
  test('a base rule can be replaced, and others may name new ones', () => {
    expect(allows({ admin_api: 'role:boss' }, 'cyborg:device:enable', 'boss')).toBe(true)
    expect(allows({ admin_api: 'role:boss' }, 'cyborg:device:enable', 'admin')).toBe(false)
    const rules = { auditor: 'role:audit', 'cyborg:device:get_all': 'rule:auditor' }
    expect(allows(rules, 'cyborg:device:get_all', 'audit')).toBe(true)
  })
  test('the text of each rule in force can be read', () => {
    const { textOf } = readPolicy({ enforceNewDefaults: false, rules: { 'cyborg:arq:create': 'role:wizard' } })
    expect([textOf('cyborg:arq:create'), textOf('cyborg:arq:update'), textOf('cyborg:host:retire')]).toEqual([
      'role:wizard',
      '(rule:project_member_or_service) or (rule:is_admin or (rule:admin_or_owner and not role:reader))',
      'rule:admin_api',
    ])
    const strict = readPolicy({ enforceNewDefaults: true, rules: {} })
    expect(strict.textOf('cyborg:arq:update')).toBe('rule:project_member_or_service')
  })
  test('the rules that operators may name hold for whom their names say', () => {
    const holders = (name: string) => {
      const { allows } = readPolicy({ enforceNewDefaults: true, rules: { 'cyborg:arq:create': `rule:${name}` } })
      return ['admin', 'manager', 'member', 'reader', 'service', 'other'].filter((role) =>
        allows('cyborg:arq:create', creds(role)),
      )
    }
    const all = ['admin', 'manager', 'member', 'reader', 'service', 'other']
    expect(Object.fromEntries(Object.keys(BASE_RULES).map((name) => [name, holders(name).join(' ')]))).toEqual({
      admin_api: 'admin',
      project_admin_api: 'admin',
      project_manager_api: 'manager',
      project_member_api: 'member',
      project_reader_api: 'reader',
      service_api: 'service',
      project_manager_or_admin: 'admin manager',
      project_member_or_admin: 'admin member',
      project_reader_or_admin: 'admin reader',
      project_member_or_service: 'member service',
      public_api: '',
      allow: all.join(' '),
      deny: '',
      default: all.join(' '),
      is_admin: 'admin',
      admin_or_owner: all.join(' '),
      admin_or_user: all.join(' '),
      system_admin_api: '',
      system_reader_api: '',
      system_admin_or_owner: 'member',
      system_or_project_reader: 'reader',
    })
  })
  test('a circle is found however long it is, and a rule that is named twice is none', () => {
    const read = (rules: Record<string, string>) => () => readPolicy({ enforceNewDefaults: false, rules })
    expect(read({ a: 'rule:b and rule:c', b: 'rule:c', c: '@' })).not.toThrow()
    expect(read({ a: 'rule:b', b: 'rule:c', c: 'rule:b' })).toThrow(
      'policy rules: b: it leads back to itself; c: it leads back to itself',
    )
    expect(read({ a: 'rule:a' })).toThrow('policy rules: a: it leads back to itself')
  })
  test('everything wrong is said at once', () => {
    const rules = { a: 'rule:b', b: 'rule:a', c: 'rule:gone', d: 'nonsense' }
    expect(() => readPolicy({ enforceNewDefaults: false, rules })).toThrow(
      /d: "nonsense" is not a check.*a: it leads back to itself.*b: it leads back to itself.*c: there is no rule gone/,
    )
  })
})

/** The tables of the contract: a letter for each that is allowed. */
const PERSONAS = {
  A: 'admin manager member reader',
  M: 'manager member reader',
  m: 'member reader',
  r: 'reader',
  s: 'service',
  o: 'somebody',
} as const
type Cells = { readonly [Rule in RuleName]: string }
const PROFILE_READS = { now: 'AMmr', legacy: 'AMmrso' }
const table = (mode: 'now' | 'legacy'): Cells => {
  const writes = mode === 'now' ? 'AMms' : 'AMmso'
  const reads = PROFILE_READS[mode]
  return {
    'cyborg:device_profile:get_all': reads,
    'cyborg:device_profile:get_one': reads,
    'cyborg:device_profile:create': 'A',
    'cyborg:device_profile:delete': 'A',
    'cyborg:device_profile:migrate': 'A',
    'cyborg:device_profile:update': 'A',
    'cyborg:device_profile:versions': 'A',
    'cyborg:device_profile:check': 'AM',
    'cyborg:arq:get_all': reads,
    'cyborg:arq:get_one': reads,
    'cyborg:arq:create': writes,
    'cyborg:arq:delete': writes,
    'cyborg:arq:update': writes,
    'cyborg:arq:force_unbind': 'A',
    'cyborg:device:get_all': 'AM',
    'cyborg:device:get_one': 'AM',
    'cyborg:device:disable': 'A',
    'cyborg:device:enable': 'A',
    'cyborg:deployable:get_all': 'AM',
    'cyborg:deployable:get_one': 'AM',
    'cyborg:deployable:program': 'A',
    'cyborg:attribute:get_all': 'AM',
    'cyborg:attribute:get_one': 'AM',
    'cyborg:attribute:create': 'A',
    'cyborg:attribute:delete': 'A',
    'cyborg:host:get_all': 'AM',
    'cyborg:host:get_one': 'AM',
    'cyborg:host:retire': 'A',
    'cyborg:host:restore': 'A',
    'cyborg:host:probe': 'A',
    'cyborg:host:approve': 'A',
    'cyborg:host:rekey': 'A',
    'cyborg:host:delete': 'A',
    'cyborg:handle:get_all': 'AM',
    'cyborg:handle:get_one': 'AM',
    'cyborg:handle:quarantine': 'A',
    'cyborg:handle:release': 'A',
    'cyborg:handle:clean': 'A',
    'cyborg:event:get_all': reads,
    'cyborg:usage:get_all': reads,
    'cyborg:drift:get_all': 'A',
    'cyborg:drift:heal': 'A',
    'cyborg:drift:ignore': 'A',
    'cyborg:orphan:get_all': 'A',
    'cyborg:orphan:collect': 'A',
    'cyborg:overview:get': 'A',
    'cyborg:system:get': 'A',
    'cyborg:system:support_bundle': 'A',
    'cyborg:permission:get_all': reads,
    'cyborg:delivery:get_all': 'A',
    'cyborg:delivery:resend': 'A',
    'cyborg:dead_letter:get_all': 'A',
    'cyborg:dead_letter:get_one': 'A',
    'cyborg:dead_letter:replay': 'A',
    'cyborg:dead_letter:drop': 'A',
  }
}

describe.each([
  ['with the new defaults', 'now'],
  ['in the older mode', 'legacy'],
] as const)('who may do what %s', (_, mode) => {
  const policy = readPolicy({ enforceNewDefaults: mode === 'now', rules: {} })
  test.each(Object.entries(table(mode)))('%s: %s', (rule, expected) => {
    const allowed = Object.entries(PERSONAS).filter(([, roles]) => policy.allows(rule as RuleName, creds(roles)))
    expect(allowed.map(([letter]) => letter).join('')).toBe(expected)
  })
  test('the table knows every rule', () => {
    expect(Object.keys(table(mode)).toSorted()).toEqual(Object.keys(OPERATION_RULES).toSorted())
  })
})

test('with the new defaults a token with literally only admin writes no requests', () => {
  const policy = readPolicy({ enforceNewDefaults: true, rules: {} })
  expect(policy.allows('cyborg:arq:create', creds('admin'))).toBe(false)
  expect(policy.allows('cyborg:arq:get_all', creds('admin'))).toBe(true)
})
