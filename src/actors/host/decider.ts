/**
 * The decider of a host: its liveness, aliases, last recorded inventory, and the devices and deployables that are
 * recorded for it.
 */
import type { BootId, EntityKey, HostName } from '../../vocabulary/identifiers.ts'
import { type Decider, type Decision, accept, refuse } from '../runtime/decider.ts'
import type { DatedNote, OperatorNote } from '../../vocabulary/operatorNote.ts'
import { BOOTS_KEPT, type FromBoot, bootAge } from './boots.ts'
import { type HostKeys, type KeyChange, type KeyCommand, decideKey, isKeyCommand, keysAfter } from './enrollment.ts'
import { REFUSALS_EVERY_MS, type Refusal } from '../runtime/refusals.ts'
import type { PlaybookRun } from '../../wire/playbooks.ts'
import { type Changed, type Departed, type HeldDevice, changed } from './held.ts'
import { type Probe, type ProbeChange, type ProbeCommand, decideProbe, isProbeCommand, probeAfter } from './probing.ts'
import { type Row, put } from '../runtime/views.ts'

/** From the best to the worst. */
export const LIVENESS = ['up', 'stale', 'down', 'removed'] as const
export type Liveness = (typeof LIVENESS)[number]
const SILENT: ReadonlySet<string> = new Set(['stale', 'down'])
/** Nobody knows whether the devices of a silent host are still there. */
export const isSilent = (liveness: string): boolean => SILENT.has(liveness)
/** `pending`: only the key of the host is recorded, which waits for an operator or has been approved. */
export const STANDINGS = [...LIVENESS, 'pending'] as const
export type { HeldDevice, Departed } from './held.ts'
export type DriverState = { readonly status: 'ok' | 'failed'; readonly error: string | null }
export type InventorySnapshot = {
  readonly bootId: BootId
  /** Rises with each start of the host program; absent for hosts up to release 0.2.0. */
  readonly bootNumber?: number
  readonly number: number
  readonly digest: string
  readonly aliases: readonly HostName[]
  readonly drivers: Readonly<Record<string, DriverState>>
  /** The last playbook run of each driver; absent: the host has no playbooks. */
  readonly playbooks?: readonly PlaybookRun[]
}
export type Host = InventorySnapshot & {
  /** An inventory of the host was recorded. */
  readonly exists: boolean
  readonly name: HostName
  readonly liveness: Liveness
  /** The boots before the present one; their reports are out of date. */
  readonly formerBoots: readonly BootId[]
  readonly devices: Readonly<Record<string, HeldDevice>>
  /** At most `DEPARTED_MAX` devices, in the order of departure; the ones that left first are forgotten first. */
  readonly departed: readonly Departed[]
  /** When a report in the name of the host was last refused, by reason. */
  readonly refusals?: Readonly<Partial<Record<Refusal, number>>>
  /** An operator took it out of service; none of its devices is offered until an operator restores it. */
  readonly retired?: DatedNote
  /** Absent: as far as is known the host signs nothing. */
  readonly keys?: HostKeys
  /** The last question for a report at once; absent: it was never asked. */
  readonly probe?: Probe
  /** Set while it counts as silent, ms since the epoch. */
  readonly silentSince?: number
  /** When the last inventory was recorded; absent in memories of programs that did not keep it. */
  readonly reportedAt?: number
  readonly createdAt: number
  readonly updatedAt: number | null
}

export type HostCommand =
  | KeyCommand
  | ProbeCommand
  | {
      readonly type: 'RecordInventory'
      readonly name: HostName
      readonly picture: InventorySnapshot
      readonly devices: Changed
    }
  | { readonly type: 'SetLiveness'; readonly liveness: Liveness; readonly by: string }
  /** `devices`: the devices that leave the inventory with this decision. */
  | ({ readonly type: 'Retire' | 'Remove'; readonly devices: Changed } & OperatorNote)
  | ({ readonly type: 'Restore' } & OperatorNote)
  | { readonly type: 'RefuseReport'; readonly reason: Refusal; readonly detail: string; readonly at: number }
  /** The next report of these devices is compared in full. */
  | { readonly type: 'LookAgain'; readonly devices: Changed; readonly by: string }
  /** More devices of a retired host leave the inventory. */
  | { readonly type: 'Shed'; readonly devices: Changed; readonly by: string }
