/**
 * Reads an entry of a `clouds.yaml` as openstacksdk does: with `secure.yaml` over it, the profile of a
 * `clouds-public.yaml` under it, and the names that its keys have had. What cannot be followed is a problem; a key that
 * nothing here uses is a warning. Pure.
 */
import { parse } from 'yaml'
import { messageOf } from '../../vocabulary/errorText.ts'
import { isRecord, type UnknownRecord } from '../../vocabulary/record.ts'
import type { Sections } from './sections.ts'

/** What an entry may say beyond the options. */
export type BeyondOptions = {
  /** Of an application credential, in place of its id. */
  readonly credentialName?: string
  readonly token?: string
  /** URLs of services that count instead of those in the catalogue, by type. */
  readonly endpoints?: Readonly<Record<string, string>>
  /** The API of a cloud without authentication. */
  readonly openApi?: string
}
/** The options that an entry sets. */
export type CloudEntry = Partial<Sections['keystone']> & BeyondOptions
export type CloudReading = {
  readonly value: CloudEntry
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
}
/** Null: there is no such file. */
export type CloudFiles = {
  readonly clouds: string
  readonly secure?: string | null
  readonly public?: string | null
}
export type CloudChoice = {
  readonly name: string
  /** Null: the first one of the entry. */
  readonly region?: string | null
  /** For paths that begin with `~`. */
  readonly home?: string
}

/** What is no text has no meaning where a name is wanted. */
const nameIn = (value: unknown): string => (typeof value === 'string' ? value : '(no text)')

const ALIASES_MAX = 100
/** Each scalar is its text, so that a password of digits stays as it is written. */
const treeIn = (text: string): unknown => parse(text, { schema: 'failsafe', merge: true, maxAliasCount: ALIASES_MAX })

/** Keys with underscores, and nothing that is empty. */
const tidied = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(tidied)
  if (!isRecord(value)) return value
  const fields = Object.entries(value).map(([key, one]) => [key.replaceAll('-', '_'), tidied(one)] as const)
  return Object.fromEntries(fields.filter(([, one]) => one !== null && !['', '~', 'null'].includes(one as string)))
}
const merged = (under: UnknownRecord, over: UnknownRecord): UnknownRecord => ({
  ...under,
  ...Object.fromEntries(
    Object.entries(over).map(([key, value]) => {
      const below = under[key]
      return [key, isRecord(value) && isRecord(below) ? merged(below, value) : value]
    }),
  ),
})
/** Throws when it is no YAML. */
const entriesIn = (text: string | null, under: string): UnknownRecord => {
  const file = (text === null ? null : treeIn(text)) ?? {}
  const all = isRecord(file) ? (file[under] ?? {}) : null
  if (!isRecord(all)) throw new Error(`${under} must be a mapping of names to entries`)
  return all
}
/** Null: it has no entry of that name. */
const entryIn = (text: string | null, under: string, name: string): UnknownRecord | null => {
  const all = entriesIn(text, under)
  if (!Object.hasOwn(all, name)) return null
  const entry = tidied(all[name])
  if (!isRecord(entry)) throw new Error(`${under}.${name} must be a mapping`)
  return entry
}

const regionsOf = ({ regions, region_name: names }: UnknownRecord): readonly unknown[] => {
  if (Array.isArray(regions)) return regions
  if (typeof names === 'string') return names.split(',').map((each) => each.trim())
  return names === undefined ? [] : [names].flat().map((name) => ({ name }))
}
/** The entry with what it says of the region that is used. */
const inRegion = (entry: UnknownRecord, wanted: string | null): UnknownRecord => {
  const known = regionsOf(entry).map((each) => (isRecord(each) ? each : { name: each }))
  const region = wanted === null ? known[0] : known.find(({ name }) => name === wanted)
  const { regions: _, region_name: _name, ...rest } = entry
  const name = region?.['name'] ?? wanted
  const values = region?.['values']
  return { ...merged(rest, isRecord(values) ? values : {}), ...(name === null ? {} : { region_name: name }) }
}

