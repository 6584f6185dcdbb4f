/** The configuration: flag over environment over file over default; all that is wrong with it at once, or what the rooms take. */
import type { ControlOptions } from '../../actors/services/kernel.ts'
import type { RegionOptions } from '../../actors/runtime/region.ts'
import type { DriverOptions } from '../../drivers/index.ts'
import type { KafkaOptions } from '../../bus/kafka/options.ts'
import type { Options as HttpOptions } from '../../http/options.ts'
import type { NovaOptions } from '../../neighbours/nova.ts'
import type { PostgresOptions } from '../../persistence/postgres/postgres.ts'
import { kafkaOf, topicsOf } from './cluster.ts'
import type { TopicOptions } from './cluster.ts'
import { gather, problem } from './gather.ts'
import type { ConfigSources, Gathered } from './gather.ts'
import type { Address } from './kinds.ts'
import { readPolicyFile } from './policyFile.ts'
import { driverOptions, isDemo, RULES } from './rules.ts'
import type { Key, Settings } from './table.ts'

export type Demo =
  | { readonly kind: 'mixed'; readonly seed: string }
  | {
      readonly kind: 'sized'
      readonly seed: string
      readonly hosts: number
      readonly devices: number
      readonly handles: number
      readonly hostWork: boolean
    }
export type Config = {
  readonly listen: Address
  /** `chosen`: somebody set it; otherwise any free port does when it is taken. */
  readonly adminListen: Address & { readonly chosen: boolean }
  readonly data: string
  /** Null: the store in the data folder. */
  readonly database: PostgresOptions | null
  readonly images: string | null
  readonly noauthAnywhere: boolean
  /** Null: no simulated hosts. */
  readonly demo: Demo | null
  readonly tour: boolean
  readonly testDoors: boolean
  readonly log: { readonly level: Settings['log.level']; readonly pretty: Settings['log.pretty'] }
  readonly http: HttpOptions
  readonly control: ControlOptions
  readonly region: RegionOptions
  readonly nova: Pick<NovaOptions, 'url' | 'timeoutMs' | 'headers' | 'tokenFile'> | null
  readonly host: { readonly name: string; readonly reportEveryMs: number; readonly heartbeatEveryMs: number }
  readonly enabledDrivers: readonly string[]
  /** Null: nobody chose how callers are known. */
  readonly auth: Settings['auth']
  /** 0 but in tests. */
  readonly clockOffsetMs: number
  /** Null: no Kafka. */
  readonly kafka: KafkaOptions | null
  readonly topics: TopicOptions
  readonly drivers: DriverOptions
}
export type LoadedConfig =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly problems: readonly string[] }

const demoOf = (s: Settings): Demo | null => {
  if (!isDemo(s)) return null
  const {
    demo_seed: seed,
    demo_hosts: hosts,
    demo_devices: devices,
    demo_handles: handles,
    demo_host_work: hostWork,
  } = s
  if (hosts === null && devices === null && handles === null) return { kind: 'mixed', seed }
  return { kind: 'sized', seed, hosts: hosts ?? 1, devices: devices ?? 1, handles: handles ?? 16, hostWork }
}

const controlOf = (s: Settings): ControlOptions => ({
  bindDeadlineMs: s['bind.deadline_seconds'],
  tellForMs: s['nova.tell_for_seconds'],
  resendMs: s['bind.resend_seconds'],
  sweepEveryMs: s['sweep.every_seconds'],
  programWaitMs: s['program.wait_seconds'],
  programDeadlineMs: s['program.deadline_seconds'],
  staleAfterMs: s['host.stale_after_seconds'],
  downAfterMs: s['host.down_after_seconds'],
  missingRounds: s['host.missing_rounds'],
  timelineKeptMs: s['timeline.kept_days'],
})

const httpOf = (s: Settings, rules: HttpOptions['policy']['rules']): HttpOptions => ({
  publicEndpoint: s['api.public_endpoint'],
  proxyHeaders: s['api.proxy_headers'],
  bodyLimitBytes: s['api.body_limit_bytes'],
  answerMs: s['api.answer_seconds'],
  additiveMicroversion: s['api.additive_microversion'],
  compat: { tempestServerFaults: s['compat.tempest_server_faults'] },
  policy: { enforceNewDefaults: s['oslo_policy.enforce_new_defaults'], rules },
  serviceTokenRoles: s['keystone_authtoken.service_token_roles'],
})

const novaOf = (s: Settings): Config['nova'] =>
  s['nova.url'] === null
    ? null
    : {
        url: s['nova.url'],
        timeoutMs: s['nova.timeout_seconds'],
        headers: s['nova.headers'],
        tokenFile: s['nova.token_file'],
      }

