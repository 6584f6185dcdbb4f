/** The configuration: flag over environment over file over default; all that is wrong with it at once, or what the rooms take. */
import type { DriverOptions } from '../../drivers/index.ts'
import type { KafkaOptions } from '../../bus/kafka/options.ts'
import type { Options as HttpOptions } from '../../http/options.ts'
import type { NovaOptions } from '../../neighbours/nova.ts'
import type { PostgresOptions } from '../../persistence/postgres/postgres.ts'
import { kafkaOf } from './cluster.ts'
import { gather, problem } from './gather.ts'
import type { ConfigSources, Gathered } from './gather.ts'
import type { Address } from './kinds.ts'
import { readPolicyFile } from './policyFile.ts'
import { isDemo, RULES } from './rules.ts'
import type { Sections } from './sections.ts'
import { type Key, valueOf } from './table.ts'

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
export type Config = Pick<Sections, 'log' | 'control' | 'region' | 'topics'> &
  Omit<Sections['program'], 'config' | 'adminListen'> & {
    /** `chosen`: somebody set it; otherwise any free port does when it is taken. */
    readonly adminListen: Address & { readonly chosen: boolean }
    /** Null: the store in the data folder. */
    readonly database: PostgresOptions | null
    /** Null: no simulated hosts. */
    readonly demo: Demo | null
    readonly http: HttpOptions
    readonly nova: Pick<NovaOptions, 'url' | 'timeoutMs' | 'headers' | 'tokenFile'> | null
    readonly host: Sections['host'] & { readonly name: string }
    /** Null: no Kafka. */
    readonly kafka: KafkaOptions | null
    readonly drivers: DriverOptions
  }
export type LoadedConfig =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly problems: readonly string[] }

const demoOf = (demo: Sections['demo']): Demo | null => {
  if (!isDemo(demo)) return null
  const { seed, hosts, devices, handles, hostWork } = demo
  if (hosts === null && devices === null && handles === null) return { kind: 'mixed', seed }
  return { kind: 'sized', seed, hosts: hosts ?? 1, devices: devices ?? 1, handles: handles ?? 16, hostWork }
}

/** Null where nobody said where the service is. */
const withUrl = <Given extends { readonly url: string | null }>({ url, ...rest }: Given) =>
  url === null ? null : { ...rest, url }

/** The operating system's name in the characters a host's name may have. */
export const safeHostName = (name: string): string =>
  name
    .replaceAll(/[^A-Za-z0-9.-]+/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 100) || 'localhost'

/** What the files hold that options name. */
type Files = { readonly rules: Record<string, string>; readonly ca: string | null }

const configOf = (
  {
    program: { config: _file, ...program },
    demo,
    http,
    compat,
    policy,
    host,
    pci,
    fake,
    nova,
    postgres,
    kafka,
    log,
    ...rest
  }: Sections,
  chosen: (key: Key) => boolean,
  osHostname: string,
  { rules, ca }: Files,
): Config => ({
  ...rest,
  ...program,
  log: { ...log, level: program.tour && !chosen('log.level') ? 'warn' : log.level },
  adminListen: { ...program.adminListen, chosen: chosen('admin_listen') },
  database: withUrl(postgres),
  demo: demoOf(demo),
  http: { ...http, compat, policy: { enforceNewDefaults: policy.enforceNewDefaults, rules } },
  nova: withUrl(nova),
  host: { ...host, name: host.name ?? safeHostName(osHostname) },
  drivers: { pci, fake },
  kafka: kafkaOf(kafka, ca),
})

const between = ({ sections, broken, originOf }: Gathered): readonly string[] =>
  RULES.filter(({ keys }) => !keys.some((key) => broken.has(key))).flatMap(({ keys, broken: judge }) => {
    // Who set none of them has nothing to mend: the defaults keep the rules.
    const blamed = keys.find((key) => originOf(key) !== undefined) ?? keys[0]
    const origin =
      originOf(keys[0]) ?? (blamed === keys[0] ? 'default' : `default; ${blamed} is from ${originOf(blamed)}`)
    return (judge(sections) || []).map((rule) => problem(keys[0], rule, origin))
  })

/** The content of the file an option names, read by `take`, which throws or tells problems. */
const inFileOf = <Value>(
  key: Key,
  nothing: Value,
  { sections, originOf }: Gathered,
  { readFile }: ConfigSources,
  take: (text: string) => { readonly value: Value; readonly problems: readonly string[] },
) => {
  const path = valueOf(sections, key) as string | null
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
    const { rules, problems } = readPolicyFile(text, gathered.sections.policy.enforceNewDefaults)
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
  return { ok: true, config: configOf(gathered.sections, chosen, sources.osHostname, files) }
}
