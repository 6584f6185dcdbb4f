/**
 * The options by which the service signs in to a cloud: those of `[keystone_authtoken]`, or an entry of a
 * `clouds.yaml` (`clouds.ts`).
 */
import type { Credentials } from '../../neighbours/openstack/credentials.ts'
import type { SessionOptions } from '../../neighbours/openstack/session.ts'
import type { CacheOptions } from '../../neighbours/openstack/tokens.ts'
import type { BeyondOptions, CloudEntry } from './clouds.ts'
import * as k from './kinds.ts'
import { optional, row } from './row.ts'
import type { Sections } from './sections.ts'

export const KEYSTONE = {
  'keystone_authtoken.auth_url': optional('keystone.authUrl', k.webAddress, {
    about: 'The identity service, with or without /v3 at its end.',
    example: 'https://keystone.example.org:5000/v3',
  }),
  'keystone_authtoken.www_authenticate_uri': optional('keystone.challengeUrl', k.webAddress, {
    about: 'The identity service as callers reach it, named in answers with status 401. Without it, auth_url.',
    example: 'https://keystone.example.org:5000/v3',
  }),
  'keystone_authtoken.username': optional('keystone.username', k.word, {
    about: 'The user of this service.',
    example: 'cyborg',
  }),
  'keystone_authtoken.password': optional('keystone.password', k.word, {
    secret: true,
    about: 'Password of that user.',
    example: 'change me',
  }),
  'keystone_authtoken.user_domain_name': optional('keystone.userDomain', k.word, {
    about: 'Domain of that user. Without it: Default.',
    example: 'Default',
  }),
  'keystone_authtoken.project_name': optional('keystone.project', k.word, {
    about: 'The project of the service users.',
    example: 'service',
  }),
  'keystone_authtoken.project_domain_name': optional('keystone.projectDomain', k.word, {
    about: 'Domain of that project. Without it: Default.',
    example: 'Default',
  }),
  'keystone_authtoken.user_id': optional('keystone.userId', k.word, {
    about: 'Id of that user, instead of its name and domain.',
    example: 'c0ffee00c0ffee00c0ffee00c0ffee00',
  }),
  'keystone_authtoken.user_domain_id': optional('keystone.userDomainId', k.word, {
    about: 'Id of the domain of that user, instead of its name.',
    example: 'default',
  }),
  'keystone_authtoken.project_id': optional('keystone.projectId', k.word, {
    about: 'Id of that project, instead of its name and domain.',
    example: 'decade00decade00decade00decade00',
  }),
  'keystone_authtoken.project_domain_id': optional('keystone.projectDomainId', k.word, {
    about: 'Id of the domain of that project, instead of its name.',
    example: 'default',
  }),
  'keystone_authtoken.application_credential_id': optional('keystone.credentialId', k.word, {
    about: 'An application credential of this service, instead of user, password and project.',
    example: '0b1f6f0c2f4b4f0e9d0c6f2a5f2d7c10',
  }),
  'keystone_authtoken.application_credential_secret': optional('keystone.credentialSecret', k.word, {
    secret: true,
    about: 'Its secret.',
    example: 'change me',
  }),
  'keystone_authtoken.region_name': optional('keystone.region', k.word, {
    about: 'The region whose services are used. Without it, the first in the catalogue that has the service.',
    example: 'RegionOne',
  }),
  'keystone_authtoken.interfaces': row('keystone.interfaces', k.names, ['internal', 'public'], {
    about: 'The interfaces of the catalogue whose endpoints are used, in the order of preference.',
  }),
  'keystone_authtoken.cafile': optional('keystone.caFile', k.file, {
    about: 'CA certificates in PEM that are trusted instead of those of the system, for all services of the cloud.',
    example: '/etc/accelerando/cloud-ca.pem',
  }),
  'keystone_authtoken.timeout_seconds': row('keystone.timeoutMs', k.seconds(0.1, 60), 5, {
    about: 'Time limit for one request to a service of the cloud.',
  }),
  'keystone_authtoken.token_cache_seconds': row('keystone.cacheMs', k.seconds(0, 3600), 60, {
    about:
      'What the identity service said of a token is used for so long. A token that is revoked, or whose roles change, works as before until then.',
  }),
  'keystone_authtoken.token_cache_size': row('keystone.cacheEntries', k.count(1, 1_000_000), 10_000, {
    about: 'Of so many tokens it is remembered.',
  }),
  'keystone_authtoken.cloud': optional('keystone.cloud', k.word, {
    about: 'Entry of a clouds.yaml that holds what is not set here.',
    example: 'mycloud',
  }),
  'keystone_authtoken.clouds_file': row('keystone.cloudsFile', k.file, '/etc/openstack/clouds.yaml', {
    about: 'That file.',
  }),
}

