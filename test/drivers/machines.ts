/** Builds machines for tests from a few words about each PCI function: who drives it, its group, its parts. */
import { loadConfig } from '../../src/cli/config/config.ts'
import { driverByName, type DriverOptions } from '../../src/drivers/index.ts'
import type { Driver } from '../../src/drivers/driver.ts'
import { formatPciAddress, parsePciAddress, pciAddressOf, pciInfo } from '../../src/vocabulary/pci.ts'
import { slotsOf } from './driver.contract.ts'
import { type RecordedHost, recordedHostIo, type Tree } from './recordedHostIo.ts'
import { pciTree } from './trees.ts'

export type Part = {
  /** `vendor:product class` */
  readonly is: string
  readonly driver?: string | undefined
  readonly group?: number | undefined
  readonly physfn?: string | undefined
  /** How often it is opened, or enabled by its driver. */
  readonly enable?: number | undefined
  readonly more?: Tree | undefined
}
export type Parts = Readonly<Record<string, Part>>

/** What others have made of a function. */
export const mdevs = (type: string, available: number, made: readonly string[] = [], max = 16): Tree => ({
  [type]: {
    name: `${type} name\n`,
    available_instances: `${available}\n`,
    description: `max_instance=${max}\n`,
    create: '',
    devices: Object.fromEntries(made.map((uuid) => [uuid, {}])),
  },
})
export const vgpu = (type: number, creatable = '1148 : NVIDIA L40S-8Q\n'): Tree => ({
  nvidia: { creatable_vgpu_types: creatable, current_vgpu_type: `${type}\n` },
})

export const machine = (parts: Parts, more: Tree = {}): RecordedHost => {
  const facts = Object.entries(parts).map(([address, { is, driver, group, physfn, enable, more: own = {} }]) => {
    const [ids = '', pciClass = ''] = is.split(' ')
    const [vendor = '', device = ''] = ids.split(':')
    const files: Tree = {
      ...(driver === undefined ? {} : { driver: { '->': `../../../bus/pci/drivers/${driver}` } }),
      ...(group === undefined ? {} : { iommu_group: { '->': `../../../kernel/iommu_groups/${group}` } }),
      ...(enable === undefined ? {} : { enable: `${enable}\n` }),
      ...own,
    }
    return [address, { vendor, device, class: pciClass, more: files, ...(physfn ? { physfn } : {}) }] as const
  })
  return recordedHostIo({ sys: pciTree(Object.fromEntries(facts)), ...more }, 'h1')
}

export const driverOf = (name: string, options: DriverOptions = {}): Driver => {
  const reading = driverByName(name, options)
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems))
  return reading.driver
}

/** The cards of an operator's table, as the configuration reads it. */
export const cardsIn = (table: string) => {
  const env = { ACCELERANDO_CARDS_ID_TABLE: 'cards.yaml' }
  const loaded = loadConfig({ flags: {}, env, readFile: () => table, osHostname: 'h1' })
  return loaded.ok
    ? { cards: loaded.config.drivers.cards ?? [], problems: [] }
    : { cards: [], problems: loaded.problems }
}

export const slotAt = (address: string) => ({
  ...{ uuid: '51070000-0000-4000-8000-000000000009', deployable: `h1_${address}`, type: 'PCI' as const },
  info: pciInfo(parsePciAddress(address)!),
})
export const addressOf = ({ info }: { readonly info: Readonly<Record<string, string>> }): string =>
  formatPciAddress(pciAddressOf(info)!)

/** The functions that a driver offers, why it leaves others out, and what it says is in use. */
export const lookedAt = async (driver: Driver, io: RecordedHost) => {
  const devices = await driver.discover(io)
  return {
    devices,
    slots: slotsOf(devices),
    offered: slotsOf(devices).map(addressOf),
    left: Object.fromEntries((await driver.leftOut!(io)).map(({ address, reason }) => [address, reason])),
    used: Object.fromEntries((await driver.inUse!(io)).map((one) => [addressOf(one), one.by])),
  }
}
