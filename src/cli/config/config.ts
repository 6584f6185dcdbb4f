/**
 * Reads the configuration. A flag overrides the environment, the environment overrides the file, and the file overrides
 * the default. The result is either the complete list of problems or the validated options of each part of the program.
 */
import { homedir } from 'node:os'
import { messageOf } from '../../vocabulary/errorText.ts'
import type { KnownCard } from '../../drivers/cards/knownCards.ts'
import type { CleaningPolicy } from '../../host/cleaningCall.ts'
import type { DriverOptions } from '../../drivers/index.ts'
import type { KafkaOptions } from '../../bus/kafka/options.ts'
import type { Options as HttpOptions } from '../../http/options.ts'
import type { PostgresOptions } from '../../persistence/postgres/postgres.ts'
import { readCardsFile } from './cardsFile.ts'
import { readCleaningFile } from './cleaningFile.ts'
import { kafkaOf } from './severalProcesses.ts'
import { type CloudEntry, cloudEntryIn } from './clouds.ts'
import { besideClouds } from './cloudFiles.ts'
import { type KeystoneOptions, keystoneOf, overridden } from './keystone.ts'
import { gather, problem } from './gather.ts'
import { type InForce, inForceOf } from './inForce.ts'
import type { ConfigSources, Gathered } from './gather.ts'
import type { Address } from './kinds.ts'
import { readPolicyFile } from './policyFile.ts'
import { isDemo, RULES } from './rules.ts'
import type { Sections } from './sections.ts'
import { type Key, KEYS, rowOf, valueOf } from './table.ts'

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
export type Config = Pick<
  Sections,
  'log' | 'control' | 'region' | 'archive' | 'events' | 'topics' | 'glance' | 'playbooks'
> &
  Omit<Sections['program'], 'config' | 'adminListen' | 'uiListen'> & {
    /** `chosen`: the operator set the address. Otherwise any free port is taken when the default is in use. */
    readonly adminListen: Address & { readonly chosen: boolean }
    readonly uiListen: Address & { readonly chosen: boolean }
    /** Null: the embedded store in the data folder. */
    readonly database: PostgresOptions | null
    /** Null: no simulated hosts. */
    readonly demo: Demo | null
    readonly http: HttpOptions
    readonly nova: Sections['nova']
    readonly placement: Sections['placement']
    /** Null: the cloud's identity service is not configured. */
    readonly keystone: KeystoneOptions | null
    readonly host: Sections['host'] & { readonly name: string }
    /** Null: no Kafka. */
    readonly kafka: KafkaOptions | null
    readonly drivers: DriverOptions
    /**
     * How the hosts of this machine clean devices between requests; devices of a driver that is not listed are not
     * cleaned.
     */
    readonly cleaning: readonly CleaningPolicy[]
    /** The options, as operators may see them. Absent: the configuration was not read from options. */
    readonly inForce?: InForce
  }
export type LoadedConfig =
  /** `warnings`: what files say that has no effect. */
  | { readonly ok: true; readonly config: Config; readonly inForce: InForce; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] }

const demoOf = (demo: Sections['demo']): Demo | null => {
  if (!isDemo(demo)) return null
  const { seed, hosts, devices, handles, hostWork } = demo
  if (hosts === null && devices === null && handles === null) return { kind: 'mixed', seed }
  return { kind: 'sized', seed, hosts: hosts ?? 1, devices: devices ?? 1, handles: handles ?? 16, hostWork }
}

/** The settings of a service; null: its URL is not set. */
const withUrl = <Given extends { readonly url: string | null }>({ url, ...rest }: Given) =>
  url === null ? null : { ...rest, url }

/** The host name of the operating system, reduced to the characters that a host name may have here. */
export const safeHostName = (name: string): string =>
  name
    .replaceAll(/[^A-Za-z0-9.-]+/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 100) || 'localhost'

/** The contents of the files that options name. */
type Files = {
  readonly rules: Record<string, string>
  readonly kafkaCa: string | null
  readonly keystone: KeystoneOptions | null
  readonly cards: readonly KnownCard[]
  readonly cleaning: readonly CleaningPolicy[]
}

const configOf = (
  {
    program: { config: _file, ...program },
    demo,
    http,
    compat,
    policy,
    host,
    pci,
    cards: _cards,
    cleaning: _cleaning,
    gpu,
    nic,
    fpga,
    measuring,
    spdk,
    fake,
    nova,
    postgres,
    kafka,
    keystone: _keystone,
    log,
    ...rest
  }: Sections,
  chosen: (key: Key) => boolean,
  osHostname: string,
  { rules, kafkaCa, keystone, cards, cleaning }: Files,
): Config => ({
  ...rest,
  ...program,
  log: { ...log, level: program.tour && !chosen('log.level') ? 'warn' : log.level },
  adminListen: { ...program.adminListen, chosen: chosen('admin_listen') },
  uiListen: { ...program.uiListen, chosen: chosen('ui_listen') },
  database: withUrl(postgres),
  demo: demoOf(demo),
  // A service with authentication, or one that listens anywhere, is reached under names that this program cannot know,
  // unless they are configured. Pages of other sites have no token to send.
  http: {
    ...http,
    anyHost: program.auth === 'keystone' || (program.noauthAnywhere && http.trustedHosts.length === 0),
    compat,
    policy: { enforceNewDefaults: policy.enforceNewDefaults, rules },
  },
  nova,
  host: { ...host, name: host.name ?? safeHostName(osHostname) },
  drivers: { pci, cards, gpu, nic, fpga, measuring, spdk, fake },
  cleaning,
  kafka: kafkaOf(kafka, kafkaCa),
  keystone,
})

