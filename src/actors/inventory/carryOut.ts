/**
 * Carries out the steps of a reconciliation, as decisions of the devices and deployables concerned.
 *
 * CARRYOUT-1 a device that an ARQ uses is marked missing, never retired (Q11, I9).
 */
import type { DeviceUuid, EntityKey, HostName } from '../../identifiers.ts'
import { rpUuidOf } from '../../rpUuid.ts'
import type { ReportedDevice } from '../../wire/reports.ts'
import { deployable, deployableKey } from '../deployable/decider.ts'
import type { Presence } from '../deployable/messages.ts'
import { type Deployable, inUse, takenHandles } from '../deployable/state.ts'
import { device, deviceKey } from '../device/decider.ts'
import type { Draft } from '../runtime/draft.ts'
import type { HeldDevice } from '../host/decider.ts'
import { type Pool, descriptionOf, factsOf, saysNothingNew } from './describe.ts'
import { canonicalHandle } from './digest.ts'
import type { Shown, Step } from './reconcile.ts'

type Numbered = () => number
type ReportedDeployable = ReportedDevice['deployables'][number]
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

/** A new deployable may not attach a function that an accelerator request still uses under another deployable. */
const addedTo = (draft: Draft, shown: Shown, held: HeldDevice) => {
  const added = shown.device.deployables.filter(({ name }) => !held.deployables[name])
  if (added.length === 0) return added
  const used = new Set(
    Object.values(held.deployables).flatMap((uuid) => takenHandles(draft.state(deployable, deployableKey(uuid)))),
  )
  return added.filter(({ handles }) => !handles.some((handle) => used.has(canonicalHandle(handle))))
}

const describe = (draft: Draft, shown: Shown, held: HeldDevice, tools: Tools): HeldDevice => {
  const { device: card, driver } = shown
  const added = addedTo(draft, shown, held)
  const key = deviceKey(held.uuid)
  draft.decide(device, key, { type: 'Describe', facts: factsOf(driver, card), grown: added.length > 0 })
  draft.decide(device, key, { type: 'SetPresence', presence: 'present' })
  const names = new Map(card.deployables.map((reported) => [reported.name, reported]))
  for (const [name, uuid] of Object.entries(held.deployables))
    describeDeployable(draft, deployableKey(uuid), driver, names.get(name), tools)
  const recorded = added.map((reported) => [reported.name, recordDeployable(draft, shown, held, reported, tools)])
  const deployables = { ...held.deployables, ...Object.fromEntries(recorded) }
  // a deployable that could not be added is tried again with the next report
  const whole = card.deployables.every(({ name }) => deployables[name])
  return { ...held, driver, digest: whole ? shown.digest : '', missing: 0, deployables }
}
const describeDeployable = (
  draft: Draft,
  key: EntityKey<'deployable'>,
  driver: string,
  reported: ReportedDeployable | undefined,
  tools: Tools,
) => {
  draft.decide(deployable, key, { type: 'SetPresence', presence: reported ? 'present' : 'missing' })
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
    case 'describe':
      return [step.shown.canonical, describe(draft, step.shown, step.held, tools)]
    case 'gone':
      return [
        step.canonical,
        gone(draft, step.held, { missing: step.missing, missingRounds: tools.missingRounds, used: inUse }),
      ]
    case 'take out':
      return [step.canonical, takeOut(draft, step.held, tools.missingRounds)]
  }
}
