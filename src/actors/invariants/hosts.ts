/** What hosts did and told. */
import type { Deployable } from '../deployable/state.ts'
import { kindOf } from '../memory.ts'
import { type History, type Invariant, hostsIn } from './history.ts'

const fenced: Invariant = {
  name: 'S5',
  meaning: 'a host does nothing for an order that is older than the newest it has noted for the slot',
  *check(_, { hosts = [] }) {
    for (const { name, steps } of hosts) {
      const highest = new Map<string, number>()
      for (const step of steps) {
        if (step.did === 'started') continue
        const last = highest.get(step.slot) ?? 0
        if (step.did === 'noted') highest.set(step.slot, Math.max(last, step.number))
        else if (step.did !== 'told' && step.number < last)
          yield `host ${name}: ${step.did} of ${step.slot} by order ${step.number}, after order ${last} was noted`
      }
    }
  },
}

const numbered: Invariant = {
  name: 'I10',
  meaning:
    'the recorded pictures of a host have rising numbers, start by start, and a start that is over does not come back',
  *check({ steps }) {
    const hosts = new Map<string, { readonly boots: Set<string>; last: { bootId: string; number: number } | null }>()
    for (const { place, key, events } of steps.flatMap(hostsIn)) {
      const known = hosts.get(key) ?? { boots: new Set<string>(), last: null }
      hosts.set(key, known)
      for (const event of events) {
        if (event.type !== 'PictureRecorded') continue
        const { bootId, number } = event.picture
        const same = known.last?.bootId === bootId
        if (!same && known.boots.has(bootId)) yield `at ${place}: ${key} went back to start ${bootId}`
        if (same && number <= known.last!.number)
          yield `at ${place}: ${key} took report ${number} after ${known.last!.number}`
        known.boots.add(bootId)
        known.last = { bootId, number }
      }
    }
  },
}

const lastDeployables = ({ reached }: History): readonly Deployable[] =>
  [...reached].flatMap(([key, states]) => (kindOf(key) === 'deployable' ? [states.at(-1)!.state as Deployable] : []))

const written: Invariant = {
  name: 'S6',
  meaning: 'a host tells no result that is not on its disk',
  *check(_, { hosts = [] }) {
    for (const { name, steps } of hosts) {
      const done = new Set<string>()
      for (const step of steps) {
        if (step.did === 'started') continue
        const order = `${step.slot} ${step.number}`
        if (step.did === 'noted' && step.done) done.add(order)
        if (step.did === 'told' && !done.has(order))
          yield `host ${name}: the result of ${order} was told before it was noted`
      }
    }
  },
}

const level: Invariant = {
  name: 'L4',
  meaning: 'when all is quiet, hosts hold prepared what is held of them, and nothing that is free',
  *check(history, { hosts = [], quiet = false }) {
    if (!quiet) return
    const prepared = new Map(hosts.map(({ name, prepared: slots }) => [name, new Set(slots)]))
    for (const held of lastDeployables(history)) {
      const there = prepared.get(held.host)
      if (!there || !held.hostWork) continue
      for (const { uuid, state, pending } of Object.values(held.handles)) {
        if (state === 'held' && !pending && !there.has(uuid))
          yield `host ${held.host}: slot ${uuid} is held and not prepared`
        if (state === 'free' && there.has(uuid)) yield `host ${held.host}: slot ${uuid} is free and still prepared`
      }
    }
  },
}

const answered: Invariant = {
  name: 'L5',
  meaning: 'when all is quiet, no order waits for its host, no handle for its release, and no region for its image',
  *check(history, { quiet = false, unable = [] }) {
    for (const held of quiet ? lastDeployables(history) : []) {
      if (unable.includes(held.host)) continue
      const waiting = Object.values(held.handles).find(({ pending, state }) => pending || state === 'releasing')
      if (waiting)
        yield `deployable ${held.name}: handle ${waiting.uuid} is ${waiting.state}, order ${waiting.pending?.number ?? 'none'} waits`
      if (held.program) yield `deployable ${held.name} waits for image ${held.program.image}`
    }
  },
}

export const hostInvariants: readonly Invariant[] = [fenced, numbered, written, level, answered]
