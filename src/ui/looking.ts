/** Identifies the user of a page, and answers requests for pages. */
import type { Context } from 'hono'
import type { Clock, Ids } from '../vocabulary/clock.ts'
import type { Log } from '../vocabulary/log.ts'
import { type Api, type Fetch, createApi } from './api.ts'
import type { Assets } from './assets.ts'
import type { Documents } from './documents.ts'
import { documentOf } from './document.ts'
import { tokenOf } from './session.ts'
import * as shapes from './shapes.ts'
import type { PageErrorKind } from './loaded.ts'
import type { Screen, Who } from './view/screen.ts'

export type Signed =
  | { readonly ok: true; readonly token: string; readonly lifeMs: number }
  /** `wrong`: the user, the password or the project is. */
  | { readonly ok: false; readonly reason: string; readonly wrong?: true }
export type Revoked = { readonly ok: true } | { readonly ok: false; readonly reason: string }
export type Account = {
  readonly user: string
  readonly password: string
  readonly project: string
  readonly domain: string
}
/** Null: the API authenticates nobody, so nobody signs in. */
export type SignIn = {
  /** The name of the identity service, shown on the sign-in page. */
  readonly identity: string
  readonly withPassword: (account: Account) => Promise<Signed>
  /** Makes a token from `withPassword` invalid everywhere. Never rejects. */
  readonly revoke: (token: string) => Promise<Revoked>
} | null

export type UiParts = {
  readonly fetch: Fetch
  /** Loaded once, when somebody looks at the first page. */
  readonly assets: () => Promise<Assets>
  /** Other documents than those beside the program; absent: those. */
  readonly documents?: Documents | undefined
  readonly signIn: SignIn
  /** The address that a request came from. Absent: it is not known. */
  readonly remote?: (c: Context) => string
  /** The reason to refuse a request; null: there is none. */
  readonly barred: (header: (name: string) => string | undefined) => string | null
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly ids: Pick<Ids, 'uuid'>
  readonly log: Log
}

/** Time limit for one request to the API; a page shows parts without an answer as missing. */
export const ASK_MS = 8000
export const TEXT_MAX = 255

export const STATUSES: Readonly<Record<PageErrorKind, 200 | 401 | 403 | 404 | 409 | 502 | 503>> = {
  sign_in: 401,
  forbidden: 403,
  missing: 404,
  off: 200,
  refused: 409,
  away: 503,
  failed: 502,
}

export type Looking = { readonly api: Api; readonly who: Who; readonly may: Readonly<Record<string, boolean>> }
/** The user and what that user may do, or the response that leads to the sign-in page. */
export type Look = (c: Context, here: string) => Promise<Looking | Response>
export type Painted = Pick<Screen, 'view' | 'title' | 'body'> & Partial<Pick<Screen, 'done'>>
export type Show = (c: Context, here: string, who: Who | null, painted: Painted, status?: number) => Promise<Response>

export const shower =
  ({ assets, clock }: UiParts): Show =>
  async (c, here, who, { done = null, ...painted }, status = 200) => {
    const screen = {
      ...painted,
      here,
      who,
      now: clock.now(),
      done,
      search: (c.req.query('q') ?? '').slice(0, TEXT_MAX),
    } as Screen
    const headers = { 'cache-control': 'no-store', vary: 'accept, cookie' }
    if (c.req.header('accept') === 'application/json') return c.json(screen, status as 200, headers)
    return c.html(await documentOf(screen, await assets()), status as 200, headers)
  }

const AGAIN = '<!doctype html><meta http-equiv="refresh" content="0"><title>accelerando</title>'

export const looker =
  (parts: UiParts): Look =>
  async (c, here) => {
    const token = parts.signIn === null ? null : tokenOf(c)
    const root = '../'.repeat(here.split('/').length - 1)
    const away = () => {
      // a browser omits the cookie when a link on another site leads here; a reload from our own page sends it
      if (c.req.header('sec-fetch-site') === 'cross-site') return c.html(AGAIN)
      const { search } = new URL(c.req.url)
      return c.redirect(`${root}sign-in?back=${encodeURIComponent(here + search)}`, 303)
    }
    if (parts.signIn !== null && token === null) return away()
    const api = createApi({ ...parts, timeoutMs: ASK_MS })(token)
    const known = await api.get('/permissions', shapes.Permissions)
    if (!known.ok && known.error.kind === 'sign_in') return away()
    if (!known.ok) return { api, may: {}, who: { user: '', project: '', signedIn: parts.signIn !== null } }
    const { user_id: user, user_name: name, project_id: project, project_name: of, permissions: may } = known.value
    return { api, may, who: { user: name ?? user, project: of ?? project, signedIn: parts.signIn !== null } }
  }
