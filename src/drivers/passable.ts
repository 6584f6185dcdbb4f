/**
 * Whether this machine can pass functions on to guests: what operators ask first when a server with an accelerator does
 * not start. Reads only what the kernel says; nothing is changed.
 */
import { formatPciAddress } from '../pci.ts'
import type { HostIo } from './driver.ts'
import { listed, readIfThere } from './files.ts'
import { pciFolder, type PciFunction } from './pci/sysfs.ts'

export type Passable = {
  readonly verdict: 'ok' | 'warning' | 'problem'
  /** What was looked at: a function's address, or a part of the machine. */
  readonly about: string
  readonly says: string
  /** What to do; null where nothing is wrong. */
  readonly advice: string | null
}

const BRIDGE = '06'
const VFIO = 'vfio-pci'
const fine = (about: string, says: string): Passable => ({ verdict: 'ok', about, says, advice: null })

/** What switches the IOMMU on, by the maker of the processor. */
const FIRMWARE = [
  { vendor: 'GenuineIntel', advice: "enable VT-d in the firmware and add intel_iommu=on to the kernel's parameters" },
  {
    vendor: 'AuthenticAMD',
    advice:
      'enable AMD-Vi in the firmware (often called IOMMU, beside SVM); the kernel then uses it without a parameter',
  },
]
/** With it the kernel shows groups that the hardware does not isolate from each other. */
const OVERRIDE = 'pcie_acs_override'

const iommu = async (io: HostIo, sysfsRoot: string): Promise<Passable> => {
  const groups = await listed(io, `${sysfsRoot}/kernel/iommu_groups`)
  const line = (await readIfThere(io, '/proc/cmdline')) ?? ''
  if (groups.length > 0 && line.includes(OVERRIDE))
    return {
      verdict: 'warning',
      about: 'IOMMU',
      says: `on, with ${groups.length} groups, which ${OVERRIDE} has split: a guest may reach devices of another group`,
      advice: `take ${OVERRIDE} out of the kernel's parameters, and move cards that share a group then to other slots (their bridges must support ACS)`,
    }
  if (groups.length > 0) return fine('IOMMU', `on, with ${groups.length} groups`)
  const off = /\b(?:(?:intel|amd)_)?iommu=off\b/.exec(line)
  const cpu = (await readIfThere(io, '/proc/cpuinfo')) ?? ''
  const maker = FIRMWARE.find(({ vendor }) => cpu.includes(vendor))
  return {
    verdict: 'problem',
    about: 'IOMMU',
    says: `off${off ? `, by the kernel's parameter ${off[0]}` : ''}: no device can be given to a guest`,
    advice: off
      ? `take ${off[0]} out of the kernel's parameters`
      : (maker?.advice ?? 'enable the IOMMU (AMD-Vi, VT-d or SMMU) in the firmware'),
  }
}

const vfio = async (io: HostIo, sysfsRoot: string): Promise<Passable> =>
  (await listed(io, `${sysfsRoot}/bus/pci/drivers`)).includes(VFIO)
    ? fine(VFIO, 'loaded')
    : {
        verdict: 'warning',
        about: VFIO,
        says: 'not loaded',
        advice: 'modprobe vfio-pci; libvirt loads it itself where the module is installed',
      }

/** Pages that are set aside, by size in kB. */
const hugePages = async (io: HostIo, sysfsRoot: string): Promise<Passable> => {
  const folder = `${sysfsRoot}/kernel/mm/hugepages`
  const sizes: string[] = []
  for (const name of await listed(io, folder)) {
    const count = Number.parseInt((await readIfThere(io, `${folder}/${name}/nr_hugepages`)) ?? '0', 10)
    if (count > 0) sizes.push(`${count} of ${name.replace(/^hugepages-/, '')}`)
  }
  return sizes.length > 0
    ? fine('huge pages', sizes.join(', '))
    : {
        verdict: 'warning',
        about: 'huge pages',
        says: 'none are set aside: servers whose flavor has hw:mem_page_size=large do not start here',
        advice: 'set vm.nr_hugepages if such flavors are used, otherwise leave it',
      }
}

/** Functions that are handed on together: they share what isolates devices from each other. */
const groupOf = async (io: HostIo, sysfsRoot: string, address: string): Promise<string | null> =>
  (await io.link(`${pciFolder(sysfsRoot)}/${address}/iommu_group`))?.split('/').at(-1) ?? null

