/**
 * Records decisions about the keys of hosts, so that no two hosts have one key.
 *
 * ONE-KEY-1 a key is accepted for a host only if no other host has it. A host that was removed or has another key by
 *    now does not count; a removed host whose key another one has by now is not restored;
 * ONE-KEY-2 each accepted key is given to its host in the same append, so that of two hosts that show it at the same
 *    time, on two controls, one is refused;
 * ONE-KEY-3 releases up to 0.3.0 accept a key without giving it. The keys of all hosts are read when one is to be
 *    accepted, once in `READ_EVERY_MS`, so a key that such a release accepts beside this one may be missed that long;
 * ONE-KEY-4 hosts that share a key already are believed as before, and named in the log.
 */
import type { EntityKey, HostName } from '../../vocabulary/identifiers.ts'
import { type Outcome, allOf, done } from '../../vocabulary/fault.ts'
import { type Host, type HostCommand, type HostEvent, host, hostKey } from '../../actors/host/decider.ts'
import { keyHolderKey, numbers } from '../../actors/inventory/numbers.ts'
import { type Draft, MOVED } from '../../actors/runtime/draft.ts'
import { type Transaction, transact } from '../../actors/runtime/transact.ts'
import type { Kernel } from '../kernel/kernel.ts'

const READ_EVERY_MS = 60_000
const READ_AT_ONCE = 200

export type KeyCommand = Extract<HostCommand, { readonly type: 'PresentKey' | 'ApproveKey' | 'ReplaceKey' | 'Restore' }>

const hasKey = ({ keys, liveness }: Host, key: string): boolean => keys?.key === key && liveness !== 'removed'

/** The key that the host has or shows from this event on; null: the event concerns no key. */
const keyFrom = ({ liveness, keys }: Host, event: HostEvent | undefined): string | null => {
  if (event?.type !== 'LivenessSet') return null
  if (event.care === 'restored') return liveness === 'removed' ? (keys?.key ?? null) : null
  return event.key?.key ?? null
}
/** The one that such an event will most likely name. */
const keyMeant = ({ liveness, keys }: Host, command: KeyCommand): string | null => {
  if (command.type === 'PresentKey') return command.key
  if (command.type === 'Restore') return liveness === 'removed' ? (keys?.key ?? null) : null
  return command.named ?? (command.type === 'ApproveKey' ? (keys?.offered?.key ?? null) : null)
}
const isOffer = (event: HostEvent | undefined): boolean => event?.type === 'LivenessSet' && event.key?.did === 'offered'

/** By key, the hosts that have it as far as is known (ONE-KEY-3). */
const createKnownKeys = ({ readers, region, clock, log }: Kernel) => {
  const known = new Map<HostName, { readonly changedAt: number | null; readonly key: string | undefined }>()
  let byKey: ReadonlyMap<string | undefined, readonly HostName[]> = new Map()
  let readAt = -Infinity
  const tellShared = (): void => {
    for (const [key, hosts] of byKey)
      if (key !== undefined && hosts.length > 1) log.warn({ key, hosts }, 'host.keyShared')
  }
  const read = async (): Promise<Outcome<null>> => {
    const listed = await readers.list('hosts', {}, {})
    if (!listed.ok) return listed
    const changed = listed.value.items.filter((row) => known.get(row.name)?.changedAt !== row.updated_at)
    for (let from = 0; from < changed.length; from += READ_AT_ONCE) {
      const some = changed.slice(from, from + READ_AT_ONCE)
      const held = await allOf(some.map(({ name }) => region.readCurrent(host, hostKey(name))))
      if (!held.ok) return held
      some.forEach(({ name, updated_at: changedAt }, at) => {
        const { state } = held.value[at]!
        known.set(name, { changedAt, key: state.liveness === 'removed' ? undefined : state.keys?.key })
      })
    }
    const names = Map.groupBy(known.keys(), (name) => known.get(name)!.key)
    const isFirst = byKey.size === 0
    byKey = names
    if (isFirst) tellShared()
    return done(null)
  }
  let reading: Promise<Outcome<null>> | null = null
  return async (key: string): Promise<Outcome<readonly HostName[]>> => {
    if (clock.monotonic() - readAt >= READ_EVERY_MS) {
      reading ??= read().finally(() => (reading = null))
      const was = await reading
      if (!was.ok) return was
      readAt = clock.monotonic()
    }
    return done(byKey.get(key) ?? [])
  }
}

