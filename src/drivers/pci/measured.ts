/**
 * What the kernel tells of any PCI function: whether it answers, error counters (AER), sensors (hwmon) and the state of
 * its link. Reading them changes nothing, and works while the function is given to a guest; sensors are those of the
 * kernel driver, so they are missing then.
 */
import type { Numbers, Quantity } from '../../vocabulary/health.ts'
import { jsonIn } from '../../vocabulary/jsonText.ts'
import { formatPciAddress, type PciAddress, pciAddressOf } from '../../vocabulary/pci.ts'
import type { Driver, HostIo, Measured } from '../driver.ts'
import { listed } from '../files.ts'
import { answers, CONFIG_FILE } from './configSpace.ts'
import { counted, type PortErrors, type PortMemory, portErrorsOf } from './portErrors.ts'
import { pciFolder } from './sysfs.ts'

/** The last number of a text, or null: `TOTAL_ERR_FATAL 0`, `45000`, `8.0 GT/s PCIe` (its first one). */
const numberIn = (text: string): number | null => {
  const [found] = /-?\d{1,15}(?:\.\d{1,9})?/.exec(text) ?? []
  return found === undefined ? null : Number(found)
}
/** Null also when the file cannot be read now: sensors answer with an error while their device sleeps. */
const readNumber = async (io: HostIo, path: string): Promise<number | null> => {
  try {
    return numberIn(await io.read(path))
  } catch {
    return null
  }
}

const COUNTERS = [
  ['aer_dev_fatal', 'TOTAL_ERR_FATAL', 'pci_fatal_errors'],
  ['aer_dev_nonfatal', 'TOTAL_ERR_NONFATAL', 'pci_nonfatal_errors'],
  ['aer_dev_correctable', 'TOTAL_ERR_COR', 'pci_correctable_errors'],
] as const satisfies readonly (readonly [file: string, total: string, quantity: Quantity])[]

const errorsOf = async (io: HostIo, folder: string, files: readonly string[]): Promise<Numbers> => {
  const numbers: Partial<Record<Quantity, number>> = {}
  for (const [file, total, quantity] of COUNTERS) {
    const count = files.includes(file) ? await counted(io, `${folder}/${file}`, total) : null
    if (count !== null) numbers[quantity] = count
  }
  return numbers
}
/** The same, with what only the ports above the function have counted. */
const withPortErrors = ({ pci_fatal_errors: own, ...others }: Numbers, ports: PortErrors): Numbers => ({
  ...others,
  ...((own !== undefined || ports.own !== undefined) && { pci_fatal_errors: (own ?? 0) + (ports.own ?? 0) }),
  ...(ports.shared > 0 && { pci_shared_fatal_errors: ports.shared }),
})

const MILLI = 1000
const LINKS = ['current_link_speed', 'max_link_speed', 'current_link_width', 'max_link_width'] as const
type Link = { readonly isNarrow: boolean; readonly isSlow: boolean }
const linkOf = async (io: HostIo, folder: string, files: readonly string[]): Promise<Link | null> => {
  if (!LINKS.every((file) => files.includes(file))) return null
  const [speed, maxSpeed, width, maxWidth] = await Promise.all(LINKS.map((file) => readNumber(io, `${folder}/${file}`)))
  if (!speed || !maxSpeed || !width || !maxWidth) return null
  return { isNarrow: width < maxWidth, isSlow: speed < maxSpeed }
}
/** GPUs lower the speed of their link while they are idle, and so do those that the kernel calls processing units. */
const slowsDown = async (io: HostIo, folder: string): Promise<boolean> => {
  const [pciClass, vendor] = await Promise.all(
    ['class', 'vendor'].map((file) => io.read(`${folder}/${file}`).catch(() => '')),
  )
  return pciClass!.startsWith('0x03') || (pciClass!.startsWith('0x12') && vendor!.startsWith('0x1002'))
}
/** A slow link of a GPU that is not known to be busy says nothing. */
const linkNumbers = async (
  io: HostIo,
  folder: string,
  link: Link | null,
  busy: number | undefined,
): Promise<Numbers> => {
  if (link === null) return {}
  const isReduced = link.isNarrow || (link.isSlow && (busy! > 0 || !(await slowsDown(io, folder))))
  return { link_reduced: isReduced ? 1 : 0 }
}

