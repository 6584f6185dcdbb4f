/**
 * The integer ids that REST shows for devices and deployables. One counter for the cloud gives them in blocks, within
 * the append that uses them.
 */
import type { EntityKey } from '../../identifiers.ts'
import { type Decider, accept } from '../runtime/decider.ts'

type Numbers = { readonly last: number }
type Command = { readonly type: 'Take'; readonly count: number }
type Taken = { readonly type: 'NumbersTaken'; readonly count: number }

export const numbers: Decider<Numbers, Command, Taken, 'numbers'> = {
  kind: 'numbers',
  initial: { last: 0 },
  decide: (_numbers, { count }) => (count === 0 ? accept() : accept({ type: 'NumbersTaken', count })),
  evolve: (held, { type, count }) => (type === 'NumbersTaken' ? { last: held.last + count } : held),
  rows: () => [],
}
export const NUMBERS_KEY: EntityKey<'numbers'> = 'numbers/inventory'
