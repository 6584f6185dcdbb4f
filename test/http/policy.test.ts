/** The language of the policy rules and what operators may replace, as callers of the API meet it. */
import { describe, expect, test } from 'vitest'
import type { Identity } from '../../src/http/identity.ts'
import { strictApp } from './app.ts'

const RULE = 'cyborg:device:get_all'
type Rules = Readonly<Record<string, string>>
/** An application whose callers have the roles of the header, in the project p1. */
const appOf = (rules: Rules, fields?: Identity['fields'], enforceNewDefaults = false) =>
  strictApp(
    { policy: { enforceNewDefaults, rules } },
    {
      identify: (header) => ({
        userId: 'u1',
        projectId: 'p1',
        roles: (header('x-roles') ?? '').split(' '),
        serviceRoles: [],
        ...(fields && { fields }),
      }),
    },
  )
type Asked = { readonly line?: string; readonly fields?: Identity['fields']; readonly strict?: boolean }
/** Whether the rules let these roles do what the line says. */
const allows = async (rules: Rules, roles: string, { line = 'GET /v2/devices', fields, strict }: Asked = {}) => {
  const [method, path] = line.split(' ') as [string, string]
  const { app } = appOf(rules, fields, strict)
  const { status } = await app.request(path, { method, headers: { 'x-roles': roles } })
  return status !== 403
}
const holds = (text: string, roles: string, fields?: Identity['fields']) => allows({ [RULE]: text }, roles, { fields })

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
  ])('"%s" for %s is %s', async (text, roles, expected) => expect(await holds(text, roles)).toBe(expected))

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
  ])('"%s" cannot be read', (text, why) => expect(() => appOf({ [RULE]: text })).toThrow(why))
})

test('rules see the domains of a token, and whether its project is the one of administrators', async () => {
  const fields = { project_domain_id: 'default', user_domain_id: 'ldap', is_admin_project: 'False' } as const
  for (const [text, expected] of [
    ['project_domain_id:default', true],
    ['project_domain_id:ldap', false],
    ['user_domain_id:ldap', true],
    ['is_admin_project:True', false],
  ] as const)
    expect(await holds(text, 'x', fields), text).toBe(expected)
  expect(await holds('project_domain_id:default', 'x')).toBe(false)
})

describe('the rules in force', () => {
  test('an override replaces the default and its older form', async () => {
    const rules = { 'cyborg:arq:create': 'role:wizard' }
    const create = { line: 'POST /v2/accelerator_requests' }
    expect(await allows(rules, 'wizard', create)).toBe(true)
    expect(await allows(rules, 'admin member', create)).toBe(false)
    expect(await allows(rules, 'member', { line: 'DELETE /v2/accelerator_requests' })).toBe(true)
  })
  test('a base rule can be replaced, and others may name new ones', async () => {
    const enable = { line: 'POST /v2/devices/x/enable' }
    expect(await allows({ admin_api: 'role:boss' }, 'boss', enable)).toBe(true)
    expect(await allows({ admin_api: 'role:boss' }, 'admin', enable)).toBe(false)
    expect(await allows({ auditor: 'role:audit', [RULE]: 'rule:auditor' }, 'audit')).toBe(true)
  })
  test.each(
    Object.entries({
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
      allow: 'admin manager member reader service other',
      deny: '',
      default: 'admin manager member reader service other',
      is_admin: 'admin',
      admin_or_owner: 'admin manager member reader service other',
      admin_or_user: 'admin manager member reader service other',
      system_admin_api: '',
      system_reader_api: '',
      system_admin_or_owner: 'member',
      system_or_project_reader: 'reader',
    }),
  )('the base rule %s holds for "%s"', async (name, holders) => {
    for (const role of ['admin', 'manager', 'member', 'reader', 'service', 'other'])
      expect(await allows({ [RULE]: `rule:${name}` }, role, { strict: true }), role).toBe(
        holders.split(' ').includes(role),
      )
  })
  test('a circle is found however long it is, and a rule that is named twice is none', () => {
    const read = (rules: Rules) => () => appOf(rules)
    expect(read({ a: 'rule:b and rule:c', b: 'rule:c', c: '@' })).not.toThrow()
    expect(read({ a: 'rule:b', b: 'rule:c', c: 'rule:b' })).toThrow(
      'policy rules: b: it leads back to itself; c: it leads back to itself',
    )
    expect(read({ a: 'rule:a' })).toThrow('policy rules: a: it leads back to itself')
  })
  test('everything wrong is said at once', () => {
    const rules = { a: 'rule:b', b: 'rule:a', c: 'rule:gone', d: 'nonsense' }
    expect(() => appOf(rules)).toThrow(
      /d: "nonsense" is not a check.*a: it leads back to itself.*b: it leads back to itself.*c: there is no rule gone/,
    )
  })
})

test('with the new defaults a token with literally only admin reads requests and writes none', async () => {
  expect(await allows({}, 'admin', { line: 'POST /v2/accelerator_requests', strict: true })).toBe(false)
  expect(await allows({}, 'admin', { line: 'GET /v2/accelerator_requests', strict: true })).toBe(true)
})
