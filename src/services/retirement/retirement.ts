/**
 * Takes a host out of service. Retired: its reports are taken, but nothing on it is offered. Removed: it does not count
 * as a host, whatever it reports. In both cases its devices leave as soon as nothing on them is in use, and return only
 * by a restore.
 */
import type { EntityKey, HostName } from '../../vocabulary/identifiers.ts'
import { type Outcome, refuse } from '../../vocabulary/fault.ts'
import type { OperatorNote } from '../../vocabulary/operatorNote.ts'
import type { Caller } from '../../actors/control.ts'
import type { HostChange } from '../../actors/answers/impact.ts'
import { deployable, deployableKey } from '../../actors/deployable/decider.ts'
import { type Deployable, type SlotHandle } from '../../actors/deployable/state.ts'
import { deviceKey } from '../../actors/device/decider.ts'
import { type HeldDevice, type Host, type HostCommand, host, hostKey, isKnown } from '../../actors/host/decider.ts'
import { takeOut } from '../../actors/inventory/carryOut.ts'
import { type Draft, MOVED } from '../../actors/runtime/draft.ts'
import type { Cause } from '../../actors/runtime/ports.ts'
import { transact } from '../../actors/runtime/transact.ts'
import { WOULD_BE_DONE, refusalFound } from '../kernel/dryRun.ts'
import { type Kernel, causeOf, commandOf } from '../kernel/kernel.ts'

/** How many of the handles in use a refusal names. */
const NAMED_MAX = 3
export const unknownHost = (id: string) => refuse({ kind: 'not_found', resource: 'host', id })

const partsOf = ({ devices }: Host): readonly EntityKey<'deployable'>[] =>
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

/**
 * When a host is removed, nothing on it may be in use; by force, no handle may be held, but handles may be in
 * quarantine.
 */
const refuseInUse = (draft: Draft, now: Host, forced: boolean) => {
  const found = inTheWay(draft, now, forced)
  if (found.length === 0) return
  const more = found.length > NAMED_MAX ? ` and ${found.length - NAMED_MAX} more` : ''
  draft.refuse({
    kind: 'conflict',
    reason: `host ${now.name} is in use: ${found.slice(0, NAMED_MAX).join(', ')}${more}; retire it and wait until their requests release them, or remove it by force`,
  })
}

type Decision = {
  readonly type: 'Retire' | 'Remove'
  readonly note: OperatorNote
  readonly forced: boolean
  /** Everything is decided, but nothing is recorded. */
  readonly dry?: true
}
/** The devices that leave the inventory with this decision. */
const departures = (draft: Draft, now: Host, missingRounds: number): Readonly<Record<string, HeldDevice | null>> =>
  Object.fromEntries(
    Object.entries(now.devices)
      .map(([canonical, held]) => [canonical, held, takeOut(draft, held, missingRounds)] as const)
      .filter(([, held, after]) => after === null || after.missing !== held.missing)
      .map(([canonical, , after]) => [canonical, after]),
  )

/** `decision` null: the host is already out of service, and only the devices without use leave. */
const decide = (
  kernel: Kernel,
  name: HostName,
  decision: Decision | null,
  cause: Cause,
  command: ReturnType<typeof commandOf> = {},
): Promise<Outcome<Host | null>> => {
  const { options, region } = kernel
  const key = hostKey(name)
  return transact(kernel, {
    subject: `the inventory of host ${name}`,
    cause,
    ...command,
    guess: async () => {
      const read = await region.readCurrent(host, key)
      if (!read.ok) return read
      const known = read.value.state
      if (!isKnown(known)) return unknownHost(name)
      const devices = Object.values(known.devices).map(({ uuid }) => deviceKey(uuid))
      return { ok: true, value: { keys: [key, ...devices, ...partsOf(known)], devices: known.devices } }
    },
    plan: (draft, known) => {
      const now = draft.state(host, key)
      if (!isKnown(now)) draft.refuse(unknownHost(name).fault)
      if (now.devices !== known.devices) return MOVED
      if (!decision && !now.retired) return now
      if (decision?.type === 'Remove') refuseInUse(draft, now, decision.forced)
      const devices = departures(draft, now, options.missingRounds)
      const command: HostCommand = decision
        ? { type: decision.type, devices, ...decision.note }
        : { type: 'Shed', devices, by: cause.by ?? '' }
      draft.decide(host, key, command)
      if (decision?.dry) draft.refuse(WOULD_BE_DONE)
      return draft.state(host, key)
    },
  })
}

/** Removes the devices without use of a host that is out of service. Does nothing for a host in service. */
export const shed = async (kernel: Kernel, name: HostName, cause: Cause): Promise<Outcome<null>> => {
  const read = await kernel.region.readCurrent(host, hostKey(name))
  if (!read.ok) return read
  if (!read.value.state.retired) return { ok: true, value: null }
  const done = await decide(kernel, name, null, cause)
  return done.ok ? { ok: true, value: null } : done
}

export const createRetirement = (kernel: Kernel) => {
  const decided = async (name: HostName, decision: Decision, caller: Caller): Promise<Outcome<Host>> => {
    // a removal consists of several appends, so that the id of the command cannot stand for one of them
    const command = decision.type === 'Retire' ? commandOf(caller) : {}
    const done = await decide(kernel, name, decision, causeOf(caller), command)
    if (!done.ok) return done
    if (done.value) return { ok: true, value: done.value }
    const repeated = await kernel.region.readCurrent(host, hostKey(name))
    return repeated.ok ? { ok: true, value: repeated.value.state } : repeated
  }
  return {
    retire: (caller: Caller, name: HostName, note: OperatorNote) =>
      decided(name, { type: 'Retire', note, forced: false }, caller),
    remove: (caller: Caller, name: HostName, note: OperatorNote, forced: boolean) =>
      decided(name, { type: 'Remove', note, forced }, caller),
    /** Decides as the change would, and records nothing. Returns the reason for which it would be refused. */
    tryOut: async (caller: Caller, name: HostName, change: HostChange): Promise<Outcome<string | null>> => {
      // a removal by force first retires the host, then unbinds the requests that prevent the removal
      const type = change === 'remove' ? 'Remove' : 'Retire'
      const decision = { type, note: { by: caller.userId, reason: '' }, forced: false, dry: true } as const
      return refusalFound(await decide(kernel, name, decision, causeOf(caller)))
    },
    shed: (caller: Caller, name: HostName): Promise<Outcome<null>> => shed(kernel, name, causeOf(caller)),
  }
}
export type Retirement = ReturnType<typeof createRetirement>

/** The deployables of this host, with the requests that hold their handles now. */
export const createHolders =
  ({ region }: Kernel) =>
  async (name: HostName): Promise<Outcome<readonly Deployable[]>> => {
    const read = await region.readCurrent(host, hostKey(name))
    if (!read.ok) return read
    const parts = await Promise.all(partsOf(read.value.state).map((key) => region.readCurrent(deployable, key)))
    const refused = parts.find((one) => !one.ok)
    if (refused && !refused.ok) return refused
    return { ok: true, value: parts.flatMap((one) => (one.ok ? [one.value.state] : [])) }
  }
