/** API client for the commands: one call returns the document, or throws an error of one sentence. */
import * as v from 'valibot'
import { ask } from '../ask.ts'
import type { CommandRow } from '../commandRow.ts'
import { API_EXITS, exitOfStatus, Failure, misused } from '../exits.ts'
import type { OutputFlags } from '../output.ts'
import { HOW_TO_SIGN_IN, signIn } from './signIn.ts'

type Json = Readonly<Record<string, unknown>>
/** The document is not judged: a command of an older release shows what it knows of the answer of a newer API. */
export type Api = <Document>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: Json) => Promise<Document>
export type ApiFlags = OutputFlags & { readonly api?: string; readonly as?: string }

/** A forced removal unbinds everything on a host one by one, so it may take long. */
const CALL_MS = 120_000
const USUAL_API = 'http://127.0.0.1:6666/v2'
const Refusal = v.object({ errors: v.tupleWithRest([v.object({ detail: v.string() })], v.unknown()) })

const addressOf = (given: string): string => {
  const url = URL.canParse(given) ? new URL(given) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    throw misused(`--api: ${given} must be the address of the API, like http://127.0.0.1:6666/v2`)
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

/** Where the API is, and the headers that say who asks. Rejects when signing in fails. */
export const entryOf = async ({ api, as: user }: ApiFlags) => {
  const { api: found, headers } = await signIn(process.env)
  return { base: addressOf(api ?? found ?? USUAL_API), headers: { ...identity(user), ...headers } }
}

const NEXT: Readonly<Record<number, string>> = { 403: 'accelerando policy show', 503: 'accelerando doctor' }

type Refused = {
  /** Method and path. */
  readonly what: string
  readonly base: string
  readonly status: number
  readonly text: string
  readonly requestId: string | readonly string[] | undefined
}
/** What the API said of a request that it refused, as a failure of the command. */
export const refusal = ({ requestId, ...told }: Refused): Failure =>
  new Failure(exitOfStatus(told.status), refusalText(told), {
    next: NEXT[told.status],
    requestId: typeof requestId === 'string' ? requestId : undefined,
  })
const refusalText = ({ what, base, status, text }: Omit<Refused, 'requestId'>): string => {
  if (status === 401) return `${what}: 401 the API at ${base} wants a valid token: ${HOW_TO_SIGN_IN}`
  const read = v.safeParse(Refusal, text === '' ? {} : parsed(text))
  const said = read.success ? read.output.errors[0].detail : `it answered ${text.slice(0, 200) || 'nothing'}`
  return `${what}: ${status} ${said}`
}

export const apiOf = (flags: ApiFlags): Api => {
  if (flags.api !== undefined) addressOf(flags.api)
  // signed in once, for all calls of the command
  let entering: ReturnType<typeof entryOf> | null = null
  return async <Document>(method: string, path: string, body?: Json) => {
    const { base, headers } = await (entering ??= entryOf(flags))
    const question = { method, headers, body, timeoutMs: CALL_MS }
    const {
      status,
      headers: told,
      text,
    } = await ask(`${base}${path}`, question).catch((error: Error) => {
      const next = `accelerando doctor --api ${new URL(base).origin}`
      throw new Failure('unreached', `the API at ${base} cannot be reached: ${error.message}`, { cause: error, next })
    })
    const json = text === '' ? {} : parsed(text)
    if (status >= 200 && status < 300 && json !== null) return json as Document
    throw refusal({ what: `${method} ${path}`, base, status, text, requestId: told['x-openstack-request-id'] })
  }
}

export const addApiFlags = (command: CommandRow): CommandRow =>
  command
    .endsWith(...API_EXITS)
    .option(
      '--api <URL>',
      `address of the API (default: the one in the service catalogue when OS_CLOUD or OS_AUTH_URL says where to sign in, else ${USUAL_API})`,
    )
    .option('--as <USER>', 'who asks, where the API authenticates nobody; kept with what is done')
    .option('--json', 'the documents of the API instead of text')