/** The keys of `auth`, which may stand beside it too, and those that they had before. */
const AUTH: Readonly<Record<string, readonly string[]>> = {
  authUrl: ['auth_url'],
  username: ['username', 'user_name'],
  password: ['password'],
  userDomain: ['user_domain_name'],
  project: ['project_name', 'tenant_name'],
  projectDomain: ['project_domain_name'],
  userId: ['user_id'],
  userDomainId: ['user_domain_id'],
  projectId: ['project_id', 'tenant_id'],
  projectDomainId: ['project_domain_id'],
  credentialId: ['application_credential_id'],
  credentialName: ['application_credential_name'],
  credentialSecret: ['application_credential_secret'],
  token: ['token', 'auth_token'],
  domain: ['domain_name', 'default_domain_name'],
  domainId: ['domain_id', 'default_domain_id'],
  endpoint: ['endpoint'],
}
const AUTH_KEYS = Object.values(AUTH).flat()
const BESIDE = ['auth', 'auth_type', 'auth_plugin', 'region_name', 'interface', 'endpoint_type', 'cacert', 'verify']
const OTHERS = new Set([
  ...['insecure', 'profile', 'cloud', 'networks', 'external_network', 'internal_network', 'floating_ip_source'],
  ...['image_format', 'image_api_use_tasks', 'secgroup_source', 'message', 'status', 'name', 'disable_vendor_agent'],
  ...['force_ipv4', 'prefer_ipv6', 'api_timeout', 'timeout', 'cache', 'metrics', 'client', 'vendor_hook', 'private'],
  ...['nat_source', 'nat_destination', 'default_network', 'description', 'requires_floating_ip'],
])
/** Such a key is about a library, or about versions that this program chooses itself. */
const OF_LIBRARY =
  /_(?:api_version|default_microversion|m(?:in|ax)_version|service_(?:name|type)|retries|retriable_status_codes|concurrency|timeout)$/
const SERVICES = ['accelerator', 'compute', 'image', 'placement']
const ENDPOINT = new RegExp(`^(${SERVICES.join('|')})_endpoint(?:_override)?$`)

const NO = ['false', 'no', 'off', '0']
const isNo = (value: unknown): boolean => typeof value === 'string' && NO.includes(value.toLowerCase())
const isUnverified = (key: string, value: unknown): boolean =>
  value !== undefined && (key === 'verify' ? isNo(value) : !isNo(value))
const VERIFIED =
  'certificates are always verified: remove this key, and name the file of the CA that issued them in cacert'
const NO_CLIENT_CERTIFICATE =
  'client certificates are not used here: remove it, and use an address that asks for none, with a password or an application credential'
const TYPES: Readonly<Record<string, 'password' | 'credential' | 'token' | 'none'>> = {
  password: 'password',
  v3password: 'password',
  v3applicationcredential: 'credential',
  token: 'token',
  v3token: 'token',
  none: 'none',
}

const authOf = (entry: UnknownRecord): UnknownRecord => (isRecord(entry['auth']) ? entry['auth'] : {})
const problemsOf = (entry: UnknownRecord): readonly string[] => {
  const auth = authOf(entry)
  const texts = { ...entry, ...Object.fromEntries(Object.entries(auth).map(([key, one]) => [`auth.${key}`, one])) }
  const noText = Object.entries(texts).filter(([key, value]) => {
    if (typeof value === 'string') return false
    return key.startsWith('auth.') || AUTH_KEYS.includes(key) || ['region_name', 'cacert', 'auth_type'].includes(key)
  })
  const type = entry['auth_type'] ?? entry['auth_plugin'] ?? 'password'
  if (typeof type === 'string' && !(type in TYPES))
    return [`auth_type: ${type} is not supported here; use one of ${Object.keys(TYPES).join(', ')}`]
  const unknown = Object.keys(auth).filter((key) => !AUTH_KEYS.includes(key))
  return [
    ...noText.map(([key]) => `${key} must be text`),
    ...(entry['auth'] === undefined || isRecord(entry['auth']) ? [] : ['auth must be a mapping']),
    ...unknown.map((key) => `auth.${key} is not known here; known are ${AUTH_KEYS.join(', ')}`),
    ...['cert', 'key'].filter((key) => key in entry).map((key) => `${key}: ${NO_CLIENT_CERTIFICATE}`),
    ...['verify', 'insecure'].filter((key) => isUnverified(key, entry[key])).map((key) => `${key}: ${VERIFIED}`),
  ]
}
const warningsOf = (entry: UnknownRecord): readonly string[] =>
  Object.keys(entry)
    .filter((key) => ![...BESIDE, ...AUTH_KEYS].includes(key) && !OTHERS.has(key))
    .filter((key) => !OF_LIBRARY.test(key) && !ENDPOINT.test(key))
    .map((key) => `${key} is not used`)

