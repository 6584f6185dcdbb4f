/** An application over a control that answers as it is told: what the API asks it, and what it makes of its answers. */
import type { Control } from '../../src/actors/control.ts'
import type { AppParts } from '../../src/http/app.ts'
import { createApp } from '../../src/http/app.ts'
import { noauth } from '../../src/http/identity.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { done } from '../../src/vocabulary/fault.ts'
import { as, send, version } from './steps.ts'
import type { Got, Sent } from './steps.ts'

/** What was called, such as `arqs.get`, and with what; the caller is replaced by a word. */
export type Asked = readonly [call: string, ...given: readonly unknown[]]
const isCaller = (value: unknown): boolean => typeof value === 'object' && value !== null && 'requestId' in value

/** Calls that are not in `answers` fail, so that a test knows of each. */
const toldControl = (answers: Readonly<Record<string, unknown>>, asked: Asked[], callers: unknown[]): Control => {
  const at = (path: string): unknown =>
    new Proxy(() => {}, {
      get: (_, name) => at(path === '' ? String(name) : `${path}.${String(name)}`),
      apply: (_, __, given: readonly unknown[]) => {
        callers.push(...given.filter(isCaller))
        asked.push([path, ...given.map((each) => (isCaller(each) ? 'the caller' : each))])
        if (!Object.hasOwn(answers, path)) throw new Error(`nobody has said what ${path} answers`)
        const answer = answers[path]
        return typeof answer === 'function' ? (answer as () => unknown)() : Promise.resolve(done(answer))
      },
    })
  return at('') as Control
}

/** The newest microversion, and an operator whose name shows where it arrives. */
export const OPERATOR = as('admin', { 'X-User-Id': 'op-7', 'X-Service-Roles': 'service', ...version('latest') })

/**
 * One request. `answers`: what each call of the control answers, or a function that answers in its place. Returns the
 * answer and all calls in order.
 */
export const tell = async (
  line: string,
  answers: Readonly<Record<string, unknown>>,
  sent: Sent = {},
  parts: Partial<AppParts> = {},
): Promise<{ readonly got: Got; readonly asked: readonly Asked[]; readonly callers: readonly unknown[] }> => {
  const [asked, callers]: [Asked[], unknown[]] = [[], []]
  const app = createApp({
    control: toldControl(answers, asked, callers),
    identify: noauth,
    log: silent,
    ...parts,
    options: { additiveMicroversion: true, publicEndpoint: 'http://api', anyHost: true, ...parts.options },
  })
  const got = await send(app, line, { ...sent, headers: { ...OPERATOR, ...sent.headers } })
  return { got, asked, callers }
}

/** UUIDs that are told apart. */
export const uuid = (n: number): string => `${String(n).padStart(8, '0')}-0000-4000-8000-000000000000`
/** Moments that are told apart. */
export const at = (seconds: number): number => seconds * 1000 + 999
