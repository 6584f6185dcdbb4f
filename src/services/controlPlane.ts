/** Puts the control side together: the actors over a journal, and the ports that http, delivery and cli use. */
import type { EntityKey } from '../vocabulary/identifiers.ts'
import type { Clock, Ids } from '../vocabulary/clock.ts'
import type { Log } from '../vocabulary/log.ts'
import { type Tracer, untraced } from '../vocabulary/trace.ts'
import { type Verify, createVerify } from '../wire/signature.ts'
import { type Adoption, createAdoption } from './deployables/adoption.ts'
import { createArqs } from './arqs/arqs.ts'
import { createTimeline } from './arqs/timeline.ts'
import { createCapacity } from './overview/capacity.ts'
import { createDeliveryResend } from './nova/resendDelivery.ts'
import type { Control, Past } from '../actors/control.ts'
import { createChanges } from '../actors/runtime/changes.ts'
import { type Counts, noCounts } from '../actors/runtime/counts.ts'
import { createAttributes, createDeployables } from './deployables/deployables.ts'
import { createHandles } from './deployables/handles.ts'
import { createDrift } from './drift/drift.ts'
import { createDevices } from './devices/devices.ts'
import { deciderOf } from '../actors/entities.ts'
import { type HostKeys, createHostKeys } from './hosts/hostKeys.ts'
import { createHosts } from './hosts/hosts.ts'
import { createLiveness, type Liveness } from './hosts/liveness.ts'
import { createRetirement } from './retirement/retirement.ts'
import { CONTROL_DEFAULTS, type ControlOptions, type Kernel, PACES, type Paces } from './kernel/kernel.ts'
import type { ImageCatalogue, Nova, NovaServers } from '../actors/neighbours.ts'
import { marksFor } from '../actors/placement/marks.ts'
import { createOrphans } from './nova/orphans.ts'
import type { Placement } from '../actors/placement/port.ts'
import type { Journal, Landmarks, Reads } from '../actors/runtime/ports.ts'
import { createMeasurements } from './devices/measurements.ts'
import { createPast } from './overview/past.ts'
import { createProfiles } from './profiles/profiles.ts'
import { openReaders } from './kernel/readers.ts'
import { REGION_DEFAULTS, type Region, type RegionOptions, openRegion } from '../actors/runtime/region.ts'
import { type Reports, createReports } from './reports/reports.ts'
import { createDeliveries, createOverview } from './overview/tallies.ts'
import { type Counted, counted } from '../actors/runtime/commit.ts'
import type { Sharing } from '../actors/runtime/sharing.ts'
import { type CloudIdentity, type Seal, createSeal } from './kernel/sealing.ts'
import { type Sweeper, createSweeper } from './sweeper.ts'
import type { DeadLetters } from '../actors/answers/deadLetters.ts'
import type { Surroundings } from '../actors/answers/tallied.ts'
import { refuse } from '../vocabulary/fault.ts'
import { createUsage } from './overview/usage.ts'
import { createUnits } from '../actors/runtime/unit.ts'
import { createGuard } from '../actors/runtime/unreadable.ts'

export type ControlPlaneParts = {
  readonly journal: Journal
  readonly reads: Reads
  readonly sharing: Sharing
  readonly clock: Clock
  readonly ids: Ids
  readonly images: ImageCatalogue
  readonly nova: Nova | null
  /** Without it, Nova is not asked about servers. */
  readonly novaServers?: NovaServers | null
  /** Without it, nothing is written to Placement, and hosts are not marked for it. */
  readonly placement?: Placement | null
  /** Without it, reports are accepted from the hosts of any cloud, and orders are not signed. */
  readonly cloud?: CloudIdentity
  /** Checks the signatures and MACs of reports. */
  readonly verify?: Verify
  /** Without them, no row of the journal counts as archived. */
  readonly landmarks?: Landmarks | null
  /** Without them, the overview leaves out the state of the relay and the dead letters. */
  readonly surroundings?: Surroundings | null
  /** Without them, there is no bus, and so there are none. */
  readonly deadLetters?: DeadLetters
  readonly publish: Kernel['publish']
  readonly log: Log
  readonly tracer?: Tracer
  readonly options?: Partial<ControlOptions & Paces>
  readonly region?: Partial<RegionOptions>
}
export type ControlPlane = {
  readonly control: Control
  /** For `migrate --adopt`. */
  readonly adoption: Adoption
  readonly reports: Reports
  /** Completes and signs each order before it is published; other messages stay as they are. */
  readonly seal: Seal
  readonly sweeper: Sweeper
  readonly region: Region
  /** Counters since the start. */
  readonly counts: () => Readonly<Counts>
  readonly start: () => Promise<void>
  /** Accepts nothing new and finishes what is under way. The journal is closed by whoever opened it. */
  readonly stop: () => Promise<void>
}

