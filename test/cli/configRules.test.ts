/** The rules over several options: what they forbid, and that they wait for valid values. */
import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/cli/config/config.ts'

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
