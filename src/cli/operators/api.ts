/** API client for the commands: one call returns the document, or throws an error of one sentence. */
import * as v from 'valibot'
import { ask, type Reply } from '../ask.ts'
import type { CommandRow } from '../commandRow.ts'
import { URL_VARIABLE, USUAL_API } from '../config/variables.ts'
import { API_EXITS, exitOfStatus, Failure, misused } from '../exits.ts'
import type { OutputFlags } from '../output.ts'
import { answeredLines, askedLines, tellHeads } from './debug.ts'
import { HOW_TO_SIGN_IN, signIn } from './signIn.ts'

type Json = Readonly<Record<string, unknown>>
type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
/**
 * The document is not validated: a command of an older release shows the parts that it knows of a newer API's answer.
 */
export type Api = <Document>(method: Method, path: string, body?: Json | readonly Json[]) => Promise<Document>
/** The same, with the status of the answer. */
type Answer = { readonly status: number; readonly document: unknown }
type Answers = (method: Method, path: string, body?: Json | readonly Json[]) => Promise<Answer>
export type ApiFlags = OutputFlags & {
  readonly api?: string
  readonly as?: string
  readonly asOf?: string
  readonly debug?: true
}

/** A forced removal unbinds everything on a host one by one, so it may take long. */
const CALL_MS = 120_000
/**
 * The newest version that the service offers, with all that this product adds to it; an older service leaves out what
 * it does not know.
 */
export const NEWEST = { 'openstack-api-version': 'accelerator latest, accelerando latest' } as const
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

/** Identity headers that make the user named by `--as` an administrator, for an API without authentication. */
const identity = (user: string | undefined): Readonly<Record<string, string>> =>
  user === undefined
    ? {}
    : { 'x-user-id': user, 'x-project-id': 'operations', 'x-roles': 'admin,manager,member,reader' }

/** The address that the user gave; null: it must be looked up. */
const givenAddress = ({ api }: ApiFlags): string | null => {
  if (api !== undefined) return addressOf(api, '--api')
  const named = process.env[URL_VARIABLE]
  return named ? addressOf(named, URL_VARIABLE) : null
}

/** The address of the API, whom to trust there, and who is calling. Rejects when signing in fails. */
export const entryOf = async (flags: ApiFlags) => {
  const given = givenAddress(flags)
  const { api: found, headers, ca } = await signIn(process.env)
  const base = given ?? (found === null ? USUAL_API : addressOf(found, 'the service catalogue'))
  return { base, ca, headers: { ...NEWEST, ...identity(flags.as), ...headers } }
}

/**
 * Headers of a request by a service, as Nova sends them with a bind: the token a second time as service token, which is
 * valid if its account has the role service. Without authentication, the headers name the role.
 */
const asService = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> => {
  const token = process.env['OS_SERVICE_TOKEN'] || headers['x-auth-token']
  return token === undefined ? { 'x-service-roles': 'service' } : { 'x-service-token': token }
}
const SERVICE_NEXT = "sign in with an account that has the role service, as Nova's has, or set OS_SERVICE_TOKEN"

/** The command that lists the objects of a path, by collection. */
const LISTS: Readonly<Record<string, string>> = {
  accelerator_requests: 'accelerando arq list',
  dead_letters: 'accelerando dead-letter list',
  deployables: 'accelerando device list',
  device_profiles: 'accelerando profile list',
  devices: 'accelerando device list',
  handles: 'accelerando handle list',
  hosts: 'accelerando host list',
}
const NEXT: Readonly<Record<number, string>> = {
  403: 'accelerando policy show',
  503: 'accelerando doctor',
}
/** What a refusal says is not there; it may be another thing than the one that the path names. */
const NAMED: readonly (readonly [RegExp, string])[] = [
  [/profile/i, 'accelerando profile list'],
  [/handle/i, 'accelerando handle list'],
  [/\bhost\b/i, 'accelerando host list'],
]
/** The family of commands that shows one object of a path, by collection. */
const SHOWS: Readonly<Record<string, string>> = {
  accelerator_requests: 'arq show',
  dead_letters: 'dead-letter show',
  deployables: 'bitstream show',
  device_profiles: 'profile show',
  devices: 'device show',
  handles: 'handle show',
  hosts: 'host show',
}
const nextAfter = (status: number, what: string, detail: string): string | undefined => {
  const [, collection = '', id] = /^\w+ \/(\w+)(?:\/([^/?]+))?/.exec(what) ?? []
  if (status === 404) return NAMED.find(([pattern]) => pattern.test(detail))?.[1] ?? LISTS[collection]
  if (status !== 409) return NEXT[status]
  return id === undefined || SHOWS[collection] === undefined ? undefined : `accelerando ${SHOWS[collection]} ${id}`
}