export type KeystoneOptions = {
  readonly session: SessionOptions
  readonly cache: CacheOptions
  /** The URL for the header `WWW-Authenticate`. */
  readonly challengeUrl: string
  /** Certificates in PEM. */
  readonly ca: string | null
}

export type Keystone = Sections['keystone']

/** Options that say the same in two ways: by name and by id. */
const SAME: readonly (readonly [keyof CloudEntry, keyof CloudEntry])[] = [
  ['credentialName', 'credentialId'],
  ['username', 'userId'],
  ['userDomain', 'userDomainId'],
  ['project', 'projectId'],
  ['projectDomain', 'projectDomainId'],
]
/**
 * What is set overrides the entry of a `clouds.yaml`; a name that is set also the id of the entry, and an id its name.
 */
export const overridden = (entry: CloudEntry, chosen: CloudEntry): CloudEntry => {
  const isChosen = (field: keyof CloudEntry) => (chosen[field] ?? null) !== null
  const dropped = new Set<string>(SAME.filter((both) => both.some(isChosen)).flat())
  const kept = Object.fromEntries(Object.entries(entry).filter(([field]) => !dropped.has(field))) as CloudEntry
  return { ...kept, ...chosen }
}

type Given = Keystone & BeyondOptions
const userOf = ({ username, userId, userDomain, userDomainId }: Given) => ({
  username: username ?? '',
  userDomain: userDomain ?? 'Default',
  ...(userId !== null && { userId }),
  ...(userDomainId !== null && { userDomainId }),
})
const projectOf = ({ project, projectId, projectDomain, projectDomainId }: Given) => ({
  project: project ?? '',
  projectDomain: projectDomain ?? 'Default',
  ...(projectId !== null && { projectId }),
  ...(projectDomainId !== null && { projectDomainId }),
})
const credentialsOf = (given: Given): Credentials | null => {
  const { credentialId: id, credentialName: name, credentialSecret: secret, password, token } = given
  const hasUser = (given.username ?? given.userId) !== null
  const hasProject = (given.project ?? given.projectId) !== null
  if (id !== null && secret !== null) return { kind: 'application_credential', id, secret }
  if (name !== undefined && secret !== null && hasUser)
    return { kind: 'named_credential', name, secret, ...userOf(given) }
  if (password !== null && hasUser && hasProject)
    return { kind: 'password', password, ...userOf(given), ...projectOf(given) }
  if (token !== undefined) return { kind: 'token', token, scope: hasProject ? projectOf(given) : null }
  return null
}

/** Null: the address of the identity service or the credentials of this service are not configured. */
export const keystoneOf = (keystone: Given, ca: string | null): KeystoneOptions | null => {
  const credentials = credentialsOf(keystone)
  if (keystone.authUrl === null || credentials === null) return null
  const { region, interfaces, timeoutMs, cacheMs, cacheEntries: entries, endpoints } = keystone
  // files from the time of v2.0 name that version, which no Keystone answers any more
  const bare = keystone.authUrl.replace(/\/+$/, '').replace(/\/v2\.0$/, '')
  const authUrl = bare.endsWith('/v3') ? bare : `${bare}/v3`
  return {
    session: { authUrl, credentials, region, interfaces, timeoutMs, ...(endpoints !== undefined && { endpoints }) },
    cache: { cacheMs, entries },
    challengeUrl: keystone.challengeUrl ?? authUrl,
    ca,
  }
}
