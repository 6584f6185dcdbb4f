/** The kinds of option values: how each is parsed from text, and the rule it must satisfy. */
import * as v from 'valibot'
import { DAY_MS } from '../../vocabulary/clock.ts'
import { readPostgresUrl } from '../../vocabulary/postgresUrl.ts'
import { VGPU_TYPE } from '../../drivers/nvidia/vgpuOptions.ts'

/**
 * `Value` is the type the program uses, `Written` the type an operator writes. For example, seconds are converted to
 * milliseconds.
 */
export type Kind<Value, Written = Value> = {
  /** Validates a value of a TOML file. Each of its messages completes the phrase "must ...". */
  readonly schema: v.GenericSchema<unknown, Written>
  readonly toValue: (written: Written) => Value
  /** Converts a text of the environment or the command line. A text that cannot be converted is kept as it is. */
  readonly fromText: (text: string) => unknown
  /** Tells the operator what to write. */
  readonly form: string
}
export type Address = { readonly host: string; readonly port: number }

const asIs = (text: string): unknown => text
const same = <Value>(written: Value): Value => written
const numeric = (text: string): unknown => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text)
const listed = (text: string): unknown =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
const decoded = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

/**
 * A text for which `holds` is true. Control characters are always refused, because they have no place in a path, a name
 * or a header.
 */
const texts = (form: string, rule: string, holds: (text: string) => boolean): Kind<string> => ({
  schema: v.pipe(
    v.string(rule),
    v.check((given) => given !== '' && !/\p{Cc}/u.test(given) && holds(given), rule),
  ),
  toValue: same,
  fromText: asIs,
  form,
})

export const folder = texts('folder', 'must be the path of a folder', () => true)
export const file = texts('file', 'must be the path of a file', () => true)
export const word = texts('text', 'must be text in one line', () => true)

const isHostName = (given: string): boolean => /^[A-Za-z0-9][A-Za-z0-9.-]{0,99}$/.test(given)
export const hostName = texts(
  'name',
  'must be at most 100 of A-Z, a-z, 0-9, dot and hyphen, and begin with a letter or digit',
  isHostName,
)

const WEB_PROTOCOLS: readonly string[] = ['http:', 'https:']
const isWebAddress = (given: string): boolean => {
  const url = URL.parse(given)
  if (url === null || !WEB_PROTOCOLS.includes(url.protocol)) return false
  return url.username === '' && url.password === '' && url.search === '' && url.hash === ''
}
export const webAddress = texts('URL', 'must be an http or https URL without user, query and fragment', isWebAddress)

const postgresProblem = (given: string): string | null => {
  const reading = readPostgresUrl(given)
  return reading.ok ? null : reading.problem
}
const POSTGRES_RULE = 'must be a URL that begins with postgresql://'
export const postgresAddress: Kind<string> = {
  ...texts('URL', POSTGRES_RULE, () => true),
  schema: v.pipe(
    v.string(POSTGRES_RULE),
    v.check(
      (given) => postgresProblem(given) === null,
      ({ input }) => `${POSTGRES_RULE}: ${postgresProblem(input)}`,
    ),
  ),
}

const LISTEN_RULE =
  'must be HOST:PORT, such as 127.0.0.1:6666 or [::1]:6666, with a port from 0 (any free one) to 65535'
const LISTEN = /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:[\]/]+)):(\d{1,5})$/
export const listenAddress: Kind<Address> = {
  schema: v.pipe(
    v.string(LISTEN_RULE),
    v.check((given) => Number(LISTEN.exec(given)?.[3]) <= 65_535, LISTEN_RULE),
    v.transform((given) => {
      const [, six, name, port] = LISTEN.exec(given)!
      return { host: six ?? name!, port: Number(port) }
    }),
  ),
  toValue: same,
  fromText: asIs,
  form: 'HOST:PORT',
}

const BROKERS_RULE = 'must be a list of HOST:PORT with a port from 1 to 65535; as text, with commas between them'
const isBroker = (given: string): boolean => {
  const port = Number(LISTEN.exec(given)?.[3])
  return port >= 1 && port <= 65_535
}
export const brokers: Kind<readonly string[]> = {
  schema: v.pipe(
    v.array(v.pipe(v.string(BROKERS_RULE), v.check(isBroker, BROKERS_RULE)), BROKERS_RULE),
    v.minLength(1, BROKERS_RULE),
    v.maxLength(100, BROKERS_RULE),
  ),
  toValue: same,
  fromText: listed,
  form: 'list of HOST:PORT',
}

const PREFIX_RULE = 'must be at most 100 of A-Z, a-z, 0-9, dot, hyphen and underscore'
/** The characters that Kafka allows in topic names. The text may be empty. */
export const topicPrefix: Kind<string> = {
  schema: v.pipe(v.string(PREFIX_RULE), v.regex(/^[A-Za-z0-9._-]{0,100}$/, PREFIX_RULE)),
  toValue: same,
  fromText: asIs,
  form: 'text',
}

const between = (min: number, max: number) => {
  const rule = `must be a number from ${min} to ${max}`
  return v.pipe(v.number(rule), v.minValue(min, rule), v.maxValue(max, rule))
}

/** Milliseconds in the program. The operator writes the number in the unit of the option; fractions are allowed. */
const duration = (form: string, unitMs: number, min: number, max: number): Kind<number> => ({
  schema: between(min, max),
  toValue: (written) => Math.round(written * unitMs),
  fromText: numeric,
  form,
})
/** A default in milliseconds, as an option in seconds shows it. */
export const inSeconds = (ms: number): number => ms / 1000
export const seconds = (min: number, max: number): Kind<number> => duration('seconds', 1000, min, max)
export const days = (min: number, max: number): Kind<number> => duration('days', DAY_MS, min, max)

