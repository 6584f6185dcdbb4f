/** Removes from a text the secrets with which its reader could sign in somewhere. Pure. */
import { readDatabaseUrl } from '../../vocabulary/databaseUrl.ts'
import { ENV_PREFIX, type Key, KEYS, rowOf, valueOf } from './table.ts'
import { IMPORT_FROM } from './variables.ts'
import type { Sections } from './sections.ts'

export const HIDDEN = '(hidden)'
/** Shorter values are not treated as secrets, because they occur in any text. */
const SECRET_MIN = 4

const textsIn = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
/** The password of an address, as it is written and as it is meant. */
const passwordIn = (text: string): readonly string[] => {
  const reading = readDatabaseUrl(text)
  if (!reading.ok) return []
  const { password, writtenPassword, parameters } = reading.value
  return [writtenPassword, password, parameters.get('password') ?? []].flat()
}

const isSecret = (key: Key): boolean => rowOf(key).secret === true
/** Whether an environment variable contains a secret. Variables of options are judged as options. */
const isSecretVariable = (name: string): boolean =>
  name === IMPORT_FROM || (!name.startsWith(ENV_PREFIX) && /PASSWORD|SECRET|TOKEN/i.test(name))

/** The texts that must not be shown: secrets in the configuration and in environment variables. */
export const secretsOf = (sections: Sections, env: Readonly<Record<string, string | undefined>>): readonly string[] => {
  const configured = KEYS.filter(isSecret).flatMap((key) => textsIn(valueOf(sections, key)))
  const inEnv = Object.entries(env).flatMap(([name, value]) => (value && isSecretVariable(name) ? [value] : []))
  const all = [...configured, ...inEnv]
  return [...new Set([...all, ...all.flatMap(passwordIn)])]
}

/** The secret as plain text, as in JSON and as in a URL. */
const formsOf = (secret: string): readonly string[] => [
  ...new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]),
]

/** A secret may contain another one, so the longest is removed first. */
export const hiding = (secrets: readonly string[]): ((text: string) => string) => {
  const forms = secrets
    .filter(({ length }) => length >= SECRET_MIN)
    .flatMap(formsOf)
    .toSorted((one, other) => other.length - one.length)
  return (text) =>
    forms
      .reduce((left, secret) => left.replaceAll(secret, HIDDEN), text)
      // without the scheme before it, since the search for its beginning would take a time that grows with the square
      // of the length of a text that a host has chosen
      .replaceAll(/(:\/\/[^\s:/@"]*):[^\s@/"]+@/g, `$1:${HIDDEN}@`)
}