/** `hwmon` lies below the function, or below what its kernel driver made of it, as `nvme/nvme0`. */
const sensorFolders = async (io: HostIo, folder: string, files: readonly string[]): Promise<readonly string[]> => {
  const controllers = files.includes('nvme') ? await listed(io, `${folder}/nvme`) : []
  const below = controllers.map((name) => `${folder}/nvme/${name}`)
  const direct = await Promise.all(
    [folder, ...below].map(async (parent) =>
      (await listed(io, `${parent}/hwmon`)).map((name) => `${parent}/hwmon/${name}`),
    ),
  )
  // newer kernels show it beside the other entries of the controller
  const beside = await Promise.all(
    below.map(async (parent) =>
      (await listed(io, parent)).filter((name) => /^hwmon\d+$/.test(name)).map((name) => `${parent}/${name}`),
    ),
  )
  return [...direct, ...beside].flat()
}
const sensorsOf = async (io: HostIo, folder: string, files: readonly string[]): Promise<Numbers> => {
  const [degrees, margins]: [number[], number[]] = [[], []]
  for (const sensors of await sensorFolders(io, folder, files)) {
    const names = await listed(io, sensors)
    for (const [, sensor] of names.flatMap((name) => [/^(temp\d+)_input$/.exec(name) ?? []])) {
      if (sensor === undefined) continue
      const is = await readNumber(io, `${sensors}/${sensor}_input`)
      if (is === null) continue
      degrees.push(is / MILLI)
      const critical = names.includes(`${sensor}_crit`) ? await readNumber(io, `${sensors}/${sensor}_crit`) : null
      // 0: the card names none
      if (critical !== null && critical > 0) margins.push((critical - is) / MILLI)
    }
  }
  return {
    ...(degrees.length > 0 && { temperature_celsius: Math.max(...degrees) }),
    ...(margins.length > 0 && { temperature_margin_celsius: Math.min(...margins) }),
  }
}

type Besides = {
  /** What the tool of the vendor tells, which comes first. */
  readonly ofTool?: Numbers | undefined
  readonly portErrors?: ReturnType<typeof portErrorsOf>
}
/** Null: the host does not have the function. */
const pciNumbers = async (
  io: HostIo,
  sysfsRoot: string,
  address: PciAddress,
  { ofTool = {}, portErrors = portErrorsOf(io, sysfsRoot) }: Besides = {},
): Promise<Numbers | null> => {
  const folder = `${pciFolder(sysfsRoot)}/${formatPciAddress(address)}`
  const files = await listed(io, folder)
  if (files.length === 0) return null
  const isThere = files.includes(CONFIG_FILE) ? await answers(io, sysfsRoot, address) : null
  return {
    ...(isThere !== null && { off_the_bus: isThere ? 0 : 1 }),
    ...withPortErrors(await errorsOf(io, folder, files), await portErrors(address)),
    ...(await linkNumbers(io, folder, await linkOf(io, folder, files), ofTool.utilisation_percent)),
    ...(await sensorsOf(io, folder, files)),
    ...ofTool,
  }
}

type Measure = NonNullable<Driver['measure']>

/** What the tool of a vendor tells, by PCI address (`dddd:bb:dd.f`); `complaint`: why it could not tell all. */
export type ToolNumbers = { readonly numbers: ReadonlyMap<string, Numbers>; readonly complaint?: string }
/** `servedBy`: the kernel driver of a card now, null: none. A tool sees only cards that its vendor's one serves. */
export type Tool = (
  io: HostIo,
  signal: AbortSignal,
  servedBy?: (address: string) => Promise<string | null>,
) => Promise<ToolNumbers>
const noTool: Tool = async () => ({ numbers: new Map() })

const VFIO = /vfio/
/**
 * Measures devices whose control path is a PCI function: what the kernel tells of them, and over that what the tool
 * tells. The tool is not asked on a host all of whose cards are kept for guests.
 */
export const measuresPci = (sysfsRoot: string, tool: Tool = noTool): Measure => {
  const memory: PortMemory = new Map()
  return async (io, controlPaths, signal) => {
    const devices: Measured['devices'][number][] = []
    const addresses = controlPaths.map((path) => pciAddressOf(jsonIn(path)))
    const servedBy = async (address: string) =>
      (await io.link(`${pciFolder(sysfsRoot)}/${address}/driver`))?.split('/').at(-1) ?? null
    const servers = await Promise.all(addresses.map(async (one) => one && servedBy(formatPciAddress(one))))
    const isSeen = servers.some((name) => !VFIO.test(name ?? ''))
    const { numbers: ofTool, complaint } = await (isSeen ? tool : noTool)(io, signal, servedBy)
    const portErrors = portErrorsOf(io, sysfsRoot, memory)
    for (const [at, controlPath] of controlPaths.entries()) {
      signal.throwIfAborted()
      const address = addresses[at] ?? null
      const numbers =
        address &&
        (await pciNumbers(io, sysfsRoot, address, { ofTool: ofTool.get(formatPciAddress(address)), portErrors }))
      if (numbers) devices.push({ controlPath, numbers })
    }
    return { devices, ...(complaint === undefined ? {} : { complaint }) }
  }
}