export type OperatorDecision = 'retired' | 'removed' | 'restored'
export type HostEvent =
  /**
   * An inventory was recorded. The event and its member `picture` keep the names that they have in journals since
   * release 0.1.0.
   */
  | {
      readonly type: 'PictureRecorded'
      readonly name: HostName
      readonly picture: InventorySnapshot
      readonly devices: Changed
    }
  | { readonly type: 'ReportRefused'; readonly reason: Refusal; readonly detail: string }
  /**
   * This event also records decisions of operators and changes of keys, because release 0.1.0 reads no other event of a
   * host.
   */
  | {
      readonly type: 'LivenessSet'
      readonly liveness: Liveness
      readonly by: string
      /** The decision of an operator about the host. */
      readonly care?: OperatorDecision
      readonly reason?: string
      readonly devices?: Changed
      readonly key?: KeyChange
      /** The host was asked for a report at once, or has answered. */
      readonly probe?: ProbeChange
    }

const initial: Host = {
  exists: false,
  name: '',
  bootId: '',
  number: 0,
  digest: '',
  aliases: [],
  drivers: {},
  liveness: 'up',
  formerBoots: [],
  devices: {},
  departed: [],
  createdAt: 0,
  updatedAt: null,
}

/** Older and repeated reports of the present boot change nothing, and neither do reports of a former boot (Q1, I10). */
export const isNews = (host: Host, report: FromBoot & { readonly number: number }): boolean => {
  const age = bootAge(host, report)
  return age === 'present' ? report.number > host.number : age === 'newer'
}
/** Whether anything of the host is recorded that operators can see. */
export const isKnown = ({ name }: Host): boolean => name !== ''

const keyDecision = (host: Host, command: KeyCommand): Decision<HostEvent> => {
  const { exists, liveness, keys = {} } = host
  if (command.type === 'ReplaceKey' && !isKnown(host))
    return refuse({ kind: 'not_found', resource: 'host', id: command.name })
  // nothing more is recorded of a host that an operator has removed
  if (command.type === 'PresentKey' && !exists && liveness === 'removed') return accept()
  const decided = decideKey(keys, command)
  if (decided === null) return accept()
  if ('fault' in decided) return refuse(decided.fault)
  const { by, reason } = command.type === 'PresentKey' ? { by: `host ${command.name}`, reason: undefined } : command
  return accept({ type: 'LivenessSet', liveness, by, key: decided, ...(reason === undefined ? {} : { reason }) })
}

const probeDecision = (host: Host, command: ProbeCommand): Decision<HostEvent> => {
  const decided = decideProbe(host, command)
  if (decided === null) return accept()
  const { liveness } = host
  return 'fault' in decided ? decided : accept({ type: 'LivenessSet', liveness, by: command.by, probe: decided })
}

const decide = (host: Host, command: HostCommand): Decision<HostEvent> => {
  if (isKeyCommand(command)) return keyDecision(host, command)
  if (isProbeCommand(command)) return probeDecision(host, command)
  if (command.type === 'RecordInventory')
    return isNews(host, command.picture) ? accept({ ...command, type: 'PictureRecorded' }) : accept()
  if (command.type === 'RefuseReport') return refusalOf(host, command)
  if (!isKnown(host)) return refuse({ kind: 'not_found', resource: 'host', id: host.name })
  if (command.type !== 'SetLiveness') return decideOperation(host, command)
  // only an operator restores a host that an operator has removed
  return host.liveness === command.liveness || host.liveness === 'removed'
    ? accept()
    : accept({ ...command, type: 'LivenessSet' })
}

/** Recorded at most once for each reason and hour, because anybody who reaches the bus can cause refusals. */
const refusalOf = (
  { exists, refusals = {} }: Host,
  { reason, detail, at }: Extract<HostCommand, { readonly type: 'RefuseReport' }>,
): Decision<HostEvent> =>
  !exists || at - (refusals[reason] ?? Number.NEGATIVE_INFINITY) < REFUSALS_EVERY_MS
    ? accept()
    : accept({ type: 'ReportRefused', reason, detail })

