/**
 * Collects the values of file, environment and command line, validates each of them, and keeps the one with the highest
 * precedence for each option.
 */
import { parse } from 'smol-toml'
import * as v from 'valibot'
import { messageOf } from '../../vocabulary/errorText.ts'
import { isRecord, type UnknownRecord } from '../../vocabulary/record.ts'
import { ENV_PREFIX, envName, flagField, flagName, isKey, KEYS, rowOf } from './table.ts'
import type { Key } from './table.ts'
import type { Sections } from './sections.ts'
import { NO_OPTIONS } from './variables.ts'

export type Env = Readonly<Record<string, string | undefined>>
export type ConfigSources = {
  /** Values by the names under which the command-line parser returns them. Unknown names are ignored. */
  readonly flags?: Readonly<Record<string, unknown>>
  readonly env: Env
  /** Throws when the file cannot be read. */
  readonly readFile: (path: string) => string
}
/** A value in the form a TOML file would hold, and the place where it was found. */
type Found = { readonly key: Key; readonly value: unknown; readonly origin: string }
export type Gathered = {
  readonly sections: Sections
  readonly problems: readonly string[]
  /** The place where an option was set. Undefined: the default applies. */
  readonly originOf: (key: Key) => string | undefined
  /** The value in force as an operator writes it in a file; null: the option has none. */
  readonly writtenOf: (key: Key) => unknown
  /** Options with invalid values. Rules that depend on them are not checked. */
  readonly broken: ReadonlySet<Key>
}

const firstLine = (error: unknown): string => messageOf(error).split('\n')[0]!

/** A value in the form in which messages show it. */
const shown = (value: unknown): string => {
  const text = JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 77)}...` : text
}
export const problem = (key: Key, rule: string, origin: string, value?: unknown): string => {
  const is = value === undefined || rowOf(key).secret ? '' : `is ${shown(value)}, `
  return `${key}: ${rule} (${is}from ${origin})`
}

const isTable = (value: unknown): value is UnknownRecord => isRecord(value) && !(value instanceof Date)

const inFile = (
  table: Readonly<Record<string, unknown>>,
  origin: string,
  problems: string[],
  prefix = '',
): readonly Found[] =>
  Object.entries(table).flatMap(([name, value]): readonly Found[] => {
    const key = `${prefix}${name}`
    if (isKey(key) && rowOf(key).only === undefined) return [{ key, value, origin }]
    const section = KEYS.some((each) => each.startsWith(`${key}.`))
    if (section && isTable(value)) return inFile(value, origin, problems, `${key}.`)
    const rule = isKey(key) ? `may be set by ${rowOf(key).only} only` : section ? 'must be a table' : 'unknown option'
    problems.push(`${key}: ${rule} (from ${origin})`)
    return []
  })

const ofFile = (path: string, { readFile }: ConfigSources, problems: string[]): readonly Found[] => {
  try {
    return inFile(parse(readFile(path)), path, problems)
  } catch (error) {
    const place = error instanceof Error && 'line' in error ? `line ${String(error.line)}: ` : ''
    problems.push(`config: cannot be read: ${place}${firstLine(error)} (from ${path})`)
    return []
  }
}

/** An empty environment variable counts as not set. */
const ofEnv = (env: Env, problems: string[]): readonly Found[] => {
  const known = new Map(KEYS.map((key) => [envName(key), key]))
  return Object.entries(env).flatMap(([name, text]) => {
    if (!name.startsWith(ENV_PREFIX) || text === undefined || text === '' || NO_OPTIONS.has(name)) return []
    const key = known.get(name)
    if (key === undefined) problems.push(`${name}: unknown option (from the environment)`)
    return key === undefined ? [] : [{ key, value: rowOf(key).fromText(text), origin: name }]
  })
}

const ofFlags = (flags: Readonly<Record<string, unknown>>): readonly Found[] =>
  KEYS.flatMap((key) => {
    const given = flags[flagField(key)]
    if (given === undefined) return []
    return [{ key, value: typeof given === 'string' ? rowOf(key).fromText(given) : given, origin: flagName(key) }]
  })

const standardOf = (key: Key): unknown => {
  const { schema, standard, toValue } = rowOf(key)
  return standard === null ? null : toValue(v.parse(schema, standard))
}

const sectionsOf = (values: ReadonlyMap<Key, unknown>): Sections => {
  const sections: Record<string, Record<string, unknown>> = {}
  for (const [key, value] of values) {
    const [section, field] = rowOf(key).to.split('.') as [string, string]
    sections[section] = { ...sections[section], [field]: value }
  }
  // Each field has a row (see UNFILLED), and each value was produced by the kind of that row, so the cast is safe.
  return sections as unknown as Sections
}

/**
 * An invalid value is reported even when a value of higher precedence overrides it, because it would take effect when
 * that one is removed.
 */
export const gather = (sources: ConfigSources): Gathered => {
  const problems: string[] = []
  const beyondFile = [...ofEnv(sources.env, problems), ...ofFlags(sources.flags ?? {})]
  const path = beyondFile.findLast(({ key }) => key === 'config')?.value
  const inOrder = [...(typeof path === 'string' ? ofFile(path, sources, problems) : []), ...beyondFile]
  const origins = new Map<Key, string>()
  const broken = new Set<Key>()
  const values = new Map(KEYS.map((key) => [key, standardOf(key)]))
  const written = new Map<Key, unknown>()
  for (const { key, value, origin } of inOrder) {
    const { schema, toValue } = rowOf(key)
    const judged = v.safeParse(schema, value)
    origins.set(key, origin)
    if (judged.success) {
      values.set(key, toValue(judged.output))
      written.set(key, value)
    } else {
      broken.add(key)
      problems.push(problem(key, judged.issues[0].message, origin, value))
    }
  }
  return {
    sections: sectionsOf(values),
    problems,
    originOf: (key) => origins.get(key),
    writtenOf: (key) => written.get(key) ?? rowOf(key).standard,
    broken,
  }
}
