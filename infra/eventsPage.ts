/** Reference of the events: what is recorded of each kind of entity, and on which topic it is published. */
import type { ArqEvent } from '../src/actors/arq/messages.ts'
import type { DeployableEvent } from '../src/actors/deployable/messages.ts'
import type { DeviceEvent } from '../src/actors/device/decider.ts'
import { forProject } from '../src/actors/eventAudience.ts'
import { EVENT_KINDS, type EventKind } from '../src/actors/events.ts'
import type { HostEvent } from '../src/actors/host/decider.ts'
import type { InstanceEvent } from '../src/actors/instance/messages.ts'
import { isInternal, type PlacementEvent } from '../src/actors/placement/decider.ts'
import type { ProfileEvent } from '../src/actors/profile/decider.ts'
import { CATALOGUE } from '../src/wire/catalogue.ts'

type Told<Events extends { readonly type: string }> = { readonly [Type in Events['type']]: string }
type All = {
  readonly arq: Told<ArqEvent>
  readonly deployable: Told<DeployableEvent>
  readonly device: Told<DeviceEvent>
  readonly host: Told<HostEvent>
  readonly instance: Told<InstanceEvent>
  readonly placement: Told<PlacementEvent>
  readonly profile: Told<ProfileEvent>
}
/** An event that is not explained here does not compile. */
const EVENTS: All = {
  arq: {
    ArqCreated: 'It was made from a group of a device profile.',
    BindStarted: 'An instance, a host and an attach handle were given to it.',
    Bound: 'Its device is ready for the guest. `workMs`: how long the host worked for that.',
    BindFailed: 'The bind ended without success; the handle was given up.',
    Unbound: 'It has no handle any more. `forced`: an operator ended it.',
    ReleaseFailed: 'Its host could not release the device.',
    Released: 'Its host has released the device after all.',
    HandleRelocated: 'The card of its attach handle is at another address, or at none (`away`).',
    ArqRemoved: 'It was deleted. `orphan`: because Nova does not know its server.',
  },
  deployable: {
    DeployableRecorded: 'A host reported it for the first time.',
    DeployableDescribed: 'What its host reports of it has changed: handles, attributes, numbers.',
    PresenceSet: 'It is reported again, or not any more.',
    Relocated: 'Its card is at another address of its host, or at none, because another card is there.',
    StatusSet: 'Its device was enabled or disabled.',
    HealthSet: 'Its device began to count as bad, or ended to.',
    TreeTouched: 'Something below it in its tree has changed.',
    Granted: 'An attach handle was given to a request; `order`: what its host has to do.',
    HandleReleased: 'A request has given its attach handle up.',
    OrderDone: 'The host has carried out an order; `cleaned`: with which evidence.',
    OrderFailed: 'The host could not carry out an order, and why.',
    ProgramStarted: 'An image is to be loaded into it.',
    Programmed: 'It holds an image.',
    ProgramFailed: 'The image could not be loaded, and why.',
    BitstreamRead: 'Its card was looked at, and holds another image than was recorded.',
    AttributeAdded: 'An operator added an attribute.',
    AttributeRemoved: 'An operator removed an attribute.',
    HandleQuarantined: 'An attach handle is withheld: by whom, and why.',
    OrdersRaised: 'Its orders go on with higher numbers, since the journal has lost rows.',
    HandleCleared: 'A withheld attach handle was released by an operator.',
  },
  device: {
    DeviceRecorded: 'A host reported it for the first time.',
    DeviceDescribed: 'What its host reports of it has changed.',
    StatusSet: 'An operator enabled or disabled it.',
    HealthSet: 'It began to count as bad, or ended to.',
    PresenceSet: 'It is reported again, or not any more.',
  },
  host: {
    PictureRecorded: 'Its inventory, as it reported it, has changed.',
    ReportRefused: 'A report in its name was refused, and why.',
    LivenessSet:
      'It is up, stale or down; an operator retired, removed or restored it; its key has changed; or it was asked for a report, or has answered (`probe`).',
  },
  instance: {
    BindAccepted: 'Nova asked for a bind, and it was accepted with a deadline.',
    PartPrepared: 'One of its requests is ready.',
    BindSettled: 'All of its requests are bound, or the bind has failed.',
    ArqsLeft: 'Requests of it were unbound or deleted.',
    ResendAsked: 'An operator has Nova told once more of how its binds ended.',
    NovaTold: 'Nova took the event about it, refused it, or is asked again later.',
  },
  placement: {
    PassAsked: 'A host has to be compared with Placement, because the database has lost rows.',
    PassBegun: 'A host is compared with Placement.',
    PassContinued: 'The comparison takes longer.',
    PassEnded: 'The comparison is over.',
    TroubleFound: 'Placement cannot show the host as it is recorded, and why.',
    TroubleOver: 'It can again.',
    RootFound: 'The compute node of the host was found in Placement, or another one than before.',
    ProviderReconciled: 'A provider was made, changed or found different.',
    ProviderForgotten: 'A provider is gone from Placement.',
    DriftIgnored: 'An operator ignores a difference, until when, and why.',
    DriftUnignored: 'An operator ignores a difference no longer.',
    DriftIgnoringOver: 'The time for which a difference was ignored is over.',
  },
  profile: {
    ProfileCreated: 'It was made, or has a new version with this content.',
    ProfileRegrouped: 'Who changed its content, and why.',
    ProfileVersionSet: 'A version was enabled or disabled.',
    ProfileShared: 'Which projects may use it has changed.',
    ProfileRemoved: 'It was deleted.',
  },
}

const TOPICS: Readonly<Record<EventKind, string>> = {
  arq: CATALOGUE.arqEvents.topic,
  deployable: CATALOGUE.deployableEvents.topic,
  device: CATALOGUE.deviceEvents.topic,
  host: CATALOGUE.hostEvents.topic,
  // with those of the requests that they are about
  instance: CATALOGUE.arqEvents.topic,
  placement: CATALOGUE.placementEvents.topic,
  profile: CATALOGUE.profileEvents.topic,
}
const sectionOf = (kind: EventKind): string => {
  const rows = Object.entries(EVENTS[kind])
    .filter(([type]) => kind !== 'placement' || !isInternal({ type }))
    .map(([type, means]) => {
      const reads = forProject(kind, { type }) === null ? 'administrators' : 'its project, too'
      return `| \`${type}\` | ${means} | ${reads} |`
    })
  return `## ${kind}

On the topic \`${TOPICS[kind]}\`.

| type | what has happened | who may read it |
| --- | --- | --- |
${rows.join('\n')}
`
}

export const eventsPage = (): string => `<!-- @generated by npm run print -->
# Events

Reference. What is told of each kind of entity, in \`GET /v2/events\`, by \`accelerando event\`, and on Kafka. Each is a CloudEvent of the type \`accelerando.fact.TYPE\`; the shape is in
[asyncapi.json](../../infra/contracts/asyncapi.json), and how to follow them in [events](../operators/events.md). A new release may add types and fields: leave out what you do not know.

${EVENT_KINDS.map(sectionOf).join('\n')}`
