/** Checks Keystone: whether it gives this service a token, the roles of that token, and whether both clocks agree. */
import type { Clock } from '../../vocabulary/clock.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import { readToken } from '../../neighbours/openstack/answers.ts'
import { authRequest } from '../../neighbours/openstack/credentials.ts'
import { type Answer, createSender } from '../../neighbours/openstack/send.ts'
import type { KeystoneOptions } from '../config/keystone.ts'
import { type Check, ok, problem, warning } from './check.ts'
import { judgeSkew, skewOf } from './skew.ts'

export type KeystoneFacts = {
  readonly url: string
  /** Why there is no token; null: there is one. */
  readonly reason: string | null
  /** The HTTP status of the answer. Null: there was no answer. */
  readonly status: number | null
  /** The roles of the token, in lower case. */
  readonly roles: readonly string[]
  /** Null: the token is not for a project. */
  readonly projectId: string | null
  readonly skewMs: number | null
}

const factsOf = (url: string, answer: Answer, now: number): KeystoneFacts => {
  const { status, headers, text } = answer
  const read = status === 201 && headers['x-subject-token'] !== undefined ? readToken(text) : null
  return {
    url,
    reason: read === null ? `it gives this service no token (${status})` : null,
    status,
    roles: read?.token.roles ?? [],
    projectId: read?.token.projectId ?? null,
    skewMs: skewOf(headers['date'], now),
  }
}

/** Signs in in the same way as the service. */
export const lookAtKeystone = async (
  { session: { authUrl: url, credentials, timeoutMs }, ca }: Pick<KeystoneOptions, 'session' | 'ca'>,
  clock: Clock,
): Promise<KeystoneFacts> => {
  const sender = createSender(ca)
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const body = JSON.stringify(authRequest(credentials))
  try {
    const answer = await sender.send({ method: 'POST', url: `${url}/auth/tokens`, headers, body, timeoutMs })
    return factsOf(url, answer, clock.now())
  } catch (error) {
    return {
      url,
      reason: `it does not answer: ${textOf(error)}`,
      status: null,
      roles: [],
      projectId: null,
      skewMs: null,
    }
  } finally {
    await sender.close()
  }
}

export const hasToken = ({ reason }: KeystoneFacts): boolean => reason === null

const ADVICE = {
  silent: 'check that Keystone runs there, and that keystone_authtoken.auth_url and cafile are correct',
  refused:
    'correct user, password and project (or the application credential) in keystone_authtoken. The other services of the cloud were not asked',
  other: 'check that keystone_authtoken.auth_url is the address of the Identity API v3, and the log of Keystone',
}
const token: Check<KeystoneFacts> = {
  name: 'keystone',
  judge: ({ url, reason, status, projectId }) => {
    if (status === null) return problem(`${url}: ${reason}`, ADVICE.silent)
    if (reason !== null && status === 401)
      return problem(`${url}: ${reason}: it refuses the credentials`, ADVICE.refused)
    if (reason !== null) return problem(`${url}: ${reason}`, ADVICE.other)
    return projectId === null
      ? problem(
          `${url} gives a token, but for no project`,
          'name the project of the service users (keystone_authtoken.project_name), or make the application credential there',
        )
      : ok(`${url} gives this service a token`)
  },
}

const WANTED = ['admin', 'service'] as const
/** The consequences when the role is missing. */
const WITHOUT: Readonly<Record<(typeof WANTED)[number], string>> = {
  admin:
    'Nova answers its events about servers of other projects with 404, and these servers wait until their time is over',
  service: 'a Nova that goes by the new defaults of its policy refuses its events',
}
const roles: Check<KeystoneFacts> = {
  name: 'roles of the account',
  judge: (facts) => {
    if (!hasToken(facts)) return null
    const lacking = WANTED.filter((role) => !facts.roles.includes(role))
    if (lacking.length === 0) return ok('admin and service')
    const says = `it lacks ${lacking.join(' and ')}: ${lacking.map((role) => WITHOUT[role]).join('; ')}`
    const advice = `give it the role ${lacking.join(' and the role ')} in the project of keystone_authtoken (openstack role add)`
    return lacking.includes('admin') ? problem(says, advice) : warning(says, advice)
  },
}

const clock: Check<KeystoneFacts> = { name: 'clock of keystone', judge: ({ skewMs }) => judgeSkew(skewMs) }

export const KEYSTONE_CHECKS: readonly Check<KeystoneFacts>[] = [token, roles, clock]
