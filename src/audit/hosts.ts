/** Invariants of hosts: the orders they carried out and the results they reported. */
import type { HostName, SlotUuid } from '../vocabulary/identifiers.ts'
import { deployableKey } from '../actors/deployable/decider.ts'
import type { DeployableEvent } from '../actors/deployable/messages.ts'
import { COMPARISON } from '../actors/deployable/slots.ts'
import type { Host } from '../actors/host/decider.ts'
import { idOf, kindOf } from '../actors/runtime/memory.ts'
import { orderOf } from '../actors/reactions.ts'
import type { HostStep, HostTrace } from './evidence.ts'
import { type Finding, type History, type Invariant, at, deployablesIn, hostsIn, lastDeployables } from './history.ts'

export const onHost = (host: HostName, step: HostStep | null, line: string, keys: readonly string[] = []): Finding => ({
  found: `host ${host}: ${line}`,
  keys,
  proof: [{ of: 'host', host, step }],
})

function* programmedBeside({ name, steps }: HostTrace): Iterable<Finding> {
  for (const step of steps)
    if (step.did === 'program' && step.beside !== undefined && step.beside.length > 0)
      yield onHost(
        name,
        step,
        `program of ${step.slot} by order ${step.number}, while prepared: ${step.beside.join(', ')}`,
      )
}

const fenced: Invariant = {
  name: 'S5',
  meaning:
    'a host does nothing for an order that is older than the newest it has noted for the slot, and programs no deployable of which another slot is prepared for a guest',
  needs: ['drivers'],
  judge: ({ hosts = [] }) => ({
    *end() {
      for (const host of hosts) yield* programmedBeside(host)
      for (const { name, steps } of hosts) {
        const highest = new Map<string, number>()
        for (const step of steps) {
          if (step.did === 'started') continue
          const last = highest.get(step.slot) ?? 0
          if (step.did === 'noted' && step.number < last)
            yield onHost(name, step, `order ${step.number} of ${step.slot} was noted after order ${last}`)
          if (step.did === 'noted') highest.set(step.slot, Math.max(last, step.number))
          else if (step.did !== 'reported' && step.number < last)
            yield onHost(
              name,
              step,
              `${step.did} of ${step.slot} by order ${step.number}, after order ${last} was noted`,
            )
        }
      }
    },
  }),
}

const numbered: Invariant = {
  name: 'I10',
  meaning:
    'the recorded pictures of a host have rising numbers, start by start, and a start that is over does not come back',
  judge: () => {
    const hosts = new Map<string, { readonly boots: Set<string>; last: { bootId: string; number: number } | null }>()
    return {
      *step(step) {
        for (const { rowCount, key, events } of hostsIn(step)) {
          const known = hosts.get(key) ?? { boots: new Set<string>(), last: null }
          hosts.set(key, known)
          for (const event of events) {
            if (event.type !== 'PictureRecorded') continue
            const { bootId, number } = event.picture
            const same = known.last?.bootId === bootId
            if (!same && known.boots.has(bootId)) yield at(rowCount, [key], `${key} went back to start ${bootId}`)
            if (same && number <= known.last!.number)
              yield at(rowCount, [key], `${key} took report ${number} after ${known.last!.number}`)
            known.boots.add(bootId)
            known.last = { bootId, number }
          }
        }
      },
    }
  },
}

/**
 * Returns the retired hosts. A slot that such a host has lost is not prepared again until an operator restores the host
 * (`services/reports/slots.ts`).
 */
const retiredHosts = ({ entities }: History): ReadonlySet<string> => {
  const names = new Set<string>()
  for (const [key, state] of entities()) if (kindOf(key) === 'host' && (state as Host).retired) names.add(idOf(key))
  return names
}

function* reused({ name, steps }: HostTrace, isClean: (slot: SlotUuid) => boolean): Iterable<Finding> {
  const holders = new Map<string, string | null>()
  for (const step of steps) {
    if (step.did !== 'noted' || step.preparedFor === undefined) continue
    const before = holders.get(step.slot) ?? null
    holders.set(step.slot, step.preparedFor)
    if (step.preparedFor === null || before === null || before === step.preparedFor || isClean(step.slot)) continue
    yield onHost(name, step, `slot ${step.slot} was prepared for ${step.preparedFor} while it was for ${before}`)
  }
}
const cleaned: Invariant = {
  name: 'S8',
  meaning: 'a host prepares a slot for another ARQ only when it has released it, or an operator has declared it clean',
  needs: ['ledgers'],
  judge: ({ hosts = [] }) => {
    /** Slots that an operator released without an order to the host. */
    const clean = new Set<string>()
    const note = ({ events }: ReturnType<typeof deployablesIn>[number]): void => {
      const ordered = new Set(events.flatMap((event) => (event.type === 'HandleReleased' ? [event.handle] : [])))
      for (const event of events)
        if (event.type === 'HandleCleared' && !event.releasing && !ordered.has(event.handle)) clean.add(event.handle)
    }
    if (hosts.length === 0) return {}
    return {
      step: (step) => {
        deployablesIn(step).forEach(note)
        return []
      },
      *end() {
        for (const host of hosts) yield* reused(host, (slot) => clean.has(slot))
      },
    }
  },
}

