/**
 * Whether this machine can pass functions on to guests: what operators ask first when a server with an accelerator does
 * not start. Reads only what the kernel says; nothing is changed.
 */
import { formatPciAddress } from '../vocabulary/pci.ts'
import type { HostIo } from './driver.ts'
import { listed, readIfThere } from './files.ts'
import { named, sharing } from './pci/iommuGroups.ts'
import type { PciFunction } from './pci/sysfs.ts'

export type Passable = {
  readonly verdict: 'ok' | 'warning' | 'problem'
  /** What was looked at: a function's address, or a part of the machine. */
  readonly about: string
  readonly says: string
  /** What to do; null where nothing is wrong. */
  readonly advice: string | null
}

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

const whoDrives = ({ driver }: PciFunction): string =>
  driver === null ? 'no kernel driver' : `the kernel driver ${driver}`

/**
 * NVIDIA's GPUs whose memory is coherent with that of the processor (GH200, GB200, GB300). With vfio-pci a guest does
 * not get that memory.
 */
const COHERENT = new Set(['2342', '2345', '2348', '2941', '31c2', '31c3'])
const COHERENT_DRIVER = 'nvgrace-gpu-vfio-pci'
const isCoherent = ({ vendor, product }: PciFunction): boolean => vendor === '10de' && COHERENT.has(product)

/** Alone in its group. */
const alone = (found: PciFunction, group: string, { kept }: Offered): Passable => {
  const about = formatPciAddress(found.address)
  const says = `alone in IOMMU group ${group} but for what may go with it; ${whoDrives(found)}`
  if (isCoherent(found) && found.driver === VFIO)
    return {
      verdict: 'warning',
      about,
      says: `${says}, with which a guest does not get its memory`,
      advice: `bind it to ${COHERENT_DRIVER}`,
    }
  if (found.driver === null || found.isForGuests || kept.has(about)) return fine(about, says)
  const wanted = isCoherent(found) ? COHERENT_DRIVER : VFIO
  return {
    verdict: 'warning',
    about,
    says,
    advice: `libvirt takes it from ${found.driver} when a server starts, which fails or waits while this machine uses it; driverctl set-override ${about} ${wanted} keeps it free for guests`,
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
/** What is offered of the group besides, and goes to another guest; null: nothing. */
const rivalsOf = (found: PciFunction, all: readonly PciFunction[], { offered }: Offered): Passable | null => {
  const about = addressOf(found)
  const own = offered.get(about) ?? new Set<string>()
  const unitsOf = (one: PciFunction): readonly string[] => [...(offered.get(addressOf(one)) ?? [])]
  const rivals =
    own.size === 0
      ? []
      : sharing(found, all).filter((one) => unitsOf(one).length > 0 && !unitsOf(one).some((unit) => own.has(unit)))
  if (rivals.length === 0) return null
  return {
    verdict: 'problem',
    about,
    says: `it shares IOMMU group ${found.group} with ${named(rivals)}, which is offered as well: they cannot go to two guests`,
    advice:
      'move the card to a slot with a group of its own (its bridges must support ACS), or offer one of them only and bind the others to vfio-pci',
  }
}

/** `all`: the functions of the machine. Drivers have left out what shares a group with a function of the machine. */
const functionsPassable = (what: Offered, all: readonly PciFunction[]): readonly Passable[] =>
  all
    .filter((found) => what.offered.has(addressOf(found)))
    .map((found): Passable => {
      const about = addressOf(found)
      if (found.group !== null) return rivalsOf(found, all, what) ?? alone(found, found.group, what)
      const says = 'it is in no IOMMU group, so it cannot be given to a guest'
      return { verdict: 'problem', about, says, advice: 'see IOMMU above' }
    })

export const passableHere = async (
  io: HostIo,
  sysfsRoot: string,
  offered: Offered,
  all: readonly PciFunction[],
): Promise<readonly Passable[]> => [
  await iommu(io, sysfsRoot),
  await vfio(io, sysfsRoot),
  await hugePages(io, sysfsRoot),
  ...functionsPassable(offered, all),
]