const interfacesOf = (entry: UnknownRecord): readonly string[] | undefined => {
  const given = entry['interface'] ?? entry['endpoint_type']
  if (given === undefined) return undefined
  return [given].flat().map((each) => nameIn(each).replace(/URL$/, ''))
}
const FOR_TYPE: Readonly<Record<string, readonly string[]>> = {
  credential: ['password'],
  token: ['password', 'credentialId', 'credentialName', 'credentialSecret'],
  password: [],
  none: [],
}
type Texts = Readonly<Record<string, string | undefined>>
const whoIn = (entry: UnknownRecord, type: string): Texts => {
  const auth = authOf(entry)
  const named = (keys: readonly string[]) => keys.map((key) => entry[key] ?? auth[key]).find((one) => one !== undefined)
  const said = Object.entries(AUTH).map(([field, keys]) => [field, named(keys) as string | undefined] as const)
  const texts = Object.fromEntries(said.filter(([field]) => !FOR_TYPE[type]!.includes(field)))
  const { domain, domainId, endpoint: _, ...who } = texts
  const scoped = who['project'] !== undefined || who['projectId'] !== undefined
  const domainOf = (name: 'userDomain' | 'projectDomain'): Texts =>
    who[name] !== undefined || who[`${name}Id`] !== undefined ? {} : { [name]: domain, [`${name}Id`]: domainId }
  return { ...who, ...domainOf('userDomain'), ...(scoped ? domainOf('projectDomain') : {}) }
}
const endpointsOf = (entry: UnknownRecord): Readonly<Record<string, string>> | undefined => {
  const found = Object.entries(entry).flatMap(([key, url]) => {
    const service = ENDPOINT.exec(key)?.[1]
    return service === undefined || typeof url !== 'string' ? [] : [[service, url]]
  })
  return found.length === 0 ? undefined : (Object.fromEntries(found) as Record<string, string>)
}
const atHome = (path: string | undefined, home = ''): string | undefined => path?.replace(/^~(?=\/)/, home)

const valueOf = (entry: UnknownRecord, home: string | undefined): CloudEntry => {
  const type = TYPES[nameIn(entry['auth_type'] ?? entry['auth_plugin'] ?? 'password')]!
  const { authUrl, ...who } = whoIn(entry, type)
  const endpoints = endpointsOf(entry)
  const open = authOf(entry)['endpoint'] ?? entry['endpoint'] ?? endpoints?.['accelerator']
  const fields = {
    ...who,
    authUrl: authUrl?.replaceAll(/\{(\w+)\}/g, (whole, key: string) => nameIn(entry[key] ?? whole)),
    region: entry['region_name'],
    interfaces: interfacesOf(entry),
    caFile: atHome(entry['cacert'] as string | undefined, home),
    endpoints,
    openApi: type === 'none' ? open : undefined,
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as CloudEntry
}

/** How many of the names that there are a problem lists. */
const NAMES_MAX = 10
const namesIn = (clouds: string): string =>
  Object.keys(entriesIn(clouds, 'clouds')).slice(0, NAMES_MAX).join(', ') || 'none'
const WRITE_URL = 'write auth_url into auth of the entry (openstack configuration show prints it)'
const nothing = (problem: string): CloudReading => ({ value: {}, problems: [problem], warnings: [] })
/** A problem does not repeat values, because they may be secrets. */
export const cloudEntryIn = (files: CloudFiles, { name, region = null, home }: CloudChoice): CloudReading => {
  try {
    const own = entryIn(files.clouds, 'clouds', name)
    if (own === null) return nothing(`has no cloud ${name}; it has ${namesIn(files.clouds)}`)
    const entry = merged(own, entryIn(files.secure ?? null, 'clouds', name) ?? {})
    const profile = entry['profile'] ?? entry['cloud']
    const under = profile === undefined ? null : entryIn(files.public ?? null, 'public-clouds', nameIn(profile))
    const whole = inRegion(merged(under ?? {}, entry), region)
    const problems = [
      ...problemsOf(whole),
      ...(profile !== undefined && under === null && whoIn(whole, 'none')['authUrl'] === undefined
        ? [
            `profile: no clouds-public.yaml has ${nameIn(profile)}, and the profiles of openstacksdk are not used here: ${WRITE_URL}`,
          ]
        : []),
    ].map((one) => `clouds.${name}.${one}`)
    if (problems.length > 0) return { value: {}, problems, warnings: [] }
    return { value: valueOf(whole, home), problems, warnings: warningsOf(whole).map((one) => `clouds.${name}.${one}`) }
  } catch (error) {
    return nothing(`cannot be read: ${messageOf(error).split('\n')[0]!}`)
  }
}
