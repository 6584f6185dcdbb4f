/** API client for the commands: one call returns the document, or throws an error of one sentence. */
import * as v from 'valibot'
import { ask, type Reply } from '../ask.ts'
import type { CommandRow } from '../commandRow.ts'
import { URL_VARIABLE } from '../config/variables.ts'
import { API_EXITS, exitOfStatus, Failure, misused } from '../exits.ts'
import { ERRORS_PAGE } from '../../http/explained.ts'
import type { OutputFlags } from '../output.ts'
import { answeredLines, askedLines, tellHeads } from './debug.ts'
import { HOW_TO_SIGN_IN, signIn } from './signIn.ts'

type Json = Readonly<Record<string, unknown>>
type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
/** The document is not judged: a command of an older release shows what it knows of the answer of a newer API. */
export type Api = <Document>(method: Method, path: string, body?: Json | readonly Json[]) => Promise<Document>
export type ApiFlags = OutputFlags & {
  readonly api?: string
  readonly as?: string
  readonly asOf?: string
  readonly debug?: true
}

/** A forced removal unbinds everything on a host one by one, so it may take long. */
const CALL_MS = 120_000
const USUAL_API = 'http://127.0.0.1:6666/v2'
/** All that the service can tell; what an older one does not know, it leaves out. */
const NEWEST = { 'openstack-api-version': 'accelerator latest' } as const
const Refusal = v.object({
  errors: v.tupleWithRest([v.object({ detail: v.string(), code: v.optional(v.string()) })], v.unknown()),
})

const addressOf = (given: string, origin: string): string => {
  const url = URL.canParse(given) ? new URL(given) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    throw misused(`${origin}: ${given} must be the address of the API, like http://127.0.0.1:6666/v2`)
  return given.replace(/\/+$/, '')
}
const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Identity headers for the user named by `--as`: an administrator, as an API without authentication accepts it. */
const identity = (user: string | undefined): Readonly<Record<string, string>> =>
  user === undefined
    ? {}
    : { 'x-user-id': user, 'x-project-id': 'operations', 'x-roles': 'admin,manager,member,reader' }

/** The address that was given, before anybody is asked. */
const givenAddress = ({ api }: ApiFlags): string | null => {
  if (api !== undefined) return addressOf(api, '--api')
  const named = process.env[URL_VARIABLE]
  return named ? addressOf(named, URL_VARIABLE) : null
}

/** Where the API is, and the headers that say who asks. Rejects when signing in fails. */
export const entryOf = async (flags: ApiFlags) => {
  const given = givenAddress(flags)
  const { api: found, headers } = await signIn(process.env)
  const base = given ?? (found === null ? USUAL_API : addressOf(found, 'the service catalogue'))
  return { base, headers: { ...NEWEST, ...identity(flags.as), ...headers } }
}

/**
 * Shows that a service asks, as Nova does when it binds: the token once more, which counts when its account has the role service. Where nobody is
 * authenticated, the role is named.
 */
const asService = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> => {
  const token = process.env['OS_SERVICE_TOKEN'] || headers['x-auth-token']
  return token === undefined ? { 'x-service-roles': 'service' } : { 'x-service-token': token }
}
const SERVICE_NEXT = "sign in with an account that has the role service, as Nova's has, or set OS_SERVICE_TOKEN"

/** Where to look for what the path names. */
const LISTS: Readonly<Record<string, string>> = {
  accelerator_requests: 'accelerando arq list',
  deployables: 'accelerando device list',
  device_profiles: 'accelerando profile list',
  devices: 'accelerando device list',
  handles: 'accelerando handle list',
  hosts: 'accelerando host list',
}
const NEXT: Readonly<Record<number, string>> = {
  403: 'accelerando policy show',
  406: 'set api.additive_microversion = true on the controls',
  503: 'accelerando doctor',
}
const nextAfter = (status: number, what: string): string | undefined => {
  const [, collection = ''] = /^\w+ \/(\w+)/.exec(what) ?? []
  return status === 404 || status === 409 ? LISTS[collection] : NEXT[status]
}

