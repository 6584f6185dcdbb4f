/**
 * What the kernel tells of any PCI function: error counters (AER), sensors (hwmon) and the state of its link. Reading
 * them changes nothing, and works while the function is given to a guest; sensors are those of the kernel driver, so
 * they are missing then.
 */
import { messageOf } from '../../errorText.ts'
import type { Numbers, Quantity } from '../../health.ts'
import { jsonIn } from '../../jsonText.ts'
import { formatPciAddress, type PciAddress, pciAddressOf } from '../../pci.ts'
import type { Driver, HostIo, Measured } from '../driver.ts'
import { listed } from '../files.ts'
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
    if (!files.includes(file)) continue
    const text = await io.read(`${folder}/${file}`).catch(() => '')
    const [, counted] = new RegExp(`^${total} (\\d{1,15})$`, 'm').exec(text) ?? []
    if (counted !== undefined) numbers[quantity] = Number(counted)
  }
  return numbers
}

const MILLI = 1000
const LINKS = ['current_link_speed', 'max_link_speed', 'current_link_width', 'max_link_width'] as const
/** An idle link may run slowly on purpose, so a slow link is only a warning. */
const linkOf = async (io: HostIo, folder: string, files: readonly string[]): Promise<Numbers> => {
  if (!LINKS.every((file) => files.includes(file))) return {}
  const [speed, maxSpeed, width, maxWidth] = await Promise.all(LINKS.map((file) => readNumber(io, `${folder}/${file}`)))
  if (!speed || !maxSpeed || !width || !maxWidth) return {}
  return { link_reduced: speed < maxSpeed || width < maxWidth ? 1 : 0 }
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

/** Null: the host does not have the function. */
export const pciNumbers = async (io: HostIo, sysfsRoot: string, address: PciAddress): Promise<Numbers | null> => {
  const folder = `${pciFolder(sysfsRoot)}/${formatPciAddress(address)}`
  const files = await listed(io, folder)
  if (files.length === 0) return null
  return {
    ...(await errorsOf(io, folder, files)),
    ...(await linkOf(io, folder, files)),
    ...(await sensorsOf(io, folder, files)),
  }
}

type Measure = NonNullable<Driver['measure']>

/** What the tool of a vendor tells, by PCI address (`dddd:bb:dd.f`); `complaint`: why it could not tell all. */
export type ToolNumbers = { readonly numbers: ReadonlyMap<string, Numbers>; readonly complaint?: string }
export type Tool = (io: HostIo, signal: AbortSignal) => Promise<ToolNumbers>
const noTool: Tool = async () => ({ numbers: new Map() })
/** The tool as its program tells. A host whose cards are all given to guests need not have the program. */
export const createTool =
  (ask: (io: HostIo, signal: AbortSignal) => Promise<ToolNumbers['numbers']>): Tool =>
  async (io, signal) => {
    try {
      return { numbers: await ask(io, signal) }
    } catch (error) {
      const complaint = messageOf(error)
      return { numbers: new Map(), ...(complaint.includes('ENOENT') ? {} : { complaint }) }
    }
  }

/**
 * Measures devices whose control path is a PCI function: what the kernel tells of them, and over that what the tool
 * tells.
 */
export const measuresPci =
  (sysfsRoot: string, tool: Tool = noTool): Measure =>
  async (io, controlPaths, signal) => {
    const devices: Measured['devices'][number][] = []
    const { numbers: ofTool, complaint } = controlPaths.length > 0 ? await tool(io, signal) : await noTool(io, signal)
    for (const controlPath of controlPaths) {
      signal.throwIfAborted()
      const address = pciAddressOf(jsonIn(controlPath))
      const numbers = address && (await pciNumbers(io, sysfsRoot, address))
      if (!address || !numbers) continue
      devices.push({ controlPath, numbers: { ...numbers, ...ofTool.get(formatPciAddress(address)) } })
    }
    return { devices, ...(complaint === undefined ? {} : { complaint }) }
  }
