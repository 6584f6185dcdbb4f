/** Every option of the reference page reaches the program, and takes what it says and nothing else. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { parse, stringify } from 'smol-toml'
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/cli/config/config.ts'

const committed = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const FILES: Readonly<Record<string, string>> = {
  'policy.yaml': '"cyborg:arq:create": "role:member"',
  'kafka-ca.pem': '-----BEGIN CERTIFICATE-----',
  'cloud-ca.pem': '-----BEGIN CERTIFICATE-----',
  'cards.yaml': '[{ vendor: 1af4, device: "1044", type: AICHIP, name: Example NPU }]',
  'cleaning.yaml': '[{ driver: pci_driver, policy: command, command: [/sbin/wipe, --all] }]',
  'clouds.yaml': 'clouds: { mycloud: { region_name: from-clouds, auth: {} } }',
}
type Env = Readonly<Record<string, string>>
const load = (env: Env, toml: string | null = null, flags: Record<string, unknown> = {}) =>
  loadConfig({
    flags: toml === null ? flags : { ...flags, config: 'c.toml' },
    env,
    readFile: (path) => (path === 'c.toml' ? (toml ?? '') : (FILES[basename(path)] ?? '')),
    osHostname: 'here',
  })
/** What the program is given, as text, without how it was written. */
const given = (...sources: Parameters<typeof load>): string => {
  const loaded = load(...sources)
  if (!loaded.ok) return expect.fail(loaded.problems.join('\n'))
  const { inForce: _, ...config } = loaded.config
  return JSON.stringify(config)
}
const variableOf = (key: string): string => `ACCELERANDO_${key.replaceAll('.', '_').toUpperCase()}`
const envOf = (options: Env): Env =>
  Object.fromEntries(Object.entries(options).map(([key, text]) => [variableOf(key), text]))

type Option = { readonly key: string; readonly places: string; readonly form: string; readonly standard: unknown }
const OPTIONS: readonly Option[] = committed('docs/configuration.md')
  .split('\n')
  .flatMap((line) => {
    const [, key, places, form, standard] =
      /^\| `([a-z_.]+)` \| (.*?) \| (.*?) \| (?:`(.*?)`|not set) \|/.exec(line) ?? []
    return key === undefined
      ? []
      : [{ key, places: places!, form: form!, standard: standard && (JSON.parse(standard) as unknown) }]
  })
