/** A route is a row: what it accepts, who may call it and since when, what answers. `mount` does everything else. */
import type { ArqUuid, AttributeUuid, DeployableUuid, DeviceUuid, HandleUuid } from '../identifiers.ts'
import type { Caller, Control } from '../actors/control.ts'
import type { Outcome } from '../fault.ts'
import type { Options } from './options.ts'
import type { HttpRefused } from './faults.ts'
import type { RuleName } from './policy/rules.ts'
import type { Args, Pairs, Query } from './query.ts'
import type { Schema } from './schemas.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

export type Reply = {
  readonly ok: true
  readonly status: number
  /** Absent: the answer has no body. */
  readonly body?: unknown
}
export type Answered = Reply | HttpRefused

/** What the reader of a body may need to know besides it. */
export type Asked = { readonly minor: number; readonly isAdmin: boolean }
export type Body<Value> = {
  readonly schema: Schema
  readonly read: (json: unknown, asked: Asked) => { readonly ok: true; readonly value: Value } | HttpRefused
}

/** What a UUID in a path may name. */
type Named = {
  accelerator_request: ArqUuid
  attach_handle: HandleUuid
  attribute: AttributeUuid
  deployable: DeployableUuid
  device: DeviceUuid
}
/** A UUID in the path: what it names, and what a text that is no UUID counts as. */
type PathUuid = { readonly resource: keyof Named; readonly otherwise: 'invalid' | 'not_found' }
export type PathUuids = Readonly<Record<string, PathUuid>>

type NamesIn<Path extends string> = string extends Path
  ? string
  : Path extends `${string}/:${infer Name}/${infer Rest}`
    ? Name | NamesIn<`/${Rest}`>
    : Path extends `${string}/:${infer Name}`
      ? Name
      : never
/** What the path names; a path that is not known in advance may name anything. */
type Params<Path extends string, U> = {
  readonly [Name in NamesIn<Path>]: Name extends keyof U
    ? U[Name] extends PathUuid
      ? Named[U[Name]['resource']]
      : string
    : string
}

export type Call<A extends Args, B, P = Readonly<Record<string, string>>> = {
  readonly control: Control
  readonly options: Options
  readonly caller: Caller
  /** The effective microversion's minor number. */
  readonly minor: number
  readonly params: P
  readonly query: Query<A>
  /** The query as sent, for the link to the next page and the older forms of filters. */
  readonly pairs: Pairs
  readonly body: B
  /** Scheme, host and what else stands before `/accelerator` in links; no slash at its end. */
  readonly base: string
}

export type Docs = {
  readonly summary: string
  /** Schema of the answer's body by status; null when there is none. */
  readonly answers: Readonly<Record<number, Schema | null>>
  /** Statuses of refusals beyond those of every route. */
  readonly refusals?: readonly number[]
}

export type Route<A extends Args = Args, B = unknown, Path extends string = string, U = PathUuids> = {
  readonly method: Method
  /** As the router reads it: `/v2/devices/:uuid`. */
  readonly path: Path
  /** Null: public, and no identity is asked for. */
  readonly rule: RuleName | null
  readonly uuids?: U
  readonly query?: A
  readonly body?: Body<B>
  /** It waits for hardware, for as long as is set for that. */
  readonly waits?: true
  readonly docs: Docs
  readonly handle: (call: Call<A, B, Params<Path, U>>) => Answered | Promise<Answered>
}

/** Keeps the types of a row's path, query and body while the rows are gathered in one list. */
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

/** What was asked of the actors, as an answer. */
export const answer = async <Value>(
  asked: Promise<Outcome<Value>>,
  status: number,
  body?: (value: Value) => unknown,
): Promise<Answered> => {
  const outcome = await asked
  return outcome.ok ? reply(status, body?.(outcome.value)) : outcome
}
