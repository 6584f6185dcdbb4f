/** What an invariant needs besides the journal: records of observers, or that all is quiet. */
import type { Records } from './evidence.ts'

type Source = { readonly text: string; readonly isThere: (evidence: Records) => boolean }
/** What is hardest to have comes last. */
const SOURCES = {
  settled: { text: 'the end of all faults (--settled)', isThere: ({ quiet }) => quiet === true },
  age: {
    text: 'the age of unbound requests (arq.unbound_ttl)',
    isThere: ({ unboundTtlMs = 0 }) => unboundTtlMs > 0,
  },
  topics: { text: 'the topics (--kafka-brokers, --topics)', isThere: ({ topics }) => topics !== undefined },
  clients: { text: 'the records of clients (--client)', isThere: ({ clients }) => clients !== undefined },
  ledgers: { text: 'the ledgers of hosts (--host-data)', isThere: ({ hosts }) => hosts !== undefined },
  hardware: {
    text: 'a watcher of drivers and hardware on hosts',
    isThere: ({ hosts = [] }) => hosts.some(({ prepared, loaded }) => prepared !== undefined || loaded !== undefined),
  },
  drivers: {
    text: 'a watcher of drivers and hardware on hosts',
    isThere: ({ hosts = [] }) => hosts.some(({ steps }) => steps.some(({ did }) => did === 'prepare')),
  },
  cleanings: {
    text: 'a watcher of drivers and hardware on hosts',
    isThere: ({ hosts = [] }) => hosts.some(({ cleaned }) => cleaned !== undefined),
  },
  placement: { text: 'a watcher of Placement', isThere: ({ placement }) => placement !== undefined },
} as const satisfies Readonly<Record<string, Source>>
export type Need = keyof typeof SOURCES
const NEEDS = Object.keys(SOURCES) as readonly Need[]

/** Invariants that were not judged, and what their judgement lacks most. */
export type Unjudged = { readonly lacks: string; readonly invariants: readonly string[] }

type Needing = { readonly name: string; readonly needs?: readonly Need[] }
const lacking = (evidence: Records, { needs = [] }: Needing): readonly Need[] =>
  NEEDS.filter((need) => needs.includes(need) && !SOURCES[need].isThere(evidence))

export const isJudged = (evidence: Records, invariant: Needing): boolean => lacking(evidence, invariant).length === 0

export const unjudged = (invariants: readonly Needing[], evidence: Records): readonly Unjudged[] => {
  const left = invariants.flatMap((one) => {
    const need = lacking(evidence, one).at(-1)
    return need === undefined ? [] : [{ name: one.name, lacks: SOURCES[need].text }]
  })
  return [...Map.groupBy(left, ({ lacks }) => lacks)].map(([lacks, all]) => ({
    lacks,
    invariants: all.map(({ name }) => name),
  }))
}
