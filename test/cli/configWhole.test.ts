/**
 * What the program is given: with nothing set, and with every option of the sample file, each at another place than its
 * default.
 */
import { expect, test } from 'vitest'
import { loadConfig } from '../../src/cli/config/config.ts'
import { envName, type Key, KEYS, rowOf } from '../../src/cli/config/table.ts'

const FILES: Readonly<Record<string, string>> = {
  'policy.yaml': '"cyborg:arq:create": "role:member"',
  'kafka.pem': '-----BEGIN CERTIFICATE----- of Kafka',
  'cloud.pem': '-----BEGIN CERTIFICATE----- of the cloud',
  'cards.yaml': '[{ vendor: 1af4, device: "1044", type: AICHIP, name: Example NPU }]',
  'cleaning.yaml': '[{ driver: pci_driver, policy: command, command: [/sbin/wipe, --all] }]',
  'clouds.yaml': 'clouds: { mycloud: { auth: { project_name: from-clouds }, region_name: from-clouds } }',
}
const load = (env: Readonly<Record<string, string>>) => {
  const loaded = loadConfig({ env, readFile: (path) => FILES[path] ?? '', osHostname: 'here' })
  return loaded.ok ? { ok: true, config: loaded.config } : loaded
}

/** What an option has to hold so that all can be set together. */
const GIVEN: Partial<Record<Key, string>> = {
  listen: '127.0.0.1:1',
  admin_listen: '127.0.0.1:2',
  ui_listen: '127.0.0.1:3',
  config: 'nothing.toml',
  enabled_drivers: 'fake_driver',
  auth: 'keystone',
  tour: 'false',
  clock_offset_ms: '7',
  'oslo_policy.policy_file': 'policy.yaml',
  'kafka.ca_file': 'kafka.pem',
  'kafka.brokers': 'k:1',
  'keystone_authtoken.cafile': 'cloud.pem',
  'keystone_authtoken.clouds_file': 'clouds.yaml',
  'keystone_authtoken.interfaces': 'admin',
  'glance.trusted_projects': '9f6c1b,2ab0d4',
  'nova.headers': '{"x-a": "b"}',
  'pci.passthrough_whitelist': '[{"vendor_id": "1af4"}]',
  'host.name': 'named',
  'cards.id_table': 'cards.yaml',
  'cleaning.policies': 'cleaning.yaml',
  'gpu_devices.enabled_vgpu_types': 'nvidia-223',
}
const textOf = (value: unknown): string => {
  if (Array.isArray(value)) return value.map(textOf).join(',')
  return typeof value === 'string' ? value : JSON.stringify(value)
}
/** Another value than the default: a number a little above it, the other word of a list, the example. */
const otherOf = (key: Key): string => {
  const { standard, form, example } = rowOf(key)
  if (typeof standard === 'number') return String(standard + (/^(seconds|days)$/.test(form) ? 0.5 : 1))
  if (typeof standard === 'boolean') return String(!standard)
  const choices = form.split(', ')
  if (choices.length > 1) return choices.find((choice) => choice !== standard)!
  return example === undefined ? `other-${textOf(standard)}` : textOf(example)
}

test('nothing is set', async () => {
  await expect(`${JSON.stringify(load({}), null, 1)}\n`).toMatchFileSnapshot('golden/config.default.txt')
})

test('everything is set', async () => {
  const env = Object.fromEntries(KEYS.map((key) => [envName(key), GIVEN[key] ?? otherOf(key)]))
  await expect(`${JSON.stringify(load(env), null, 1)}\n`).toMatchFileSnapshot('golden/config.whole.txt')
})
