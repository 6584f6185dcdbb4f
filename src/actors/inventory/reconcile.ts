/**
 * Computes the steps that make the recorded inventory of a host agree with its report. Pure and without special cases:
 * first discovery, rediscovery and recovery use the same code. A second reconciliation with the same report gives no
 * steps.
 *
 * RECONCILE-1 a device counts as missing only if a complete section of its own driver does not contain it (Q11; drivers
 *    7.2), or if it is reported while other devices have the same hardware (R7);
 * RECONCILE-2 nothing is removed here: `gone` counts reports, and the code that carries out the step keeps devices that
 *    an ARQ uses.
 */
import { type Card, remembered } from '../../vocabulary/card.ts'
import { ownValue } from '../../vocabulary/record.ts'
import { canonicalInfo } from '../../vocabulary/pci.ts'
import { storable } from '../../vocabulary/text.ts'
import { canonicalJson } from '../../wire/canonical.ts'
import type { InventoryReport } from '../../wire/reports.ts'
import type { ReportedDevice } from '../../vocabulary/hardware.ts'
import { type Claims, openClaims } from '../../vocabulary/attachedFunctions.ts'
import { isTaken } from '../deployable/state.ts'
import type { HeldDevice, Host } from '../host/decider.ts'
import { addressOf } from '../host/held.ts'
import type { Refusal } from '../runtime/refusals.ts'
import { digestOf } from './digest.ts'
import { NO_HANDLES, type RecordedHandles, type Rivalry, attachedBy, isVirtual, openRivalry, unfit } from './rivalry.ts'
import { type Cards, type Moved, cardsIn, placed } from './sameCard.ts'

/** The part of a report that describes the hardware. */
type Report = Pick<InventoryReport, 'drivers'>
export type Shown = {
  readonly canonical: string
  readonly driver: string
  readonly device: ReportedDevice
  readonly digest: string
  /** Absent: the device is not on the PCI bus. */
  readonly card?: Card
  /** Another device has or had these names: those of new deployables need an end of their own. */
  readonly taken?: true
}
/** `moved`: the device is recorded at another address; `held` is as it is to be recorded at the present one. */
type Moving = { readonly moved?: Moved }
export type Step =
  | { readonly do: 'record'; readonly shown: Shown }
  /** The device was retired, and gets its former identity back. */
  | ({ readonly do: 'return'; readonly shown: Shown; readonly held: HeldDevice } & Moving)
  | ({ readonly do: 'describe'; readonly shown: Shown; readonly held: HeldDevice } & Moving)
  | ({
      readonly do: 'gone'
      readonly canonical: string
      readonly held: HeldDevice
      /** Number of complete reports in a row, including this one, that did not contain the device. */
      readonly missing: number
      /** Another reported device has the hardware of handles of this device that are taken. */
      readonly isThere: boolean
    } & Moving)
  | { readonly do: 'take out'; readonly canonical: string; readonly held: HeldDevice }
export type Refused = {
  readonly canonical: string
  readonly reason: string
  /** Set where the host must not show this at all, or not so much of it: that concerns more than one device. */
  readonly refusal?: Refusal
}
export type Agreement = { readonly steps: readonly Step[]; readonly refused: readonly Refused[] }

type Entry = {
  readonly canonical: string
  readonly driver: string
  readonly device: ReportedDevice
  /** Why the device cannot be recorded, whatever the other devices are; null: it can. */
  readonly fault: string | null
}
type Sorted = {
  readonly shown: ReadonlyMap<string, Shown>
  /** Devices that the report names: they do not count as missing, even if they are not described. */
  readonly excused: ReadonlySet<string>
  /** Devices that are reported although other devices have their hardware. */
  readonly standsBack: ReadonlySet<string>
  /** The hardware of the reported devices, including devices that are refused because of others. */
  readonly attached: Claims
  readonly refused: readonly Refused[]
}

const entriesOf = (report: Report): readonly Entry[] =>
  report.drivers.flatMap((section) =>
    section.status === 'ok'
      ? section.devices.map((device) => ({
          // a known card may be shown at such a place: that it has left its own is recorded
          canonical: canonicalInfo(storable(device.controlPath.info)),
          driver: section.driver,
          device,
          fault: device.stub ? null : unfit(section.driver, device),
        }))
      : [],
  )

/**
 * Virtual functions come first (R7), then known devices, of these first the ones reported by their own driver: so a
 * device keeps what it has.
 */
const rank = (host: Host, { canonical, device, driver }: Entry): number => {
  const held = ownValue(host.devices, canonical)
  return (isVirtual(device) ? 0 : 3) + (held ? (held.driver === driver ? 0 : 1) : 2)
}

/**
 * A device stays with its driver while that driver fails, because another driver that reports it would describe it
 * differently.
 */
const keptBy = (host: Host, failed: ReadonlySet<string>, { canonical, driver }: Entry): string | null => {
  const held = ownValue(host.devices, canonical)
  return held && held.missing === 0 && held.driver !== driver && failed.has(held.driver)
    ? `it belongs to ${held.driver}, which fails at present`
    : null
}

