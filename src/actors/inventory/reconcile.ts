/**
 * The steps that bring the recorded inventory of a host in line with its report. Pure and without special cases: first discovery,
 * rediscovery and recovery are one path. Reconciling twice gives nothing the second time.
 *
 * RECONCILE-1 only a complete section of the device's own driver can show that a device is missing (Q11; drivers 7.2). The only
 *   other reason is that it is shown while other devices have the same hardware (R7);
 * RECONCILE-2 nothing is removed here: `gone` counts reports, and the code that carries out the step keeps devices that an ARQ uses.
 */
import { ownValue } from '../../record.ts'
import { canonicalInfo } from '../../pci.ts'
import type { InventoryReport } from '../../wire/reports.ts'
import type { ReportedDevice } from '../../hardware.ts'
import { type Claims, openClaims } from '../../attachedFunctions.ts'
import { isTaken } from '../deployable/state.ts'
import type { HeldDevice, Host } from '../host/decider.ts'
import { digestOf } from './digest.ts'
import { NO_HANDLES, type RecordedHandles, type Rivalry, attachedBy, isVirtual, openRivalry, unfit } from './rivalry.ts'

/** What a report says of the hardware. */
type Report = Pick<InventoryReport, 'drivers'>
export type Shown = {
  readonly canonical: string
  readonly driver: string
  readonly device: ReportedDevice
  readonly digest: string
}
export type Step =
  | { readonly do: 'record'; readonly shown: Shown }
  /** It was retired, and takes up its former identity. */
  | { readonly do: 'return'; readonly shown: Shown; readonly held: HeldDevice }
  | { readonly do: 'describe'; readonly shown: Shown; readonly held: HeldDevice }
  | {
      readonly do: 'gone'
      readonly canonical: string
      readonly held: HeldDevice
      /** How many complete reports in a row did not contain it, including this one. */
      readonly missing: number
      /** Another device is shown that has hardware of its handles that are taken. */
      readonly isThere: boolean
    }
  | { readonly do: 'take out'; readonly canonical: string; readonly held: HeldDevice }
export type Refused = { readonly canonical: string; readonly reason: string }
export type Agreement = { readonly steps: readonly Step[]; readonly refused: readonly Refused[] }

type Entry = {
  readonly canonical: string
  readonly driver: string
  readonly device: ReportedDevice
  /** Why it cannot be recorded, whatever the others are. */
  readonly fault: string | null
}
type Sorted = {
  readonly shown: ReadonlyMap<string, Shown>
  /** Neither described nor said to be missing. */
  readonly excused: ReadonlySet<string>
  /** Shown, yet other devices have its hardware. */
  readonly standsBack: ReadonlySet<string>
  /** What the devices shown attach, also of those that are refused. */
  readonly attached: Claims
  readonly refused: readonly Refused[]
}

const entriesOf = (report: Report): readonly Entry[] =>
  report.drivers.flatMap((section) =>
    section.status === 'ok'
      ? section.devices.map((device) => ({
          canonical: canonicalInfo(device.controlPath.info),
          driver: section.driver,
          device,
          fault: device.stub ? null : unfit(device),
        }))
      : [],
  )

/** Virtual functions before anything else (R7), then what is known, first to the driver that shows it: whoever has it already keeps it. */
const rank = (host: Host, { canonical, device, driver }: Entry): number => {
  const held = ownValue(host.devices, canonical)
  return (isVirtual(device) ? 0 : 3) + (held ? (held.driver === driver ? 0 : 1) : 2)
}

/** A device stays with its driver while that one fails: another one that shows it would describe it in another way. */
const keptBy = (host: Host, failed: ReadonlySet<string>, { canonical, driver }: Entry): string | null => {
  const held = ownValue(host.devices, canonical)
  return held && held.missing === 0 && held.driver !== driver && failed.has(held.driver)
    ? `it belongs to ${held.driver}, which fails at present`
    : null
}