export const count = (min: number, max: number, form = 'count'): Kind<number> => {
  const rule = `must be a whole number from ${min} to ${max}`
  return {
    schema: v.pipe(v.number(rule), v.integer(rule), v.minValue(min, rule), v.maxValue(max, rule)),
    toValue: same,
    fromText: numeric,
    form,
  }
}

export const toggle: Kind<boolean> = {
  schema: v.boolean('must be true or false'),
  toValue: same,
  fromText: (text) => BOOLEANS.get(text.toLowerCase()) ?? text,
  form: 'true or false',
}

export const choice = <const Name extends string>(names: readonly Name[]): Kind<Name> => ({
  schema: v.picklist(names, `must be one of ${names.join(', ')}`),
  toValue: same,
  fromText: asIs,
  form: names.join(', '),
})

const NAMES_RULE = 'must be a list of names; as text, with commas between them'
const NAMES = v.array(v.pipe(v.string(NAMES_RULE), v.regex(/^[\w.:-]{1,255}$/, NAMES_RULE)), NAMES_RULE)
export const names: Kind<readonly string[]> = { schema: NAMES, toValue: same, fromText: listed, form: 'list of names' }
export const fewNames = (max: number): Kind<readonly string[]> => ({
  ...names,
  schema: v.pipe(NAMES, v.maxLength(max, `must be a list of at most ${max} names`)),
})

const HOST_NAMES_RULE =
  'must be a list of at most 100 names, each at most 100 of A-Z, a-z, 0-9, dot and hyphen; as text, with commas between them'
export const hostNames: Kind<readonly string[]> = {
  schema: v.pipe(
    v.array(v.pipe(v.string(HOST_NAMES_RULE), v.check(isHostName, HOST_NAMES_RULE)), HOST_NAMES_RULE),
    v.maxLength(100, HOST_NAMES_RULE),
  ),
  toValue: same,
  fromText: listed,
  form: 'list of names',
}

const MAPPINGS_RULE = 'must be a list of texts like name:interface|interface; as text, with commas between them'
/** A list of mappings. The parser of the mappings validates each item. */
export const mappings: Kind<readonly string[]> = {
  schema: v.pipe(
    v.array(v.pipe(v.string(MAPPINGS_RULE), v.maxLength(1000, MAPPINGS_RULE)), MAPPINGS_RULE),
    v.maxLength(1000, MAPPINGS_RULE),
  ),
  toValue: same,
  fromText: listed,
  form: 'list of mappings',
}

const LISTS_RULE = 'must be a table of lists of texts; as text, a JSON object'
export const namedLists: Kind<Readonly<Record<string, readonly string[]>>> = {
  schema: v.record(
    v.string(LISTS_RULE),
    v.pipe(
      v.array(v.pipe(v.string(LISTS_RULE), v.maxLength(255, LISTS_RULE)), LISTS_RULE),
      v.maxLength(1000, LISTS_RULE),
    ),
    LISTS_RULE,
  ),
  toValue: same,
  fromText: decoded,
  form: 'table of lists',
}

const COUNTS_RULE =
  'must be a table of PCI addresses like 0000:3d:00.0 and numbers from 1 to 65535; as text, a JSON object'
export const functionCounts: Kind<Readonly<Record<string, number>>> = {
  schema: v.record(
    v.pipe(v.string(COUNTS_RULE), v.regex(/^[\da-f]{4,8}:[\da-f]{2}:[01][\da-f]\.[0-7]$/, COUNTS_RULE)),
    v.pipe(v.number(COUNTS_RULE), v.integer(COUNTS_RULE), v.minValue(1, COUNTS_RULE), v.maxValue(65_535, COUNTS_RULE)),
    COUNTS_RULE,
  ),
  toValue: same,
  fromText: decoded,
  form: 'table of numbers',
}

const TYPES_RULE = 'must be a table of types of vGPU and numbers from 1 to 4096; as text, a JSON object'
export const typeCounts: Kind<Readonly<Record<string, number>>> = {
  schema: v.record(
    v.pipe(v.string(TYPES_RULE), v.regex(VGPU_TYPE, TYPES_RULE)),
    v.pipe(v.number(TYPES_RULE), v.integer(TYPES_RULE), v.minValue(1, TYPES_RULE), v.maxValue(4096, TYPES_RULE)),
    TYPES_RULE,
  ),
  toValue: same,
  fromText: decoded,
  form: 'table of numbers',
}

const HEADERS_RULE = 'must be a table of header names and texts; as text, a JSON object'
export const headers: Kind<Readonly<Record<string, string>>> = {
  schema: v.record(
    v.pipe(v.string(HEADERS_RULE), v.regex(/^[!#$%&'*+.^_`|~\w-]+$/, HEADERS_RULE)),
    v.pipe(v.string(HEADERS_RULE), v.regex(/^[\t\x20-\x7e]*$/, HEADERS_RULE)),
    HEADERS_RULE,
  ),
  toValue: same,
  fromText: decoded,
  form: 'table of texts',
}

/** The parser of the whitelist validates the value and names each wrong entry and its rule. */
export const whitelist: Kind<unknown> = {
  schema: v.unknown(),
  toValue: same,
  fromText: asIs,
  form: 'list of tables; as text, JSON',
}