type Placed = {
  readonly placed: ReadonlySet<Entry>
  readonly refused: readonly Refused[]
  /** Devices that are refused because other devices have their hardware. */
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

/** Whether another device was recorded first at the address of a device, or had a deployable of a reported name. */
const takenIn = ({ devices, departed }: Host) => {
  const all = [...Object.entries(devices), ...departed.map(({ canonical, device }) => [canonical, device] as const)]
  const firstAt = Map.groupBy(all, ([key, held]) => held.first ?? addressOf(key, held))
  const named = Map.groupBy(
    all.flatMap(([, { uuid, deployables, away }]) =>
      Object.keys({ ...away, ...deployables }).map((name) => ({ name, uuid })),
    ),
    ({ name }) => name,
  )
  return (canonical: string, { deployables }: ReportedDevice): Pick<Shown, 'taken'> => {
    const own = ownValue(devices, canonical)?.uuid
    const isTaken =
      firstAt.get(canonical)?.some(([, { uuid }]) => uuid !== own) ||
      deployables.some(({ name }) => named.get(name)?.some(({ uuid }) => uuid !== own))
    return isTaken ? { taken: true } : {}
  }
}

const sort = (host: Host, all: readonly Entry[], report: Report, cards: Cards, handles: RecordedHandles): Sorted => {
  const entries = all.filter(({ device }) => !device.stub)
  const complete = new Set(report.drivers.flatMap(({ driver, status }) => (status === 'ok' ? [driver] : [])))
  const stubs = new Set(all.flatMap(({ canonical, device }) => (device.stub ? [canonical] : [])))
  const fit = new Set(entries.flatMap(({ canonical, fault }) => (fault === null ? [canonical] : [])))
  const named = new Set(entries.map(({ canonical }) => canonical))
  /** Whether the report does not change the device, which then keeps all its hardware, used or not. */
  const stays = (canonical: string, { driver, missing }: HeldDevice) =>
    missing === 0 && !fit.has(canonical) && (named.has(canonical) || stubs.has(canonical) || !complete.has(driver))
  const rivalry = openRivalry(host, handles, stays)
  const failed = new Set(report.drivers.flatMap(({ driver, status }) => (status === 'failed' ? [driver] : [])))
  const { placed, refused, rivals } = place(host, entries, rivalry, failed)
  const attached = openClaims()
  for (const { canonical, device, fault } of entries) if (fault === null) attached.add(canonical, attachedBy(device))
  const takenAt = takenIn(host)
  const shown = new Map(
    entries
      .filter((entry) => placed.has(entry))
      .map(({ canonical, driver, device }) => {
        const card = cards.get(canonical)
        const told = { digest: digestOf(driver, device), ...takenAt(canonical, device) }
        return [canonical, { canonical, driver, device, ...told, ...(card ? { card } : {}) }]
      }),
  )
  // a device that was refused for another reason may be recorded with hardware that other devices have now
  const overlapping = refused.map(({ canonical }) => canonical).filter((one) => rivalry.overlaps(one))
  const standsBack = new Set([...rivals, ...overlapping])
  return { shown, excused: new Set([...stubs, ...named]), standsBack, attached, refused }
}

/** All devices of a retired host leave the inventory, whatever it reports. */
const takenOut = (host: Host): Agreement => ({
  steps: Object.entries(host.devices).map(([canonical, held]) => ({ do: 'take out', canonical, held })),
  refused: [],
})

/** Whether the report says more of the card than was known. */
const saysMore = ({ card }: Shown, held: HeldDevice): boolean =>
  card !== undefined && canonicalJson(remembered(held.card, card)) !== canonicalJson(held.card ?? null)

/**
 * `recorded` is needed if the report contains something new or is refused in part; without it, devices of the report
 * are only compared with each other.
 */
export const reconcile = (was: Host, report: Report, recorded: RecordedHandles = NO_HANDLES): Agreement => {
  if (was.retired) return takenOut(was)
  const entries = entriesOf(report)
  const cards = cardsIn(entries)
  const { host, handles, moves } = placed(was, cards, recorded)
  const { shown, excused, standsBack, attached, refused } = sort(host, entries, report, cards, handles)
  const complete = new Set(report.drivers.flatMap(({ driver, status }) => (status === 'ok' ? [driver] : [])))
  const moving = (key: string): Moving => (moves.has(key) ? { moved: moves.get(key)! } : {})
  const seen = [...shown.values()].flatMap((one): Step[] => {
    const held = ownValue(host.devices, one.canonical)
    if (!held) return [{ do: 'record', shown: one }]
    const isKnown = held.digest === one.digest && held.missing === 0 && !saysMore(one, held)
    return isKnown && !moves.has(one.canonical) ? [] : [{ do: 'describe', shown: one, held, ...moving(one.canonical) }]
  })
  // also a device that is at another address now and cannot be recorded there
  const isGone = (canonical: string, { driver }: HeldDevice) =>
    moves.has(canonical) || standsBack.has(canonical) || (!excused.has(canonical) && complete.has(driver))
  const isThere = (canonical: string) =>
    attached.against(canonical, (handles.present.get(canonical) ?? []).filter(isTaken)) !== null
  const gone = Object.entries(host.devices).flatMap(([canonical, held]): Step[] => {
    if (shown.has(canonical) || !isGone(canonical, held)) return []
    const missing = held.missing + 1
    return [{ do: 'gone', canonical, held, missing, isThere: isThere(canonical), ...moving(canonical) }]
  })
  return { steps: [...seen, ...gone], refused }
}
