/**
 * Checks a request in this order: identity, microversion, policy, path, arguments, body, and only then calls the
 * handler. While the store is known to be unreachable, a request is refused at once instead of waiting for an answer
 * that cannot come.
 */
import type { Context } from 'hono'
import { commandIdOf } from '../actors/runtime/commandId.ts'
import type { Caller } from '../actors/caller.ts'
import { bounded, pause } from '../vocabulary/waiting.ts'
import { controlFor } from './asOf.ts'
import { BODY_BYTES, readJson } from './body.ts'
import { invalid, refused } from './faults.ts'
import type { HttpRefused } from './faults.ts'
import { originThrough } from './forwarded.ts'
import { connectionOf } from './frame.ts'
import type { Frame, Ports } from './frame.ts'
import { problemIn } from './guard.ts'
import { identifyAgainAs } from './identifyAgain.ts'
import { callerOf } from './identity.ts'
import type { Identify, Identity } from './identity.ts'
import type { Options } from './options.ts'
import { isVersioned, originOf, queryOf } from './paths.ts'
import type { RuleName } from './policy/rules.ts'
import { readQuery } from './query.ts'
import { remoteOf } from './remote.ts'
import type { Answered, RequestContext, Call, PathUuid, Route } from './route.ts'
import { brokenText, NAME_LIMIT } from '../vocabulary/text.ts'
import { canonicalUuid } from '../vocabulary/uuid.ts'
import { additionsAsked, latestMinor, MAJOR, negotiate } from './versions.ts'

const baseOf = (c: Context, options: Options): string => {
  if (options.publicEndpoint !== null) return options.publicEndpoint
  const origin = originOf(c.req.url)
  return options.proxyHeaders ? originThrough(origin, (name) => c.req.header(name)) : origin
}

export const identityOf = (c: Context, ports: Ports): ReturnType<Identify> =>
  ports.identify((name) => c.req.header(name), {
    method: c.req.method,
    path: c.req.path,
    from: remoteOf(c, ports.options),
  })
export const isRefused = (identity: Identity | HttpRefused): identity is HttpRefused => 'fault' in identity

export const versionOf = (c: Context, ports: Ports, frame: Frame): number | HttpRefused => {
  const asked = c.req.header('openstack-api-version')
  const negotiated = negotiate(asked, latestMinor(ports.options.additiveMicroversion))
  if (!negotiated.ok) return negotiated
  frame.headers['openstack-api-version'] = `accelerator ${MAJOR}.${negotiated.minor}`
  return Math.max(negotiated.minor, additionsAsked(asked))
}

type Params = { readonly ok: true; readonly params: Readonly<Record<string, string>> } | HttpRefused
type Param = { readonly ok: true; readonly value: string } | HttpRefused

const uuidParam = (name: string, given: string, { resource, otherwise }: PathUuid): Param => {
  const uuid = canonicalUuid(given)
  if (uuid !== null) return { ok: true, value: uuid }
  return otherwise === 'not_found'
    ? refused({ kind: 'not_found', resource, id: given })
    : invalid(name, 'it must be a UUID')
}
/**
 * A name becomes a part of a key that is read together with keys of other requests, so every store must be able to
 * accept it.
 */
const nameParam = (name: string, given: string): Param => {
  const broken = brokenText(given, NAME_LIMIT)
  return broken === null ? { ok: true, value: given } : invalid(name, broken.problem)
}

const paramsOf = (c: Context, row: Route): Params => {
  const params: Record<string, string> = {}
  for (const [name, given] of Object.entries<string>(c.req.param())) {
    const uuid = row.uuids?.[name]
    const read = uuid === undefined ? nameParam(name, given) : uuidParam(name, given, uuid)
    if (!read.ok) return read
    params[name] = read.value
  }
  return { ok: true, params }
}

/**
 * Steps that each keep their own time limit may together take too long. Work that has begun continues, and the
 * client may repeat the request.
 */
const LATE: HttpRefused = refused({
  kind: 'unavailable',
  reason: 'this takes too long; it may have been carried out all the same',
  retryAfterSeconds: 1,
})

/** Retry-After, in seconds, while the store is unreachable. The store is checked about as often. */
const HINDERED_SECONDS = 1

const COMMAND_ID_MAX = 255
const BAD_COMMAND_ID = invalid('Idempotency-Key', `it must have 1 to ${COMMAND_ID_MAX} visible ASCII characters`)
/**
 * The id of a command that may be repeated. It belongs to the caller and to what is asked for, so that no two commands
 * have the same by chance.
 */
const commandIn = (c: Context, { userId, projectId }: Identity): HttpRefused | { readonly commandId?: string } => {
  const given = c.req.header('idempotency-key')
  if (given === undefined || c.req.method === 'GET' || c.req.method === 'HEAD') return {}
  if (given.length > COMMAND_ID_MAX || !/^[\x21-\x7e]+$/.test(given)) return BAD_COMMAND_ID
  const { pathname, search } = new URL(c.req.url)
  return { commandId: commandIdOf(JSON.stringify([userId, projectId, c.req.method, pathname + search, given])) }
}

