/** Asks an API question after question, and writes down each question with the whole answer. */
import { isDeepStrictEqual } from 'node:util'
import { createApp } from '../../src/http/app.ts'
import { noauth } from '../../src/http/identity.ts'
import { silent } from '../../src/log.ts'
import { send } from '../http/steps.ts'
import type { NovaServer } from '../../src/actors/neighbours.ts'
import type { Cloud } from './scenario.ts'

const person = (user: string, project: string, roles: string) => ({
  'X-User-Id': user,
  'X-Project-Id': project,
  'X-Roles': roles,
})
/** Who asks, and in which version of the API. */
export const CALLERS = {
  admin: {},
  service: { 'X-Service-Roles': 'service' },
  tenant: person('u1', 'p1', 'member,reader'),
  stranger: person('u2', 'p2', 'member,reader'),
  manager: person('u3', 'p1', 'manager,member,reader'),
  nobody: person('u4', 'p1', 'guest'),
  operator: person('ops', 'p9', 'admin'),
  newest: { 'OpenStack-API-Version': 'accelerator latest' },
  'service for p1': { ...person('nova', 'p1', 'member,reader'), 'X-Service-Roles': 'service' },
} as const satisfies Record<string, Readonly<Record<string, string>>>
export type As = keyof typeof CALLERS

/** Headers that most answers have, with what most of them say; whatever is different is written down. */
const USUAL: Readonly<Record<string, string>> = {
  'content-type': 'application/json',
  'openstack-api-maximum-version': '2.5',
  'openstack-api-minimum-version': '2.0',
  'openstack-api-version': 'accelerator 2.0',
  vary: 'OpenStack-API-Version',
  'x-content-type-options': 'nosniff',
}
const REQUEST_ID = /req-[0-9a-f-]{36}/g

/** Of a text that is only long, its length is enough. */
const LONG = /(\w)\1{99,}/g
const shortened = (run: string): string => `${run[0]} x ${run.length}`

/** A refusal says the same in two places; as one line where that is so. */
const refusalText = (json: object): string | null => {
  if (!('error_message' in json && 'errors' in json && Array.isArray(json.errors) && json.errors.length === 1))
    return null
  const nested: unknown = JSON.parse(String(json.error_message))
  const { detail, ...rest } = json.errors[0] as { readonly detail: string }
  return isDeepStrictEqual(nested, { faultcode: 'Client', faultstring: detail, debuginfo: null })
    ? `  ${detail}\n  ${JSON.stringify(rest)}`
    : null
}

/** Each element of a list in a line of its own, so that a difference shows where it is. */
const bodyText = (json: unknown): string => {
  if (typeof json !== 'object' || json === null) return JSON.stringify(json)
  const refusal = refusalText(json)
  if (refusal !== null) return refusal
  const lines = Object.entries(json).map(([key, value]) =>
    Array.isArray(value) && value.length > 0
      ? `  ${key}:\n${value.map((one) => `    ${JSON.stringify(one)}`).join('\n')}`
      : `  ${key}: ${JSON.stringify(value)}`,
  )
  return lines.join('\n')
}

export type Asking = {
  readonly as?: As
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Done while the answer is waited for. */
  readonly meanwhile?: () => Promise<unknown>
}
// oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into freely
export type Ask = (line: string, asking?: Asking) => Promise<any>

/** How long a held read pauses at most. */
const PAUSED_MS = 500
export const asker = ({ control, clock }: Pick<Cloud, 'control' | 'clock'>) => {
  const options = { additiveMicroversion: true }
  // a read that is held until a bind has ended looks again at once: no time passes while a question is asked
  const after: typeof clock.after = (ms, work) => {
    if (ms > PAUSED_MS) return clock.after(ms, work)
    const soon = setImmediate(work)
    return () => clearImmediate(soon)
  }
  const app = createApp({ control, identify: noauth, options, log: silent, clock: { ...clock, after } })
  const written: string[] = []
  const ask: Ask = async (line, { as = 'admin', body, headers = {}, meanwhile } = {}) => {
    const asked = send(app, line, { headers: { ...CALLERS[as], ...headers }, ...(body === undefined ? {} : { body }) })
    await meanwhile?.()
    const got = await asked
    const unusual = [...got.headers].filter(([name, value]) => USUAL[name] !== value && !REQUEST_ID.test(value))
    const said = body === undefined ? '' : `\n  ${JSON.stringify(body)}`
    const shown = got.text === '' ? '' : `\n${bodyText(got.json)}`
    const rest = unusual.map(([name, value]) => `\n  (${name}: ${value})`).join('')
    written.push(
      `${line} [${as}]${said}\n${got.status}${rest}${shown}\n`
        .replaceAll(REQUEST_ID, 'req-...')
        .replaceAll(LONG, shortened),
    )
    return got.json
  }
  const title = (text: string) => void written.push(`== ${text}\n`)
  return { ask, title, text: () => written.join('\n') }
}

export const UNKNOWN = '90000000-0000-4000-8000-0000000000ff'
export const SERVER = (n: number): string => `90000000-0000-4000-8000-0000000005${String(n).padStart(2, '0')}`

export type Stage = {
  readonly cloud: Cloud
  readonly talk: ReturnType<typeof asker>
  readonly ask: Ask
  /** What Nova says of servers; of all others that they are there. */
  readonly servers: Map<string, NovaServer>
  readonly nova: { blind: string | null }
}
export type Scene = (stage: Stage) => Promise<void>
