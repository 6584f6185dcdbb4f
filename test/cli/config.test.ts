import { describe, expect, test } from 'vitest'
import { CONTROL_DEFAULTS } from '../../src/services/kernel/kernel.ts'
import { loadConfig, safeHostName } from '../../src/cli/config/config.ts'
import type { Config } from '../../src/cli/config/config.ts'
import { DEFAULTS } from '../../src/http/options.ts'

type Given = {
  readonly flags?: Record<string, unknown>
  readonly env?: Record<string, string>
  readonly files?: Record<string, string>
}
const load = ({ flags = {}, env = {}, files = {} }: Given) =>
  loadConfig({
    flags,
    env: { PATH: '/bin', ...env },
    readFile: (path) => {
      const text = files[path]
      if (text === undefined) throw new Error(`ENOENT: no such file or directory, open '${path}'`)
      return text
    },
    osHostname: 'compute-1.example',
  })
const config = (given: Given): Config => {
  const loaded = load(given)
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'))
  return loaded.config
}
const problems = (given: Given): readonly string[] => {
  const loaded = load(given)
  return loaded.ok ? [] : loaded.problems
}
const inFile = (text: string, more: Omit<Given, 'files'> = {}): Given => ({
  ...more,
  flags: { config: 'c.toml', ...more.flags },
  files: { 'c.toml': text },
})

test('nothing given is every default, and those of the rooms are theirs', () => {
  const all = config({})
  expect(all.control).toEqual(CONTROL_DEFAULTS)
  expect(all.http).toEqual(DEFAULTS)
  expect(all).toMatchObject({
    listen: { host: '127.0.0.1', port: 6666 },
    adminListen: { host: '127.0.0.1', port: 6671, chosen: false },
    data: './data',
    database: null,
    images: null,
    nova: { url: null, timeoutMs: 10_000, headers: {}, tokenFile: null },
    demo: null,
    tour: false,
    testDoors: false,
    noauthAnywhere: false,
    host: { name: 'compute-1.example', reportEveryMs: 60_000, heartbeatEveryMs: 5000 },
    enabledDrivers: ['pci_driver'],
  })
})

describe('precedence', () => {
  const file = '[nova]\nurl = "http://file"\n'
  test('the file is stronger than the default', () => {
    expect(config(inFile(file)).nova?.url).toBe('http://file')
  })
  test('the environment is stronger than the file', () => {
    expect(config(inFile(file, { env: { ACCELERANDO_NOVA_URL: 'http://env' } })).nova?.url).toBe('http://env')
  })
  test('a flag is stronger than the environment', () => {
    const given = inFile(file, { env: { ACCELERANDO_NOVA_URL: 'http://env' }, flags: { novaUrl: 'http://flag' } })
    expect(config(given).nova?.url).toBe('http://flag')
  })
  test('an empty variable sets nothing', () => {
    expect(config(inFile(file, { env: { ACCELERANDO_NOVA_URL: '' } })).nova?.url).toBe('http://file')
  })
  test('a variable without a value sets nothing', () => {
    const env = { ACCELERANDO_NOVA_URL: undefined, ACCELERANDO_NOVA_ULR: undefined }
    const loaded = loadConfig({ env, readFile: () => '', osHostname: 'here' })
    expect(loaded).toMatchObject({ ok: true, config: { nova: { url: null } } })
  })
  test('the file itself may be named by the environment, and by a flag instead', () => {
    const files = { 'a.toml': 'data = "a"', 'b.toml': 'data = "b"' }
    const env = { ACCELERANDO_CONFIG: 'a.toml' }
    expect(config({ env, files }).data).toBe('a')
    expect(config({ env, files, flags: { config: 'b.toml' } }).data).toBe('b')
  })
})

