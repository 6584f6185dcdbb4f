/** Every event there is, by kind of entity: the compiler misses a new one here, and the recording must then hold it. */
import type { ArqEvent } from '../../src/actors/arq/messages.ts'
import type { DeployableEvent } from '../../src/actors/deployable/messages.ts'
import type { DeviceEvent } from '../../src/actors/device/decider.ts'
import { ENTITIES } from '../../src/actors/entities.ts'
import type { HostEvent } from '../../src/actors/host/decider.ts'
import type { InstanceEvent } from '../../src/actors/instance/messages.ts'
import { kindOf } from '../../src/actors/runtime/memory.ts'
import type { JournalRow } from '../../src/actors/runtime/ports.ts'
import type { PlacementEvent } from '../../src/actors/placement/decider.ts'
import type { ProfileEvent } from '../../src/actors/profile/decider.ts'

type All<Event extends { readonly type: string }> = Readonly<Record<Event['type'], true>>

const arq: All<ArqEvent> = {
  ArqCreated: true,
  BindStarted: true,
  Bound: true,
  BindFailed: true,
  Unbound: true,
  ReleaseFailed: true,
  Released: true,
  HandleRelocated: true,
  ArqRemoved: true,
}
const deployable: All<DeployableEvent> = {
  DeployableRecorded: true,
  DeployableDescribed: true,
  PresenceSet: true,
  Relocated: true,
  StatusSet: true,
  HealthSet: true,
  Granted: true,
  HandleReleased: true,
  OrderDone: true,
  OrderFailed: true,
  ProgramStarted: true,
  Programmed: true,
  ProgramFailed: true,
  BitstreamRead: true,
  AttributeAdded: true,
  AttributeRemoved: true,
  HandleQuarantined: true,
  HandleCleared: true,
  OrdersRaised: true,
  TreeTouched: true,
}
const device: All<DeviceEvent> = {
  DeviceRecorded: true,
  DeviceDescribed: true,
  StatusSet: true,
  PresenceSet: true,
  HealthSet: true,
}
const host: All<HostEvent> = { PictureRecorded: true, LivenessSet: true, ReportRefused: true }
const instance: All<InstanceEvent> = {
  BindAccepted: true,
  PartPrepared: true,
  BindSettled: true,
  ArqsLeft: true,
  NovaTold: true,
  ResendAsked: true,
}
const placement: All<PlacementEvent> = {
  PassAsked: true,
  PassBegun: true,
  PassContinued: true,
  PassEnded: true,
  TroubleFound: true,
  TroubleOver: true,
  RootFound: true,
  ProviderReconciled: true,
  ProviderForgotten: true,
  DriftIgnored: true,
  DriftUnignored: true,
  DriftIgnoringOver: true,
}
const profile: All<ProfileEvent> = {
  ProfileCreated: true,
  ProfileRegrouped: true,
  ProfileVersionSet: true,
  ProfileShared: true,
  ProfileRemoved: true,
}

const EVENTS: Readonly<Record<string, Readonly<Record<string, true>>>> = {
  arq,
  deployable,
  device,
  host,
  instance,
  placement,
  profile,
  numbers: { NumbersTaken: true, KeyGiven: true },
  quota: { ArqsAdmitted: true },
  'profile-name': { NameTaken: true, NameFreed: true },
}

/** `<kind> <event>` of all that these rows do not hold. */
export const missingIn = (rows: readonly JournalRow[]): readonly string[] => {
  const held = new Set(rows.flatMap(({ key, events }) => events.map(({ type }) => `${kindOf(key)} ${type}`)))
  const all = Object.keys(ENTITIES).flatMap((kind) =>
    Object.keys(EVENTS[kind] ?? { 'anything at all': true }).map((type) => `${kind} ${type}`),
  )
  return all.filter((one) => !held.has(one))
}