const written: Invariant = {
  name: 'S6',
  meaning: 'a host reports no result that is not on its disk',
  needs: ['ledgers'],
  judge: ({ hosts = [] }) => ({
    *end() {
      for (const { name, steps } of hosts) {
        const done = new Set<string>()
        for (const step of steps) {
          if (step.did === 'started') continue
          const order = `${step.slot} ${step.number}`
          if (step.did === 'noted' && step.done) done.add(order)
          if (step.did === 'reported' && !done.has(order))
            yield onHost(name, step, `the result of ${order} was reported before it was noted`)
        }
      }
    },
  }),
}

const level: Invariant = {
  name: 'L4',
  meaning: 'when all is quiet, hosts in service hold prepared what is held of them, and no host what is free',
  needs: ['hardware', 'settled'],
  judge: ({ hosts = [], quiet = false }) => ({
    *end(history) {
      if (!quiet) return
      const prepared = new Map(
        hosts.flatMap(({ name, prepared: slots }) => (slots ? [[name, new Set(slots)] as const] : [])),
      )
      const retired = retiredHosts(history)
      for (const held of lastDeployables(history)) {
        const there = prepared.get(held.host)
        if (!there) continue
        for (const { uuid, state, pending, quarantine, unseen } of Object.values(held.handles)) {
          // nobody knows who gave up a handle in doubt; a handle that its host lost and could not prepare again is
          // marked for an operator
          const isExplained = quarantine?.inDoubt || quarantine?.by === COMPARISON || retired.has(held.host)
          // a handle that its host does not show cannot be compared with the slots that the host has prepared
          const isShown = held.presence === 'present' && !unseen
          if (held.hostWork && isShown && state === 'held' && !pending && !isExplained && !there.has(uuid))
            yield onHost(held.host, null, `slot ${uuid} is held and not prepared`, [deployableKey(held.uuid)])
          if (state === 'free' && there.has(uuid))
            yield onHost(held.host, null, `slot ${uuid} is free and still prepared`, [deployableKey(held.uuid)])
        }
      }
    },
  }),
}

const answered: Invariant = {
  name: 'L5',
  meaning: 'when all is quiet, no order waits for its host, no handle for its release, and no region for its image',
  needs: ['settled'],
  judge: ({ quiet = false, unable = [] }) => ({
    *end(history) {
      for (const held of quiet ? lastDeployables(history) : []) {
        if (unable.includes(held.host)) continue
        const waiting = Object.values(held.handles).find(({ pending, state }) => pending || state === 'releasing')
        if (waiting)
          yield {
            found: `deployable ${held.name}: handle ${waiting.uuid} is ${waiting.state}, order ${waiting.pending?.number ?? 'none'} waits`,
            keys: [deployableKey(held.uuid)],
          }
        if (held.program)
          yield {
            found: `deployable ${held.name} waits for image ${held.program.image}`,
            keys: [deployableKey(held.uuid)],
          }
      }
    },
  }),
}

const orderId = ({ slot, number }: { readonly slot: SlotUuid; readonly number: number }): string => `${slot} ${number}`

const agreed: Invariant = {
  name: 'S5 disk',
  meaning: 'what a host noted is a recorded order, and what it is recorded to have done is on its disk',
  needs: ['ledgers'],
  judge: ({ hosts = [], quiet = false, lost = [] }) => {
    const [given, done] = [new Set<string>(), new Map<string, { readonly number: number; readonly key: string }>()]
    const note = ({ key, events }: ReturnType<typeof deployablesIn>[number]): void => {
      for (const event of events) {
        const order = orderOf(event)
        if (order) given.add(orderId(order))
        if (event.type === 'OrderDone') done.set(event.slot, { number: event.number, key })
      }
    }
    if (hosts.length === 0) return {}
    // hosts know the orders of lost rows, so these count as recorded
    for (const { key, events } of lost.flatMap(({ rows }) => rows))
      for (const order of kindOf(key) === 'deployable' ? events.map((event) => orderOf(event as DeployableEvent)) : [])
        if (order) given.add(orderId(order))
    return {
      step: (step) => {
        deployablesIn(step).forEach(note)
        return []
      },
      *end() {
        for (const { name, steps: own } of hosts) {
          const last = new Map(own.flatMap((step) => (step.did === 'noted' ? [[step.slot, step] as const] : [])))
          for (const step of last.values()) {
            // while the system is working, the host may know an order that is newer than the journal that was read
            if (quiet && !given.has(orderId(step)))
              yield onHost(name, step, `order ${step.number} of ${step.slot} is on its disk, and nobody recorded it`)
            const result = done.get(step.slot)
            if (result && (step.number < result.number || (step.number === result.number && !step.done)))
              yield onHost(
                name,
                step,
                `order ${result.number} of ${step.slot} is recorded as done, its disk knows ${step.number}`,
                [result.key],
              )
          }
        }
      },
    }
  },
}

export const hostInvariants: readonly Invariant[] = [agreed, fenced, numbered, cleaned, written, level, answered]