describe('values', () => {
  test('seconds become milliseconds, fractions too, from text and from TOML', () => {
    expect(config({ env: { ACCELERANDO_BIND_DEADLINE_SECONDS: '1.5' } }).control.bindDeadlineMs).toBe(1500)
    expect(config(inFile('[bind]\ndeadline_seconds = 0.25')).control.bindDeadlineMs).toBe(250)
  })
  test.each([
    ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
    ['[::1]:6666', { host: '::1', port: 6666 }],
    ['localhost:80', { host: 'localhost', port: 80 }],
  ])('listen %s', (listen, address) => {
    expect(config({ flags: { listen } }).listen).toEqual(address)
  })
  test.each(['6666', ':6666', '127.0.0.1', '127.0.0.1:65536', '::1:80', 'a b:1', '127.0.0.1:-1', ''])(
    'listen "%s" is refused',
    (listen) => {
      expect(problems({ flags: { listen } }).join()).toMatch(/^listen: must be HOST:PORT/)
    },
  )
  test('the admin address that somebody set is kept to', () => {
    const { adminListen } = config({ env: { ACCELERANDO_ADMIN_LISTEN: '127.0.0.1:6671' } })
    expect(adminListen).toEqual({ host: '127.0.0.1', port: 6671, chosen: true })
  })
  test('a tour logs only warnings, unless somebody chose a level', () => {
    const levelOf = (given: Given) => config(given).log.level
    expect([levelOf({}), levelOf({ flags: { tour: true } })]).toEqual(['info', 'warn'])
    expect(levelOf({ flags: { tour: true }, env: { ACCELERANDO_LOG_LEVEL: 'info' } })).toBe('info')
  })
  test('a whitelist is JSON in the environment, tables or texts in the file', () => {
    const whitelist = '[{"vendor_id": "1af4"}]'
    expect(config({ env: { ACCELERANDO_PCI_PASSTHROUGH_WHITELIST: whitelist } }).drivers.pci?.whitelist).toBe(whitelist)
    for (const text of ['[{ vendor_id = "1af4" }]', `['{"vendor_id": "1af4"}']`])
      expect(problems(inFile(`[pci]\npassthrough_whitelist = ${text}`))).toEqual([])
    expect(problems(inFile('[[pci.passthrough_whitelist]]\nvendor_id = "1af4"'))).toEqual([])
  })
  test('the compatibility switch goes by the name that operators are told', () => {
    const { http } = config({ env: { ACCELERANDO_COMPAT_TEMPEST_SERVER_FAULTS: 'false' } })
    expect(http.compat.tempestServerFaults).toBe(false)
  })
  test('headers for Nova: a table in the file, JSON in the environment', () => {
    const url = 'url = "http://nova/v2.1"'
    const headers = { 'X-Auth-Token': 'abc' }
    expect(config(inFile(`[nova]\n${url}\nheaders = { X-Auth-Token = "abc" }`)).nova?.headers).toEqual(headers)
    const env = { ACCELERANDO_NOVA_HEADERS: JSON.stringify(headers) }
    expect(config(inFile(`[nova]\n${url}`, { env })).nova?.headers).toEqual(headers)
  })
  test('any name of the service is accepted where everybody may reach it, unless names are set', () => {
    const anyHost = (given: Given) => config(given).http.anyHost
    const named = { env: { ACCELERANDO_API_TRUSTED_HOSTS: 'cloud.example.org' } }
    expect([anyHost({}), anyHost(named)]).toEqual([false, false])
    const flags = { noauthAnywhere: true }
    expect([anyHost({ flags }), anyHost({ flags, ...named })]).toEqual([true, false])
  })
  test('lists are written with commas', () => {
    const env = { ACCELERANDO_ENABLED_DRIVERS: 'pci_driver, fake_driver' }
    expect(config({ env }).enabledDrivers).toEqual(['pci_driver', 'fake_driver'])
  })
  test('a host name is made safe, whatever the machine is called', () => {
    expect(safeHostName('my_host.lan')).toBe('my-host.lan')
    expect(safeHostName('../..')).toBe('localhost')
    expect(safeHostName('')).toBe('localhost')
    expect(safeHostName('.-a__b!c.-')).toBe('a-b-c.-')
    expect(safeHostName('x'.repeat(101))).toBe('x'.repeat(100))
  })
})

describe('the demo', () => {
  test('is a mixed cloud', () => {
    expect(config({ flags: { demo: true } }).demo).toEqual({ kind: 'mixed', seed: 'demo' })
  })
  test('is as large as it is told', () => {
    const flags = { demo: true, demoHosts: '3', demoDevices: '2', demoHandles: '4' }
    expect(config({ flags }).demo).toEqual({
      kind: 'sized',
      seed: 'demo',
      hosts: 3,
      devices: 2,
      handles: 4,
      hostWork: true,
    })
  })
  test('is asked for by each size alone', () => {
    const sized = (env: Record<string, string>) => config({ env: { ACCELERANDO_DEMO_SEED: 's', ...env } }).demo
    const one = { kind: 'sized', seed: 's', hosts: 1, devices: 1, handles: 16, hostWork: true }
    expect(sized({ ACCELERANDO_DEMO_DEVICES: '5' })).toEqual({ ...one, devices: 5 })
    expect(sized({ ACCELERANDO_DEMO_HANDLES: '5', ACCELERANDO_DEMO_HOST_WORK: 'false' })).toEqual({
      ...one,
      handles: 5,
      hostWork: false,
    })
    expect(sized({ ACCELERANDO_DEMO_HOST_WORK: 'false' })).toBeNull()
    const demo = { kind: 'sized', seed: 'demo', hosts: 2, devices: 1, handles: 16, hostWork: true }
    expect(config({ env: { ACCELERANDO_DEMO_HOSTS: '2' } }).demo).toEqual(demo)
  })
})

