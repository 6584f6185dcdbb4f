/**
 * A host leaves service by an operator's word. Retired: it is heard of, but nothing on it is offered any more. Removed: it does not count
 * as a host, whatever it reports. Either way its devices leave as soon as nothing of them is in use, and come back by a restore only.
 */
import { type Outcome, refuse } from '../../fault.ts'
import type { Caller } from '../control.ts'
import type { OperatorNote } from '../deployable/handleAdminMessages.ts'
import { deployable, deployableKey } from '../deployable/decider.ts'
import { type Deployable, type SlotHandle } from '../deployable/state.ts'
import { deviceKey } from '../device/decider.ts'
import type { Draft } from '../runtime/draft.ts'
import { takeOut } from '../inventory/carryOut.ts'
import { type Kernel, causeOf, newWork } from './kernel.ts'
import type { Cause } from '../runtime/ports.ts'
import { type HeldDevice, type Host, type HostCommand, host, hostKey } from '../host/decider.ts'

const ROUNDS = 4
/** A refusal names so many of what is in the way. */
const NAMED_MAX = 3
export const unknownHost = (id: string) => refuse({ kind: 'not_found', resource: 'host', id })

const partsOf = ({ devices }: Host): readonly string[] =>
  Object.values(devices).flatMap(({ deployables }) => Object.values(deployables).map(deployableKey))

const TAKEN: ReadonlySet<SlotHandle['state']> = new Set(['held', 'releasing', 'quarantined'])
const inTheWay = (draft: Draft, now: Host, forced: boolean): readonly string[] =>
  partsOf(now).flatMap((key) => {
    const held: Deployable = draft.state(deployable, key)
    const handles = Object.values(held.handles).filter(({ state }) => (forced ? state === 'held' : TAKEN.has(state)))
    return [
      ...handles.map(
        ({ uuid, state, arq }) => `handle ${uuid} is ${state}${arq ? ` by accelerator request ${arq}` : ''}`,
      ),
      ...(held.program && !forced ? [`deployable ${held.uuid} is being programmed`] : []),
    ]
  })

/** Nothing on the host may be in use when it is removed; by force, nothing may be held: what is quarantined waits on. */
const refuseInUse = (draft: Draft, now: Host, forced: boolean) => {
  const found = inTheWay(draft, now, forced)
  if (found.length === 0) return
  const more = found.length > NAMED_MAX ? ` and ${found.length - NAMED_MAX} more` : ''
  draft.refuse({
    kind: 'conflict',
    reason: `host ${now.name} is in use: ${found.slice(0, NAMED_MAX).join(', ')}${more}; retire it and wait until they are given up, or remove it by force`,
  })
}

type Decision = { readonly type: 'Retire' | 'Remove'; readonly word: OperatorNote; readonly forced: boolean }
/** The devices that leave with this decision. */
const departures = (draft: Draft, now: Host, missingRounds: number): Readonly<Record<string, HeldDevice | null>> =>
  Object.fromEntries(
    Object.entries(now.devices)
      .map(([canonical, held]) => [canonical, held, takeOut(draft, held, missingRounds)] as const)
      .filter(([, held, after]) => after === null || after.missing !== held.missing)
      .map(([canonical, , after]) => [canonical, after]),
  )

/** `decision` null: it is out of service already, and what is not in use any more leaves. */
const planOf =
  (name: string, decision: Decision | null, by: string, known: Host, missingRounds: number) => (draft: Draft) => {
    const key = hostKey(name)
    const now = draft.state(host, key)
    if (!now.exists) draft.refuse(unknownHost(name).fault)
    if (now.devices !== known.devices) return 'moved' as const
    if (!decision && !now.retired) return now
    if (decision?.type === 'Remove') refuseInUse(draft, now, decision.forced)
    const devices = departures(draft, now, missingRounds)
    const command: HostCommand = decision
      ? { type: decision.type, devices, ...decision.word }
      : { type: 'Shed', devices, by }
    draft.decide(host, key, command)
    return draft.state(host, key)
  }

export const createRetirement = (kernel: Kernel) => {
  const { region, units, options } = kernel
  const decided = async (name: string, decision: Decision | null, cause: Cause): Promise<Outcome<Host>> => {
    const key = hostKey(name)
    for (let round = 0; round < ROUNDS; round++) {
      const looked = await region.readCurrent(key)
      if (!looked.ok) return looked
      const known = looked.value.state as Host
      if (!known.exists) return unknownHost(name)
      if (!decision && !known.retired) return { ok: true, value: known }
      const devices = Object.values(known.devices).map(({ uuid }) => deviceKey(uuid))
      const plan = planOf(name, decision, cause.by ?? '', known, options.missingRounds)
      const done = await units.together([key, ...devices, ...partsOf(known)], newWork(kernel, cause, plan))
      if (!done.ok) return done
      if (done.value !== 'moved' && done.value !== null) return { ok: true, value: done.value }
    }
    return refuse({ kind: 'unavailable', reason: `the inventory of host ${name} keeps changing`, retryAfterSeconds: 1 })
  }
  return {
    retire: (caller: Caller, name: string, word: OperatorNote) =>
      decided(name, { type: 'Retire', word, forced: false }, causeOf(caller)),
    remove: (caller: Caller, name: string, word: OperatorNote, forced: boolean) =>
      decided(name, { type: 'Remove', word, forced }, causeOf(caller)),
    /** Harmless for a host that is in service. */
    shed: (caller: Caller, name: string) => decided(name, null, causeOf(caller)),
  }
}
export type Retirement = ReturnType<typeof createRetirement>

/** Who holds what on this host now. */
export const createHolders =
  ({ region }: Kernel) =>
  async (name: string): Promise<Outcome<readonly Deployable[]>> => {
    const looked = await region.readCurrent(hostKey(name))
    if (!looked.ok) return looked
    const parts = await Promise.all(partsOf(looked.value.state as Host).map((key) => region.readCurrent(key)))
    const refused = parts.find((one) => !one.ok)
    if (refused && !refused.ok) return refused
    return { ok: true, value: parts.flatMap((one) => (one.ok ? [one.value.state as Deployable] : [])) }
  }
