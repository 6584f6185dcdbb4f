/**
 * What the card at a PCI address says of itself, for all drivers in one place: by it the control knows the card at
 * another address (data-model.md 11.4).
 *
 * CARDS-1 serial numbers leave the host as hashes only: they name a single thing that somebody owns, and the control
 *    only compares them;
 * CARDS-2 nothing here fails a discovery: what cannot be read, as without root, is not said;
 * CARDS-3 virtual functions are known by their physical function and their number on it;
 * CARDS-4 ids of namespaces are no marks of an NVMe drive, because cleaning may give it new ones.
 */
import { createHash } from 'node:crypto'
import type { Card } from '../../vocabulary/card.ts'
import type { ReportedDevice } from '../../vocabulary/hardware.ts'
import { jsonIn } from '../../vocabulary/jsonText.ts'
import { formatPciAddress, pciAddressOf } from '../../vocabulary/pci.ts'
import { addressInName } from '../../vocabulary/pciMoves.ts'
import type { Driver, HostIo } from '../driver.ts'
import { atMost } from '../files.ts'
import { addressInPath, pciFolder } from './sysfs.ts'

type Marks = Card['marks']
const CONFIG_BYTES = 4096
const EXTENDED = 0x100
const SERIAL_CAPABILITY = 0x0003
const LINKS_MAX = 64

/**
 * Pure. The Device Serial Number in a function's configuration space; null: it has none, or only the 64 bytes were read
 * that a program without root may see.
 */
const serialIn = (config: Uint8Array): string | null => {
  const view = new DataView(config.buffer, config.byteOffset, config.byteLength)
  for (let at = EXTENDED, n = 0; at >= EXTENDED && at + 12 <= view.byteLength && n < LINKS_MAX; n++) {
    const header = view.getUint32(at, true)
    if (header === 0 || header === 0xffffffff) return null
    if ((header & 0xffff) === SERIAL_CAPABILITY)
      return [view.getUint32(at + 8, true), view.getUint32(at + 4, true)]
        .map((half) => half.toString(16).padStart(8, '0'))
        .join('')
    at = (header >>> 20) & 0xffc
  }
  return null
}

const VPD_BYTES = 1024
const [VPD_READ_ONLY, VPD_END] = [0x90, 0x78]
/** Pure. The serial number (`SN`) in vital product data; null: there is none in what was read. */
const serialInVpd = (vpd: Uint8Array): string | null => {
  for (let at = 0; at + 3 <= vpd.length && vpd[at] !== VPD_END;) {
    const tag = vpd[at]!
    const [isLarge, small] = [(tag & 0x80) !== 0, tag & 0x07]
    const length = isLarge ? vpd[at + 1]! | (vpd[at + 2]! << 8) : small
    const from = at + (isLarge ? 3 : 1)
    if (tag === VPD_READ_ONLY) return fieldIn(vpd.subarray(from, from + length), 'SN')
    at = from + length
  }
  return null
}
const fieldIn = (fields: Uint8Array, wanted: string): string | null => {
  for (let at = 0; at + 3 <= fields.length;) {
    const name = String.fromCharCode(fields[at]!, fields[at + 1]!)
    const end = at + 3 + fields[at + 2]!
    if (name === wanted) return Buffer.from(fields.subarray(at + 3, end)).toString('latin1')
    at = end
  }
  return null
}

/** Numbers that makers leave in place of one: too short, or one character throughout. */
const isNumber = (text: string): boolean => /^[\x21-\x7e][\x20-\x7e]{3,99}$/.test(text) && !/^(.)\1*$/.test(text)
const hashed = (source: string, text: string): string =>
  createHash('sha256').update(`${source} ${text}`).digest('hex').slice(0, 32)

type Look = { readonly io: HostIo; readonly folder: string }
/** Null: it cannot be read now. */
const attempt = async <Value>(work: () => Promise<Value>): Promise<Value | null> => {
  try {
    return await work()
  } catch {
    return null
  }
}
const textAt = async (io: HostIo, path: string): Promise<string> => ((await attempt(() => io.read(path))) ?? '').trim()

const GPUS = '/proc/driver/nvidia/gpus'
/** By its name: where a number that only this card has is found. Of a driver only while it has the card. */
const SOURCES: Readonly<Record<string, (look: Look, address: string) => Promise<string | null>>> = {
  serial_number: async ({ io, folder }) =>
    serialIn((await attempt(() => io.head(`${folder}/config`, CONFIG_BYTES))) ?? new Uint8Array()),
  vpd: async ({ io, folder }) =>
    serialInVpd((await attempt(() => io.head(`${folder}/vpd`, VPD_BYTES))) ?? new Uint8Array()),
  nvme: async ({ io, folder }) => {
    const [name] = (await attempt(() => io.list(`${folder}/nvme`))) ?? []
    return name === undefined ? null : textAt(io, `${folder}/nvme/${name}/serial`)
  },
  gpu: async ({ io }, address) => {
    const name = ((await attempt(() => io.list(GPUS))) ?? []).find((one) => one.toLowerCase() === address)
    const text = name === undefined ? '' : await textAt(io, `${GPUS}/${name}/information`)
    return /^GPU UUID:\s*(GPU-[0-9a-f-]{36})\s*$/im.exec(text)?.[1] ?? null
  },
}