type Refused = {
  /** Method and path. */
  readonly what: string
  readonly base: string
  readonly status: number
  readonly text: string
  readonly requestId?: string | readonly string[] | undefined
  /** The request was made as a service. */
  readonly service?: boolean
}
/** The failure of the command after the API has refused a request. */
export const refusal = ({ requestId, service = false, ...refused }: Refused): Failure =>
  new Failure(exitOfStatus(refused.status), refusalText(refused), {
    next:
      service && refused.status === 401
        ? SERVICE_NEXT
        : nextAfter(refused.status, refused.what, detailOf(refused.text) ?? ''),
    requestId: typeof requestId === 'string' ? requestId : undefined,
    about: placeOf(refused.text),
  })
/** The command that explains the code of the answer. Undefined for answers that do not come from this service. */
const placeOf = (text: string): string | undefined => {
  const read = v.safeParse(Refusal, parsed(text))
  const [, kind] = /^accelerator\.([a-z0-9_]+)$/.exec((read.success && read.output.errors[0].code) || '') ?? []
  return kind === undefined ? undefined : `accelerando error ${kind}`
}
const detailOf = (text: string): string | null => {
  const read = v.safeParse(Refusal, text === '' ? {} : parsed(text))
  return read.success ? read.output.errors[0].detail : null
}
const refusalText = ({ what, base, status, text }: Pick<Refused, 'what' | 'base' | 'status' | 'text'>): string => {
  if (status === 401) return `${what}: 401 the API at ${base} wants a valid token: ${HOW_TO_SIGN_IN}`
  const said = detailOf(text) ?? `it answered ${text.slice(0, 200) || 'nothing'}`
  return `${what}: ${status} ${said}`
}
const unreached = (base: string, error: Error): Failure =>
  new Failure('unreached', `the API at ${base} cannot be reached: ${error.message}`, {
    cause: error,
    next: `accelerando doctor --api ${new URL(base).origin}`,
  })

type AsService = { readonly service?: boolean }
export const answersOf = (flags: ApiFlags, { service = false }: AsService = {}): Answers => {
  givenAddress(flags)
  // signs in once for all calls of the command
  let entering: ReturnType<typeof entryOf> | null = null
  return async (method, path, body) => {
    const { base, ca, headers: own } = await (entering ??= entryOf(flags))
    const headers = service ? { ...own, ...asService(own) } : own
    const url = `${base}${path}`
    if (flags.debug) tellHeads(askedLines(method, url, headers))
    const reply: Reply = await ask(url, { method, headers, body, timeoutMs: CALL_MS, ca }).catch((error: Error) => {
      throw unreached(base, error)
    })
    const { status, headers: answered, text } = reply
    if (flags.debug) tellHeads(answeredLines(status, answered))
    const json = text === '' ? {} : parsed(text)
    if (status >= 200 && status < 300 && json !== null) return { status, document: json }
    const requestId = answered['x-openstack-request-id']
    throw refusal({ what: `${method} ${path}`, base, status, text, requestId, service })
  }
}

export const apiOf = (flags: ApiFlags, as: AsService = {}): Api => {
  const answers = answersOf(flags, as)
  return async <Document>(...asked: Parameters<Answers>) => (await answers(...asked)).document as Document
}

/** The path with those arguments that have a value. */
export const withQuery = (path: string, args: Readonly<Record<string, string | undefined>>): string => {
  const given = Object.entries(args).filter((arg): arg is [string, string] => arg[1] !== undefined)
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`
}
/**
 * The limit that the service may apply instead of the command. With another order, or for the whole document, all rows
 * are needed.
 */
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

/** Adds `--as-of`, for commands that can show the past. */
export const addAsOf = (command: CommandRow): CommandRow =>
  command.option('--as-of <MOMENT>', 'as it was at this moment, such as 2026-01-31T12:00:00Z')
