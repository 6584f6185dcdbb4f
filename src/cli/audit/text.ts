/** Formats the result of an audit as text. Pure. */
import type { Proof, Violation } from '../../audit/evidence.ts'
import type { Unjudged } from '../../audit/needs.ts'
import type { Figures } from './figures.ts'
import { visibleJson } from '../../vocabulary/text.ts'

export type Verdict = {
  readonly sources: readonly string[]
  readonly figures: Figures
  /** How many were judged. */
  readonly invariants: number
  readonly unjudged: readonly Unjudged[]
  readonly violations: readonly Violation[]
  readonly seconds: number
  readonly memoryMb: number
}

const counts = (of: Readonly<Record<string, number>>): string =>
  Object.entries(of)
    .toSorted(([a], [b]) => a.localeCompare(b, 'en'))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ') || 'none'

const LINE: { readonly [Of in Proof['of']]: (proof: Extract<Proof, { readonly of: Of }>) => string } = {
  journal: ({ key, version, position, at, events }) =>
    `journal ${key} ${version}${position === undefined ? '' : ` @${position}`} ${new Date(at).toISOString()} ${events.join(' ')}`,
  topic: ({ topic, partition, offset, key, id, position }) =>
    `topic ${topic}/${partition}@${offset} key ${key} id ${id ?? '-'} position ${position ?? '-'}`,
  view: ({ view, key }) => `view ${view} ${key}`,
  host: ({ host, step }) => `host ${host}${step === null ? '' : ` ${visibleJson(step)}`}`,
  client: ({ asked }) => `client ${visibleJson(asked)}`,
  placement: ({ uuid, seen }) => `placement ${uuid} ${visibleJson(seen)}`,
  nova: ({ heard }) => `nova ${visibleJson(heard)}`,
}
const lineOf = (proof: Proof): string => (LINE[proof.of] as (proof: Proof) => string)(proof)

const adoptedBy = (moment: string | null): string =>
  moment === null ? 'not adopted: writing is stopped' : `declared lost by the adoption of ${moment}`

const figureLines = ({ figures: f }: Verdict): readonly (readonly [string, string])[] => [
  ['journal', `${f.rows} rows, ${f.from ?? '-'} to ${f.to ?? '-'}, last position ${f.lastPosition ?? '-'}`],
  ['entities', counts(f.entities)],
  ['ARQs', counts(f.arqs)],
  ['binds', counts(f.binds)],
  ...(f.bindMs
    ? [['bind time', `p50 ${f.bindMs.p50} ms, p99 ${f.bindMs.p99} ms, longest ${f.bindMs.max} ms`] as const]
    : []),
  ...Object.entries(f.topics ?? {}).map(
    ([topic, { messages, repeats }]) => [topic, `${messages} messages, ${repeats} repeats`] as const,
  ),
  ...f.lost.map(
    ({ rows, entities, adopted }) => ['lost', `${rows} rows of ${entities} entities, ${adoptedBy(adopted)}`] as const,
  ),
  ...(f.hosts === null ? [] : [['hosts', `${f.hosts} ledgers`] as const]),
  ...(f.clients === null
    ? []
    : [
        [
          'clients',
          `${f.clients.requests} requests, ownership of ${f.clients.handles} handles judged, ${f.clients.undecided} undecided`,
        ] as const,
      ]),
]

export const auditLines = (verdict: Verdict): readonly string[] => {
  const { sources, invariants, unjudged, violations, seconds, memoryMb } = verdict
  const rows = [['read', sources.join('; ')] as const, ...figureLines(verdict)]
  const width = Math.max(...rows.map(([name]) => name.length))
  const spent = `${seconds.toFixed(1)} s, ${memoryMb.toFixed(0)} MB`
  return [
    ...rows.map(([name, text]) => `${name.padEnd(width)}  ${text}`),
    ...violations.flatMap(({ invariant, meaning, found, proof }) => [
      '',
      `VIOLATED ${invariant}: ${meaning}`,
      `  ${found}`,
      ...proof.map((one) => `    ${lineOf(one)}`),
    ]),
    '',
    violations.length === 0
      ? `clean: ${invariants} invariants hold (${spent})`
      : `${violations.length} violations of ${new Set(violations.map(({ invariant }) => invariant)).size} invariants (${spent})`,
    ...unjudged.map((one) => `not judged without ${one.lacks}: ${one.invariants.join(', ')}`),
  ]
}
