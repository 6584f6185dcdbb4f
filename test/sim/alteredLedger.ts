/** A ledger as it would be if somebody had put an old copy in its place, or had given the host orders of his own. Pure. */
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

/** Null: there is no such slot. The numbers of orders stay, because the host must not carry out older ones in any case. */
export const alteredLedger = (text: string, how: Alteration, random: Random, stranger: string): Altered | null => {
  const [head = '', ...lines] = text.split('\n').slice(0, -1)
  const entries = new Map(lines.map((line) => JSON.parse(line) as Entry).map((entry) => [entry.slot, entry]))
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
