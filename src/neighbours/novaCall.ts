/** One request to Nova: at a configured address, or at the one in the service catalogue with the token of the session. */
import { readFile } from 'node:fs/promises'
import { textIn } from './openstack/send.ts'
import type { Session } from './openstack/session.ts'

export type NovaOptions = {
  /** URL of the compute service, including the version. */
  readonly url: string
  readonly timeoutMs: number
  /** Headers that are added to every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** The file with the token; it is read before each request, because tokens are renewed. */
  readonly tokenFile?: string | null
  readonly fetch?: typeof fetch
}
export type CatalogueOptions = Pick<NovaOptions, 'timeoutMs' | 'headers'>
export type NovaAnswer = { readonly status: number; readonly text: string }

type Headings = Readonly<Record<string, string>>
type Asked = { readonly method: 'GET' | 'POST'; readonly path: string; readonly body?: string }
/** Sends one request. Rejects when Nova does not answer. */
export type NovaCall = (asked: Asked, headers?: Headings) => Promise<NovaAnswer>

const ANSWER_MAX = 1024 * 1024
/** Microversions before 2.82 do not have the name of the event. */
export const MICROVERSION = '2.82'
const ALWAYS: Headings = {
  accept: 'application/json',
  'openstack-api-version': `compute ${MICROVERSION}`,
  'x-openstack-nova-api-version': MICROVERSION,
}

export const directly =
  (options: NovaOptions): NovaCall =>
  async ({ method, path, body }, own = {}) => {
    const headers = new Headers(options.headers)
    if (options.tokenFile) headers.set('x-auth-token', (await readFile(options.tokenFile, 'utf8')).trim())
    for (const [name, value] of Object.entries({ ...ALWAYS, ...own })) headers.set(name, value)
    const response = await (options.fetch ?? fetch)(`${options.url.replace(/\/+$/, '')}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body }),
      // If the redirect were followed, a POST would become a GET.
      redirect: 'manual',
      signal: AbortSignal.timeout(options.timeoutMs),
    })
    return { status: response.status, text: await textIn(response.body ?? [], ANSWER_MAX) }
  }

export const inCatalogue =
  (session: Pick<Session, 'call'>, { headers: given = {}, timeoutMs }: CatalogueOptions): NovaCall =>
  async (asked, own = {}) => {
    const lower = Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]))
    return session.call({ service: 'compute', ...asked, headers: { ...lower, ...ALWAYS, ...own }, timeoutMs })
  }