const defaults = (cloud: CloudIdentity | null) => ({
  tracer: untraced,
  verify: createVerify(cloud?.signer),
  placement: null,
  novaServers: null,
  landmarks: null,
  surroundings: null,
})

const createRegion = (journal: Counted, { clock, log, region }: ControlPlaneParts): Region => {
  const crashed = (key: EntityKey, error: unknown) => log.error({ key, error: String(error) }, 'actor.stopped')
  return openRegion({ journal, clock, deciderOf, crashed, options: { ...REGION_DEFAULTS, ...region } })
}

/** The parts of the control port that can answer for an earlier moment, built over a kernel that shows that moment. */
const createPastAnswers = (past: Kernel, at: number, liveness: Liveness): Past => {
  const [profiles, retirement] = [createProfiles(past), createRetirement(past)]
  return {
    profiles,
    arqs: { ...createArqs(past, profiles, retirement), timeline: createTimeline(past, at) },
    devices: createDevices(past),
    deployables: createDeployables(past),
    hosts: createHosts(past, { ...liveness, lastSeen: () => null }, createHostKeys(past), retirement),
  }
}

const noBus = async () => refuse({ kind: 'conflict', reason: 'this program has no bus, and so no dead letters' })
const NO_LETTERS: DeadLetters = { list: noBus, get: noBus, replay: noBus, drop: noBus }

type Answering = Omit<Control, 'notReady' | 'deadLetters'>
const createControl = (kernel: Kernel, liveness: Liveness, keys: HostKeys, sweeper: Sweeper): Answering => {
  const profiles = createProfiles(kernel)
  const retirement = createRetirement(kernel)
  return {
    profiles,
    arqs: createArqs(kernel, profiles, retirement),
    devices: createDevices(kernel),
    deployables: createDeployables(kernel),
    attributes: createAttributes(kernel),
    hosts: createHosts(kernel, liveness, keys, retirement),
    handles: createHandles(kernel, retirement),
    drift: createDrift(kernel, () => sweeper.placer),
    orphans: createOrphans(kernel),
    usage: createUsage(kernel),
    capacity: createCapacity(kernel),
    overview: createOverview(kernel),
    deliveries: createDeliveries(kernel),
    resendDelivery: createDeliveryResend(kernel),
    asOf: createPast(kernel, (past, at) => createPastAnswers(past, at, liveness)),
  }
}

export const openControlPlane = (parts: ControlPlaneParts): ControlPlane => {
  const { reads, clock, log, cloud = null } = parts
  const counts = noCounts()
  const journal = counted(parts.journal, counts, clock, parts.placement ? marksFor : undefined)
  const region = createRegion(journal, parts)
  const guard = createGuard(log)
  const readers = openReaders(reads, guard)
  const changes = createChanges(journal, clock)
  let sweeper: Sweeper | null = null
  const kernel: Kernel = {
    ...defaults(cloud),
    ...parts,
    journal,
    counts,
    changes,
    cloud,
    publish: async (records) => parts.publish(await createSeal(cloud, region.readCurrent)(records)),
    options: { ...CONTROL_DEFAULTS, ...PACES, ...parts.options },
    region,
    readers,
    guard,
    units: createUnits(region, journal, deciderOf, guard),
    notifyNova: (entity) => sweeper?.notifyNova(entity),
  }
  const liveness = createLiveness(kernel)
  const keys = createHostKeys(kernel)
  const measurements = createMeasurements(kernel)
  const sweeping = (sweeper = createSweeper(kernel, liveness, measurements))
  let ready = false
  const notReady = () => (ready ? null : 'starting or stopping')
  const { deadLetters = NO_LETTERS } = parts
  const control: Control = { ...createControl(kernel, liveness, keys, sweeping), deadLetters, notReady }
  return {
    control,
    adoption: createAdoption(kernel),
    reports: createReports({ kernel, liveness, keys, measurements }),
    seal: createSeal(cloud, region.readCached),
    sweeper: sweeping,
    region,
    counts: () => ({ ...counts }),
    start: async () => {
      await sweeping.start()
      ready = true
    },
    stop: async () => {
      ready = false
      await sweeping.stop()
      changes.stop()
      await region.stop()
    },
  }
}
