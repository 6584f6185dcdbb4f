/**
 * Decides when two descriptions are equal: texts are compared in canonical form, whatever their spacing and spelling
 * (C1). Pure.
 */
import { jsonIn } from '../../vocabulary/jsonText.ts'
import { canonicalInfo } from '../../vocabulary/pci.ts'
import { canonicalJson, sha256 } from '../../wire/canonical.ts'
import type { ReportedDevice, ReportedHandle } from '../../vocabulary/hardware.ts'

export const canonicalHandle = ({ type, info }: ReportedHandle): string => `${type}:${canonicalInfo(info)}`

const wholeHandle = (handle: ReportedHandle): string =>
  canonicalHandle(handle) +
  (handle.physfn === undefined ? '' : ` of ${handle.physfn}`) +
  (handle.set === undefined ? '' : ` in ${handle.set}`)

/** A text that contains JSON is compared by its JSON value. */
const meant = (text: string | null): unknown => (text === null ? null : (jsonIn(text) ?? text))

/** The order of attributes counts; the order of handles does not. What the card says is compared by itself. */
export const digestOf = (driver: string, reported: ReportedDevice): string => {
  const { card: _, ...device } = reported
  return sha256(
    canonicalJson({
      ...device,
      driver,
      stdBoardInfo: meant(device.stdBoardInfo),
      vendorBoardInfo: meant(device.vendorBoardInfo),
      controlPath: canonicalInfo(device.controlPath.info),
      deployables: device.deployables.map((one) => ({ ...one, handles: one.handles.map(wholeHandle).toSorted() })),
    }),
  )
}
