/** Compares the answers to clients and the events to Nova with the content of the journal at that time. */
import type { ArqUuid, InstanceUuid } from '../vocabulary/identifiers.ts'
import { type Arq, arqKey } from '../actors/arq/decider.ts'
import type { ArqEvent } from '../actors/arq/messages.ts'
import { idOf } from '../actors/runtime/memory.ts'
import { deviceKey } from '../actors/device/decider.ts'
import type { ClientRequest, Heard } from './evidence.ts'
import { type Excuses, excusesOf } from './loss.ts'
import {
  type Finding,
  type History,
  type Invariant,
  type Step,
  arqStates,
  arqsIn,
  at,
  deviceStates,
} from './history.ts'

const succeeded = ({ status }: ClientRequest): boolean => status !== null && status >= 200 && status < 300
const known = ({ status }: Arq): boolean => status !== 'Absent' && status !== 'Gone'

const byClient = (asked: ClientRequest, keys: readonly string[], line: string): Finding => ({
  found: `from ${asked.from} to ${asked.to}: ${line}`,
  keys,
  proof: [{ of: 'client', asked }],
})

/** The ARQs that were ever bound to each instance. */
const openBound = () => {
  const found = new Map<string, Set<string>>()
  const step = (one: Step): readonly Finding[] => {
    for (const { key, after } of arqsIn(one)) {
      const instance = after.bond?.instanceUuid
      if (instance) found.set(instance, (found.get(instance) ?? new Set()).add(idOf(key)))
    }
    return []
  }
  return { found, step }
}

/** Returns a finding when the journal did not hold the answered fact at the time of the answer; else null. */
const unrecorded = (history: History, asked: ClientRequest, uuid: ArqUuid): string | null => {
  const { act, from, to, instance } = asked
  const ever = (since: number, holds: (state: Arq) => boolean) => arqStates(history, uuid, since, to).some(holds)
  if (act === 'create' && !ever(0, known)) return `ARQ ${uuid} was answered and is not recorded`
  if (act === 'bind' && !ever(0, ({ bond }) => bond !== null && bond.instanceUuid === instance))
    return `the bind of ${uuid} was accepted and is not recorded`
  const left = act !== 'unbind' || ever(from, ({ bond }) => bond === null)
  return left ? null : `the unbind of ${uuid} was accepted and is not recorded`
}

const early = (history: History, { status, server_uuid, tag, rowCount }: Heard): boolean =>
  !arqStates(history, tag, 0, rowCount).some(
    (state) =>
      state.bond?.instanceUuid === server_uuid && state.status === (status === 'completed' ? 'Bound' : 'BindFailed'),
  )

const recorded: Invariant = {
  name: 'S6',
  meaning: 'nothing is reported before it is recorded: events to Nova, and answers that accept or create',
  needs: ['clients'],
  judge: ({ clients = [], nova = [], lost }) => ({
    *end(history) {
      const excuses = excusesOf(lost)
      for (const event of nova)
        if (early(history, event) && !excuses.event(event))
          yield {
            found: `at ${event.rowCount}: Nova heard ${event.status} of ${event.tag} for ${event.server_uuid} before it was recorded`,
            keys: [arqKey(event.tag)],
            proof: [{ of: 'nova', heard: event }],
          }
      for (const asked of clients.filter(succeeded)) {
        for (const uuid of asked.arqs ?? []) {
          const line = unrecorded(history, asked, uuid)
          if (line && !excuses.answer(asked, uuid)) yield byClient(asked, [arqKey(uuid)], line)
        }
        const wanted = asked.act === 'disable' ? 'maintaining' : asked.act === 'enable' ? 'enabled' : null
        const states = wanted && asked.device ? deviceStates(history, asked.device, asked.from, asked.to) : []
        if (wanted && !states.some(({ status }) => status === wanted) && !excuses.answer(asked, asked.device!))
          yield byClient(
            asked,
            [deviceKey(asked.device!)],
            `${asked.act} of ${asked.device} was answered and is not recorded`,
          )
      }
    },
  }),
}

