/** A row of the table of routes, and what its answer is made from. */
import * as v from 'valibot'
import { Refusal } from './state.ts'

export type Reply = { readonly status: number; readonly body?: unknown }
export type Asked = {
  /** Second part of the version of the request. */
  readonly minor: number
  /** What stands in the path in place of `*`. */
  readonly name: string
  readonly query: URLSearchParams
  readonly body: unknown
}
export type Route = {
  readonly method: string
  /** Segments of the path; `*` stands for any text. */
  readonly path: string
  /** Below this version there is no such route. */
  readonly since?: number
  readonly answer: (asked: Asked) => Reply
}

export const bodyAs = <Value>(shape: v.GenericSchema<unknown, Value>, body: unknown): Value => {
  const read = v.safeParse(shape, body)
  if (read.success) return read.output
  const [issue] = read.issues
  throw new Refusal(400, `JSON does not validate: ${issue.message} On instance ${v.getDotPath(issue) ?? ''}`)
}
export const onlyKeys = (query: URLSearchParams, allowed: (key: string) => boolean): void => {
  for (const key of query.keys())
    if (!allowed(key))
      throw new Refusal(400, `Invalid query string parameters: Additional properties are not allowed ('${key}')`)
}

const INT = v.pipe(v.number(), v.integer(), v.maxValue(2 ** 31 - 1))
export const GENERATION = v.pipe(v.number(), v.integer())
export const COUNT = v.pipe(INT, v.minValue(0))
export const POSITIVE = v.pipe(INT, v.minValue(1))
/** With or without hyphens, as Python's `uuid.UUID` reads it. */
export const UUID = v.pipe(
  v.string(),
  v.regex(/^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i),
  v.transform((text) => text.toLowerCase().replaceAll('-', '')),
  v.transform((hex) => hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')),
)