const between = ({ sections, broken, originOf }: Gathered): readonly string[] =>
  RULES.filter(({ keys }) => !keys.some((key) => broken.has(key))).flatMap(({ keys, broken: judge }) => {
    // When no option of the rule is set there is nothing to fix, because the defaults satisfy every rule.
    const blamed = keys.find((key) => originOf(key) !== undefined) ?? keys[0]
    const origin =
      originOf(keys[0]) ?? (blamed === keys[0] ? 'default' : `default; ${blamed} is from ${originOf(blamed)}`)
    return (judge(sections) || []).map((rule) => problem(keys[0], rule, origin))
  })

/** The content of the file that an option names, parsed by `take`, which throws or reports problems. */
const inFileOf = <Value>(
  key: Key,
  nothing: Value,
  { sections, originOf }: Gathered,
  { readFile }: ConfigSources,
  take: (text: string) => {
    readonly value: Value
    readonly problems: readonly string[]
    readonly warnings?: readonly string[]
  },
  path = valueOf(sections, key) as string | null,
) => {
  if (path === null) return { value: nothing, problems: [], warnings: [] }
  const problemOf = (rule: string) => problem(key, `${path}: ${rule}`, originOf(key) ?? 'default')
  try {
    const { value, problems, warnings = [] } = take(readFile(path))
    return { value, problems: problems.map(problemOf), warnings: warnings.map(problemOf) }
  } catch (error) {
    return { value: nothing, problems: [problemOf(`cannot be read: ${messageOf(error)}`)], warnings: [] }
  }
}

const policyOf = (gathered: Gathered, sources: ConfigSources) =>
  inFileOf<Record<string, string>>('oslo_policy.policy_file', {}, gathered, sources, (text) => {
    const { rules, ...found } = readPolicyFile(text, gathered.sections.policy.enforceNewDefaults)
    return { value: { ...rules }, ...found }
  })
const certificatesIn = (text: string) => ({
  value: text,
  problems: text.includes('-----BEGIN CERTIFICATE-----') ? [] : ['must hold certificates in PEM'],
})
const certificatesOf = (gathered: Gathered, sources: ConfigSources) =>
  inFileOf<string | null>('kafka.ca_file', null, gathered, sources, certificatesIn)

const cardsOf = (gathered: Gathered, sources: ConfigSources) =>
  inFileOf<readonly KnownCard[]>('cards.id_table', [], gathered, sources, (text) => {
    const { cards, problems } = readCardsFile(text)
    return { value: cards, problems }
  })

const cleaningOf = (gathered: Gathered, sources: ConfigSources) =>
  inFileOf<readonly CleaningPolicy[]>('cleaning.policies', [], gathered, sources, (text) => {
    const { policies, problems } = readCleaningFile(text)
    return { value: policies, problems }
  })

/** Options that are set override the entry of the `clouds.yaml`. */
const keystoneIn = (gathered: Gathered, sources: ConfigSources) => {
  const { keystone } = gathered.sections
  const { cloud, cloudsFile } = keystone
  const entry =
    cloud === null
      ? { value: {}, problems: [], warnings: [] }
      : inFileOf<CloudEntry>(
          'keystone_authtoken.clouds_file',
          {},
          gathered,
          sources,
          (clouds) =>
            cloudEntryIn(
              { clouds, ...besideClouds(cloudsFile, sources.readFile) },
              { name: cloud, region: keystone.region, home: homedir() },
            ),
          cloudsFile,
        )
  const chosen = Object.fromEntries(
    KEYS.flatMap((key) => {
      const [section, field] = rowOf(key).to.split('.')
      return section === 'keystone' && gathered.originOf(key) !== undefined
        ? [[field, valueOf(gathered.sections, key)]]
        : []
    }),
  )
  const whole = { ...keystone, ...overridden(entry.value, chosen) }
  const ca = inFileOf<string | null>('keystone_authtoken.cafile', null, gathered, sources, certificatesIn, whole.caFile)
  const options = keystoneOf(whole, ca.value)
  const missing =
    gathered.sections.program.auth === 'keystone' && options === null && entry.problems.length === 0
      ? [
          problem(
            'auth',
            'keystone needs keystone_authtoken.auth_url, and username, password and project_name or an application credential there',
            gathered.originOf('auth')!,
          ),
        ]
      : []
  return { value: options, problems: [...entry.problems, ...ca.problems, ...missing], warnings: entry.warnings }
}

export const loadConfig = (sources: ConfigSources & { readonly osHostname: string }): LoadedConfig => {
  const gathered = gather(sources)
  const policy = policyOf(gathered, sources)
  const certificates = certificatesOf(gathered, sources)
  const keystone = keystoneIn(gathered, sources)
  const cards = cardsOf(gathered, sources)
  const cleaning = cleaningOf(gathered, sources)
  const read = [policy, certificates, keystone, cards, cleaning].flatMap((one) => one.problems)
  const problems = [...gathered.problems, ...between(gathered), ...read]
  if (problems.length > 0) return { ok: false, problems }
  const chosen = (key: Key) => gathered.originOf(key) !== undefined
  const files = {
    rules: policy.value,
    kafkaCa: certificates.value,
    keystone: keystone.value,
    cards: cards.value,
    cleaning: cleaning.value,
  }
  const config = configOf(gathered.sections, chosen, sources.osHostname, files)
  return {
    ok: true,
    config,
    inForce: inForceOf(gathered, sources.env),
    warnings: [...policy.warnings, ...keystone.warnings],
  }
}