/** The operating system's name in the characters a host's name may have. */
export const safeHostName = (name: string): string =>
  name
    .replaceAll(/[^A-Za-z0-9.-]+/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 100) || 'localhost'

/** What the files hold that options name. */
type Files = { readonly rules: Record<string, string>; readonly ca: string | null }

const configOf = (s: Settings, chosen: (key: Key) => boolean, osHostname: string, { rules, ca }: Files): Config => ({
  listen: s.listen,
  adminListen: { ...s.admin_listen, chosen: chosen('admin_listen') },
  data: s.data,
  database:
    s.database === null
      ? null
      : {
          url: s.database,
          statementTimeoutMs: s['postgres.statement_timeout_seconds'],
          readers: s['postgres.readers'],
        },
  images: s.images,
  noauthAnywhere: s.noauth_anywhere,
  demo: demoOf(s),
  tour: s.tour,
  testDoors: s.test_doors,
  log: { level: s.tour && !chosen('log.level') ? 'warn' : s['log.level'], pretty: s['log.pretty'] },
  http: httpOf(s, rules),
  control: controlOf(s),
  region: {
    askMs: s['actors.ask_seconds'],
    holdMs: s['actors.hold_seconds'],
    idleMs: s['actors.idle_seconds'],
    residentMax: s['actors.resident_max'],
  },
  nova: novaOf(s),
  host: {
    name: s['host.name'] ?? safeHostName(osHostname),
    reportEveryMs: s['host.report_every_seconds'],
    heartbeatEveryMs: s['host.heartbeat_every_seconds'],
  },
  enabledDrivers: s.enabled_drivers,
  drivers: driverOptions(s),
  auth: s.auth,
  clockOffsetMs: s.clock_offset_ms,
  kafka: kafkaOf(s, ca),
  topics: topicsOf(s),
})

const between = ({ settings, broken, originOf }: Gathered): readonly string[] =>
  RULES.filter(({ keys }) => !keys.some((key) => broken.has(key))).flatMap(({ keys, broken: judge }) => {
    // Who set none of them has nothing to mend: the defaults keep the rules.
    const blamed = keys.find((key) => originOf(key) !== undefined) ?? keys[0]
    const origin =
      originOf(keys[0]) ?? (blamed === keys[0] ? 'default' : `default; ${blamed} is from ${originOf(blamed)}`)
    return (judge(settings) || []).map((rule) => problem(keys[0], rule, origin))
  })

/** The content of the file an option names, read by `take`, which throws or tells problems. */
const inFileOf = <Value>(
  key: Key,
  nothing: Value,
  { settings, originOf }: Gathered,
  { readFile }: ConfigSources,
  take: (text: string) => { readonly value: Value; readonly problems: readonly string[] },
) => {
  const path = settings[key] as string | null
  if (path === null) return { value: nothing, problems: [] }
  const told = (rule: string) => problem(key, `${path}: ${rule}`, originOf(key) ?? 'default')
  try {
    const { value, problems } = take(readFile(path))
    return { value, problems: problems.map(told) }
  } catch (error) {
    return { value: nothing, problems: [told(`cannot be read: ${(error as Error).message}`)] }
  }
}

const policyOf = (gathered: Gathered, sources: ConfigSources) =>
  inFileOf<Record<string, string>>('oslo_policy.policy_file', {}, gathered, sources, (text) => {
    const { rules, problems } = readPolicyFile(text, gathered.settings['oslo_policy.enforce_new_defaults'])
    return { value: { ...rules }, problems }
  })
const certificatesOf = (gathered: Gathered, sources: ConfigSources) =>
  inFileOf<string | null>('kafka.ca_file', null, gathered, sources, (text) => ({
    value: text,
    problems: text.includes('-----BEGIN CERTIFICATE-----') ? [] : ['must hold certificates in PEM'],
  }))

export const loadConfig = (sources: ConfigSources & { readonly osHostname: string }): LoadedConfig => {
  const gathered = gather(sources)
  const policy = policyOf(gathered, sources)
  const certificates = certificatesOf(gathered, sources)
  const problems = [...gathered.problems, ...between(gathered), ...policy.problems, ...certificates.problems]
  if (problems.length > 0) return { ok: false, problems }
  const chosen = (key: Key) => gathered.originOf(key) !== undefined
  const files = { rules: policy.value, ca: certificates.value }
  return { ok: true, config: configOf(gathered.settings, chosen, sources.osHostname, files) }
}
