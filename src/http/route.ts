/**
 * A route is a row of a table: what it accepts, who may call it, since which microversion, and its handler. `mount`
 * does everything else.
 */
import type {
  ArqUuid,
  AttributeUuid,
  DeployableUuid,
  DeviceUuid,
  HandleUuid,
  InstanceUuid,
  LetterUuid,
} from '../vocabulary/identifiers.ts'
import type { Caller, Control } from '../actors/control.ts'
import type { Events, EventStream, IdentifyAgain } from '../actors/events.ts'
import type { DifferenceUuid } from '../actors/placement/ignored.ts'
import type { Outcome } from '../vocabulary/fault.ts'
import type { BodySize } from './body.ts'
import type { Options } from './options.ts'
import type { HttpRefused } from './faults.ts'
import type { ShareName } from '../vocabulary/shares.ts'
import type { RuleName } from './policy/rules.ts'
import type { Args, Pairs, Query } from './query.ts'
import type { Schema } from './schemas.ts'
import type { Json } from './shapes.ts'
import type { File, SystemPort } from './system.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

export type Reply = {
  readonly ok: true
  readonly status: number
  /** Absent: the answer has no body, unless `pieces` is present. */
  readonly body?: unknown
  /** The text of a long JSON document, which is made while it is sent. */
  readonly pieces?: AsyncGenerator<string>
  /** Called once, when no more pieces will be sent. */
  readonly sent?: () => void
  /** The stream to send as server-sent events until one side ends it. */
  readonly events?: EventStream
  /** A file to be saved under its name. */
  readonly file?: File
}
export type Answered = Reply | HttpRefused

/** Facts about the request that the parser of a body may need. */
export type RequestContext = { readonly minor: number; readonly isAdmin: boolean }
export type Body<Value> = {
  /** Absent: the usual one. */
  readonly size?: BodySize
  readonly schema: Schema
  readonly read: (json: unknown, asked: RequestContext) => { readonly ok: true; readonly value: Value } | HttpRefused
}

/** The kinds of resources that a UUID in a path can name. */
type Named = {
  accelerator_request: ArqUuid
  attach_handle: HandleUuid
  attribute: AttributeUuid
  dead_letter: LetterUuid
  deployable: DeployableUuid
  device: DeviceUuid
  ignored_difference: DifferenceUuid
  instance: InstanceUuid
}
/** A UUID in the path: the resource that it names, and the fault for text that is not a UUID. */
export type PathUuid = { readonly resource: keyof Named; readonly otherwise: 'invalid' | 'not_found' }
export type PathUuids = Readonly<Record<string, PathUuid>>

type NamesIn<Path extends string> = string extends Path
  ? string
  : Path extends `${string}/:${infer Name}/${infer Rest}`
    ? Name | NamesIn<`/${Rest}`>
    : Path extends `${string}/:${infer Name}`
      ? Name
      : never
/** The parameters of the path. For a path that is not known at compile time any name is allowed. */
type Params<Path extends string, U> = {
  readonly [Name in NamesIn<Path>]: Name extends keyof U
    ? U[Name] extends PathUuid
      ? Named[U[Name]['resource']]
      : string
    : string
}

export type Call<A extends Args, B, P = Readonly<Record<string, string>>> = {
  readonly control: Control
  readonly events: Events
  readonly options: Options
  readonly caller: Caller
  /** The effective microversion's minor number. */
  readonly minor: number
  readonly params: P
  readonly query: Query<A>
  /** The query as sent, used for the link to the next page and the older forms of filters. */
  readonly pairs: Pairs
  readonly body: B
  /** Reads a header of the request. */
  readonly header: (name: string) => string | undefined
  readonly pause: (ms: number) => Promise<void>
  /** Whether the policy rule allows the caller. */
  readonly may: (rule: RuleName) => boolean
  /** Identifies the caller anew, for an answer that goes on for long. */
  readonly identifyAgain: IdentifyAgain
  /** Facts about this program for administrators. */
  readonly about: () => Readonly<Record<string, string>>
  readonly system: SystemPort
  /** Scheme, host and any prefix before `/accelerator` in links, without a slash at the end. */
  readonly base: string
}

type Described = Readonly<Record<string, { readonly about: string; readonly schema: Json }>>
export type Docs = {
  readonly summary: string
  /** Schema of the response body by status. Null: no body. */
  readonly answers: Readonly<Record<number, Schema | null>>
  /** Present if the route can also answer 200 with server-sent events; describes them. */
  readonly streams?: string
  /** Present if the route answers 200 with a file instead of a document; its media type, and what it holds. */
  readonly file?: { readonly type: string; readonly about: string }
  /** The headers that the route reads, and their meaning. */
  readonly headers?: Described
  /** Parameters of the path whose meaning depends on the version, as every version takes them. */
  readonly path?: Described
  /** Error statuses in addition to those that every route can answer. */
  readonly refusals?: readonly number[]
}

export type Route<A extends Args = Args, B = unknown, Path extends string = string, U = PathUuids> = {
  readonly method: Method
  /** The path in the syntax of the router: `/v2/devices/:uuid`. */
  readonly path: Path
  /** Null: the route is public and needs no identity. */
  readonly rule: RuleName | null
  readonly uuids?: U
  /** The minor version that introduced the operation; `what` begins the sentence that refuses older ones. */
  readonly since?: { readonly minor: number; readonly what: string }
  readonly query?: A
  /** Exactly one of these arguments must be given. */
  readonly oneOf?: readonly [string, string]
  readonly body?: Body<B>
  /** What its work takes a place of, because it is costly. */
  readonly share?: ShareName
  /** The route may wait for hardware, for as long as the configuration allows. */
  readonly waits?: true
  /** The route also answers while the process is hindered, since it tells by what. */
  readonly evenHindered?: true
  readonly docs: Docs
  readonly handle: (call: Call<A, B, Params<Path, U>>) => Answered | Promise<Answered>
}

/** Preserves the types of a row's path, query and body while the rows are collected in one list. */
export const route = <
  const A extends Args,
  B = undefined,
  const Path extends string = string,
  const U extends PathUuids = {},
>(
  row: Route<A, B, Path, U>,
): Route => row as unknown as Route

export const reply = (status: number, body?: unknown): Reply =>
  body === undefined ? { ok: true, status } : { ok: true, status, body }

/** Converts the outcome of a call to the actors into an answer. */
export const answer = async <Value>(
  asked: Promise<Outcome<Value>>,
  status: number,
  body?: (value: Value) => unknown,
): Promise<Answered> => {
  const outcome = await asked
  return outcome.ok ? reply(status, body?.(outcome.value)) : outcome
}
