/** The text of `accelerando drift`. */
import { counted } from '../doctor/check.ts'
import type { HostDrift } from './apiShapes.ts'

type Entry = HostDrift['entries'][number]

const left = ({ state, reason }: Entry): string =>
  reason === null ? (state ?? 'differs') : `${state ?? 'differs'}: ${reason}`
const why = ({ reserving }: Entry): string => (reserving.length === 0 ? '' : ` (reserved: ${reserving.join(', ')})`)
/** `verb`: says whether the repairs were made or are still to be made. */
const LINES: Readonly<Record<Entry['kind'], (entry: Entry, verb: string) => string>> = {
  hardware: ({ reason }) => reason ?? 'differs',
  provider: (entry, verb) =>
    entry.repairs.length === 0
      ? left(entry)
      : `${verb}: ${entry.repairs.join(', ')}${why(entry)}${entry.state === 'in_sync' ? '' : `; then ${left(entry)}`}`,
  allocation_without_arq: ({ consumer_uuid: consumer }) =>
    `allocated to ${consumer ?? 'nobody known'}, which has no accelerator request on it`,
  server: ({ consumer_uuid: consumer, arqs, reason }) =>
    `bound to instance ${consumer ?? '-'} (${arqs.join(' ')}): ${reason ?? 'differs'}`,
  nova_device: ({ reason }) => reason ?? 'Nova offers it as well',
  arq_without_allocation: ({ consumer_uuid: consumer, arqs }) =>
    `bound to instance ${consumer ?? '-'} (${arqs.join(' ')}), which has no allocation of all that is bound`,
}

const hostLines = ({ host, trouble, entries }: HostDrift, verb: string): readonly string[] => [
  ...(trouble ? [`${host}: ${trouble.state}: ${trouble.reason}`] : []),
  ...entries.map(
    (entry) => `${host}: ${entry.name} (provider ${entry.provider_uuid}) ${LINES[entry.kind](entry, verb)}`,
  ),
]

/** `applied`: the differences were repaired after they had been read. */
export const driftLines = (drift: readonly HostDrift[], applied = false): readonly string[] => {
  const lines = drift.flatMap((one) => hostLines(one, applied ? 'repaired' : 'to do'))
  return lines.length > 0 ? lines : [`${counted(drift.length, 'host')}: nothing differs`]
}
