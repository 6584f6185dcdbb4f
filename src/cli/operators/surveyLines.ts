/** The output of `accelerando device scan` about the devices that drivers find. Pure. */
import type { ScannedDevice } from '../../drivers/pci/scan.ts'
import type { Passable } from '../../drivers/passable.ts'
import type { ReportedDevice } from '../../vocabulary/hardware.ts'
import { visibleJson } from '../../vocabulary/text.ts'
import { rendered, tableOf } from '../output.ts'
import { FOUND, type Found, OWNER } from './foundRows.ts'
import { addressOf, type SurveyedDriver } from '../hardware/survey.ts'

type Deployable = ReportedDevice['deployables'][number]
const valuesOf = ({ attributes }: Deployable, prefix: string): readonly string[] =>
  attributes.filter(({ key }) => key.startsWith(prefix)).map(({ value }) => value)

/** The provider that Placement would show for a deployable. */
export const providerOf = (one: Deployable) => ({
  provider: one.name,
  resource_class: valuesOf(one, 'rc')[0] ?? null,
  total: one.numAccelerators,
  // every provider gets this trait, whether its driver reports it or not
  traits: [...new Set([...valuesOf(one, 'trait'), OWNER])],
})

const foundBy = ({ driver, enabled, devices }: SurveyedDriver): readonly Found[] =>
  devices.flatMap((device) =>
    device.deployables.map((one) => {
      const { resource_class, total, traits } = providerOf(one)
      const address = one.name.slice(one.name.indexOf('_') + 1) || addressOf(device)
      const { type, model } = device
      return {
        driver,
        enabled,
        device: address,
        type,
        model,
        usable: device.stub !== true,
        total,
        resource_class,
        traits,
      }
    }),
  )
export const foundIn = ({ drivers }: Scan): readonly Found[] => drivers.flatMap(foundBy)
const LEFT_OUT = ['DRIVER', 'DEVICE', 'LEFT OUT BECAUSE']
const OTHERS = ['ADDRESS', 'VENDOR:PRODUCT', 'CLASS', 'OFFERED', 'WHITELIST ENTRY THAT OFFERS IT']
const otherRow = (device: ScannedDevice) => [
  device.address,
  `${device.vendor_id}:${device.product_id}`,
  `${device.class} ${device.class_name}`,
  device.offered ? 'yes' : `no: ${device.reason}`,
  device.whitelist_entry && visibleJson(device.whitelist_entry),
]

/** Instructions for offering more devices, printed below the table. */
const advice = (example: string | null): readonly string[] => [
  'To offer what a driver finds, add the driver to enabled_drivers. To offer any other device, add its entry to pci.passthrough_whitelist; an entry',
  'takes every device of its vendor and product. Never offer a device that this machine needs itself: bridges, its own disks and network.',
  ...(example === null ? [] : ['', `  ${example}`]),
]

export type Scan = {
  readonly drivers: readonly SurveyedDriver[]
  readonly passable: readonly Passable[]
  /** All PCI functions of the host, each with the verdict of the whitelist. */
  readonly devices: readonly ScannedDevice[]
  readonly example: string | null
}

const section = (
  title: string,
  heads: readonly string[],
  rows: readonly (readonly (string | null)[])[],
): readonly string[] => (rows.length === 0 ? [] : [title, ...tableOf(heads, rows), ''])

const PASSABLE = ['', 'ABOUT', 'PASSING DEVICES ON TO GUESTS', 'WHAT TO DO']
const passableRow = ({ verdict, about, says, advice }: Passable) => [verdict, about, says, advice ?? '-']

export const scanLines = (scan: Scan): readonly string[] => {
  const { drivers, devices, example, passable } = scan
  const failed = drivers.flatMap(({ driver, error, enabled }) =>
    error === null ? [] : [`${driver}${enabled ? '' : ' (not enabled)'} failed: ${error}`],
  )
  const found = foundIn(scan)
  const left = drivers.flatMap(({ driver, leftOut }) => leftOut.map(({ address, reason }) => [driver, address, reason]))
  return [
    ...(failed.length > 0 ? [...failed, ''] : []),
    ...(found.length > 0
      ? ['What the drivers find:', ...rendered({ document: found, rows: found, columns: FOUND }, {}, true), '']
      : ['No driver finds anything that it could offer.', '']),
    ...section('What they leave out:', LEFT_OUT, left),
    ...section('Whether this machine can pass devices on to guests:', PASSABLE, passable.map(passableRow)),
    ...section('All PCI functions of this machine:', OTHERS, devices.map(otherRow)),
    ...advice(example),
  ]
}

export const scanJson = ({ drivers, devices, passable }: Scan) => ({
  drivers: drivers.map(({ driver, enabled, error, devices: found, leftOut }) => ({
    driver,
    enabled,
    error,
    devices: found.map((device) => ({
      address: addressOf(device),
      type: device.type,
      vendor: device.vendor,
      model: device.model,
      usable: device.stub !== true,
      deployables: device.deployables.map((one) => ({
        name: one.name,
        attach_handles: one.handles.map(({ type, info }) => ({ type, info })),
        bitstream_id: one.bitstreamId ?? null,
        placement: providerOf(one),
      })),
    })),
    left_out: leftOut,
  })),
  passing_on: passable,
  devices,
})
