/**
 * One request to Nova: at a configured address, or at the one in the service catalogue with the token of the session.
 */
import { readFile } from 'node:fs/promises'
import { type Answer, type Send, Unanswered } from './openstack/send.ts'
import type { Session } from './openstack/session.ts'

export type NovaOptions = {
  /** URL of the compute service, including the version. */
  readonly url: string
  readonly timeoutMs: number
  /** Headers that are added to every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** The file with the token; it is read before each request, because tokens are renewed. */
  readonly tokenFile?: string | null
  readonly send: Send
}
export type CatalogueOptions = Pick<NovaOptions, 'timeoutMs' | 'headers'>
export type NovaAnswer = Pick<Answer, 'status' | 'text'>

type Headings = Readonly<Record<string, string>>
type NovaRequest = { readonly method: 'GET' | 'POST'; readonly path: string; readonly body?: string }
/** Sends one request. Rejects when Nova does not answer. */
export type NovaCall = (asked: NovaRequest, headers?: Headings) => Promise<NovaAnswer>

/** Keystone's tokens have at most some kilobytes. */
const TOKEN_FILE_MAX = 16_384
const TOKEN = /^[\x21-\x7e]+$/
/** The type of Nova in the catalogue. */
export const COMPUTE_SERVICE = 'compute'
/** Microversions before 2.82 do not have the name of the event. */
export const MICROVERSION = '2.82'
const ALWAYS: Headings = {
  accept: 'application/json',
  'openstack-api-version': `compute ${MICROVERSION}`,
  'x-openstack-nova-api-version': MICROVERSION,
}

/**
 * The content of the file, which is a secret: the error for something else does not quote it, because errors get into
 * logs and answers. A file with the output of a command without `-c id`, for example, has several lines.
 */
const tokenIn = async (file: string): Promise<string> => {
  const token = (await readFile(file, 'utf8')).trim()
  if (token.length <= TOKEN_FILE_MAX && TOKEN.test(token)) return token
  throw new Unanswered('nova.token_file has to hold a token and nothing else: one word of ASCII characters in one line')
}
const inLowerCase = (headers: Headings): Headings =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

export const directly =
  ({ url, headers = {}, tokenFile, timeoutMs, send }: NovaOptions): NovaCall =>
  async ({ path, ...asked }, own = {}) => {
    const token = tokenFile ? { 'x-auth-token': await tokenIn(tokenFile) } : {}
    const all = { ...inLowerCase(headers), ...token, ...ALWAYS, ...own }
    return send({ ...asked, url: `${url.replace(/\/+$/, '')}${path}`, headers: all, timeoutMs })
  }

export const inCatalogue =
  (session: Pick<Session, 'call'>, { headers: given = {}, timeoutMs }: CatalogueOptions): NovaCall =>
  async (asked, own = {}) => {
    const headers = { ...inLowerCase(given), ...ALWAYS, ...own }
    return session.call({ service: COMPUTE_SERVICE, ...asked, headers, timeoutMs })
  }