const stale: Invariant = {
  name: 'S7',
  meaning: 'an answer shows what was true at some moment between question and answer, never less',
  needs: ['clients'],
  judge: ({ clients = [], lost }) => {
    if (clients.length === 0) return {}
    const excuses = excusesOf(lost)
    const { found: byInstance, step } = openBound()
    return {
      step,
      *end(history) {
        for (const asked of clients.filter(succeeded)) {
          if (asked.act !== 'get' && asked.act !== 'list') continue
          const { from, to, shown = [], instance, caller } = asked
          for (const { uuid, state, handle } of shown) {
            const states = arqStates(history, uuid, from, to)
            const so = states.some(
              (one) => one.status === state && (state !== 'Bound' || one.bond?.handle.uuid === handle),
            )
            if (!so && !excuses.answer(asked, uuid))
              yield byClient(
                asked,
                [arqKey(uuid)],
                `${uuid} was shown as ${state} ${handle ?? ''}, it was ${states.map(({ status }) => status).join(', ')}`,
              )
          }
          if (asked.act !== 'list' || !instance || !(caller.isAdmin || caller.isService)) continue
          const there = new Set(shown.map(({ uuid }) => uuid))
          for (const uuid of byInstance.get(instance) ?? []) {
            const always = arqStates(history, uuid, from, to).every(({ bond }) => bond?.instanceUuid === instance)
            if (always && !there.has(uuid) && !excuses.answer(asked, uuid))
              yield byClient(asked, [arqKey(uuid)], `${uuid} was not in the list of instance ${instance}`)
          }
        }
      },
    }
  },
}

/** Origins that may change bound ARQs. `accelerando seed` and `import` fill a store while no service uses it. */
const MAY_CHANGE_BOUND: ReadonlySet<string> = new Set(['service', 'seed', 'import'])
const SERVICE_ONLY: ReadonlySet<ArqEvent['type']> = new Set(['BindStarted', 'Unbound', 'ArqRemoved'])
/**
 * Whether the policy allows it to others than services: an operator forced the unbind, or Nova does not know the server
 * of a request that was deleted.
 */
const isAllowed = (event: ArqEvent): boolean =>
  (event.type === 'Unbound' && event.forced !== undefined) || (event.type === 'ArqRemoved' && event.orphan === true)
function* seenAcross(history: History, asked: ClientRequest, excuses: Excuses): Iterable<Finding> {
  const { from, to, caller, shown = [], instance } = asked
  if (caller.isAdmin || (caller.isService && instance !== undefined)) return
  for (const { uuid } of shown) {
    const owners = arqStates(history, uuid, from, to).map(({ projectId }) => projectId)
    if (!owners.includes(caller.projectId) && !excuses.answer(asked, uuid))
      yield byClient(asked, [arqKey(uuid)], `project ${caller.projectId} was shown ${uuid} of ${owners.join(', ')}`)
  }
}
const walled: Invariant = {
  name: 'S10',
  meaning:
    'nobody sees an ARQ of another project but admins and services; only services change bound ones, or operators by force, or who deletes those whose server Nova does not know',
  judge: ({ clients = [], lost }) => ({
    *step(step) {
      for (const { rowCount, key, row, events, before, after } of arqsIn(step)) {
        const touched = before.bond !== null || after.bond !== null
        const named = events.find((event) => SERVICE_ONLY.has(event.type) && !isAllowed(event))
        const who = row.cause.by ?? 'nobody'
        if (touched && named && !MAY_CHANGE_BOUND.has(who))
          yield at(rowCount, [key], `${named.type} of ${key}, bound, by ${who}`)
      }
    },
    *end(history) {
      const excuses = excusesOf(lost)
      for (const asked of clients) {
        const { act, caller, status } = asked
        yield* seenAcross(history, asked, excuses)
        if ((act === 'bind' || act === 'unbind') && !caller.isService && status === 202)
          yield byClient(asked, [], `a ${act} without a service token was accepted`)
      }
    },
  }),
}

const isStillOf = (instance: InstanceUuid, states: readonly Arq[]): boolean =>
  states.every(({ bond }) => bond?.instanceUuid === instance)

const finished: Invariant = {
  name: 'L6',
  meaning: 'a delete that was answered is done, whatever its host does',
  needs: ['clients'],
  judge: ({ clients = [], lost }) => {
    if (clients.length === 0) return {}
    const excuses = excusesOf(lost)
    const { found: byInstance, step } = openBound()
    return {
      step,
      *end(history) {
        for (const asked of clients.filter(succeeded)) {
          const { act, from, to, arqs = [], instance } = asked
          const isLeft = (uuid: ArqUuid) => arqStates(history, uuid, to, to).some(known) && !excuses.answer(asked, uuid)
          const left = act === 'remove' ? arqs.find(isLeft) : undefined
          if (left) yield byClient(asked, [arqKey(left)], `ARQ ${left} was deleted and is there`)
          if (act !== 'removeByInstance' || !instance) continue
          for (const uuid of byInstance.get(instance) ?? [])
            if (isStillOf(instance, arqStates(history, uuid, from, to)) && !excuses.answer(asked, uuid))
              yield byClient(asked, [arqKey(uuid)], `ARQ ${uuid} of instance ${instance} was deleted and is there`)
        }
      },
    }
  },
}

export const clientInvariants: readonly Invariant[] = [recorded, stale, walled, finished]
