/**
 * A Placement without input and output: a request in, an answer out, at once. `placementDouble.ts` puts HTTP in front
 * of it (placement.md 11).
 */
import { allocationRoutes } from './allocations.ts'
import { candidateRoute } from './candidates.ts'
import { nameRoutes } from './names.ts'
import { providerRoutes } from './providers.ts'
import type { Reply, Route } from './route.ts'
import { emptyState, type PlacementState, Refusal } from './state.ts'

export type PlacementRequest = {
  readonly method: string
  /** With the query. */
  readonly path: string
  /** Value of `OpenStack-API-Version`: `placement 1.39`. */
  readonly version: string | undefined
  readonly body: unknown
}
export type PlacementModel = {
  readonly handle: (request: PlacementRequest) => Reply
  readonly state: PlacementState
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  409: 'Conflict',
}
/** The sentence that the real one says first, for each status. */
const SENTENCES: Readonly<Record<number, string>> = {
  400: 'The server could not comply with the request since it is either malformed or otherwise incorrect.',
  404: 'The resource could not be found.',
  409: 'There was a conflict when trying to complete your request.',
}
const errorOf = ({ status, message, code }: Refusal, minor: number | null): Reply => {
  const title = TITLES[status] ?? 'Error'
  const detail = `${SENTENCES[status] ?? title}\n\n ${message}  `
  return { status, body: { errors: [{ status, title, detail, ...(minor !== null && minor >= 23 && { code }) }] } }
}
const unknownPath = () => new Refusal(404, '')

/** Without the header, 1.0. Null: not a version that is offered. */
const minorOf = (version: string | undefined, highest: number): number | null => {
  if (version === undefined) return 0
  const text = /^placement (latest|1\.\d+)$/.exec(version)?.[1]
  if (text === undefined) return null
  const minor = text === 'latest' ? highest : Number(text.slice(2))
  return minor <= highest ? minor : null
}
const segments = (path: string): readonly string[] => path.split('/').slice(1)
const isAt = (route: Route, parts: readonly string[]): boolean => {
  const own = segments(route.path)
  return own.length === parts.length && own.every((segment, at) => segment === '*' || segment === parts[at])
}

/** `highest`: second part of the highest version on offer. */
export const placementModel = ({ highest = 39 }: { readonly highest?: number } = {}): PlacementModel => {
  const state = emptyState()
  let made = 0
  const newUuid = () => `00000000-0000-4000-8000-${String(++made).padStart(12, '0')}`
  const offered = { min_version: '1.0', max_version: `1.${highest}` }
  const root: Route = {
    method: 'GET',
    path: '/',
    answer: () => ({ status: 200, body: { versions: [{ id: 'v1.0', status: 'CURRENT', links: [], ...offered }] } }),
  }
  const routes = [
    root,
    ...providerRoutes(state, newUuid),
    ...nameRoutes(state),
    ...allocationRoutes(state),
    candidateRoute(state),
  ]
  const answer = ({ method, path, body }: PlacementRequest, minor: number): Reply => {
    const [pathname = '', query = ''] = path.split('?')
    const parts = segments(decodeURIComponent(pathname))
    const here = routes.filter((route) => isAt(route, parts))
    const route = here.find((one) => one.method === method)
    if (here.length === 0) throw unknownPath()
    if (route === undefined) throw new Refusal(405, `The method ${method} is not allowed for this resource.`)
    if (minor < (route.since ?? 0)) throw unknownPath()
    return route.answer({ minor, name: parts[1] ?? '', query: new URLSearchParams(query), body })
  }
  return {
    state,
    handle: (request) => {
      const minor = minorOf(request.version, highest)
      if (minor === null) {
        const refused = new Refusal(406, `Invalid microversion: Unacceptable version header: ${request.version}`)
        const { errors } = errorOf(refused, null).body as { readonly errors: readonly object[] }
        return { status: 406, body: { errors: errors.map((error) => ({ ...error, ...offered })) } }
      }
      try {
        return answer(request, minor)
      } catch (error) {
        if (error instanceof Refusal) return errorOf(error, minor)
        throw error
      }
    },
  }
}
