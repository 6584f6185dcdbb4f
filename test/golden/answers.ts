/** Asks an API question after question, and writes down each question with what it is answered in short. */
import { createApp } from '../../src/http/app.ts'
import { noauth } from '../../src/http/identity.ts'
import { silent } from '../../src/vocabulary/log.ts'
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

/** Members whose values are told; of all others it is told that they are there. */
const TOLD =
  /^(state|status|liveness|presence|enabled|version|failing|fits|next|asked|unclear|min_version|max_version)$/
/** The members of an answer; of a list how many there are, and what is told of each of them. */
const shapeOf = (json: unknown, depth = 0): string => {
  if (Array.isArray(json))
    return `${json.length}${json.length > 0 && depth < 2 ? ` ${[...new Set(json.map((one) => shapeOf(one, depth + 1)))].join(' | ')}` : ''}`
  if (typeof json !== 'object' || json === null) return depth === 0 ? JSON.stringify(json) : typeof json
  const members = Object.entries(json).map(([key, value]) =>
    Array.isArray(value)
      ? `${key}: ${shapeOf(value, depth + 1)}`
      : TOLD.test(key)
        ? `${key}=${JSON.stringify(value)}`
        : key,
  )
  return `{${members.join(', ')}}`
}
/** Of a refusal its code and its sentence. */
const answerText = (json: unknown): string => {
  const [error] =
    (json as { readonly errors?: readonly { readonly code: string; readonly detail: string }[] } | null)?.errors ?? []
  return error === undefined ? shapeOf(json) : `${error.code} ${error.detail}`
}

/** Of a text that is long, its beginning is enough. */
const LINE_MAX = 600
const BODY_MAX = 100

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
    const said = body === undefined ? '' : ` ${JSON.stringify(body).slice(0, BODY_MAX)}`
    const rest = unusual.map(([name, value]) => ` (${name}: ${value})`).join('')
    const shown = got.text === '' ? '' : ` ${answerText(got.json)}`
    const answered = `${got.status}${rest}${shown}`.replaceAll(REQUEST_ID, 'req-...')
    written.push(`${line} [${as}]${said} -> ${answered}`.slice(0, LINE_MAX))
    return got.json
  }
  const title = (text: string) => void written.push('', `== ${text}`)
  return { ask, title, text: () => `${written.join('\n').trimStart()}\n` }
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