describe('the policy file', () => {
  const given = (text: string): Given => ({
    env: { ACCELERANDO_OSLO_POLICY_POLICY_FILE: 'p' },
    files: { p: text },
  })
  test.each([
    ['JSON', '{"cyborg:arq:create": "role:admin"}'],
    ['lines', '# who may\n"cyborg:arq:create": "role:admin"\n\n#"cyborg:arq:delete": ""\n'],
    ['plain lines', "cyborg:arq:create: 'role:admin' # only\n"],
    ['bare values', '---\ncyborg:arq:create: role:admin\n'],
    ['JSON with tabs', '{\n\t"cyborg:arq:create":\t"role:admin"\n}\n'],
    ['a rule of several lines', 'cyborg:arq:create: >\n  role:admin\n'],
    ['a rule with blanks around it', 'cyborg:arq:create: "\\t role:admin \\n"'],
  ])('as %s', (_, text) => {
    expect(config(given(text)).http.policy.rules).toEqual({ 'cyborg:arq:create': 'role:admin' })
  })
  test.each(['{}\n', '', '---\n', '# no rules\n', ' '.repeat(131_072)])('%j sets no rule', (text) => {
    expect(config(given(text)).http.policy.rules).toEqual({})
  })
  test.each([
    ['"cyborg:arq:create": [role:a or role:b]', [/line 1: cyborg:arq:create must be text/]],
    ['"cyborg:arq:create": [[[role:a]]]', [/line 1: cyborg:arq:create must be text/]],
    ['"cyborg:arq:create": { a: b }', [/line 1: cyborg:arq:create must be text/]],
    ['a: @\nb\nc: x', [/line 1: Plain value cannot start with/, /line 2: Implicit map keys need/]],
    // YAML takes a bare ! for an empty tag, and an empty rule allows everybody
    ['"cyborg:arq:create": "@"\n"cyborg:arq:delete": !', [/line 2: cyborg:arq:delete must be text/]],
    ['a: &all "@"\nb: *all', [/line 2: b must be text/]],
    ['a: "@"\n---\nb: "@"', [/line 2: a second document begins here/]],
    ['- a', [/line 1 must be NAME: "RULE"/]],
    ['# one\nrole:admin', [/line 2 must be NAME: "RULE"/]],
    ['cyborg', [/line 1 must be NAME: "RULE"/]],
    ['a: !!str "@"\nb:\nc: true', [/line 1: a must be text/, /line 2: b must be text/, /line 3: c must be text/]],
    ['"cyborg:arq:craete": "@"', [/line 1: cyborg:arq:craete is not an operation/]],
    ['# one\n"cyborg:arq:create": "rule:nobody"', [/line 2: cyborg:arq:create: there is no rule nobody/]],
    ['{\n"cyborg:arq:create": 1}', [/line 2: cyborg:arq:create must be text/]],
    ['{', [/line 1: Flow map must end with a }/]],
    [' '.repeat(131_073), [/must not be longer than 131072 characters/]],
  ])('%j is refused', (text, rules) => {
    const found = problems(given(text))
    expect(found).toEqual(rules.map((rule) => expect.stringMatching(rule)))
    for (const each of found) expect(each).toMatch(/^oslo_policy.policy_file: p: .*ACCELERANDO_OSLO_POLICY_POLICY_FILE/)
  })
  test.each([
    ['[]', '@'],
    ['[[]]', '!'],
    ['["role:a"]', 'role:a'],
    [
      '[["role:a", "project_id:%(project_id)s"], ["role:b"], "@"]',
      'role:a and project_id:%(project_id)s or role:b or @',
    ],
  ])('in the form of lists: %s is %s', (list, rule) => {
    expect(config(given(`{"cyborg:arq:create": ${list}}`)).http.policy.rules).toEqual({ 'cyborg:arq:create': rule })
  })
  test('of a former release of Cyborg is taken, and what has no effect is told', () => {
    const text = [
      '"admin_api": "role:admin or role:administrator"',
      '"cyborg:fpga:get_one": "rule:allow"',
      '"cyborg:device_profile:create": "rule:system_admin_api"',
      '"cyborg:device_profile:get_all": "rule:system_or_project_reader"',
      '"system_admin_api": "role:admin and system_scope:all"',
      `"cyborg:arq:create": "'Member':%(role.name)s or project_domain_id:default or is_admin_project:True"`,
      '"cyborg:arq:delete": "@"',
      '"cyborg:arq:delete": "!"',
    ].join('\n')
    expect(config(given(text)).http.policy.rules).toMatchObject({ 'cyborg:arq:delete': '!' })
    const loaded = load(given(text))
    const from = '(from ACCELERANDO_OSLO_POLICY_POLICY_FILE)'
    expect(loaded.ok && loaded.warnings).toEqual(
      [
        'line 2: cyborg:fpga:get_one is an operation of a former release of Cyborg',
        'line 5: system_admin_api: "system_scope:all" never holds here',
        `line 6: cyborg:arq:create: "'Member':%(role.name)s" never holds here`,
        'line 7: cyborg:arq:delete is set again below',
      ].map((warning) => `oslo_policy.policy_file: p: ${warning} ${from}`),
    )
  })
  test('may have rules of its own, which others refer to', () => {
    const rules = { mine: 'role:admin', 'my:cyborg:arq': 'rule:mine', 'cyborg:arq:create': 'rule:mine' }
    expect(config(given(JSON.stringify(rules))).http.policy.rules).toEqual(rules)
  })
  test('that is not there is a problem', () => {
    expect(problems({ ...given(''), files: {} }).join()).toMatch(/p: cannot be read: ENOENT/)
  })
})
