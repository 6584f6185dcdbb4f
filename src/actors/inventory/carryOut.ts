/**
 * Carries out the steps of a reconciliation, as decisions of the devices and deployables concerned.
 *
 * CARRYOUT-1 a device that an ARQ uses is marked missing, never retired (Q11, I9);
 * CARRYOUT-2 nor is one with a quarantined handle while another device is shown that has its hardware: that would be given (R7).
 */
import type { DeviceUuid, EntityKey, HostName } from '../../identifiers.ts'
import { ownValue } from '../../record.ts'
import { rpUuidOf } from '../../rpUuid.ts'
import type { ReportedDeployable } from '../../hardware.ts'
import { deployable, deployableKey } from '../deployable/decider.ts'
import { openClaims } from '../../attachedFunctions.ts'
import type { Presence } from '../deployable/messages.ts'
import { type Deployable, inUse, takenHandles } from '../deployable/state.ts'
import { device, deviceKey } from '../device/decider.ts'
import type { Draft } from '../runtime/draft.ts'
import type { HeldDevice } from '../host/decider.ts'
import { type Pool, attachingOf, descriptionOf, factsOf, saysNothingNew } from './describe.ts'
import type { Shown, Step } from './reconcile.ts'

type Numbered = () => number
export type Tools = {
  /** UUIDs for devices and deployables. */
  readonly entity: Pool
  /** UUIDs for handles and attributes. */
  readonly part: Pool
  readonly number: Numbered
  readonly hostname: HostName
  readonly missingRounds: number
}

const recordDeployable = (
  draft: Draft,
  shown: Shown,
  card: { readonly uuid: DeviceUuid; readonly id: number },
  reported: ReportedDeployable,
  tools: Tools,
) => {
  const uuid = tools.entity()
  const identity = {
    uuid,
    id: tools.number(),
    name: reported.name,
    rpUuid: rpUuidOf(reported.name),
    deviceUuid: card.uuid,
    deviceId: card.id,
    host: tools.hostname,
    vendor: shown.device.vendor,
  }
  const { status } = draft.state(device, deviceKey(card.uuid))
  const description = descriptionOf({ handles: {}, attributes: [] }, shown.driver, reported, tools.part)
  draft.decide(deployable, deployableKey(uuid), {
    type: 'Record',
    identity,
    description,
    status,
    bitstreamId: reported.bitstreamId ?? null,
  })
  return uuid
}

const record = (draft: Draft, shown: Shown, tools: Tools): HeldDevice => {
  const [uuid, id] = [tools.entity(), tools.number()]
  const { driver, digest } = shown
  draft.decide(device, deviceKey(uuid), {
    type: 'Record',
    identity: { uuid, id, host: tools.hostname },
    facts: factsOf(driver, shown.device),
  })
  const deployables = shown.device.deployables.map(
    (reported) => [reported.name, recordDeployable(draft, shown, { uuid, id }, reported, tools)] as const,
  )
  return {
    uuid,
    id,
    driver,
    digest,
    missing: 0,
    deployables: Object.fromEntries(deployables),
  }
}

/**
 * The deployables that the device shows, without those that attach what an accelerator request still uses by another one of the device,
 * under another name, or as a virtual function of it.
 */
const usableOf = (draft: Draft, shown: Shown, { deployables }: HeldDevice): readonly ReportedDeployable[] => {
  const used = openClaims()
  for (const [name, uuid] of Object.entries(deployables))
    used.add(name, takenHandles(draft.state(deployable, deployableKey(uuid))))
  return shown.device.deployables.filter(({ name, handles }) => used.against(name, handles.map(attachingOf)) === null)
}

/** One that was retired with its device and is shown again: as it was then, in the status the device has now. */
const returned = (draft: Draft, uuid: string, shown: Shown, reported: ReportedDeployable, tools: Tools): string => {
  const key = deployableKey(uuid)
  describeDeployable(draft, key, shown.driver, reported, tools)
  const { deviceUuid } = draft.state(deployable, key)
  draft.decide(deployable, key, { type: 'SetStatus', status: draft.state(device, deviceKey(deviceUuid)).status })
  return uuid
}

const describe = (draft: Draft, shown: Shown, held: HeldDevice, tools: Tools): HeldDevice => {
  const { device: card, driver } = shown
  const { away = {}, ...rest } = held
  const usable = usableOf(draft, shown, held)
  const added = usable.filter(({ name }) => !ownValue(held.deployables, name))
  const key = deviceKey(held.uuid)
  draft.decide(device, key, { type: 'SetPresence', presence: 'present' })
  draft.decide(device, key, { type: 'Describe', facts: factsOf(driver, card), grown: added.length > 0 })
  const names = new Map(usable.map((reported) => [reported.name, reported]))
  for (const [name, uuid] of Object.entries(held.deployables))
    describeDeployable(draft, deployableKey(uuid), driver, names.get(name), tools)
  const recorded = added.map((reported) => {
    const former = ownValue(away, reported.name)
    const uuid = former
      ? returned(draft, former, shown, reported, tools)
      : recordDeployable(draft, shown, held, reported, tools)
    return [reported.name, uuid]
  })
  const deployables = { ...held.deployables, ...Object.fromEntries(recorded) }
  const still = Object.entries(away).filter(([name]) => !ownValue(deployables, name))
  // what could not be used is tried again with the next report
  const whole = usable.length === card.deployables.length
  return {
    ...rest,
    driver,
    digest: whole ? shown.digest : '',
    missing: 0,
    deployables,
    ...(still.length > 0 ? { away: Object.fromEntries(still) } : {}),
  }
}
const describeDeployable = (
  draft: Draft,
  key: EntityKey<'deployable'>,
  driver: string,
  reported: ReportedDeployable | undefined,
  tools: Tools,
) => {
  const presence: Presence = reported ? 'present' : 'missing'
  draft.decide(deployable, key, { type: 'SetPresence', presence, bitstreamId: reported?.bitstreamId })
  const said = reported && descriptionOf(draft.state(deployable, key), driver, reported, tools.part)
  if (said && !saysNothingNew(draft.state(deployable, key), said))
    draft.decide(deployable, key, { type: 'Describe', description: said })
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
  // the count ends at the limit, so that a missing device in use does not write a row with each report
  return presence === 'retired' ? null : { ...held, missing: Math.min(missing, missingRounds) }
}

/** The card is still present: a handle that may be prepared on it must not be forgotten. */
const mayBePrepared = (held: Deployable) =>
  inUse(held) || Object.values(held.handles).some(({ state }) => state === 'quarantined')
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
      return [step.shown.canonical, describe(draft, step.shown, step.held, tools)]
    case 'gone': {
      const { canonical, held, missing, isThere } = step
      const used = isThere ? mayBePrepared : inUse
      return [canonical, gone(draft, held, { missing, missingRounds: tools.missingRounds, used })]
    }
    case 'take out':
      return [step.canonical, takeOut(draft, step.held, tools.missingRounds)]
  }
}