const SAMPLE = committed('infra/contracts/accelerando.sample.toml')
const FULL = SAMPLE.replaceAll(/^#(?=\w+ = )/gm, '')
/** What the sample shows of an option, as it is written in the environment. */
const exampleOf = (key: string): string => {
  const [one, two] = key.split('.') as [string, string | undefined]
  const parsed = parse(FULL) as Record<string, unknown>
  const value = two === undefined ? parsed[one] : (parsed[one] as Record<string, unknown>)[two]
  if (typeof value === 'string') return value
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
    ? value.join(',')
    : JSON.stringify(value)
}
/** So that options of these parts mean something. */
const BASE = {
  'kafka.brokers': 'k:1',
  'nova.url': 'http://n',
  auth: 'keystone',
  database: 'postgresql://h/d',
  'keystone_authtoken.auth_url': 'http://k',
  'keystone_authtoken.username': 'u',
  'keystone_authtoken.password': 'p',
  'keystone_authtoken.project_name': 'n',
}
/** What an option has to hold besides another number, word or name. */
const SASL = { 'kafka.sasl_mechanism': 'plain', 'kafka.sasl_username': 'u', 'kafka.sasl_password': 'p' }
const CREDENTIAL = {
  'keystone_authtoken.application_credential_id': 'i',
  'keystone_authtoken.application_credential_secret': 's',
}
const OTHERS: Readonly<Record<string, Env>> = {
  ...Object.fromEntries(Object.keys(SASL).map((key) => [key, SASL])),
  ...Object.fromEntries(Object.keys(CREDENTIAL).map((key) => [key, CREDENTIAL])),
  auth: { auth: 'noauth' },
  tour: { tour: 'true', auth: 'noauth' },
  clock_offset_ms: { clock_offset_ms: '7', test_doors: 'true' },
  demo_seed: { demo_seed: 'other', demo: 'true' },
  demo_host_work: { demo_host_work: 'false', demo_hosts: '2' },
  listen: { listen: '127.0.0.1:1' },
  admin_listen: { admin_listen: '127.0.0.1:1' },
  ui_listen: { ui_listen: '127.0.0.1:1' },
  enabled_drivers: { enabled_drivers: 'fake_driver' },
  'api.trusted_hosts': { 'api.trusted_hosts': 'cloud.example.org' },
  'pci.sriov_numvfs': { 'pci.sriov_numvfs': '{"0000:3d:00.0": 1}' },
  'gpu_devices.enabled_vgpu_types': {
    'gpu_devices.enabled_vgpu_types': 'nvidia-1',
    'gpu_devices.device_addresses': '{"nvidia-1": ["0000:af:00.0"]}',
  },
  'gpu_devices.device_addresses': {
    'gpu_devices.enabled_vgpu_types': 'nvidia-1',
    'gpu_devices.device_addresses': '{"nvidia-1": ["0000:af:00.0"]}',
  },
  'gpu_devices.max_instances': { 'gpu_devices.max_instances': '{"nvidia-1": 4}' },
  'nic_devices.physical_device_mappings': { 'nic_devices.physical_device_mappings': 'net:eth0' },
  'nic_devices.function_device_mappings': { 'nic_devices.function_device_mappings': 'a:eth0' },
  'pci.passthrough_whitelist': { 'pci.passthrough_whitelist': '[{"vendor_id": "1af4"}]' },
  'keystone_authtoken.user_domain_name': { 'keystone_authtoken.user_domain_name': 'other' },
  'keystone_authtoken.project_domain_name': { 'keystone_authtoken.project_domain_name': 'other' },
  'nova.headers': { 'nova.headers': '{"x-a": "b"}' },
  'keystone_authtoken.interfaces': { 'keystone_authtoken.interfaces': 'admin' },
  'keystone_authtoken.cloud': {
    'keystone_authtoken.cloud': 'mycloud',
    'keystone_authtoken.clouds_file': 'clouds.yaml',
  },
  'keystone_authtoken.clouds_file': {
    'keystone_authtoken.cloud': 'mycloud',
    'keystone_authtoken.clouds_file': 'clouds.yaml',
  },
  'glance.trusted_projects': { 'glance.trusted_projects': '9f6c1b' },
}

test('names of variables are derived from the key, and the flags are those that the page names', () => {
  expect(OPTIONS.length).toBeGreaterThan(90)
  for (const { key, places } of OPTIONS) expect(places).toContain(`\`${variableOf(key)}\``)
})
/** Another value than the default, as it is written in the environment. */
const otherOf = ({ key, form, standard }: Option): Env => {
  if (OTHERS[key] !== undefined) return OTHERS[key]
  if (typeof standard === 'number') return { [key]: String(standard + (/^(seconds|days)$/.test(form) ? 0.5 : 1)) }
  if (typeof standard === 'boolean') return { [key]: String(!standard) }
  const choices = form.split(', ')
  if (choices.length > 1) return { [key]: choices.find((choice) => choice !== standard)! }
  return { [key]: standard === undefined ? exampleOf(key) : 'other' }
}
/** They name the file itself, or are taken without effect. */
const WITHOUT = ['config', 'pci.check', 'gpu_devices.filter_sriov_vfs']
test.each(OPTIONS.filter(({ key }) => !WITHOUT.includes(key)))('$key reaches the program', (option) => {
  expect(given(envOf({ ...BASE, ...otherOf(option) }))).not.toBe(given(envOf(BASE)))
})

describe('the sample file', () => {
  test('changes nothing as it stands', () => expect(given({}, SAMPLE)).toBe(given({})))
  test('is valid with every value taken in, and holds every option that a file may hold', () => {
    const loaded = load({}, FULL)
    if (!loaded.ok) return expect.fail(loaded.problems.join('\n'))
    const unset = loaded.inForce.options.filter(({ source }) => source === 'default').map(({ key }) => key)
    expect(unset.toSorted()).toEqual(['clock_offset_ms', 'test_doors'])
    expect(loaded.inForce.options.map(({ key }) => key).toSorted()).toEqual(OPTIONS.map(({ key }) => key).toSorted())
  })
})

const LABEL = 'a'.repeat(100)
const names = (count: number) => Array.from({ length: count }, (_, n) => `n${n}`)
/** What an option of each kind takes and what it refuses, as it is written in a file. */
const KINDS: readonly (readonly [key: string, good: readonly unknown[], bad: readonly unknown[]])[] = [
  ['data', ['/a b', '.'], ['', 'a\nb', 'a\u0000', 7]],
  ['demo_seed', ['a b'], ['', 'a\u007fb']],
  ['host.name', ['h', '1.a-b', LABEL], ['', '-a', '.a', 'a_b', 'a b', `${LABEL}a`, ' a', 'a\n']],
  [
    'nova.url',
    ['http://a', 'https://a:1/b', 'http://[::1]:6666/'],
    ['a', 'ftp://a', 'xhttp://a', 'http://u@a', 'http://:p@a', 'http://a?q', 'http://a#f', 'http://'],
  ],
  [
    'database',
    ['postgres://a/b', 'postgresql://u:p@a:1/b?sslmode=disable', 'postgresql://u:a#b/c?@db/x?sslmode=verify-full'],
    [
      'mysql://a',
      'x-postgres://a',
      'postgres:/a',
      'postgres://a:x',
      '',
      'postgres://a/b?sslmode=on',
      'postgres://a/b?x=1',
    ],
  ],
  [
    'listen',
    ['localhost:0', '127.0.0.1:65535', '[::1]:1'],
    ['a', ':1', 'a:', 'a:65536', 'a:000001', 'a b:1', 'a/b:1', '[a]b:1', '[::1', '[xyz]:1', '::1:80', 'a:1 ', 7],
  ],
  [
    'kafka.brokers',
    [['a:1'], ['a:65535', '[::1]:2']],
    [[], ['a:0'], ['a:65536'], ['a'], ['a:1', 'b'], [7], 'http://a:1', names(101).map((name) => `${name}:1`)],
  ],
  ['kafka.prefix', ['', 'a.B-c_1', LABEL], [`${LABEL}a`, ' a', 'a ', 'a/b', 7]],
  ['bind.deadline_seconds', [0.05, 1.25, 299], [0.04, 299.1, '1']],
  ['kafka.retention_days', [0.01, 3650], [0, 3651]],
  ['fake.devices', [1, 244], [0, 245, 2.5, '3']],
  ['demo', [true, false], ['true', 1]],
  ['log.level', ['info'], ['loud', 'INFO', '', 'inf']],
  [
    'nova.headers',
    [{}, { 'X-A': '' }, { a: 'b\tc ~' }],
    [{ 'a b': 'c' }, { 'a:': 'c' }, { a: 'é' }, { a: 'b\n' }, { a: 7 }, 'a'],
  ],
  ['host.aliases', [[], ['h', LABEL], names(100)], [['-a'], ['a', 'a_b'], [''], [`${LABEL}a`], [7], 'a_', names(101)]],
  [
    'pci.sriov_numvfs',
    [{}, { '0000:3d:00.0': 1 }],
    [{ '0000:3d:00.0': 0 }, { '0000:3d:00.0': 65_536 }, { '000:3d:00.0': 1 }, { '0000:3D:00.0': 1 }, 'a'],
  ],
  [
    'gpu_devices.max_instances',
    [{}, { 'nvidia-474': 4096 }],
    [{ 'nvidia-474': 0 }, { 'nvidia-474': 4097 }, { 'a b': 1 }, 'a'],
  ],
]
test.each(KINDS)('%s takes what it says, and nothing else', (key, good, bad) => {
  const [section, name] = key.includes('.') ? key.split('.') : ['', key]
  const found = (value: unknown): readonly string[] => {
    const loaded = load({}, stringify(section === '' ? { [name!]: value } : { [section!]: { [name!]: value } }))
    return loaded.ok ? [] : loaded.problems.filter((problem) => problem.startsWith(`${key}:`))
  }
  expect(good.flatMap(found)).toEqual([])
  expect(bad.filter((value) => found(value).length === 0)).toEqual([])
  for (const value of bad) expect(found(value)[0]).toMatch(/^\S+: must /)
})
test.each<readonly [key: string, text: string, value: unknown]>([
  ['bind.deadline_seconds', '1.5', 1.5],
  ['kafka.brokers', 'a:1, b:2 ,', ['a:1', 'b:2']],
  ['demo', 'TRUE', true],
  ['demo', '1', true],
  ['demo', 'False', false],
  ['nova.headers', '{"a":"b"}', '(hidden)'],
  ['demo_seed', ' a ', ' a '],
  ['host.aliases', 'a, b', ['a', 'b']],
  ['pci.sriov_numvfs', '{"0000:3d:00.0": 1}', { '0000:3d:00.0': 1 }],
])('%s is read from the text %j', (key, text, value) => {
  const loaded = load(envOf({ [key]: text }))
  if (!loaded.ok) return expect.fail(loaded.problems.join('\n'))
  expect(loaded.inForce.options.find((one) => one.key === key)?.value).toEqual(value)
})
test.each(['1.', '.5', '1e3', '0x1', ' 1', '1 ', 'x'])('the text %j is no number', (text) => {
  expect(load(envOf({ 'fake.devices': text }))).toMatchObject({ ok: false })
})
