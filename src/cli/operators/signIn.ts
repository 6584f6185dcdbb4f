/**
 * How a command identifies its user, by the variables of OpenStack's own command line: `OS_TOKEN`; or `OS_AUTH_URL`
 * with related variables; or `OS_CLOUD`, an entry of a `clouds.yaml`. Without any of them it sends no credentials.
 */
import { Failure, misused } from '../exits.ts'
import { homedir } from 'node:os'
import { systemClock } from '../../vocabulary/clock.ts'
import { messageOf } from '../../vocabulary/errorText.ts'
import { silent } from '../../vocabulary/log.ts'
import { createSender, Unanswered } from '../../neighbours/openstack/send.ts'
import { createSession, NoToken } from '../../neighbours/openstack/session.ts'
import { usersClouds } from '../config/cloudFiles.ts'
import { type CloudEntry, cloudEntryIn } from '../config/clouds.ts'
import { type Keystone, keystoneOf, overridden } from '../config/keystone.ts'
import { readText } from '../config/readText.ts'
import { trusted, trustedBy } from '../config/trusted.ts'

type Env = Readonly<Record<string, string | undefined>>
export type Entry = {
  readonly headers: Readonly<Record<string, string>>
  /** The API's address in the service catalogue; null: the catalogue was not read. */
  readonly api: string | null
  /** The certificates of the CAs that the user trusts, in PEM; null: those that Node trusts. */
  readonly ca: string | null
}

const NOTHING: Keystone = {
  authUrl: null,
  challengeUrl: null,
  username: null,
  password: null,
  userDomain: null,
  project: null,
  projectDomain: null,
  userId: null,
  userDomainId: null,
  projectId: null,
  projectDomainId: null,
  credentialId: null,
  credentialSecret: null,
  region: null,
  interfaces: ['public'],
  caFile: null,
  timeoutMs: 20_000,
  cacheMs: 0,
  cacheEntries: 0,
  cloud: null,
  cloudsFile: '',
}
const VARIABLES = {
  authUrl: 'OS_AUTH_URL',
  username: 'OS_USERNAME',
  password: 'OS_PASSWORD',
  userDomain: 'OS_USER_DOMAIN_NAME',
  project: 'OS_PROJECT_NAME',
  projectDomain: 'OS_PROJECT_DOMAIN_NAME',
  userId: 'OS_USER_ID',
  userDomainId: 'OS_USER_DOMAIN_ID',
  projectId: 'OS_PROJECT_ID',
  projectDomainId: 'OS_PROJECT_DOMAIN_ID',
  credentialId: 'OS_APPLICATION_CREDENTIAL_ID',
  credentialName: 'OS_APPLICATION_CREDENTIAL_NAME',
  credentialSecret: 'OS_APPLICATION_CREDENTIAL_SECRET',
  region: 'OS_REGION_NAME',
  caFile: 'OS_CACERT',
} as const satisfies Partial<Record<keyof CloudEntry, string>>

const inVariables = (env: Env): CloudEntry => {
  const given = Object.entries(VARIABLES).flatMap(([field, name]) => (env[name] ? [[field, env[name]]] : []))
  const chosen = env['OS_INTERFACE'] || env['OS_ENDPOINT_TYPE']
  const before = Object.entries({ project: env['OS_TENANT_NAME'], projectId: env['OS_TENANT_ID'] })
  return {
    ...(Object.fromEntries(before.filter(([, value]) => value)) as CloudEntry),
    ...(Object.fromEntries(given) as CloudEntry),
    ...(chosen ? { interfaces: [chosen.replace(/URL$/, '')] } : {}),
  }
}

const inClouds = (name: string, env: Env, warn: (line: string) => void): CloudEntry => {
  try {
    const { path, ...files } = usersClouds(env, readText)
    const choice = { name, region: env['OS_REGION_NAME'] || null, home: homedir() }
    const { value, problems, warnings } = cloudEntryIn(files, choice)
    if (problems.length > 0) throw new Error(`${path}: ${problems.join('; ')}`)
    for (const warning of warnings) warn(`${path}: ${warning}`)
    return value
  } catch (error) {
    throw misused(`OS_CLOUD: ${messageOf(error)}`)
  }
}

export const HOW_TO_SIGN_IN =
  'set OS_AUTH_URL with OS_USERNAME, OS_PASSWORD and OS_PROJECT_NAME or with an application credential, or OS_CLOUD, or OS_TOKEN'

/** Whether there was no answer, or one that says that the service is not available now. */
const isAway = (error: unknown): boolean =>
  error instanceof NoToken ? error.status >= 500 : error instanceof Unanswered

const warnedOf = (line: string): void => void process.stderr.write(`warning: ${line}\n`)

/** Throws with a text for the operator. */
export const signIn = async (env: Env, warn = warnedOf): Promise<Entry> => {
  const { OS_TOKEN: token, OS_CLOUD: cloud } = env
  const own = trustedBy(env)
  if (token) return { headers: { 'x-auth-token': token }, api: null, ca: own }
  if (!cloud && !env['OS_AUTH_URL']) return { headers: {}, api: null, ca: own }
  const inFile = cloud && cloud !== (env['OS_CLOUD_NAME'] || 'envvars') ? inClouds(cloud, env, warn) : {}
  const ca = own ?? trusted(inFile.caFile, 'OS_CLOUD: cacert')
  if (inFile.openApi !== undefined) return { headers: {}, api: inFile.openApi.replace(/\/+$/, ''), ca }
  const keystone = { ...NOTHING, ...overridden(inFile, inVariables(env)) }
  const options = keystoneOf(keystone, ca)
  if (options === null) throw new Failure('denied', `that is not enough to sign in: ${HOW_TO_SIGN_IN}`)
  const sender = createSender(options.ca)
  try {
    const session = createSession({ options: options.session, send: sender.send, clock: systemClock, log: silent })
    const { token: issued, url } = await session.entry('accelerator')
    return { headers: { 'x-auth-token': issued }, api: url, ca }
  } catch (error) {
    throw new Failure(
      isAway(error) ? 'unreached' : 'denied',
      `Keystone at ${options.session.authUrl}: ${messageOf(error)}`,
      { cause: error },
    )
  } finally {
    await sender.close()
  }
}
