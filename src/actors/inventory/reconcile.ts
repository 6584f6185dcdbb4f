/**
 * The steps that bring the recorded inventory of a host in line with its report. Pure and without special cases: first discovery,
 * rediscovery and recovery are one path. Reconciling twice gives nothing the second time.
 *
 * RECONCILE-1 only a complete section of the device's own driver can show that a device is missing (Q11; drivers 7.2);
 * RECONCILE-2 nothing is removed here: `gone` counts reports, and the code that carries out the step keeps devices that an ARQ uses.
 */
import { canonicalInfo } from '../../pci.ts'
import type { InventoryReport, ReportedDevice } from '../../wire/reports.ts'
import type { HeldDevice, Host } from '../host/decider.ts'
import { isStorable } from '../../text.ts'
import { canonicalHandle, digestOf } from './digest.ts'

export type Shown = {
  readonly canonical: string
  readonly driver: string
  readonly device: ReportedDevice
  readonly digest: string
}
export type Step =
  | { readonly do: 'record'; readonly shown: Shown }
  | { readonly do: 'describe'; readonly shown: Shown; readonly held: HeldDevice }
  /** `missing`: how many complete reports in a row did not contain it, including this one. */
  | { readonly do: 'gone'; readonly canonical: string; readonly held: HeldDevice; readonly missing: number }
  | { readonly do: 'take out'; readonly canonical: string; readonly held: HeldDevice }
export type Refused = { readonly canonical: string; readonly reason: string }
export type Agreement = { readonly steps: readonly Step[]; readonly refused: readonly Refused[] }

/** Placement's limit for provider names, with room for what Placement adds. */
const NAME_MAX = 200

/** The first text that occurs twice. */
const twice = (texts: readonly string[]): string | undefined => {
  const seen = new Set<string>()
  return texts.find((text) => seen.size === seen.add(text).size)
}

/** Why a device cannot be recorded; null when it can. The others of the report are recorded all the same. */
const unfit = (device: ReportedDevice): string | null => {
  if (!isStorable(device)) return 'text with a NUL or with half a character'
  for (const { name, attributes } of device.deployables) {
    const keys = attributes.map(({ key }) => key)
    const again = twice(keys)
    if (name.length > NAME_MAX) return `deployable name of ${name.length} characters, at most ${NAME_MAX} are allowed`
    if (again !== undefined) return `deployable ${name} has two attributes ${again}`
    if (!keys.includes('rc')) return `deployable ${name} needs an attribute rc`
  }
  return null
}

const nameClaim = (name: string) => `deployable name ${name}`
/** What may exist only once on a host: names of deployables, and the functions that handles attach. */
const claimsOf = ({ deployables }: ReportedDevice): readonly string[] =>
  deployables.flatMap(({ name, handles }) => [
    nameClaim(name),
    ...handles.map((handle) => `attach handle ${canonicalHandle(handle)}`),
  ])

type Sorted = {
  readonly shown: Map<string, Shown>
  readonly stubs: Set<string>
  readonly refused: Refused[]
  /** Claim -> the control path that has it; an earlier holder keeps it. */
  readonly claimed: Map<string, string>
}
const sort = (host: Host, report: InventoryReport): Sorted => {
  const names = Object.entries(host.devices).flatMap(([canonical, { deployables }]) =>
    Object.keys(deployables).map((name) => [nameClaim(name), canonical] as const),
  )
  const sorted: Sorted = { shown: new Map(), stubs: new Set(), refused: [], claimed: new Map(names) }
  for (const section of report.drivers) {
    if (section.status !== 'ok') continue
    for (const device of section.devices) place(sorted, section.driver, device)
  }
  return sorted
}
const place = ({ shown, stubs, refused, claimed }: Sorted, driver: string, device: ReportedDevice) => {
  const canonical = canonicalInfo(device.controlPath.info)
  if (device.stub) return void stubs.add(canonical)
  const other = shown.get(canonical)
  if (other)
    return void refused.push({ canonical, reason: `${driver} shows a control path that ${other.driver} shows too` })
  const claims = claimsOf(device)
  const taken = claims.find((claim) => (claimed.get(claim) ?? canonical) !== canonical) ?? twice(claims)
  const reason = unfit(device) ?? (taken === undefined ? null : `${taken} is on this host already`)
  if (reason !== null) return void refused.push({ canonical, reason })
  for (const claim of claims) claimed.set(claim, canonical)
  shown.set(canonical, { canonical, driver, device, digest: digestOf(driver, device) })
}

/** Nothing that a retired host reports is offered. */
const takenOut = (host: Host): Agreement => ({
  steps: Object.entries(host.devices).map(([canonical, held]) => ({ do: 'take out', canonical, held })),
  refused: [],
})

export const reconcile = (host: Host, report: InventoryReport): Agreement => {
  if (host.retired) return takenOut(host)
  const { shown, stubs, refused } = sort(host, report)
  const complete = new Set(report.drivers.flatMap(({ driver, status }) => (status === 'ok' ? [driver] : [])))
  const excused = new Set([...stubs, ...refused.map(({ canonical }) => canonical)])
  const seen = [...shown.values()].flatMap((one): Step[] => {
    const held = host.devices[one.canonical]
    if (!held) return [{ do: 'record', shown: one }]
    return held.digest === one.digest && held.missing === 0 ? [] : [{ do: 'describe', shown: one, held }]
  })
  const gone = Object.entries(host.devices).flatMap(([canonical, held]): Step[] =>
    shown.has(canonical) || excused.has(canonical) || !complete.has(held.driver)
      ? []
      : [{ do: 'gone', canonical, held, missing: held.missing + 1 }],
  )
  return { steps: [...seen, ...gone], refused }
}
