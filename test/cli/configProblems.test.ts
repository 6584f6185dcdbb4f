import { describe, expect, test } from 'vitest'
import { loadConfig } from '../../src/cli/config/config.ts'

type Given = { readonly flags?: Record<string, unknown>; readonly env?: Record<string, string>; readonly file?: string }
const problems = ({ flags = {}, env = {}, file }: Given): readonly string[] => {
  const loaded = loadConfig({
    flags: file === undefined ? flags : { ...flags, config: 'c.toml' },
    env,
    readFile: (path) => {
      if (path !== 'c.toml') throw new Error('ENOENT: not there')
      return file ?? ''
    },
    osHostname: 'here',
  })
  return loaded.ok ? [] : loaded.problems
}

test('all problems are listed at once, each with key, rule, value and source', () => {
  const given = {
    flags: { listen: 'nowhere', demoHosts: '0' },
    env: {
      ACCELERANDO_BIND_DEADLINE_SECONDS: '300',
      ACCELERANDO_LOG_LEVEL: 'loud',
      ACCELERANDO_NOVA_ULR: 'http://nova',
      ACCELERANDO_DEMO: 'perhaps',
      // of a command, and no option
      ACCELERANDO_IMPORT_FROM: 'mysql://cyborg@db/cyborg',
    },
    file: 'colour = "red"\n[nova]\nurl = "ftp://nova"\ntimeout_seconds = "10"\n[bind]\nresend = 3\n',
  }
  expect(problems(given)).toEqual([
    'ACCELERANDO_NOVA_ULR: unknown option (from the environment)',
    'colour: unknown option (from c.toml)',
    'bind.resend: unknown option (from c.toml)',
    'nova.url: must be an http or https URL without user, query and fragment (is "ftp://nova", from c.toml)',
    'nova.timeout_seconds: must be a number from 0.05 to 120 (is "10", from c.toml)',
    'bind.deadline_seconds: must be a number from 0.05 to 299 (is 300, from ACCELERANDO_BIND_DEADLINE_SECONDS)',
    'log.level: must be one of trace, debug, info, warn, error, silent (is "loud", from ACCELERANDO_LOG_LEVEL)',
    'demo: must be true or false (is "perhaps", from ACCELERANDO_DEMO)',
    expect.stringMatching(/^listen: must be HOST:PORT.* \(is "nowhere", from --listen\)$/),
    'demo_hosts: must be a whole number from 1 to 10000 (is 0, from --demo-hosts)',
  ])
})

test('a bad value is told also when a stronger one hides it', () => {
  const given = { env: { ACCELERANDO_FAKE_DEVICES: '2' }, file: '[fake]\ndevices = 0' }
  expect(problems(given)).toEqual([expect.stringMatching(/^fake.devices: .*from c.toml\)$/)])
})

describe('the file', () => {
  test('that is not there', () => {
    const [first] = problems({ flags: { config: 'missing.toml' } })
    expect(first).toBe('config: cannot be read: ENOENT: not there (from missing.toml)')
  })
  test('that is no TOML, with the line', () => {
    expect(problems({ file: 'listen = "127.0.0.1:1"\nx = = 1' })).toEqual([
      expect.stringMatching(/^config: cannot be read: line 2: .*\(from c.toml\)$/),
    ])
  })
  test('may not hold what only flags and environment may', () => {
    expect(problems({ file: 'test_doors = true\nconfig = "d.toml"' })).toEqual([
      'test_doors: may be set by environment only (from c.toml)',
      'config: may be set by environment and flag only (from c.toml)',
    ])
  })
  test('keeps sections and values apart', () => {
    for (const value of ['"http://nova"', '2026-01-01', '[1]', '7'])
      expect(problems({ file: `nova = ${value}` })).toEqual(['nova: must be a table (from c.toml)'])
    expect(problems({ file: '[listen]\nport = 1' })).toEqual([expect.stringMatching(/^listen: must be HOST:PORT/)])
    expect(problems({ file: '[__proto__]\nx = 1\n[constructor]\ny = 1' })).toHaveLength(2)
  })
})

describe('whoever is not authenticated is not let in from elsewhere', () => {
  test.each(['0.0.0.0:6666', '[::]:6666', '10.0.0.1:6666', '127.0.0.1.example.org:80', '[::ffff:10.0.0.1]:80'])(
    '%s needs a word more',
    (listen) => {
      expect(problems({ flags: { listen } })).toEqual([expect.stringMatching(/^listen: must be a loopback address/)])
      expect(problems({ flags: { listen, noauthAnywhere: true } })).toEqual([])
    },
  )
  test.each(['127.0.0.1:1', '127.8.8.8:1', '[::1]:1', 'localhost:1', 'LOCALHOST:1'])('%s does not', (listen) => {
    expect(problems({ flags: { listen } })).toEqual([])
  })
  test('test doors stay on this machine', () => {
    const env = { ACCELERANDO_TEST_DOORS: '1' }
    expect(problems({ env })).toEqual([])
    expect(problems({ env, flags: { adminListen: '0.0.0.0:6671' } })).toEqual([
      'test_doors: needs a loopback address in admin_listen (from ACCELERANDO_TEST_DOORS)',
    ])
  })
})