type Placed = {
  readonly placed: ReadonlySet<Entry>
  readonly refused: readonly Refused[]
  /** Refused because other devices have their hardware. */
  readonly rivals: ReadonlySet<string>
}
const place = (host: Host, entries: readonly Entry[], rivalry: Rivalry, failed: ReadonlySet<string>): Placed => {
  const placed = new Map<string, Entry>()
  const [refused, rivals]: [Refused[], Set<string>] = [[], new Set()]
  const ranked = entries.map((entry) => ({ entry, rank: rank(host, entry) }))
  for (const { entry } of ranked.toSorted((one, other) => one.rank - other.rank)) {
    const { canonical, driver, device, fault } = entry
    const other = placed.get(canonical)
    const unnamed = other
      ? `${driver} shows a control path that ${other.driver} shows too`
      : (fault ?? keptBy(host, failed, entry) ?? rivalry.sameName(canonical, device))
    const clash = unnamed === null ? rivalry.sameHardware(canonical, device) : null
    const reason = unnamed ?? clash
    if (clash !== null) rivals.add(canonical)
    if (reason !== null) refused.push({ canonical, reason })
    else {
      rivalry.add(canonical, device)
      placed.set(canonical, entry)
    }
  }
  return { placed: new Set(placed.values()), refused, rivals }
}

const sort = (host: Host, report: Report, handles: RecordedHandles): Sorted => {
  const all = entriesOf(report)
  const entries = all.filter(({ device }) => !device.stub)
  const complete = new Set(report.drivers.flatMap(({ driver, status }) => (status === 'ok' ? [driver] : [])))
  const stubs = new Set(all.flatMap(({ canonical, device }) => (device.stub ? [canonical] : [])))
  const fit = new Set(entries.flatMap(({ canonical, fault }) => (fault === null ? [canonical] : [])))
  const named = new Set(entries.map(({ canonical }) => canonical))
  /** Nothing of the report changes it: it keeps what it has, used or not. */
  const stays = (canonical: string, { driver, missing }: HeldDevice) =>
    missing === 0 && !fit.has(canonical) && (named.has(canonical) || stubs.has(canonical) || !complete.has(driver))
  const rivalry = openRivalry(host, handles, stays)
  const failed = new Set(report.drivers.flatMap(({ driver, status }) => (status === 'failed' ? [driver] : [])))
  const { placed, refused, rivals } = place(host, entries, rivalry, failed)
  const attached = openClaims()
  for (const { canonical, device, fault } of entries) if (fault === null) attached.add(canonical, attachedBy(device))
  const shown = new Map(
    entries
      .filter((entry) => placed.has(entry))
      .map(({ canonical, driver, device }) => [
        canonical,
        { canonical, driver, device, digest: digestOf(driver, device) },
      ]),
  )
  // what is recorded of a device that was refused for another reason may be hardware that others have now
  const overlapping = refused.map(({ canonical }) => canonical).filter((one) => rivalry.overlaps(one))
  const standsBack = new Set([...rivals, ...overlapping])
  return { shown, excused: new Set([...stubs, ...named]), standsBack, attached, refused }
}

/** Nothing that a retired host reports is offered. */
const takenOut = (host: Host): Agreement => ({
  steps: Object.entries(host.devices).map(([canonical, held]) => ({ do: 'take out', canonical, held })),
  refused: [],
})

/** `handles`: needed when the report brings something new or is refused in part; without them only what it says itself is compared. */
export const reconcile = (host: Host, report: Report, handles: RecordedHandles = NO_HANDLES): Agreement => {
  if (host.retired) return takenOut(host)
  const { shown, excused, standsBack, attached, refused } = sort(host, report, handles)
  const complete = new Set(report.drivers.flatMap(({ driver, status }) => (status === 'ok' ? [driver] : [])))
  const seen = [...shown.values()].flatMap((one): Step[] => {
    const held = ownValue(host.devices, one.canonical)
    if (!held) return [{ do: 'record', shown: one }]
    return held.digest === one.digest && held.missing === 0 ? [] : [{ do: 'describe', shown: one, held }]
  })
  const isGone = (canonical: string, { driver }: HeldDevice) =>
    standsBack.has(canonical) || (!excused.has(canonical) && complete.has(driver))
  const isThere = (canonical: string) =>
    attached.against(canonical, (handles.present.get(canonical) ?? []).filter(isTaken)) !== null
  const gone = Object.entries(host.devices).flatMap(([canonical, held]): Step[] =>
    shown.has(canonical) || !isGone(canonical, held)
      ? []
      : [{ do: 'gone', canonical, held, missing: held.missing + 1, isThere: isThere(canonical) }],
  )
  return { steps: [...seen, ...gone], refused }
}