/** `event` absent: there was nothing to record. */
export type KeyDecided = { readonly event: HostEvent | undefined; readonly state: Host }
export type HostKeys = {
  /** Null: this command was carried out before. Fault `conflict` for a key that another host has. */
  readonly record: (
    name: HostName,
    command: (at: number) => KeyCommand,
    origin: Pick<Transaction<never, never>, 'cause' | 'commandId'>,
  ) => Promise<Outcome<KeyDecided | null>>
}

type Guess = {
  readonly keys: readonly EntityKey[]
  readonly wanted: string | null
  /** Whom the key was given to last. */
  readonly given?: HostName | undefined
  /** The other host that has it. */
  readonly other?: HostName | undefined
}
const sharedRule = (key: string, other: HostName, event: HostEvent | undefined): string => {
  const rule = `key ${key} is that of host ${other}: each host needs a key of its own`
  return event?.type === 'LivenessSet' && event.care === 'restored'
    ? `${rule}; before the host is restored, accelerando host rekey`
    : `${rule}; remove key.pem in the data folder of the new host and restart it`
}
const plan = (draft: Draft, name: HostName, command: KeyCommand, { wanted, given, other }: Guess) => {
  const before = draft.state(host, hostKey(name))
  const [event] = draft.decide(host, hostKey(name), command)
  const key = keyFrom(before, event)
  if (key !== null) {
    if (key !== wanted || draft.state(numbers, keyHolderKey(key)).host !== given) return MOVED
    if (other !== undefined && !hasKey(draft.state(host, hostKey(other)), key)) return MOVED
    if (other !== undefined) draft.refuse({ kind: 'conflict', reason: sharedRule(key, other, event) })
    if (!isOffer(event)) draft.decide(numbers, keyHolderKey(key), { type: 'GiveKey', host: name })
  }
  return { event, state: draft.state(host, hostKey(name)) }
}

export const createHostKeys = (kernel: Kernel): HostKeys => {
  const { region, clock } = kernel
  const knownWith = createKnownKeys(kernel)
  const otherWith = async (name: HostName, wanted: string): Promise<Outcome<Pick<Guess, 'given' | 'other'>>> => {
    const [holder, known] = [await region.readCurrent(numbers, keyHolderKey(wanted)), await knownWith(wanted)]
    if (!holder.ok) return holder
    if (!known.ok) return known
    const given = holder.value.state.host
    for (const other of new Set(given === undefined ? known.value : [given, ...known.value])) {
      if (other === name) continue
      const read = await region.readCurrent(host, hostKey(other))
      if (!read.ok) return read
      if (hasKey(read.value.state, wanted)) return done({ given, other })
    }
    return done({ given })
  }
  const guessOf = async (name: HostName, command: KeyCommand): Promise<Outcome<Guess>> => {
    const read = await region.readCurrent(host, hostKey(name))
    if (!read.ok) return read
    const wanted = keyMeant(read.value.state, command)
    if (wanted === null) return done({ keys: [hostKey(name)], wanted })
    const found = await otherWith(name, wanted)
    if (!found.ok) return found
    const { other } = found.value
    const keys = [hostKey(name), keyHolderKey(wanted), ...(other === undefined ? [] : [hostKey(other)])]
    return done({ keys, wanted, ...found.value })
  }
  return {
    record: (name, command, origin) =>
      transact<Guess, KeyDecided>(kernel, {
        subject: `host ${name} or its key`,
        ...origin,
        guess: () => guessOf(name, command(clock.now())),
        plan: (draft, guess) => plan(draft, name, command(draft.at), guess),
      }),
  }
}
