/** The configuration in force, as operators may see it: each option with its value and its source, without secrets. */
import type { OptionInForce } from '../../http/system.ts'
import type { Env, Gathered } from './gather.ts'
import { HIDDEN, hiding, secretsOf } from './secrets.ts'
import { type Key, KEYS, envName, flagName, rowOf } from './table.ts'

export type InForce = {
  readonly options: readonly OptionInForce[]
  /** All secrets; `hide` removes those that are long enough (`SECRET_MIN`). Must not be shown. */
  readonly secrets: readonly string[]
  /** Removes the secrets of the configuration and of the environment from a text. */
  readonly hide: (text: string) => string
}

const sourceOf = (key: Key, origin: string | undefined): OptionInForce['source'] => {
  if (origin === undefined) return 'default'
  if (origin === flagName(key)) return 'argument'
  return origin === envName(key) ? 'environment' : 'file'
}

/** The value with each of its texts changed by `hide`. */
const hiddenIn = (value: unknown, hide: InForce['hide']): unknown => {
  if (typeof value === 'string') return hide(value)
  if (Array.isArray(value)) return value.map((each: unknown) => hiddenIn(each, hide))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, hiddenIn(each, hide)]))
}

export const inForceOf = ({ sections, originOf, writtenOf }: Gathered, env: Env): InForce => {
  const secrets = secretsOf(sections, env)
  const hide = hiding(secrets)
  const options = KEYS.map((key) => {
    const [value, origin, secret] = [writtenOf(key), originOf(key), rowOf(key).secret === true]
    return {
      key,
      value: secret && value !== null ? HIDDEN : hiddenIn(value, hide),
      source: sourceOf(key, origin),
      from: origin === undefined ? null : hide(origin),
      secret,
    }
  })
  return { options, secrets, hide }
}

/** Of a program that was not given its configuration by options. */
export const NOTHING_IN_FORCE: InForce = { options: [], secrets: [], hide: hiding([]) }

/** `more`: secrets that are in no variable or option, such as a token that was just issued. */
export const hidingAlso = ({ options, secrets: known }: InForce, more: readonly string[]): InForce => {
  const secrets = [...known, ...more]
  return { options, secrets, hide: hiding(secrets) }
}
/** Hides also the tokens in the headers of a request. */
export const hidingTokens = (inForce: InForce | undefined, headers: Readonly<Record<string, string>>): InForce =>
  hidingAlso(
    inForce ?? NOTHING_IN_FORCE,
    Object.entries(headers).flatMap(([name, value]) => (name.endsWith('-token') ? [value] : [])),
  )
