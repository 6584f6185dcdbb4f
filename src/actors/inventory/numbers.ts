/**
 * What exists once in the cloud, given within the append that uses it: the integer ids that REST shows for devices and
 * deployables, which one counter gives in blocks, and the keys of hosts, of which each has an entity that names its
 * host. All are of one kind, because programs of release 0.3.0 that run beside this one audit no kind that they do not
 * know.
 */
import type { EntityKey, HostName } from '../../vocabulary/identifiers.ts'
import { type Decider, accept } from '../runtime/decider.ts'

type Numbers = {
  readonly last: number
  /** The host that a key was given to last. */
  readonly host?: HostName
}
type Command = { readonly type: 'Take'; readonly count: number } | { readonly type: 'GiveKey'; readonly host: HostName }
type Taken =
  | { readonly type: 'NumbersTaken'; readonly count: number }
  | { readonly type: 'KeyGiven'; readonly host: HostName }

export const numbers: Decider<Numbers, Command, Taken, 'numbers'> = {
  kind: 'numbers',
  initial: { last: 0 },
  decide: (_numbers, command) => {
    // recorded again for the same host: an append that relies on the holder must be fenced by one that gives it the key
    if (command.type === 'GiveKey') return accept({ type: 'KeyGiven', host: command.host })
    return command.count === 0 ? accept() : accept({ type: 'NumbersTaken', count: command.count })
  },
  evolve: (held, event) => {
    if (event.type === 'NumbersTaken') return { ...held, last: held.last + event.count }
    return event.type === 'KeyGiven' ? { ...held, host: event.host } : held
  },
  rows: () => [],
}
export const NUMBERS_KEY: EntityKey<'numbers'> = 'numbers/inventory'
export const keyHolderKey = (publicKey: string): EntityKey<'numbers'> => `numbers/host-key/${publicKey}`
