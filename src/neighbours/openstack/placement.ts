/**
 * The client of Placement: each call of the port is one request with the token of the session (placement.md 5).
 *
 * PLACEMENT-1 the supported versions are read before the first request, and again after Placement refused the version.
 *    All requests use 1.39, or the highest version that is offered; if that is below 1.30, each call is `refused`;
 * PLACEMENT-2 each answer is parsed: one that does not have the form of the API is a fault with the reason, never a
 *    value.
 */
import type { ResourceProviderUuid } from '../../vocabulary/identifiers.ts'
import {
  CANDIDATES_MAX,
  type CandidateGroup,
  type Placement,
  type Provider,
  type PlacementResult,
} from '../../actors/placement/port.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import {
  ALLOCATIONS,
  CANDIDATES,
  fault,
  GENERATION,
  INVENTORIES,
  PROVIDER,
  PROVIDERS,
  type Shape,
  TRAITS,
  errorOf,
  valueIn,
  VERSIONS,
} from './placementAnswers.ts'
import type { Answer } from './send.ts'
import type { Session } from './session.ts'

const WANTED = 39
/**
 * The lowest version with every request that is used. Below 1.26 an inventory cannot be reserved as a whole; below 1.23
 * errors have no code.
 */
const LOWEST = 30

type PlacementRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body?: Readonly<Record<string, unknown>>
}
type Send = (asked: PlacementRequest, version?: number) => Promise<PlacementResult<Answer>>
type Ask = (asked: PlacementRequest) => Promise<PlacementResult<Answer>>

const REFUSED_VERSION = 406