const decideOperation = (
  { liveness, retired }: Host,
  command: Exclude<
    HostCommand,
    KeyCommand | ProbeCommand | { readonly type: 'RecordInventory' | 'SetLiveness' | 'RefuseReport' }
  >,
): Decision<HostEvent> => {
  const { by } = command
  const nothingLeaves = command.type === 'Restore' || Object.keys(command.devices).length === 0
  switch (command.type) {
    case 'Retire':
      if (retired)
        return nothingLeaves ? accept() : accept({ type: 'LivenessSet', liveness, by, devices: command.devices })
      return accept({ ...command, type: 'LivenessSet', liveness, care: 'retired' })
    case 'Remove':
      if (liveness === 'removed' && nothingLeaves) return accept()
      return accept({ ...command, type: 'LivenessSet', liveness: 'removed', care: 'removed' })
    case 'Shed':
      return nothingLeaves || !retired ? accept() : accept({ ...command, type: 'LivenessSet', liveness })
    case 'LookAgain':
      return nothingLeaves ? accept() : accept({ ...command, type: 'LivenessSet', liveness })
    case 'Restore':
      if (!retired) return accept()
      // the host counts as silent until the next sweep finds that it was heard from
      return accept({
        ...command,
        type: 'LivenessSet',
        liveness: liveness === 'removed' ? 'down' : liveness,
        care: 'restored',
      })
  }
}

/**
 * A host becomes visible with its first key that waits or was approved; if its key is accepted at once, with its first
 * inventory.
 */
const keyChanged = (host: Host, change: KeyChange, at: number): Partial<Host> => ({
  keys: keysAfter(change, at),
  ...(change.did === 'pinned' ? {} : { name: change.name, createdAt: host.createdAt || at }),
})

const livenessSet = (host: Host, event: Extract<HostEvent, { type: 'LivenessSet' }>, at: number): Host => {
  const { retired, silentSince = at, ...rest } = host
  const { by, reason = '', care, liveness } = event
  const still = care === 'restored' ? undefined : care ? { by, reason, at } : retired
  return {
    ...rest,
    liveness,
    ...(isSilent(liveness) ? { silentSince } : {}),
    ...(event.devices ? changed(host, event.devices) : {}),
    ...(event.key ? keyChanged(host, event.key, at) : {}),
    ...(event.probe ? { probe: probeAfter(host.probe, event.probe, { by, at }) } : {}),
    updatedAt: at,
    ...(still ? { retired: still } : {}),
  }
}

const evolve = (host: Host, event: HostEvent, at: number): Host => {
  if (event.type === 'LivenessSet') return livenessSet(host, event, at)
  if (event.type === 'ReportRefused') return { ...host, refusals: { ...host.refusals, [event.reason]: at } }
  // an event of a later release, which this release ignores
  if (event.type !== 'PictureRecorded') return host
  // the number, the abilities and playbooks of a former start do not hold for this one, and it is not silent
  const { bootNumber: _, playbooks: __, silentSince: ___, ...before } = host
  const left = host.exists && host.bootId !== event.picture.bootId ? [host.bootId] : []
  return {
    ...before,
    ...event.picture,
    exists: true,
    name: event.name,
    liveness: host.liveness === 'removed' ? 'removed' : 'up',
    formerBoots: [...host.formerBoots, ...left].slice(-BOOTS_KEPT),
    ...changed(host, event.devices),
    reportedAt: at,
    ...(host.exists ? { updatedAt: at } : { createdAt: at }),
  }
}

export const hostRow = (host: Host): Row<'hosts'> => ({
  name: host.name,
  liveness: host.exists || host.liveness === 'removed' ? host.liveness : 'pending',
  // a host that an operator has removed is out of service too, and shown as removed
  out_of_service: host.retired !== undefined && host.liveness !== 'removed' ? true : null,
  boot_id: host.bootId || null,
  drivers: host.drivers,
  aliases: host.aliases,
  created_at: host.createdAt,
  updated_at: host.updatedAt,
})

export const host: Decider<Host, HostCommand, HostEvent, 'host'> = {
  kind: 'host',
  initial,
  decide,
  evolve,
  rows: (before, after) => (before === after || !isKnown(after) ? [] : [put('hosts', hostRow(after))]),
}
export const hostKey = (name: HostName): EntityKey<'host'> => `host/${name}`
