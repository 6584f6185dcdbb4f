/**
 * From what is held of a host and what the host shows, the steps that make them agree. Pure, takes no hints: first discovery,
 * rediscovery and recovery are one path. Reconciling twice gives nothing the second time.
 *
 * N1 only a complete section of the device's own driver can say that a device is missing (Q11, 7.2 failure isolation);
 * N2 nothing is removed here: `gone` counts, and what is held by an ARQ is kept by whoever decides on the step.
 */
import { canonicalInfo } from '../../pci.ts'
import { canonicalJson, sha256 } from '../../wire/canonical.ts'
import type { InventoryReport, ReportedDevice } from '../../wire/reports.ts'
import type { HeldDevice, Host } from '../host/decider.ts'

export type Shown = {
  readonly canonical: string
  readonly driver: string
  readonly device: ReportedDevice
  readonly digest: string
}
export type Step =
  | { readonly do: 'record'; readonly shown: Shown }
  | { readonly do: 'describe'; readonly shown: Shown; readonly held: HeldDevice }
  /** `missing`: how many complete reports in a row did not show it, this one counted. */
  | { readonly do: 'gone'; readonly canonical: string; readonly held: HeldDevice; readonly missing: number }
export type Refused = { readonly canonical: string; readonly reason: string }
export type Agreement = { readonly steps: readonly Step[]; readonly refused: readonly Refused[] }

/** Placement's limit for provider names, with room for what Placement adds. */
const NAME_MAX = 200

/** Why a device cannot be recorded; null when it can. The others of the report are recorded all the same. */
const unfit = ({ deployables }: ReportedDevice): string | null => {
  const names = deployables.map(({ name }) => name)
  const long = names.find((name) => name.length > NAME_MAX)
  if (long) return `deployable name of ${long.length} characters, at most ${NAME_MAX} are allowed`
  if (new Set(names).size < names.length) return 'two deployables have the same name'
  const classless = deployables.find(({ attributes }) => attributes.filter(({ key }) => key === 'rc').length !== 1)
  return classless ? `deployable ${classless.name} needs exactly one attribute rc` : null
}

type Sorted = { readonly shown: Map<string, Shown>; readonly stubs: Set<string>; readonly refused: Refused[] }
const sort = (report: InventoryReport): Sorted => {
  const sorted: Sorted = { shown: new Map(), stubs: new Set(), refused: [] }
  for (const section of report.drivers) {
    if (section.status !== 'ok') continue
    for (const device of section.devices) place(sorted, section.driver, device)
  }
  return sorted
}
const place = ({ shown, stubs, refused }: Sorted, driver: string, device: ReportedDevice) => {
  const canonical = canonicalInfo(device.controlPath.info)
  const reason = unfit(device)
  if (device.stub) stubs.add(canonical)
  else if (shown.has(canonical))
    refused.push({ canonical, reason: `${driver} shows a control path that ${shown.get(canonical)!.driver} shows too` })
  else if (reason) refused.push({ canonical, reason })
  else shown.set(canonical, { canonical, driver, device, digest: sha256(canonicalJson(device)) })
}

export const reconcile = (host: Host, report: InventoryReport): Agreement => {
  const { shown, stubs, refused } = sort(report)
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