/** The functions of a card may have its number in common, so each adds its own. */
const marksOf = async (look: Look, address: string): Promise<Marks> => {
  const marks: Record<string, string> = {}
  for (const [source, find] of Object.entries(SOURCES)) {
    // reading vital product data is slow, and says nothing more
    if (source === 'vpd' && 'serial_number' in marks) continue
    const text = (await find(look, address))?.trim() ?? ''
    if (isNumber(text)) marks[source] = hashed(source, `${text} ${address.slice(-1)}`)
  }
  return marks
}

const idsOf = async ({ io, folder }: Look): Promise<Card['kind']> => {
  const read = async (one: string, other: string): Promise<string> => {
    const ids = [await textAt(io, `${folder}/${one}`), await textAt(io, `${folder}/${other}`)]
    return ids.every((id) => /^0x[0-9a-f]{4}$/i.test(id)) ? ids.map((id) => id.slice(2).toLowerCase()).join(':') : ''
  }
  const all = { pci: await read('vendor', 'device'), subsystem: await read('subsystem_vendor', 'subsystem_device') }
  return Object.fromEntries(Object.entries(all).filter(([, ids]) => ids !== ''))
}

/** For one discovery, or one look: each physical function is read once. */
const openCards = (io: HostIo, sysfsRoot: string) => {
  const folderOf = (address: string): string => `${pciFolder(sysfsRoot)}/${address}`
  const known = new Map<string, Promise<Marks>>()
  const marksAt = (address: string): Promise<Marks> => {
    const marks = known.get(address) ?? marksOf({ io, folder: folderOf(address) }, address)
    known.set(address, marks)
    return marks
  }
  const numbers = new Map<string, Promise<ReadonlyMap<string, string>>>()
  const partsOf = async (parent: string): Promise<ReadonlyMap<string, string>> => {
    const parts = new Map<string, string>()
    for (const name of (await attempt(() => io.list(folderOf(parent)))) ?? []) {
      const part = /^virtfn\d+$/.test(name) && addressInPath(await io.link(`${folderOf(parent)}/${name}`))
      if (part) parts.set(formatPciAddress(part), name)
    }
    return parts
  }
  const partOf = async (parent: string, address: string): Promise<Marks> => {
    const parts = numbers.get(parent) ?? partsOf(parent)
    numbers.set(parent, parts)
    const number = (await parts).get(address)
    if (number === undefined) return {}
    const marks = Object.entries(await marksAt(parent))
    return Object.fromEntries(marks.map(([source, mark]) => [source, hashed(source, `${mark} ${number}`)]))
  }
  return async (address: string): Promise<Card> => {
    const folder = folderOf(address)
    const above = addressInPath(await io.link(`${folder}/physfn`))
    const marks = above ? await partOf(formatPciAddress(above), address) : await marksAt(address)
    return { kind: await idsOf({ io, folder }), marks }
  }
}

/** What the card at an address says now; null: it cannot be read. */
export const cardNow = (io: HostIo, sysfsRoot: string, address: string): Promise<Card | null> =>
  attempt(() => openCards(io, sysfsRoot)(address))

const LOOKS_MAX = 16
/** The driver, which says of each device on the PCI bus what its card says of itself. */
export const withCards = (driver: Driver, sysfsRoot: string): Driver => ({
  ...driver,
  cardAt: async (io, deployable) => {
    const address = addressInName(deployable)
    return address && cardNow(io, sysfsRoot, formatPciAddress(address))
  },
  discover: async (io) => {
    const devices = await driver.discover(io)
    const inTurn = atMost(LOOKS_MAX)
    const cardAt = openCards(io, sysfsRoot)
    return Promise.all(
      devices.map((device) =>
        inTurn(async (): Promise<ReportedDevice> => {
          const { type, info } = device.controlPath
          const address = type === 'PCI' ? pciAddressOf(jsonIn(info)) : null
          const card = address && (await attempt(() => cardAt(formatPciAddress(address))))
          return card && Object.keys({ ...card.kind, ...card.marks }).length > 0 ? { ...device, card } : device
        }),
      ),
    )
  },
})