const sender =
  (session: Pick<Session, 'call'>, refusedVersion: () => void): Send =>
  async ({ method, path, body }, version) => {
    const headers = {
      ...(version !== undefined && { 'openstack-api-version': `placement 1.${version}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    const text = body !== undefined && { body: JSON.stringify(body) }
    try {
      const answer = await session.call({ service: 'placement', method, path, headers, ...text })
      if (answer.status === REFUSED_VERSION) refusedVersion()
      return answer.status >= 200 && answer.status < 300 ? { ok: true, value: answer } : errorOf(answer)
    } catch (error) {
      return fault('unanswered', textOf(error))
    }
  }

/** The minor version to use. */
const readVersion = async (send: Send): Promise<PlacementResult<number>> => {
  const answer = await send({ method: 'GET', path: '/' })
  const offered = answer.ok ? valueIn(VERSIONS, answer.value) : answer
  if (!offered.ok) return offered
  const { lowest, highest } = offered.value
  if (highest >= LOWEST && lowest <= WANTED) return { ok: true, value: Math.min(WANTED, highest) }
  const wanted = `one of 1.${LOWEST} to 1.${WANTED} is needed`
  return fault('refused', `Placement offers the versions 1.${lowest} to 1.${highest}: ${wanted}`)
}

/** The version that all requests use, such as `1.39`. */
export const versionOf = async (session: Pick<Session, 'call'>): Promise<PlacementResult<string>> => {
  const version = await readVersion(sender(session, () => {}))
  return version.ok ? { ok: true, value: `1.${version.value}` } : version
}

/** Sends each request with the version to use (PLACEMENT-1). */
const versioned = (session: Pick<Session, 'call'>): Ask => {
  let known: Promise<PlacementResult<number>> | null = null
  const send = sender(session, () => (known = null))
  return async (asked) => {
    const reading = (known ??= readVersion(send))
    const version = await reading
    if (version.ok) return send(asked, version.value)
    if (known === reading) known = null
    return version
  }
}

const segment = (text: string): string => encodeURIComponent(text.toWellFormed())
const isCustom = (name: string): boolean => name.startsWith('CUSTOM_')
const NOTHING: PlacementResult<null> = { ok: true, value: null }

/** Creates a custom name, but only looks up a standard one, because Placement refuses to create it. */
const ensure =
  (ask: Ask, kind: 'traits' | 'resource_classes') =>
  async (name: string): Promise<PlacementResult<null>> => {
    const answer = await ask({ method: isCustom(name) ? 'PUT' : 'GET', path: `/${kind}/${segment(name)}` })
    if (answer.ok) return NOTHING
    return answer.error === 'gone' ? fault('unknownName', answer.reason) : answer
  }

const firstOf = (answer: PlacementResult<readonly Provider[]>): PlacementResult<Provider | null> =>
  answer.ok ? { ok: true, value: answer.value[0] ?? null } : answer

/** The traits that Nova demands of the compute node of a server with accelerators (placement.md 1, 10). */
const ELIGIBLE = 'COMPUTE_ACCELERATORS,!COMPUTE_STATUS_DISABLED'
/** The groups in the form that Nova sends: numbered, each served by one provider, which several groups may share. */
const candidatesPath = ({ groups, tree, eligible }: Parameters<Placement['candidates']>[0]): string => {
  const query = new URLSearchParams({ group_policy: 'none', limit: String(CANDIDATES_MAX) })
  for (const [at, { resources, required, forbidden }] of groups.entries()) {
    const amounts = Object.entries(resources).map(([name, amount]) => `${name}:${amount}`)
    const traits = [...required, ...forbidden.map((name) => `!${name}`)]
    query.set(`resources${at + 1}`, amounts.join(','))
    query.set(`in_tree${at + 1}`, tree)
    if (traits.length > 0) query.set(`required${at + 1}`, traits.join(','))
  }
  if (eligible) query.set('root_required', ELIGIBLE)
  return `/allocation_candidates?${query.toString()}`
}
const waysIn = (
  mappings: readonly Readonly<Record<string, readonly string[]>>[],
  groups: readonly CandidateGroup[],
): readonly (readonly string[])[] => mappings.map((each) => groups.map((_, at) => each[String(at + 1)]?.[0] ?? ''))

/**
 * Requests of one call, each with the time limit of the session: a token, the versions (sent twice at most), the call,
 * another token, the call again.
 */
const REQUESTS_MAX = 6
const TIMEOUT_MS = 5000

/** `timeoutMs`: of one request of the session. */
export const createPlacement = (session: Pick<Session, 'call'>, timeoutMs = TIMEOUT_MS): Placement => {
  const ask = versioned(session)
  const call = async <Value>(shape: Shape<Value>, asked: PlacementRequest): Promise<PlacementResult<Value>> => {
    const answer = await ask(asked)
    return answer.ok ? valueIn(shape, answer.value) : answer
  }
  const of = (uuid: ResourceProviderUuid, part = ''): string => `/resource_providers/${segment(uuid)}${part}`
  const list = (query: string) => call(PROVIDERS, { method: 'GET', path: `/resource_providers?${query}` })
  return {
    longestCallMs: REQUESTS_MAX * timeoutMs,
    // Placement treats an empty name as no condition at all
    named: async (name) => (name === '' ? NOTHING : firstOf(await list(`name=${segment(name)}`))),
    provider: (uuid) => call(PROVIDER, { method: 'GET', path: of(uuid) }),
    tree: (root) => list(`in_tree=${segment(root)}`),
    owned: () => list('required=OWNER_CYBORG'),
    ofNova: () => list('required=COMPUTE_MANAGED_PCI_DEVICE'),
    ownedIn: (root) => list(`in_tree=${segment(root)}&required=OWNER_CYBORG`),
    create: ({ uuid, name, parent }) =>
      call(PROVIDER, {
        method: 'POST',
        path: '/resource_providers',
        body: { uuid, name, parent_provider_uuid: parent },
      }),
    update: ({ uuid, name, parent }) =>
      call(PROVIDER, { method: 'PUT', path: of(uuid), body: { name, parent_provider_uuid: parent } }),
    remove: async (uuid) => {
      const answer = await ask({ method: 'DELETE', path: of(uuid) })
      return answer.ok ? NOTHING : answer
    },
    inventories: (uuid) => call(INVENTORIES, { method: 'GET', path: of(uuid, '/inventories') }),
    setInventories: ({ uuid, generation, inventories }) => {
      const body = { resource_provider_generation: generation, inventories }
      return call(GENERATION, { method: 'PUT', path: of(uuid, '/inventories'), body })
    },
    traits: (uuid) => call(TRAITS, { method: 'GET', path: of(uuid, '/traits') }),
    setTraits: ({ uuid, generation, traits }) => {
      const body = { resource_provider_generation: generation, traits }
      return call(GENERATION, { method: 'PUT', path: of(uuid, '/traits'), body })
    },
    candidates: async (asked) => {
      const found = await call(CANDIDATES, { method: 'GET', path: candidatesPath(asked) })
      return found.ok ? { ok: true, value: waysIn(found.value, asked.groups) } : found
    },
    allocations: (uuid) => call(ALLOCATIONS, { method: 'GET', path: of(uuid, '/allocations') }),
    ensureTrait: ensure(ask, 'traits'),
    ensureClass: ensure(ask, 'resource_classes'),
  }
}
