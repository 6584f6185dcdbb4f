/**
 * A simulated Keystone: the model of the tests behind a network. Clients sign in with it and show their tokens; control
 * processes validate these, and find Placement in its catalogue. Tokens are revoked, and expire.
 */
import { type Answer, type Request, type Send, Unanswered } from '../../src/neighbours/openstack/send.ts'
import type { SessionOptions } from '../../src/neighbours/openstack/session.ts'
import { failure, keystoneModel, type ModelUser } from '../neighbours/openstack/keystone/model.ts'
import type { Who } from './client.ts'
import type { Random } from './random.ts'
import type { Life, Schedule } from './schedule.ts'

/**
 * `away`: nobody is reached; `deaf`: does what is asked, and its answer is often lost; `slow`: takes seconds; `torn`:
 * answers with an error of the server now and then.
 */
export type Mood = 'well' | 'away' | 'deaf' | 'slow' | 'torn'
/** How a control process reaches a service of the catalogue. */
export type Reach = (call: Pick<Request, 'method' | 'headers' | 'body'> & { readonly path: string }) => Promise<Answer>
type Header = Readonly<Record<string, string>>
export type SimKeystone = {
  mood: Mood
  readonly session: SessionOptions
  /** The network of one process: to Keystone, and to the services of its catalogue by their type. */
  readonly seenBy: (life: Life, services: Readonly<Record<string, Reach>>) => Send
  /** What a client shows of itself; it signs in where it has no token. */
  readonly headersOf: (who: Who) => Header
  /**
   * What is wrong with this answer to a request with these headers; null: nothing. A client whose tokens are not taken
   * any more signs in anew. `stoodMs`: when a process stood still for the last time.
   */
  readonly judge: (
    shown: Header,
    answer: { readonly sentMs: number; readonly status: number; readonly stoodMs: number },
  ) => string | null
  /** An operator ends the token of somebody: of a client, or of this service. */
  readonly revoke: () => void
}
type Ports = {
  readonly schedule: Schedule
  readonly random: Random
  readonly skewMs: number
  readonly say: (line: string) => void
}

export const CACHE = { cacheMs: 20_000, entries: 1000 }
const LIFE_MS = 240_000
const [SERVICE, NOVA, PASSWORD] = ['accelerando', 'nova', 'rig-secret']
const URLS = { identity: 'http://keystone/v3', placement: 'http://placement' }
/** What an answer and its way may take beside what is remembered of a token. */
const WAY_MS = 12_000
const projectOf = (name: string) => ({ id: name, name })
const BUILT_IN: Readonly<Record<string, ModelUser>> = {
  [SERVICE]: { id: SERVICE, project: projectOf('service'), roles: ['service', 'admin'] },
  [NOVA]: { id: NOVA, project: projectOf('service'), roles: ['service'] },
}
/** Users are named after what they are: a project and a role. */
const userOf = (name: string): ModelUser | undefined => {
  const [project, role] = name.split('/')
  return BUILT_IN[name] ?? { id: `user-of-${project}`, project: projectOf(project!), roles: [role!] }
}
const credentials = (username: string, project: string) =>
  ({
    kind: 'password',
    username,
    userDomain: 'Default',
    password: PASSWORD,
    project,
    projectDomain: 'Default',
  }) as const
const bodyOf = (name: string) => {
  const { project } = userOf(name)!
  const domain = { name: 'Default' }
  return {
    auth: {
      identity: { methods: ['password'], password: { user: { name, password: PASSWORD, domain } } },
      scope: { project: { name: project!.name, domain } },
    },
  }
}

/** `endsMs` holds as long as no clock has jumped since. */
type Held = { readonly id: string; readonly issuedMs: number; readonly endsMs: number; endedMs: number | null }