const tooOld = ({ minor, what }: NonNullable<Route['since']>): HttpRefused =>
  refused({ kind: 'not_acceptable', reason: `${what} since version ${MAJOR}.${minor}.` })

const NOBODY: Identity = { userId: '', projectId: '', roles: [], serviceRoles: [] }
const UNSCOPED: HttpRefused = refused({ kind: 'forbidden', rule: 'This needs a token with the scope of a project.' })

/** Whether the rule allows the caller, who is in a project. */
const isAllowed = (rule: RuleName, identity: Identity, { policy }: Ports): boolean =>
  identity.projectId !== null && policy.allows(rule, { ...identity, projectId: identity.projectId })

/** The caller of a route that may take any time: asks for as long as its connection is there. */
const waiting = (c: Context, caller: Caller): Caller => {
  const connection = connectionOf(c)
  return connection === null ? caller : { ...caller, isOver: () => connection.destroyed }
}
/** The caller of any other route: gets no answer any more when `LATE` was sent. */
const untilLate = (c: Context, { clock, options }: Ports, caller: Caller): Caller => {
  const connection = connectionOf(c)
  const notAfter = clock.monotonic() + options.answerMs
  return { ...caller, notAfter, isOver: () => clock.monotonic() >= notAfter || connection?.destroyed === true }
}

export const judge = async (c: Context, row: Route, ports: Ports, frame: Frame): Promise<Answered> => {
  const identity = row.rule === null ? NOBODY : await identityOf(c, ports)
  if (isRefused(identity)) return identity
  if (row.rule !== null) frame.caller = { user: identity.userId, project: identity.projectId }
  const minor = isVersioned(row.path) ? versionOf(c, ports, frame) : 0
  if (typeof minor !== 'number') return minor
  const { projectId } = identity
  if (projectId === null) return UNSCOPED
  if (row.rule !== null && !isAllowed(row.rule, identity, ports)) return refused({ kind: 'forbidden', rule: row.rule })
  const path = paramsOf(c, row)
  if (!path.ok) return path
  const asked = readQuery(row.query ?? {}, queryOf(c.req.url), row.oneOf)
  if (!asked.ok) return asked
  const requestId = frame.globalId ?? frame.requestId
  const command = commandIn(c, identity)
  if ('ok' in command) return command
  const { serviceTokenRoles } = ports.options
  const of = callerOf(identity, projectId, requestId, serviceTokenRoles, frame.span.trace)
  const caller = { ...of, ...command }
  if (row.since !== undefined && minor < row.since.minor) return tooOld(row.since)
  const body = row.body === undefined ? null : await readBody(c, row, ports, { minor, isAdmin: caller.isAdmin })
  if (body !== null && !body.ok) return body
  const reason = row.rule === null || row.evenHindered ? null : ports.hindered()
  if (reason !== null) return refused({ kind: 'unavailable', reason, retryAfterSeconds: HINDERED_SECONDS })
  const asking = row.waits ? waiting(c, caller) : untilLate(c, ports, caller)
  const call: Call<{}, unknown> = {
    control: controlFor(ports.control, asked.query, ports.clock.now(), asking),
    events: ports.events,
    options: ports.options,
    caller: asking,
    minor,
    params: path.params,
    query: asked.query,
    pairs: asked.pairs,
    body: body?.value,
    header: (name) => c.req.header(name),
    pause: (ms) => pause(ports.clock, ms),
    base: baseOf(c, ports.options),
    about: ports.about,
    system: ports.system,
    identifyAgain: identifyAgainAs(caller, {
      identify: async () => identityOf(c, ports),
      callerFor: (now) =>
        now.projectId !== null && (row.rule === null || isAllowed(row.rule, now, ports))
          ? callerOf(now, now.projectId, requestId, serviceTokenRoles)
          : null,
    }),
    may: (rule) => isAllowed(rule, identity, ports),
  }
  const handle = async () => row.handle(call)
  const answered = row.share === undefined ? handle() : ports.places[row.share].inTurn(asking, handle)
  const inTime = row.waits ? answered : bounded(ports.clock, answered, ports.options.answerMs, LATE)
  return inPlace(await inTime, caller, ports)
}

/** A list that is sent in pieces has a place until its end. */
const inPlace = (answered: Answered, caller: Caller, { places }: Ports): Answered => {
  if (!answered.ok || answered.pieces === undefined) return answered
  const place = places.longLists.take(caller)
  return place.ok ? { ...answered, sent: place.value } : place
}

const readBody = async (
  c: Context,
  row: Route,
  ports: Ports,
  asked: RequestContext,
): Promise<{ readonly ok: true; readonly value: unknown } | HttpRefused> => {
  const limit = Math.min(ports.options.bodyLimitBytes, BODY_BYTES[row.body?.size ?? 'usual'])
  const json = await readJson(c.req.raw, limit)
  if (!json.ok) return json
  const read = row.body!.read(json.value, asked)
  // What the route does not read, it need not be able to keep.
  return read.ok ? (problemIn(read.value) ?? read) : read
}
