/**
 * Carries out the steps of a reconciliation, as decisions of the devices and deployables concerned.
 *
 * CARRYOUT-1 a device that an ARQ uses is marked missing, never retired (Q11, I9);
 * CARRYOUT-2 neither is a device with a quarantined handle while another device with its hardware is reported: that
 *    hardware would be granted (R7).
 */
import { ownValue } from '../../vocabulary/record.ts'
import { type Card, remembered } from '../../vocabulary/card.ts'
import { arq, arqKey } from '../arq/decider.ts'
import { deployable, deployableKey } from '../deployable/decider.ts'
import type { Presence } from '../deployable/messages.ts'
import { type Deployable, inUse, mayBePrepared } from '../deployable/state.ts'
import { device, deviceKey } from '../device/decider.ts'
import type { Draft } from '../runtime/draft.ts'
import type { HeldDevice } from '../host/decider.ts'
import { factsOf } from './describe.ts'
import { type Tools, describeAll, recordAll } from './grow.ts'
import { movedHandle, movedName } from './moving.ts'
import type { Shown, Step } from './reconcile.ts'
import type { Moved } from './sameCard.ts'
import { usableOf } from './usable.ts'

const withMemory = (shown: Shown, was: Card | undefined): Shown =>
  shown.card ? { ...shown, card: remembered(was, shown.card) } : shown
const cardOf = (shown: Shown, was?: Card): Pick<HeldDevice, 'card'> => {
  const card = shown.card ?? was
  return card ? { card } : {}
}

const record = (draft: Draft, shown: Shown, tools: Tools): HeldDevice => {
  const card = { uuid: tools.entity(), id: tools.number() }
  const { driver, digest } = shown
  draft.decide(device, deviceKey(card.uuid), {
    type: 'Record',
    identity: { ...card, host: tools.hostname },
    facts: factsOf(driver, shown.device),
  })
  const deployables = recordAll(draft, shown, card, tools)
  return { ...card, driver, digest, missing: 0, deployables, ...cardOf(shown) }
}

/**
 * What is recorded of the card goes with it to its present address, and so do the requests that have parts of it
 * (MOVING-1, MOVING-2).
 */
const move = (draft: Draft, { deployables, away = {} }: HeldDevice, moved: Moved | undefined): void => {
  if (!moved) return
  for (const uuid of new Set([...Object.values(deployables), ...Object.values(away)])) {
    const key = deployableKey(uuid)
    const { exists, handles, name, localName = name } = draft.state(deployable, key)
    if (!exists) continue
    const all = Object.values(handles)
    const moving = all.flatMap(({ uuid: handle, type, info, physfn, arq: holder }) => {
      const to = movedHandle({ uuid: handle, type, info, ...(physfn === undefined ? {} : { physfn }) }, moved)
      return to ? [{ to, holder }] : []
    })
    const handed = moving.map(({ to }) => to)
    draft.decide(deployable, key, { type: 'Relocate', localName: movedName(localName, moved), handles: handed })
    for (const { to, holder } of moving)
      if (holder !== null) draft.decide(arq, arqKey(holder), { type: 'Relocate', handle: to.uuid, info: to.info })
  }
}

const describe = (draft: Draft, told: Shown, held: HeldDevice, tools: Tools): HeldDevice => {
  const shown = withMemory(told, held.card)
  const { driver, digest } = shown
  const { away: _, ...rest } = held
  const { card } = held
  const key = deviceKey(held.uuid)
  draft.decide(device, key, { type: 'SetPresence', presence: 'present' })
  const usable = usableOf(draft, shown, held)
  const grown = usable.usable.some(({ name }) => !ownValue(held.deployables, name))
  draft.decide(device, key, { type: 'Describe', facts: factsOf(driver, shown.device), grown })
  const { whole, ...parts } = describeAll(draft, shown, held, usable, tools)
  // an empty digest makes the next report try again to record what is missing
  return { ...rest, driver, digest: whole ? digest : '', missing: 0, ...parts, ...cardOf(shown, card) }
}

type Absence = {
  readonly missing: number
  readonly missingRounds: number
  readonly used: (held: Deployable) => boolean
}
/** Marks the device missing; retires it after enough reports without it, when it is not in use. Null: it is retired. */
const gone = (draft: Draft, held: HeldDevice, { missing, missingRounds, used }: Absence): HeldDevice | null => {
  const keys = Object.values(held.deployables).map(deployableKey)
  const inHand = keys.some((key) => used(draft.state(deployable, key)))
  const presence: Presence = missing >= missingRounds && !inHand ? 'retired' : 'missing'
  draft.decide(device, deviceKey(held.uuid), { type: 'SetPresence', presence })
  for (const key of keys) draft.decide(deployable, key, { type: 'SetPresence', presence })
  // the count stops at the limit, so that a missing device in use does not write a row with each report
  return presence === 'retired' ? null : { ...held, missing: Math.min(missing, missingRounds) }
}

/** Retires a device of a host that is out of service, once none of its handles is in use. Null: it is retired. */
export const takeOut = (draft: Draft, held: HeldDevice, missingRounds: number): HeldDevice | null =>
  gone(draft, held, { missing: missingRounds, missingRounds, used: mayBePrepared })

/** The device after the step; null: it is retired. */
export const carryOut = (draft: Draft, step: Step, tools: Tools): readonly [string, HeldDevice | null] => {
  switch (step.do) {
    case 'record':
      return [step.shown.canonical, record(draft, step.shown, tools)]
    case 'return':
    case 'describe':
      move(draft, step.held, step.moved)
      return [step.shown.canonical, describe(draft, step.shown, step.held, tools)]
    case 'gone': {
      const { canonical, held, missing, isThere } = step
      const used = isThere ? mayBePrepared : inUse
      move(draft, held, step.moved)
      return [canonical, gone(draft, held, { missing, missingRounds: tools.missingRounds, used })]
    }
    case 'take out':
      return [step.canonical, takeOut(draft, step.held, tools.missingRounds)]
  }
}