export const simKeystone = ({ schedule, random, skewMs, say }: Ports): SimKeystone => {
  const server = schedule.life('keystone')
  const clock = schedule.clockOf(server, () => skewMs)
  let count = 0
  const model = keystoneModel({ userOf, password: PASSWORD, now: clock.now, random: () => `token-${++count}` })
  model.lifeMs = LIFE_MS
  model.services = URLS
  const held = new Map<string, Held>()
  const all = new Map<string, Held>()
  const own = new Set<string>()

  const signIn = (name: string): string => {
    const headers = {}
    const { token } = model.handle({ method: 'POST', path: '/v3/auth/tokens', headers, body: bodyOf(name) })
    const issuedMs = schedule.elapsed()
    const one: Held = { id: token!, issuedMs, endsMs: issuedMs + LIFE_MS - 1000, endedMs: null }
    held.set(name, one)
    all.set(one.id, one)
    return one.id
  }
  /** Most clients renew their token in time. */
  const tokenOf = (name: string): string => {
    const one = held.get(name)
    if (one === undefined || (schedule.elapsed() > one.endsMs - 30_000 && random.chance(0.8))) return signIn(name)
    return one.id
  }
  const answer = ({ url, method, headers, body }: Request): Answer => {
    if (keystone.mood === 'torn' && random.chance(0.3)) return { status: 503, headers: {}, text: '{}' }
    const { pathname, search } = new URL(url)
    const given = body === undefined ? null : (JSON.parse(body) as unknown)
    const told = model.handle({ method, path: `${pathname}${search}`, headers, body: given })
    if (method === 'POST' && told.token !== undefined) own.add(told.token)
    return {
      status: told.status,
      headers: {
        date: new Date(clock.now()).toUTCString(),
        ...(told.token !== undefined && { 'x-subject-token': told.token }),
      },
      text: told.body === undefined ? '' : JSON.stringify(told.body),
    }
  }
  const across = async (life: Life, request: Request): Promise<Answer> => {
    if (keystone.mood === 'away') throw new Unanswered('connection refused')
    const told = await schedule.across(
      life,
      server,
      () => random.below(keystone.mood === 'slow' ? 2000 : 10),
      async () => answer(request),
    )
    if (keystone.mood === 'deaf' && random.chance(0.5)) throw new Unanswered('no answer in time', { late: true })
    return told
  }
  let [offset, jumpedMs] = [clock.now() - schedule.elapsed(), -Infinity]
  /** Whether a clock has jumped since the token was issued: then nobody here knows when it ends. */
  const hasJumped = ({ issuedMs }: Held): boolean => {
    const now = clock.now() - schedule.elapsed()
    if (Math.abs(now - offset) > 500) jumpedMs = schedule.elapsed()
    offset = now
    return jumpedMs >= issuedMs
  }
  /** Since when it is over at the latest; null: it is not. */
  const overSince = (id: string): number | null => {
    const one = all.get(id)
    if (one === undefined) return null
    const ends = Math.min(hasJumped(one) ? Infinity : one.endsMs + 2000, one.endedMs ?? Infinity)
    return ends <= schedule.elapsed() ? ends : null
  }
  const wasGood = (id: string): boolean => {
    const one = all.get(id)
    return one !== undefined && !hasJumped(one) && one.endedMs === null && schedule.elapsed() < one.endsMs - 2000
  }
  const keystone: SimKeystone = {
    mood: 'well',
    session: {
      authUrl: URLS.identity,
      credentials: credentials(SERVICE, 'service'),
      region: null,
      interfaces: ['internal', 'public'],
      timeoutMs: 5000,
    },
    seenBy: (life, services) => async (request) => {
      const { url, ...rest } = request
      if (url.startsWith(URLS.identity)) return across(life, request)
      // as every service of a cloud does
      if (!model.isLive(request.headers['x-auth-token'] ?? '')) {
        const { status, body } = failure(401, 'Unauthorized')
        return { status, headers: {}, text: JSON.stringify(body) }
      }
      const { origin, pathname, search } = new URL(url)
      const type = Object.entries(URLS).find(([, one]) => one === origin)![0]
      return services[type]!({ ...rest, path: `${pathname}${search}` })
    },
    headersOf: ({ project, role, service }) => ({
      'X-Auth-Token': tokenOf(`${project}/${role}`),
      ...(service && { 'X-Service-Token': tokenOf(NOVA) }),
    }),
    judge: (shown, { sentMs, status, stoodMs }) => {
      const ids = Object.values(shown)
      if (status === 401) {
        if (ids.every(wasGood)) return `a good token was refused: ${ids.join(' and ')}`
        for (const [name, { id }] of held) if (ids.includes(id)) held.delete(name)
      }
      if (status === 401 || status === 503) return null
      for (const [name, id] of Object.entries(shown)) {
        // a service may go on with what a user began whose token has expired since
        if (name === 'X-Auth-Token' && ids.length > 1 && all.get(id)!.endedMs === null) continue
        const over = overSince(id)
        if (over !== null && sentMs > over + CACHE.cacheMs + WAY_MS && stoodMs < over)
          return `${id} had ended ${sentMs - over} ms before it was shown, and was taken all the same`
      }
      return null
    },
    revoke: () => {
      const [id, whose] = random.chance(0.3)
        ? [[...own].at(-1), 'this service']
        : [random.pick([...held.values(), undefined])?.id, 'a client']
      if (id === undefined) return
      model.revoke(id)
      const one = all.get(id)
      if (one) one.endedMs ??= schedule.elapsed()
      say(`keystone: a token of ${whose} is revoked: ${id}`)
    },
  }
  return keystone
}
