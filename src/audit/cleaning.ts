/** Invariants of the cleaning of a handle between two accelerator requests. */
import type { ArqUuid, HandleUuid } from '../vocabulary/identifiers.ts'
import type { DeployableEvent } from '../actors/deployable/messages.ts'
import { type HostCleaning, type RequestedCleaning, isClean } from '../vocabulary/cleaning.ts'
import { type Finding, type Invariant, at, deployablesIn } from './history.ts'

/** The cleaning policy that the event sets; undefined: the event does not set one. */
const policyIn = (event: DeployableEvent): HostCleaning | null | undefined =>
  event.type === 'DeployableRecorded' || event.type === 'DeployableDescribed'
    ? (event.description.cleaning ?? null)
    : undefined

/**
 * Who has to clean a handle that is given up, by the policy of its host and by what its request asked for; null:
 * nobody.
 */
const cleanerOf = (policy: HostCleaning | null, asked: RequestedCleaning | undefined): 'operator' | 'host' | null => {
  const isOperators = policy === 'by_operator' || asked === 'by_operator' || (asked === 'by_host' && policy === null)
  if (isOperators) return 'operator'
  return policy === null ? null : 'host'
}

/** Handles that were given up under a policy and are not known to be clean, each with the request that gave it up. */
const openDirty = () => {
  const dirty = new Map<string, { readonly by: string; readonly cleaner: 'operator' | 'host' }>()
  /** What the request that has the handle, or had it last, asks for. */
  const asked = new Map<string, RequestedCleaning>()
  /** Handles that an operator has declared clean since they were given up. */
  const confirmed = new Set<string>()
  /** The request that gave the handle up last. */
  const last = new Map<string, string>()
  /**
   * Handles that a request has. `HandleCleared` does not end the cleaning that this request asks for: it applies when
   * the handle is given up.
   */
  const held = new Set<string>()
  const granted = ({ handle, cleaning, repeated }: Extract<DeployableEvent, { type: 'Granted' }>) => {
    if (repeated === undefined) {
      asked.delete(handle)
      if (cleaning !== undefined) asked.set(handle, cleaning)
    }
    held.add(handle)
    confirmed.delete(handle)
    const by = repeated === undefined ? dirty.get(handle)?.by : undefined
    dirty.delete(handle)
    return by
  }
  /** `arq` '': its release is ordered again. */
  const givenUp = (handle: HandleUuid, arq: ArqUuid, policy: HostCleaning | null) => {
    const cleaner = cleanerOf(policy, asked.get(handle))
    const by = arq || (last.get(handle) ?? '')
    last.set(handle, by)
    // what was owed before stays owed when the policy is removed
    if (cleaner === 'host' || (cleaner === 'operator' && !confirmed.has(handle))) dirty.set(handle, { by, cleaner })
  }
  /** Takes an event. If it grants a handle that is not clean, returns the request that gave the handle up. */
  const take = (event: DeployableEvent, policy: HostCleaning | null): string | undefined => {
    if (event.type === 'Granted') return granted(event)
    if (event.type === 'HandleReleased') {
      held.delete(event.handle)
      givenUp(event.handle, event.arq, policy)
    }
    if (event.type === 'OrderFailed' && event.again) givenUp(event.slot, '', policy)
    if (event.type === 'OrderDone' && isClean(event.cleaned) && dirty.get(event.slot)?.cleaner === 'host')
      dirty.delete(event.slot)
    if (event.type === 'HandleCleared') {
      dirty.delete(event.handle)
      if (!held.has(event.handle)) {
        asked.delete(event.handle)
        confirmed.add(event.handle)
      }
    }
    return undefined
  }
  return { take }
}

const clean: Invariant = {
  name: 'S18',
  meaning:
    'where a policy or the profile of its request says so, a handle that was given up is granted again only when its host has proved that it is clean, or an operator has said so',
  judge: () => {
    const { take } = openDirty()
    return {
      *step(step): Iterable<Finding> {
        for (const { rowCount, key, before, events } of deployablesIn(step)) {
          let policy = before.hostCleaning ?? null
          for (const event of events) {
            const said = policyIn(event)
            if (said !== undefined) policy = said
            const by = take(event, policy)
            if (by !== undefined && event.type === 'Granted')
              yield at(rowCount, [key], `handle ${event.handle} went to ${event.arq}, and was not clean after ${by}`)
          }
        }
      },
    }
  },
}

const proved: Invariant = {
  name: 'S18 host',
  meaning: 'a cleaning that is recorded as done has happened on its host',
  needs: ['cleanings'],
  judge: ({ hosts = [] }) => {
    const done = new Map(
      hosts.flatMap(({ name, cleaned }) => (cleaned === undefined ? [] : [[name, new Set(cleaned)] as const])),
    )
    if (done.size === 0) return {}
    return {
      *step(step): Iterable<Finding> {
        for (const { rowCount, key, after, events } of deployablesIn(step))
          for (const event of events) {
            if (event.type !== 'OrderDone' || !isClean(event.cleaned)) continue
            const { slot, number } = event
            if (done.get(after.host)?.has(`${slot} ${number}`) === false)
              yield at(
                rowCount,
                [key],
                `order ${number} of ${slot} is recorded as cleaned, and ${after.host} cleaned nothing`,
              )
          }
      },
    }
  },
}

export const cleaningInvariants: readonly Invariant[] = [clean, proved]
