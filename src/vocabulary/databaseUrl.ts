/**
 * The address of a database as SQLAlchemy reads it: a password may hold any character, with or without an escape, and a
 * `%` that begins no escape is itself.
 */

export type DatabaseUrl = {
  readonly scheme: string
  readonly user: string
  readonly password: string
  /** The password as it is written, so that it can be hidden. */
  readonly writtenPassword: string
  readonly host: string
  /** Null: the usual one. */
  readonly port: number | null
  readonly database: string
  /** Without those that have no value. */
  readonly parameters: ReadonlyMap<string, string>
}
export type Reading<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: string }
export const refused = (problem: string): { readonly ok: false; readonly problem: string } => ({ ok: false, problem })

// the password ends at the first @ after which a host can follow
const FORM =
  /^(?<scheme>[\w+]+):\/\/(?:(?<user>[^:/]*)(?::(?<password>.*?))?@)?(?:\[(?<six>[^/?]+)\]|(?<host>[^/:?@]*))(?::(?<port>[^/?@]*))?(?:\/(?<database>[^?]*))?(?:\?(?<query>.*))?$/su
const PORT_MAX = 65_535

export const unescaped = (text: string): string =>
  text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'))

/** The name of a parameter in a message; anything else may be a part of a password. */
export const shownParameter = (name: string): string => (/^\w{1,40}$/.test(name) ? `parameter ${name}` : 'a parameter')

/** A problem does not repeat the text, because it contains a password. */
export const readDatabaseUrl = (text: string): Reading<DatabaseUrl> => {
  const parts = FORM.exec(text)?.groups
  if (parts === undefined) return refused('it is not a URL')
  const { scheme = '', user = '', password = '', six, host = '', port = '', database = '', query = '' } = parts
  if (!/^\d*$/.test(port) || Number(port) > PORT_MAX) return refused('its port is not a number up to 65535')
  const given = [...new URLSearchParams(query)].filter(([, value]) => value !== '')
  const parameters = new Map(given)
  const twice = given.find(([name, value]) => parameters.get(name) !== value)
  if (twice) return refused(`${shownParameter(twice[0])} is given twice`)
  return {
    ok: true,
    value: {
      scheme: scheme.toLowerCase(),
      user: unescaped(user),
      password: unescaped(password),
      writtenPassword: password,
      host: six ?? host,
      port: port === '' ? null : Number(port),
      database,
      parameters,
    },
  }
}