const whoDrives = ({ driver }: PciFunction): string =>
  driver === null ? 'no kernel driver' : `the kernel driver ${driver}`

/** Alone in its group. */
const alone = (found: PciFunction, group: string, { kept }: Offered): Passable => {
  const about = formatPciAddress(found.address)
  const says = `alone in IOMMU group ${group} but for what may go with it; ${whoDrives(found)}`
  if (found.driver === null || found.driver === VFIO || kept.has(about)) return fine(about, says)
  return {
    verdict: 'warning',
    about,
    says,
    advice: `libvirt takes it from ${found.driver} when a server starts, which fails or waits while this machine uses it; driverctl set-override ${about} ${VFIO} keeps it free for guests`,
  }
}

export type Offered = {
  /**
   * The addresses that drivers offer, each with the units that it belongs to: functions of one unit go to one guest
   * together. None: its parts are given away, and it stays with its kernel driver.
   */
  readonly offered: ReadonlyMap<string, ReadonlySet<string>>
  /** Of these, the ones that their kernel driver has to keep. */
  readonly kept: ReadonlySet<string>
}

const addressOf = ({ address }: PciFunction): string => formatPciAddress(address)
const isOfHost = ({ driver }: PciFunction): boolean => driver !== null && driver !== VFIO
const named = (functions: readonly PciFunction[]): string =>
  functions.map((one) => `${addressOf(one)} (${one.driver ?? 'no driver'})`).join(', ')

type Neighbours = {
  readonly group: string
  readonly others: readonly PciFunction[]
  /** The units of the function itself. */
  readonly own: ReadonlySet<string>
}
/** Why what shares the group keeps the function from being given away; null: nothing does. */
const sharedWith = (found: PciFunction, { group, others, own }: Neighbours, { offered }: Offered): Passable | null => {
  const about = addressOf(found)
  const unitsOf = (one: PciFunction): readonly string[] => [...(offered.get(addressOf(one)) ?? [])]
  // of a function whose parts are given away, the group does not matter to what else is offered
  const staying = others.filter(
    (one) => isOfHost(one) && unitsOf(one).length === 0 && !(own.size === 0 && offered.has(addressOf(one))),
  )
  const rivals =
    own.size === 0 ? [] : others.filter((one) => unitsOf(one).length > 0 && !unitsOf(one).some((unit) => own.has(unit)))
  if (staying.length > 0)
    return {
      verdict: 'problem',
      about,
      says: `it shares IOMMU group ${group} with ${named(staying)}: a guest gets all of a group or nothing`,
      advice:
        'move the card to a slot with a group of its own (its bridges must support ACS), or bind the others to vfio-pci and offer nothing else of the group',
    }
  if (rivals.length === 0) return null
  return {
    verdict: 'problem',
    about,
    says: `it shares IOMMU group ${group} with ${named(rivals)}, which is offered as well: they cannot go to two guests`,
    advice:
      'move the card to a slot with a group of its own (its bridges must support ACS), or offer one of them only and bind the others to vfio-pci',
  }
}

/** `all`: the functions of the machine. */
const functionsPassable = async (
  io: HostIo,
  sysfsRoot: string,
  what: Offered,
  all: readonly PciFunction[],
): Promise<readonly Passable[]> => {
  const placed: { readonly found: PciFunction; readonly group: string | null }[] = []
  for (const found of all) placed.push({ found, group: await groupOf(io, sysfsRoot, addressOf(found)) })
  const groups = Map.groupBy(placed, ({ group }) => group)
  return placed.flatMap(({ found, group }): readonly Passable[] => {
    const about = addressOf(found)
    const own = what.offered.get(about)
    if (own === undefined) return []
    if (group === null)
      return [
        {
          verdict: 'problem',
          about,
          says: 'it is in no IOMMU group, so it cannot be given to a guest',
          advice: 'see IOMMU above',
        },
      ]
    const members = groups.get(group)!.map((one) => one.found)
    const others = members.filter((one) => one !== found && !one.class.startsWith(BRIDGE))
    return [sharedWith(found, { group, others, own }, what) ?? alone(found, group, what)]
  })
}

export const passableHere = async (
  io: HostIo,
  sysfsRoot: string,
  offered: Offered,
  all: readonly PciFunction[],
): Promise<readonly Passable[]> => [
  await iommu(io, sysfsRoot),
  await vfio(io, sysfsRoot),
  await hugePages(io, sysfsRoot),
  ...(await functionsPassable(io, sysfsRoot, offered, all)),
]
