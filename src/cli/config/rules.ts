/** Rules between options, and those that another room's own reader keeps. */
import { driverByName } from '../../drivers/index.ts'
import type { DriverOptions } from '../../drivers/index.ts'
import { readWhitelist } from '../../drivers/pci/whitelist.ts'
import type { Address } from './kinds.ts'
import type { Key, Settings } from './table.ts'

type Rule = {
  /** The first is the one to blame; with a bad value in any of them the rule is not asked. */
  readonly keys: readonly [Key, ...Key[]]
  readonly broken: (settings: Settings) => readonly string[] | false
}

/** `localhost` is told apart by name: what else a name leads to is not known here. */
const isLoopback = ({ host }: Address): boolean =>
  /^127(\.\d{1,3}){3}$/.test(host) || host === '::1' || host.toLowerCase() === 'localhost'
const same = (one: Address, other: Address): boolean =>
  one.port !== 0 && one.port === other.port && one.host === other.host

export const driverOptions = (s: Settings): DriverOptions => ({
  pci: { whitelist: s['pci.passthrough_whitelist'], sysfsRoot: s['pci.sysfs_root'], check: s['pci.check'] },
  fake: { devices: s['fake.devices'], handles: s['fake.handles'], hostWork: s['fake.host_work'] },
})

const whitelistProblems = (s: Settings): readonly string[] => {
  const reading = readWhitelist(s['pci.passthrough_whitelist'], '')
  return reading.ok ? [] : reading.problems.map(({ field, rule }) => `${field.replace(/^\./, '')} ${rule}`.trim())
}

/** The whitelist has a rule of its own. */
const driverProblems = (s: Settings): readonly string[] =>
  s.enabled_drivers.flatMap((name) => {
    const reading = driverByName(name, { ...driverOptions(s), pci: {} })
    return reading.ok ? [] : reading.problems.map(({ rule }) => rule)
  })

const below = (low: Key, high: Key): Rule => ({
  keys: [low, high],
  broken: (s) => (s[low] as number) >= (s[high] as number) && [`must be less than ${high}`],
})

export const RULES: readonly Rule[] = [
  {
    keys: ['listen', 'noauth_anywhere'],
    broken: (s) =>
      !s.noauth_anywhere &&
      !isLoopback(s.listen) && [
        'must be a loopback address, since nobody is authenticated; --noauth-anywhere listens there all the same',
      ],
  },
  {
    keys: ['admin_listen', 'listen'],
    broken: (s) => same(s.listen, s.admin_listen) && ['must not be the address of listen'],
  },
  {
    keys: ['test_doors', 'admin_listen'],
    broken: (s) => s.test_doors && !isLoopback(s.admin_listen) && ['needs a loopback address in admin_listen'],
  },
  {
    keys: ['host.name', 'demo'],
    broken: (s) =>
      isDemo(s) && /^sim-\d+$/.test(s['host.name'] ?? '') && ['must not be the name of a simulated host (sim-1, ...)'],
  },
  below('actors.hold_seconds', 'actors.ask_seconds'),
  below('host.heartbeat_every_seconds', 'host.stale_after_seconds'),
  below('host.stale_after_seconds', 'host.down_after_seconds'),
  below('program.wait_seconds', 'program.deadline_seconds'),
  {
    keys: ['clock_offset_ms', 'test_doors'],
    broken: (s) =>
      s.clock_offset_ms !== 0 &&
      !s.test_doors && ['needs test_doors: nobody wants a clock that is wrong but those who test'],
  },
  {
    keys: ['kafka.sasl_mechanism', 'kafka.sasl_username', 'kafka.sasl_password'],
    broken: (s) => {
      const given = [s['kafka.sasl_mechanism'], s['kafka.sasl_username'], s['kafka.sasl_password']]
      const set = given.filter((each) => each !== null).length
      return set % given.length !== 0 && ['must be set together with kafka.sasl_username and kafka.sasl_password']
    },
  },
  { keys: ['pci.passthrough_whitelist'], broken: whitelistProblems },
  { keys: ['enabled_drivers', 'fake.devices', 'fake.handles'], broken: driverProblems },
]

/** A size asks for the simulated hosts as `demo` does. */
export const isDemo = (s: Settings): boolean =>
  s.demo || [s.demo_hosts, s.demo_devices, s.demo_handles].some((size) => size !== null)