describe('rules between options', () => {
  test.each([
    ['host.heartbeat_every_seconds', '[host]\nheartbeat_every_seconds = 15'],
    ['host.stale_after_seconds', '[host]\nstale_after_seconds = 1800'],
    ['actors.hold_seconds', '[actors]\nhold_seconds = 12'],
  ])('%s stays below another', (key, file) => {
    expect(problems({ file })).toEqual([expect.stringContaining(`${key}: must be less than `)])
  })
  test('the one that was set is named when the other is a default', () => {
    expect(problems({ file: '[host]\nstale_after_seconds = 4' })).toEqual([
      'host.heartbeat_every_seconds: must be less than host.stale_after_seconds (from default; host.stale_after_seconds is from c.toml)',
    ])
  })
  test('a control waits longer for a programming than a host may write the card', () => {
    expect(problems({ file: '[program]\ndeadline_seconds = 541' })).toEqual([])
    expect(problems({ file: '[program]\ndeadline_seconds = 540' })).toEqual([
      expect.stringContaining('program.deadline_seconds: must be more than 540: for so long a host may write a card'),
    ])
  })
  test('the two listeners have an address each', () => {
    const flags = { listen: '127.0.0.1:7000', adminListen: '127.0.0.1:7000' }
    expect(problems({ flags })).toEqual([expect.stringContaining('admin_listen: must not be the address of listen')])
    expect(problems({ flags: { listen: '127.0.0.1:0', adminListen: '127.0.0.1:0' } })).toEqual([])
  })
  test('this machine is not called like a simulated host', () => {
    const env = { ACCELERANDO_HOST_NAME: 'sim-1' }
    expect(problems({ env })).toEqual([])
    expect(problems({ env, flags: { demo: true } })).toEqual([expect.stringContaining('host.name: must not be')])
  })
})

describe('hardware', () => {
  test('every entry of the whitelist is judged', () => {
    const whitelist = JSON.stringify([{ vendor_id: 'zz' }, { product_id: '12345' }, { address: 'a', devname: 'b' }])
    const found = problems({ env: { ACCELERANDO_PCI_PASSTHROUGH_WHITELIST: whitelist } })
    expect(found.length).toBeGreaterThanOrEqual(3)
    expect(found[0]).toBe(
      'pci.passthrough_whitelist: [0].vendor_id must be hex text or *, is "zz" (from ACCELERANDO_PCI_PASSTHROUGH_WHITELIST)',
    )
    expect(found[1]).toContain('[1].product_id must not exceed ffff')
  })
  test('a whitelist that is no JSON', () => {
    expect(problems({ env: { ACCELERANDO_PCI_PASSTHROUGH_WHITELIST: '{vendor' } })).toEqual([
      expect.stringMatching(/^pci.passthrough_whitelist: must be JSON/),
    ])
  })
  test('drivers are those of this release', () => {
    const found = problems({ env: { ACCELERANDO_ENABLED_DRIVERS: 'pci_drvier,simulated_driver' } })
    expect(found).toEqual([
      expect.stringContaining("enabled_drivers: unknown driver 'pci_drvier'"),
      expect.stringContaining('enabled_drivers: simulated_driver needs a plan'),
    ])
  })
})

test('what is secret is not repeated', () => {
  const env = {
    ACCELERANDO_DATABASE: 'mysql://root:hunter2@db/x',
    ACCELERANDO_NOVA_HEADERS: '{"X-Auth-Token": ["hunter2"]}',
  }
  const found = problems({ env })
  expect(found).toHaveLength(2)
  expect(found.join()).not.toContain('hunter2')
})

test('a long value is shown as far as it tells what it is', () => {
  const is = (text: string) => /\(is (.*), from /.exec(problems({ env: { ACCELERANDO_LOG_LEVEL: text } })[0]!)?.[1]
  expect(is('x'.repeat(78))).toBe(`"${'x'.repeat(78)}"`)
  expect(is('x'.repeat(79))).toBe(`"${'x'.repeat(76)}...`)
})
test('a file of cleaning policies, or of cards, that is neither JSON nor YAML', () => {
  const loaded = loadConfig({
    env: { ACCELERANDO_CLEANING_POLICIES: 'p', ACCELERANDO_CARDS_ID_TABLE: 'p' },
    readFile: () => '[a: {',
    osHostname: 'here',
  })
  const said = (key: string, variable: string) =>
    expect.stringMatching(new RegExp(`^${key}: p: is neither JSON nor YAML: [^\\n]+ \\(from ${variable}\\)$`))
  expect(loaded).toEqual({
    ok: false,
    problems: [
      said('cards.id_table', 'ACCELERANDO_CARDS_ID_TABLE'),
      said('cleaning.policies', 'ACCELERANDO_CLEANING_POLICIES'),
    ],
  })
})
