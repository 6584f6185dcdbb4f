/** What a process says of itself, as rows and as a text for people. Pure. */
import { counted } from '../doctor/check.ts'
import { fieldsOf, tableOf } from '../output.ts'
import type { SystemDocument } from './apiShapes.ts'

export type SystemRow = { readonly part: string; readonly name: string; readonly value: string }

const NEIGHBOURS = { in_use: 'in use', absent: 'not configured', failing: 'failing' } as const
const POWER_LOSS = {
  last_commits: 'the last commits may be lost',
  as_the_server_is_set: 'as the settings of the server allow',
  everything: 'everything is lost',
} as const

const ms = (number: number): string => `${number} ms`
const writesOf = ({ journal_writes: writes }: SystemDocument): Readonly<Record<string, string>> =>
  writes === null
    ? { writes: '0' }
    : {
        writes: String(writes.count),
        since: writes.since,
        p50: ms(writes.p50_ms),
        p90: ms(writes.p90_ms),
        p99: ms(writes.p99_ms),
        longest: ms(writes.max_ms),
      }
const auditOf = ({
  last_audit: audit,
  last_audit_problem: problem,
}: SystemDocument): Readonly<Record<string, string>> =>
  audit === null
    ? { at: problem === null ? 'none is recorded' : `unknown: ${problem}` }
    : {
        at: audit.at,
        result:
          audit.violations === 0
            ? `clean: ${audit.invariants} invariants hold`
            : `${counted(audit.violations, 'violation')}: ${audit.violated.join(', ')}`,
        read: `${audit.rows} journal rows in ${audit.seconds} s`,
        sources: audit.sources.join('; '),
        version: audit.version,
      }
const lagsOf = ({ consumers: { lags, problem, lags_left_out: more } }: SystemDocument) =>
  lags === null
    ? { problem: problem ?? 'not known' }
    : {
        ...Object.fromEntries(
          lags.map(({ topic, group, partition, messages }) => [`${topic}/${partition} ${group}`, String(messages)]),
        ),
        ...(more > 0 && { 'not shown': String(more) }),
      }
const textOf = (value: unknown): string => {
  if (value === null) return '-'
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value)
}
type Option = SystemDocument['configuration'][number]
const setBy = ({ source, from }: Option): string => (from === null ? source : `${source}: ${from}`)

/** Each part with its facts. */
const partsOf = (system: SystemDocument): Readonly<Record<string, Readonly<Record<string, string>>>> => {
  const { process, versions, store, neighbours, configuration } = system
  return {
    process: {
      program: process.program,
      machine: process.machine,
      pid: String(process.pid),
      started: process.started_at,
    },
    versions: {
      accelerando: versions.accelerando,
      schema: versions.schema ?? '-',
      ...(versions.newer.length > 0 && { 'of a newer program': versions.newer.join(' ') }),
      api: `${versions.api.min} to ${versions.api.max}`,
      node: versions.node,
    },
    store: { kind: store.kind, 'at a power loss': POWER_LOSS[store.power_loss] },
    neighbours: Object.fromEntries(
      neighbours.map(({ name, state, detail }) => [
        name,
        `${NEIGHBOURS[state]}${detail === null ? '' : `: ${detail}`}`,
      ]),
    ),
    'journal writes': writesOf(system),
    'consumer lag': lagsOf(system),
    'last audit': auditOf(system),
    configuration: Object.fromEntries(
      configuration.map((option) => [option.key, `${textOf(option.value)} (${setBy(option)})`]),
    ),
  }
}

export const systemRows = (system: SystemDocument): readonly SystemRow[] =>
  Object.entries(partsOf(system)).flatMap(([part, facts]) =>
    Object.entries(facts).map(([name, value]) => ({ part, name, value })),
  )

/** Options with their defaults are many, and say nothing of this installation. */
export const systemLines = (system: SystemDocument): readonly string[] => {
  const { configuration } = system
  const set = configuration.filter(({ source }) => source !== 'default')
  const { configuration: _, ...parts } = partsOf(system)
  return [
    ...Object.entries(parts).flatMap(([part, facts]) => [part, ...fieldsOf(facts).map((line) => `  ${line}`), '']),
    `configuration: ${counted(set.length, 'option')} ${set.length === 1 ? 'is' : 'are'} set, ${configuration.length - set.length} have their defaults`,
    ...tableOf(
      ['', '', ''],
      set.map((option) => [option.key, textOf(option.value), setBy(option)]),
    )
      .slice(1)
      .map((line) => `  ${line}`),
  ]
}
