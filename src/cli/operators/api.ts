/** API client for the commands: one call returns the document, or throws an error of one sentence. */
import type { Command } from 'commander'
import * as v from 'valibot'
import { ask } from '../ask.ts'
import { out, outLines } from '../command.ts'
import { type Entry, HOW_TO_SIGN_IN, signIn } from './signIn.ts'
import { visibleJson } from '../../text.ts'

type Json = Readonly<Record<string, unknown>>
/** The document is not judged: a command of an older release shows what it knows of the answer of a newer API. */
export type Api = <Document>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: Json) => Promise<Document>
export type ApiFlags = { readonly api?: string; readonly as?: string; readonly json?: true }

/** A forced removal unbinds everything on a host one by one, so it may take long. */
const CALL_MS = 120_000
const USUAL_API = 'http://127.0.0.1:6666/v2'
const Refusal = v.object({ errors: v.tupleWithRest([v.object({ detail: v.string() })], v.unknown()) })

const addressOf = (given: string): string => {
  const url = URL.canParse(given) ? new URL(given) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Error(`--api: ${given} must be the address of the API, like http://127.0.0.1:6666/v2`)
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

export const apiOf = ({ api, as: user }: ApiFlags): Api => {
  const given = api === undefined ? null : addressOf(api)
  // signed in once, for all calls of the command
  let entering: Promise<Entry> | null = null
  return async <Document>(method: string, path: string, body?: Json) => {
    const entry = await (entering ??= signIn(process.env))
    const base = given ?? addressOf(entry.api ?? USUAL_API)
    const question = { method, headers: { ...identity(user), ...entry.headers }, body, timeoutMs: CALL_MS }
    const { status, text } = await ask(`${base}${path}`, question).catch((error: Error) => {
      throw new Error(`the API at ${base} cannot be reached: ${error.message}`, { cause: error })
    })
    const json = text === '' ? {} : parsed(text)
    if (status >= 200 && status < 300 && json !== null) return json as Document
    if (status === 401)
      throw new Error(`${method} ${path}: 401 the API at ${base} wants a valid token: ${HOW_TO_SIGN_IN}`)
    const refusal = v.safeParse(Refusal, json)
    const said = refusal.success ? refusal.output.errors[0].detail : `it answered ${text.slice(0, 200) || 'nothing'}`
    throw new Error(`${method} ${path}: ${status} ${said}`)
  }
}

export const addApiFlags = (command: Command): Command =>
  command
    .option(
      '--api <URL>',
      `address of the API (default: the one in the service catalogue when OS_CLOUD or OS_AUTH_URL says where to sign in, else ${USUAL_API})`,
    )
    .option('--as <USER>', 'who asks, where the API authenticates nobody; kept with what is done')
    .option('--json', 'the documents of the API instead of text')

type Cell = string | number | null | undefined
/** A table whose columns are as wide as their content. */
export const tableOf = (heads: readonly string[], rows: readonly (readonly Cell[])[]): readonly string[] => {
  const texts = [heads, ...rows.map((row) => row.map((cell) => String(cell ?? '-')))]
  const widths = heads.map((_, at) => Math.max(...texts.map((row) => row[at]!.length)))
  return texts.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd(),
  )
}
/** Prints one field per line. */
export const fieldsOf = (fields: Readonly<Record<string, Cell>>): readonly string[] =>
  tableOf(['field', 'value'], Object.entries(fields)).slice(1)

export const show = (flags: ApiFlags, json: unknown, lines: () => readonly string[]): void => {
  if (flags.json) out(visibleJson(json, 2))
  else outLines(lines())
}
