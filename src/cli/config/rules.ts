/** Rules that involve several options, and rules that the parser of another module checks. */
import { driverByName } from '../../drivers/index.ts'
import { readWhitelist } from '../../drivers/pci/whitelist.ts'
import { DEFAULTS as HOST } from '../../host/defaults.ts'
import { isLoopback } from '../../http/gate.ts'
import type { Address } from './kinds.ts'
import type { Sections } from './sections.ts'
import { type Key, valueOf } from './table.ts'

type Rule = {
  /** The first key is named in the message. When any of these options has an invalid value the rule is not checked. */
  readonly keys: readonly [Key, ...Key[]]
  readonly broken: (sections: Sections) => readonly string[] | false
}

const same = (one: Address, other: Address): boolean =>
  one.port !== 0 && one.port === other.port && one.host === other.host

const whitelistProblems = ({ pci }: Sections): readonly string[] => {
  const reading = readWhitelist(pci.whitelist, '')
  return reading.ok ? [] : reading.problems.map(({ field, rule }) => `${field.replace(/^\./, '')} ${rule}`.trim())
}

/** The problems of the enabled drivers. Options that have rules of their own are left out here. */
const driverProblems = ({ program, fake }: Sections): readonly string[] =>
  program.enabledDrivers.flatMap((name) => {
    const reading = driverByName(name, { fake, pci: {} })
    return reading.ok ? [] : reading.problems.map(({ rule }) => rule)
  })
/** The problems of the card options. They are checked even while the drivers are not enabled. */
const cardProblems = (key: Key, { gpu, nic }: Sections): readonly string[] =>
  ['nvidia_gpu_driver', 'intel_nic_driver'].flatMap((name) => {
    const reading = driverByName(name, { gpu, nic })
    const own = reading.ok ? [] : reading.problems.filter(({ field }) => field.startsWith(key))
    return own.map(({ field, rule }) => `${field.slice(key.length).replace(/^\./, '')} ${rule}`.trim())
  })
const ofCards = (key: Key): Rule => ({ keys: [key], broken: (sections) => cardProblems(key, sections) })

const below = (low: Key, high: Key): Rule => ({
  keys: [low, high],
  broken: (sections) =>
    (valueOf(sections, low) as number) >= (valueOf(sections, high) as number) && [`must be less than ${high}`],
})

export const RULES: readonly Rule[] = [
  {
    keys: ['listen', 'noauth_anywhere', 'auth'],
    broken: ({ program }) =>
      program.auth !== 'keystone' &&
      !program.noauthAnywhere &&
      !isLoopback(program.listen.host) && [
        'must be a loopback address, since nobody is authenticated; --noauth-anywhere listens there all the same',
      ],
  },
  {
    keys: ['tour', 'auth'],
    broken: ({ program }) =>
      program.tour && program.auth === 'keystone' && ['is not possible with auth keystone: it has no token'],
  },
  {
    keys: ['ui_listen', 'noauth_anywhere', 'auth'],
    broken: ({ program }) =>
      program.auth !== 'keystone' &&
      !program.noauthAnywhere &&
      !isLoopback(program.uiListen.host) && [
        'must be a loopback address, since nobody is authenticated; --noauth-anywhere listens there all the same',
      ],
  },
  {
    keys: ['ui_listen', 'listen', 'admin_listen'],
    broken: ({ program }) =>
      (same(program.uiListen, program.listen) || same(program.uiListen, program.adminListen)) && [
        'must not be the address of listen or of admin_listen',
      ],
  },
  {
    keys: ['admin_listen', 'listen'],
    broken: ({ program }) => same(program.listen, program.adminListen) && ['must not be the address of listen'],
  },
  {
    keys: ['test_doors', 'admin_listen'],
    broken: ({ program }) =>
      program.testDoors && !isLoopback(program.adminListen.host) && ['needs a loopback address in admin_listen'],
  },
  {
    keys: ['host.name', 'demo'],
    broken: ({ demo, host }) =>
      isDemo(demo) && /^sim-\d+$/.test(host.name ?? '') && ['must not be the name of a simulated host (sim-1, ...)'],
  },
  below('actors.hold_seconds', 'actors.ask_seconds'),
  below('host.heartbeat_every_seconds', 'host.stale_after_seconds'),
  below('host.stale_after_seconds', 'host.down_after_seconds'),
  {
    keys: ['program.deadline_seconds'],
    // otherwise a host would still write a card that the control shows as failed
    broken: ({ control }) =>
      control.programDeadlineMs <= HOST.limits.ProgramMs && [
        `must be more than ${HOST.limits.ProgramMs / 1000}: for so long a host may write a card`,
      ],
  },
  {
    keys: ['clock_offset_ms', 'test_doors'],
    broken: ({ program }) =>
      program.clockOffsetMs !== 0 && !program.testDoors && ['needs test_doors: a wrong clock is of use in tests only'],
  },
  {
    keys: ['kafka.sasl_mechanism', 'kafka.sasl_username', 'kafka.sasl_password'],
    broken: ({ kafka: { mechanism, username, password } }) => {
      const given = [mechanism, username, password]
      const set = given.filter((each) => each !== null).length
      return set % given.length !== 0 && ['must be set together with kafka.sasl_username and kafka.sasl_password']
    },
  },
  { keys: ['pci.passthrough_whitelist'], broken: whitelistProblems },
  ofCards('gpu_devices.enabled_vgpu_types'),
  ofCards('gpu_devices.device_addresses'),
  ofCards('nic_devices.physical_device_mappings'),
  ofCards('nic_devices.function_device_mappings'),
  { keys: ['enabled_drivers', 'fake.devices', 'fake.handles'], broken: driverProblems },
]

/** Setting a size enables the simulated hosts just as `demo` does. */
export const isDemo = ({ mixed, hosts, devices, handles }: Sections['demo']): boolean =>
  mixed || [hosts, devices, handles].some((size) => size !== null)
