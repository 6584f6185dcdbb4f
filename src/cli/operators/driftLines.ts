/** The text of `accelerando drift`. */
import { counted } from '../doctor/check.ts'
import type { Healing, HostDrift } from './apiShapes.ts'

type Entry = HostDrift['entries'][number]
type Healed = Healing['healed'][number]

const left = ({ state, reason }: Entry): string =>
  reason === null ? (state ?? 'differs') : `${state ?? 'differs'}: ${reason}`
const amount = ({ reason }: Entry): string => (reason === null ? '' : ` (${reason})`)
const why = ({ reserving }: Entry): string => (reserving.length === 0 ? '' : ` (reserved: ${reserving.join(', ')})`)
/** `verb`: says whether the repairs were made or are still to be made. */
const LINES: Readonly<Record<Entry['kind'], (entry: Entry, verb: string) => string>> = {
  hardware: ({ reason }) => reason ?? 'differs',
  provider: (entry, verb) =>
    entry.repairs.length === 0
      ? left(entry)
      : `${verb}: ${entry.repairs.join(', ')}${why(entry)}${entry.state === 'in_sync' ? '' : `; then ${left(entry)}`}`,
  allocation_without_arq: (entry) =>
    `allocated to ${entry.consumer_uuid ?? 'nobody known'}, which has no accelerator request on it${amount(entry)}`,
  server: ({ consumer_uuid: consumer, arqs, reason }) =>
    `bound to instance ${consumer ?? '-'} (${arqs.join(' ')}): ${reason ?? 'differs'}`,
  nova_device: ({ reason }) => reason ?? 'Nova offers it as well',
  arq_without_allocation: (entry) =>
    `bound to instance ${entry.consumer_uuid ?? '-'} (${entry.arqs.join(' ')}), which has no allocation of all that is bound${amount(entry)}`,
}

/** A control before release 0.4.0 says of no difference whether it is ignored. */
export const isIgnored = ({ ignored }: Pick<Partial<Entry>, 'ignored'>): boolean => Boolean(ignored)
const leftAlone = ({ ignored }: Partial<Entry>): string =>
  ignored ? `; ignored until ${ignored.until} by ${ignored.by}: ${ignored.reason}` : ''

const hostLines = ({ host, trouble, entries }: HostDrift, verb: string): readonly string[] => [
  ...(trouble ? [`${host}: ${trouble.state}: ${trouble.reason}`] : []),
  ...entries.map(
    (entry) =>
      `${host}: ${entry.name} (provider ${entry.provider_uuid}) ${LINES[entry.kind](entry, verb)}${leftAlone(entry)}`,
  ),
]

const nothingDiffers = (hosts: number): readonly string[] => [`${counted(hosts, 'host')}: nothing differs`]
export const driftLines = (drift: readonly HostDrift[]): readonly string[] => {
  const lines = drift.flatMap((one) => hostLines(one, 'to do'))
  return lines.length > 0 ? lines : nothingDiffers(drift.length)
}

/** Whether both tell of the same thing. */
const isSame = (one: Entry) => (other: Entry) =>
  one.kind === other.kind && one.provider_uuid === other.provider_uuid && one.consumer_uuid === other.consumer_uuid

/** The differences of a host, with what became of each. */
export const healedEntries = (
  { entries }: Pick<HostDrift, 'entries'>,
  healed: Healed | undefined,
): readonly (Entry & { readonly outcome: 'repaired' | 'left' | 'busy' })[] => {
  const left = healed?.left?.entries ?? []
  const gone = entries.filter((one) => !left.some(isSame(one)))
  return [
    ...gone.map((one) => ({ ...one, outcome: 'repaired' as const })),
    ...left.map((one) => ({ ...one, outcome: healed?.outcome === 'busy' ? ('busy' as const) : ('left' as const) })),
  ]
}

/** What a repair has done, and what it has left. */
export const healedLines = ({ drift, healed }: Pick<Healing, 'drift' | 'healed'>): readonly string[] => {
  const lines = drift.flatMap((before) => {
    const one = healed.find(({ host }) => host === before.host)
    // what is gone without a repair of this command needs no line
    const gone = healedEntries(before, one).filter((entry) => entry.outcome === 'repaired' && entry.repairs.length > 0)
    const busy =
      one?.outcome === 'busy' ? [`${before.host}: another control works on it, so nothing was done; try again`] : []
    const repaired = hostLines({ ...before, trouble: null, entries: gone }, 'repaired')
    return [...busy, ...repaired, ...(one?.left ? hostLines(one.left, 'not repaired') : [])]
  })
  return lines.length > 0 ? lines : nothingDiffers(drift.length)
}
