/** The text of `accelerando drift`. */
import type { HostDrift } from './apiShapes.ts'

type Entry = HostDrift['entries'][number]

const because = ({ reason }: Entry): string => (reason === null ? '' : `: ${reason}`)
const LINES: Readonly<Record<Entry['kind'], (entry: Entry) => string>> = {
  hardware: ({ reason }) => reason ?? 'differs',
  provider: (entry) =>
    `${entry.state ?? 'differs'}${because(entry)}${entry.repairs.length > 0 ? `; to do: ${entry.repairs.join(', ')}` : ''}`,
  allocation_without_arq: ({ consumer_uuid: consumer }) =>
    `allocated to ${consumer ?? 'nobody known'}, which has no accelerator request on it`,
  arq_without_allocation: ({ consumer_uuid: consumer, arqs }) =>
    `bound to instance ${consumer ?? '-'} (${arqs.join(' ')}), which has no allocation of it`,
}

const hostLines = ({ host, trouble, entries }: HostDrift): readonly string[] => [
  ...(trouble ? [`${host}: ${trouble.state}: ${trouble.reason}`] : []),
  ...entries.map((entry) => `${host}: ${entry.name} (provider ${entry.provider_uuid}) ${LINES[entry.kind](entry)}`),
]

export const driftLines = (drift: readonly HostDrift[]): readonly string[] => {
  const lines = drift.flatMap(hostLines)
  return lines.length > 0 ? lines : [`${drift.length} hosts: nothing differs`]
}