type Refused = {
  /** Method and path. */
  readonly what: string
  readonly base: string
  readonly status: number
  readonly text: string
  readonly requestId: string | readonly string[] | undefined
  /** The request was one of a service. */
  readonly service?: boolean
}
/** What the API said of a request that it refused, as a failure of the command. */
export const refusal = ({ requestId, service = false, ...told }: Refused): Failure =>
  new Failure(exitOfStatus(told.status), refusalText(told), {
    next: service && told.status === 401 ? SERVICE_NEXT : nextAfter(told.status, told.what),
    requestId: typeof requestId === 'string' ? requestId : undefined,
    about: placeOf(told.text),
  })
/** Where the code of the answer is explained. Answers of something else than this service have none. */
const placeOf = (text: string): string | undefined => {
  const read = v.safeParse(Refusal, parsed(text))
  const [, kind] = /^accelerator\.([a-z0-9_]+)$/.exec((read.success && read.output.errors[0].code) || '') ?? []
  return kind === undefined ? undefined : `${ERRORS_PAGE}#${kind}`
}
const refusalText = ({ what, base, status, text }: Pick<Refused, 'what' | 'base' | 'status' | 'text'>): string => {
  if (status === 401) return `${what}: 401 the API at ${base} wants a valid token: ${HOW_TO_SIGN_IN}`
  const read = v.safeParse(Refusal, text === '' ? {} : parsed(text))
  const said = read.success ? read.output.errors[0].detail : `it answered ${text.slice(0, 200) || 'nothing'}`
  return `${what}: ${status} ${said}`
}
const unreached = (base: string, error: Error): Failure =>
  new Failure('unreached', `the API at ${base} cannot be reached: ${error.message}`, {
    cause: error,
    next: `accelerando doctor --api ${new URL(base).origin}`,
  })

export const apiOf = (flags: ApiFlags, { service = false }: { readonly service?: boolean } = {}): Api => {
  givenAddress(flags)
  // signed in once, for all calls of the command
  let entering: ReturnType<typeof entryOf> | null = null
  return async <Document>(method: Method, path: string, body?: Json | readonly Json[]) => {
    const { base, headers: own } = await (entering ??= entryOf(flags))
    const headers = service ? { ...own, ...asService(own) } : own
    const url = `${base}${path}`
    if (flags.debug) tellHeads(askedLines(method, url, headers))
    const reply: Reply = await ask(url, { method, headers, body, timeoutMs: CALL_MS }).catch((error: Error) => {
      throw unreached(base, error)
    })
    const { status, headers: told, text } = reply
    if (flags.debug) tellHeads(answeredLines(status, told))
    const json = text === '' ? {} : parsed(text)
    if (status >= 200 && status < 300 && json !== null) return json as Document
    const requestId = told['x-openstack-request-id']
    throw refusal({ what: `${method} ${path}`, base, status, text, requestId, service })
  }
}

/** The path with those of the arguments that were given. */
export const withQuery = (path: string, args: Readonly<Record<string, string | undefined>>): string => {
  const given = Object.entries(args).filter((arg): arg is [string, string] => arg[1] !== undefined)
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`
}
/** What the service may leave out, since the command would. In another order, or as a whole document, everything is needed. */
export const limitFor = ({ limit, sortColumn, json }: OutputFlags): string | undefined =>
  sortColumn === undefined && !json ? limit : undefined

export const addApiFlags = (command: CommandRow): CommandRow =>
  command
    .endsWith(...API_EXITS)
    .option(
      '--api <URL>',
      `address of the API (default: ${URL_VARIABLE}, else the one in the service catalogue when OS_CLOUD or OS_AUTH_URL says where to sign in, else ${USUAL_API})`,
    )
    .option('--as <USER>', 'who asks, where the API authenticates nobody; kept with what is done')
    .option('--debug', 'the heads of requests and answers on standard error, without what is secret')
    .option('--json', 'the documents of the API instead of text')

/** For commands that can look at the past. */
export const addAsOf = (command: CommandRow): CommandRow =>
  command.option('--as-of <MOMENT>', 'as it was at this moment, such as 2026-01-31T12:00:00Z')
