/**
 * A ledger as it would be if somebody had put an old copy in its place, or had given the host orders of his own. Pure.
 */
import { type Entry, mayBePrepared } from '../../src/host/entry.ts'
import type { Alteration } from './machine.ts'
import type { Random } from './random.ts'

export type Altered = {
  readonly text: string
  /** The slot that was changed or added. */
  readonly slot: string
  /** The slot whose hardware it has. */
  readonly of: string
}

const entriesIn = (text: string): readonly Entry[] =>
  text
    .split('\n')
    .slice(1, -1)
    .map((line) => JSON.parse(line) as Entry)

export const deployablesIn = (text: string): readonly string[] => [
  ...new Set(entriesIn(text).map(({ deployable }) => deployable)),
]

/**
 * Null: there is no such slot. The numbers of orders stay, because the host must not carry out older ones in any case.
 */
export const alteredLedger = (text: string, how: Alteration, random: Random, stranger: string): Altered | null => {
  const [head = ''] = text.split('\n')
  const entries = new Map(entriesIn(text).map((entry) => [entry.slot, entry]))
  const fit = [...entries.values()].filter(
    (entry) =>
      entry.handle !== '' &&
      entry.state === 'done' &&
      (how === 'stranger' || (entry.type === 'PrepareSlot' && mayBePrepared(entry))),
  )
  if (fit.length === 0) return null
  const of = random.pick(fit)
  const { arq: _, ...rest } = of
  const changed: Entry =
    how === 'lost'
      ? { ...of, prepared: false }
      : { ...rest, slot: stranger, type: 'PrepareSlot', result: { status: 'done' }, sent: true, prepared: true }
  const kept = [...entries.values(), changed].filter(
    (entry, _at, all) => all.findLast((one) => one.slot === entry.slot) === entry,
  )
  return {
    text: `${[head, ...kept.map((entry) => JSON.stringify(entry))].join('\n')}\n`,
    slot: changed.slot,
    of: of.slot,
  }
}
