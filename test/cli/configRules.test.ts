/**
 * The limits of every number, and the rules over several options: what they forbid, and that they wait for valid
 * values.
 */
import { describe, expect, test } from 'vitest'
import * as v from 'valibot'
import { loadConfig } from '../../src/cli/config/config.ts'
import { KEYS, rowOf } from '../../src/cli/config/table.ts'

const problems = (env: Readonly<Record<string, string>>, file = ''): readonly string[] => {
  const named = Object.entries(env).map(([key, text]) => [
    `ACCELERANDO_${key.replaceAll('.', '_').toUpperCase()}`,
    text,
  ])
  const loaded = loadConfig({
    flags: { config: 'c.toml' },
    env: Object.fromEntries(named),
    readFile: () => file,
    osHostname: 'here',
  })
  return loaded.ok ? [] : loaded.problems.map((line) => line.replace(/ \(.*/, ''))
}

test('each number has its unit and its limits', () => {
  const limits = KEYS.flatMap((key) => {
    const said = v.safeParse(rowOf(key).schema, 'text').issues?.[0]?.message ?? ''
    const [, least, most] = /number from (\S+) to (\S+)$/.exec(said) ?? []
    return least === undefined ? [] : [`${key} ${least} ${most} ${rowOf(key).form}`]
  })
  expect(limits).toEqual([
    'demo_hosts 1 10000 count',
    'demo_devices 1 1000 count',
    'demo_handles 1 4096 count',
    'api.body_limit_bytes 1024 67108864 bytes',
    'api.answer_seconds 0.1 600 seconds',
    'events.streams_max 1 100000 count',
    'events.streams_per_caller 1 100000 count',
    'events.ring_bytes 1048576 1073741824 bytes',
    'events.life_seconds 10 86400 seconds',
    'bind.deadline_seconds 0.05 299 seconds',
    'bind.resend_seconds 0.05 300 seconds',
    'program.wait_seconds 0 300 seconds',
    'program.deadline_seconds 1 86400 seconds',
    'timeline.kept_days 0 3650 days',
    'arq.unbound_ttl 0 31536000 seconds',
    'quota.arqs_per_project 0 100000 count',
    'archive.ended_days 1 36500 days',
    'sweep.every_seconds 0.01 60 seconds',
    'actors.ask_seconds 0.1 120 seconds',
    'actors.hold_seconds 0.1 120 seconds',
    'actors.idle_seconds 1 86400 seconds',
    'actors.resident_max 100 10000000 count',
    'host.report_every_seconds 0.1 3600 seconds',
    'host.heartbeat_every_seconds 0.05 600 seconds',
    'host.measure_every_seconds 0 3600 seconds',
    'host.stale_after_seconds 0.1 86400 seconds',
    'host.down_after_seconds 0.1 2592000 seconds',
    'host.missing_rounds 1 1000 count',
    'playbooks.limit_seconds 1 86400 seconds',
    'fake.devices 1 244 count',
    'fake.handles 1 255 count',
    'nova.timeout_seconds 0.05 120 seconds',
    'nova.tell_for_seconds 0 3600 seconds',
    'nova.collect_orphans_seconds 0 2592000 seconds',
    'placement.audit_seconds 1 604800 seconds',
    'postgres.statement_timeout_seconds 0.1 600 seconds',
    'postgres.readers 1 100 count',
    'keystone_authtoken.timeout_seconds 0.1 60 seconds',
    'keystone_authtoken.token_cache_seconds 0 3600 seconds',
    'keystone_authtoken.token_cache_size 1 1000000 count',
    'glance.timeout_seconds 0.1 120 seconds',
    'glance.idle_seconds 0.5 600 seconds',
    'glance.total_seconds 1 86400 seconds',
    'glance.image_max_bytes 1 1099511627776 bytes',
    'glance.cache_max_bytes 1 1099511627776 bytes',
    'glance.downloads_max 1 16 count',
    'clock_offset_ms -86400000 86400000 milliseconds',
    'kafka.partitions 1 1000 count',
    'kafka.replicas 1 15 count',
    'kafka.retention_days 0.01 3650 days',
  ])
  expect(KEYS.filter((key) => rowOf(key).secret)).toEqual([
    'database',
    'nova.headers',
    'keystone_authtoken.password',
    'keystone_authtoken.application_credential_secret',
    'kafka.sasl_password',
  ])
})

const OPEN = 'must be a loopback address, since nobody is authenticated; --noauth-anywhere listens there all the same'
const TWICE = 'ui_listen: must not be the address of listen or of admin_listen'
describe('a rule over several options', () => {
  const SASL = { 'kafka.sasl_mechanism': 'plain', 'kafka.sasl_username': 'u', 'kafka.sasl_password': 'p' }
  test.each<[Readonly<Record<string, string>>, readonly string[]]>([
    [{ listen: '[::1]:7', admin_listen: '127.0.0.1:7' }, []],
    [{ listen: '127.0.0.1:0', admin_listen: '127.0.0.1:0' }, []],
    [{ listen: '127.0.0.1:7', admin_listen: '127.0.0.1:7' }, ['admin_listen: must not be the address of listen']],
    [{ admin_listen: '0.0.0.0:7' }, []],
    [{ ui_listen: '0.0.0.0:7' }, [`ui_listen: ${OPEN}`]],
    [{ ui_listen: '0.0.0.0:7', noauth_anywhere: 'true' }, []],
    [{ ui_listen: '0.0.0.0:7', auth: 'noauth' }, [`ui_listen: ${OPEN}`]],
    [{ ui_listen: '0.0.0.0:7', listen: '0.0.0.0:8' }, [`listen: ${OPEN}`, `ui_listen: ${OPEN}`]],
    [{ listen: '127.0.0.1:7', ui_listen: '127.0.0.1:7' }, [TWICE]],
    [{ admin_listen: '127.0.0.1:7', ui_listen: '127.0.0.1:7' }, [TWICE]],
    [{ admin_listen: '127.0.0.1:0', ui_listen: '127.0.0.1:0', listen: '127.0.0.1:0' }, []],
    [{ admin_listen: '127.0.0.2:7', ui_listen: '127.0.0.1:7', listen: '127.0.0.3:7' }, []],
    [{ tour: 'true' }, []],
    [{ demo_hosts: '2', 'host.name': 'sim-1' }, ['host.name: must not be the name of a simulated host']],
    [{ demo_handles: '2', 'host.name': 'sim-1' }, ['host.name: must not be the name of a simulated host']],
    [{ clock_offset_ms: '0' }, []],
    [{ test_doors: 'true' }, []],
    [{ 'host.stale_after_seconds': '5.1' }, []],
    [{ 'host.stale_after_seconds': '5' }, [`host.heartbeat_every_seconds: must be less than host.stale_after_seconds`]],
    [{ admin_listen: '0.0.0.0:7', test_doors: 'true' }, ['test_doors: needs a loopback address in admin_listen']],
    [{ demo: 'true', 'host.name': 'sim-1' }, ['host.name: must not be the name of a simulated host']],
    [{ demo_devices: '2', 'host.name': 'sim-12' }, ['host.name: must not be the name of a simulated host']],
    [{ demo: 'true', 'host.name': 'my-sim-1' }, []],
    [{ demo: 'true', 'host.name': 'sim-1a' }, []],
    [{ 'host.name': 'sim-1' }, []],
    [SASL, []],
    ...Object.keys(SASL).map((key): [Readonly<Record<string, string>>, readonly string[]] => [
      Object.fromEntries(Object.entries(SASL).filter(([one]) => one !== key)),
      ['kafka.sasl_mechanism: must be set together with kafka.sasl_username and kafka.sasl_password'],
    ]),
    [
      { 'pci.passthrough_whitelist': '[{"vendor_id": "xyz"}]' },
      [expect.stringMatching(/^pci\.passthrough_whitelist: \[0\]\.vendor_id must /)],
    ],
    [
      { 'gpu_devices.enabled_vgpu_types': 'nvidia-1', 'gpu_devices.device_addresses': '{"nvidia-1": ["x"]}' },
      ["gpu_devices.device_addresses: nvidia-1 must hold addresses like 0000:af:00.0, holds 'x'"],
    ],
    [
      { 'gpu_devices.enabled_vgpu_types': 'nvidia-1' },
      ['gpu_devices.device_addresses: must have addresses for the enabled type nvidia-1'],
    ],
    [
      { 'nic_devices.physical_device_mappings': 'net:eth0,eth1' },
      ["nic_devices.physical_device_mappings: [1] must be 'name:interface|interface', each interface once, is 'eth1'"],
    ],
    [
      { 'nic_devices.function_device_mappings': 'a:eth0,a:eth1' },
      [
        "nic_devices.function_device_mappings: [1] must be 'name:interface|interface', each interface once, is 'a:eth1'",
      ],
    ],
  ])('%j', (env, expected) => expect(problems(env)).toEqual(expected))

  test.each<[string, Readonly<Record<string, string>>, string?]>([
    ['noauth_anywhere', { listen: '0.0.0.0:1', noauth_anywhere: 'perhaps' }],
    ['noauth_anywhere', { ui_listen: '0.0.0.0:1', noauth_anywhere: 'perhaps' }],
    ['auth', { listen: '0.0.0.0:1', ui_listen: '0.0.0.0:2', auth: 'perhaps' }],
    ['listen', { listen: 'nowhere', ui_listen: '127.0.0.1:6666' }],
    ['admin_listen', { admin_listen: 'nowhere', ui_listen: '127.0.0.1:6671' }],
    ['ui_listen', { ui_listen: 'nowhere', listen: '127.0.0.1:6670' }],
    ['host.stale_after_seconds', { 'host.stale_after_seconds': 'x', 'host.heartbeat_every_seconds': '60' }],
    ['listen', { listen: 'nowhere', admin_listen: '127.0.0.1:6666' }],
    ['admin_listen', { test_doors: 'true', admin_listen: 'nowhere' }, 'admin_listen = "0.0.0.0:1"'],
    ['demo', { 'host.name': 'sim-1', demo: 'perhaps' }, 'demo = true'],
    ['test_doors', { clock_offset_ms: '5', test_doors: 'perhaps' }],
    ['kafka.sasl_username', { ...SASL, 'kafka.sasl_username': '\n' }],
    ['kafka.sasl_password', { ...SASL, 'kafka.sasl_password': '\n' }],
    ['fake.devices', { enabled_drivers: 'nobody', 'fake.devices': '0' }],
    ['fake.handles', { enabled_drivers: 'nobody', 'fake.handles': '0' }],
  ])('waits until %s is valid', (key, env, file) => {
    expect(problems(env, file).map((line) => line.split(':')[0])).toEqual([key])
  })
})
