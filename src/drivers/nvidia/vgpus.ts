/** The vGPUs of a host: which functions are divided, and making and removing single vGPUs. */
import { likeness } from '../../vocabulary/card.ts'
import type { HandleUuid } from '../../vocabulary/identifiers.ts'
import { formatPciAddress, parsePciAddress, pciAddressOf, type PciAddress } from '../../vocabulary/pci.ts'
import { textOf } from '../../vocabulary/errorText.ts'
import { NVIDIA_KIND } from '../cards/cardKinds.ts'
import type { Lookup } from '../cards/knownCards.ts'
import type { HostIo, InUse, LeftOut, Slot } from '../driver.ts'
import { cardNow } from '../pci/cards.ts'
import { presentFunction } from '../pci/passThrough.ts'
import { unreachable } from '../pci/ruleOfUse.ts'
import { type PciFunction, readPciFunctions } from '../pci/sysfs.ts'
import { type Division, divisionOf, setVfioType, vfioId, vfioTypeNow } from './division.ts'
import { type Made, type MadeDevices, madeFile, withMade, withoutMade } from './madeDevices.ts'
import { createMdev, mdevsOf, removeMdev } from '../pci/mdevFolder.ts'
import { VGPU_TYPE } from './vgpuOptions.ts'
import { handlesOf, isUsedUp, type Vgpu, withinCards } from './vgpuReport.ts'

export type VgpusOptions = {
  readonly sysfsRoot: string
  readonly known: Lookup
  /** The type of vGPU by canonical address (`readVgpuOptions`). */
  readonly typeAt: ReadonlyMap<string, string>
  /** By type, how many vGPUs one card can hold (`readVgpuOptions`). */
  readonly most: ReadonlyMap<string, number>
}
type WantedVgpu = { readonly address: PciAddress; readonly type: string; readonly mark: string }

const mineAt = ({ made }: MadeDevices, address: string, type: string): ReadonlyMap<string, Made> =>
  new Map(Object.entries(made).filter(([, one]) => one.address === address && one.type === type))
/** Only mediated devices have a mark. */
const isMdev = ({ mark }: Made): boolean => mark !== ''
const addressIn = ({ address }: Made): PciAddress => {
  const read = parsePciAddress(address)
  if (read === null) throw new Error(`${address}: is not a PCI address`)
  return read
}

export class Vgpus {
  readonly #options: VgpusOptions
  readonly #file = madeFile(NVIDIA_KIND.driver)
  /** The type of vGPU by address, of those that are made. */
  #left: ReadonlyMap<string, string> = new Map()

  constructor(options: VgpusOptions) {
    this.#options = options
  }

  /** As of the last look: a function of which vGPUs are left is never given as a whole. */
  readonly isDivided = (address: PciAddress): boolean =>
    this.#options.typeAt.has(formatPciAddress(address)) || this.#left.has(formatPciAddress(address))

  /** The divided functions of the host. Remembers what their types are called. */
  async look(io: HostIo): Promise<readonly Vgpu[]> {
    const { sysfsRoot, known, typeAt: configured } = this.#options
    const state = await this.#file.read(io)
    this.#left = new Map(Object.values(state.made).map(({ address, type }) => [address, type]))
    const typeAt = new Map([...this.#left, ...configured])
    const names = new Map(Object.entries(state.names))
    const vgpus: Vgpu[] = []
    for (const found of await readPciFunctions(io, sysfsRoot)) {
      const address = formatPciAddress(found.address)
      const [type, offer] = [typeAt.get(address), NVIDIA_KIND.offer(found, known(found))]
      if (type === undefined || offer === null) continue
      const division = await this.#divisionOf(io, found, type)
      const said = division.how === 'mdev' ? division.type.name : division.how === 'vfio' ? division.name : null
      if (said !== null) names.set(type, said)
      const [name, mine] = [names.get(type) ?? type, mineAt(state, address, type)]
      vgpus.push({ found, offer, type, division, name, mine, isClosed: !configured.has(address), most: Infinity })
    }
    if (names.size > 0) await this.#file.change(io, ({ made }) => ({ made, names: Object.fromEntries(names) }))
    return withinCards(vgpus, this.#options.most)
  }

  async #divisionOf(io: HostIo, found: PciFunction, type: string): Promise<Division> {
    const reason = unreachable(found)
    return reason === null ? divisionOf(io, this.#options.sysfsRoot, found.address, type) : { how: 'not', reason }
  }

  /** What a slot of a vGPU asks for; null: it is a slot of a whole GPU. */
  askedFor(slot: Slot): WantedVgpu | null {
    const address = pciAddressOf(slot.info)
    if (address === null) throw new Error(`slot ${slot.uuid}: info must hold a PCI address`)
    const { asked_type: asked = '', vgpu_mark: mark = '' } = slot.info
    if (slot.type !== 'MDEV') {
      const type = this.#options.typeAt.get(formatPciAddress(address))
      return type === undefined ? null : { address, type, mark: '' }
    }
    if (!VGPU_TYPE.test(asked) || mark === '')
      throw new Error(`slot ${slot.uuid}: info must name asked_type and vgpu_mark`)
    return { address, type: asked, mark }
  }

  async prepare(io: HostIo, slot: Slot, { address, type, mark }: WantedVgpu): Promise<void> {
    // whatever the type of the slot, its function must be there
    await presentFunction(io, this.#options.sysfsRoot, { ...slot, type: 'PCI', info: { ...address } })
    const at = formatPciAddress(address)
    const card = await cardNow(io, this.#options.sysfsRoot, at)
    const one: Made = { address: at, type, mark, ...(card ? { card } : {}) }
    const noted = (await this.#file.read(io)).made[slot.uuid]
    if (noted === undefined && !isMdev(one) && (await this.#isMade(io, slot.uuid, one)))
      throw new Error(`slot ${slot.uuid}: ${one.address} is a vGPU already, which somebody else made`)
    await this.#file.change(io, (before) => withMade(before, slot.uuid, one))
    try {
      await this.#make(io, slot.uuid, one)
    } catch (error) {
      if (!(await this.#isMade(io, slot.uuid, one)))
        await this.#file.change(io, (before) => withoutMade(before, slot.uuid))
      throw error
    }
  }

  /** Removes only what was made for this slot: the function may be another one's by now. */
  async release(io: HostIo, slot: Slot): Promise<void> {
    const { sysfsRoot } = this.#options
    const one = (await this.#file.read(io)).made[slot.uuid]
    if (one !== undefined)
      await this.#file.change(io, (before) => withMade(before, slot.uuid, { ...one, leaving: true }))
    // a card that is not here any more has taken its vGPUs with it
    const now = one && (await this.#placed(io, one))
    const asked = slot.type === 'MDEV' && one?.card === undefined ? this.askedFor(slot) : null
    const mdev = asked ?? (slot.type === 'MDEV' && now ? { ...now, address: addressIn(now) } : null)
    if (mdev !== null) await removeMdev(io, { sysfsRoot, ...mdev }, slot.uuid)
    else if (slot.type !== 'MDEV' && now && (await this.#isMade(io, slot.uuid, now)))
      await setVfioType(io, sysfsRoot, addressIn(now), null)
    if (one !== undefined) await this.#file.change(io, (before) => withoutMade(before, slot.uuid))
  }

  /**
   * Makes again what this driver had made, on the card on which it was, but for what is being released. What cannot be
   * made is logged. Whether all is made.
   */
  async restore(io: HostIo, signal: AbortSignal): Promise<boolean> {
    let whole = true
    for (const [uuid, one] of Object.entries((await this.#file.read(io)).made)) {
      signal.throwIfAborted()
      if (one.leaving) continue
      try {
        const now = await this.#placed(io, one)
        if (now === null) throw new Error(`another card is at ${one.address}, and the one of this vGPU is not found`)
        if (now !== one) await this.#file.change(io, (before) => withMade(before, uuid, now))
        await this.#make(io, uuid, now)
      } catch (error) {
        whole = false
        io.warn('vgpu_not_restored', { uuid, address: one.address, type: one.type, reason: textOf(error) })
      }
    }
    return whole
  }

  /** The same vGPU at the address that its card has now; null: another card has its place, and its own is not found. */
  async #placed(io: HostIo, one: Made): Promise<Made | null> {
    const { sysfsRoot } = this.#options
    const { card } = one
    const compared = async (address: string) => {
      const there = card && (await cardNow(io, sysfsRoot, address))
      return there ? likeness(card, there) : 'alike'
    }
    const there = await compared(one.address)
    if (card === undefined || there === 'same') return one
    const found: string[] = []
    for (const { address } of await readPciFunctions(io, sysfsRoot))
      if ((await compared(formatPciAddress(address))) === 'same') found.push(formatPciAddress(address))
    if (found.length === 1) return { ...one, address: found[0]! }
    return there === 'other' ? null : one
  }
  async #make(io: HostIo, uuid: HandleUuid, one: Made): Promise<void> {
    const { sysfsRoot } = this.#options
    const address = addressIn(one)
    if (isMdev(one)) return createMdev(io, { sysfsRoot, address, type: one.type }, uuid)
    const now = await vfioTypeNow(io, sysfsRoot, address)
    if (now === vfioId(one.type)) return
    if (now !== null) throw new Error(`${one.address} is a vGPU of type ${now} already, and not of ${one.type}`)
    await setVfioType(io, sysfsRoot, address, one.type)
  }
  async #isMade(io: HostIo, uuid: HandleUuid, one: Made): Promise<boolean> {
    const { sysfsRoot } = this.#options
    return isMdev(one)
      ? (await mdevsOf(io, { sysfsRoot, address: addressIn(one), type: one.type })).includes(uuid)
      : (await vfioTypeNow(io, sysfsRoot, addressIn(one))) === vfioId(one.type)
  }
}

/** Divided functions that cannot be used, and vGPUs that nobody knows. Pure. */
export const vgpusLeftOut = (vgpus: readonly Vgpu[]): readonly LeftOut[] =>
  vgpus.flatMap((vgpu): readonly LeftOut[] => {
    const { found, division, mine, type } = vgpu
    const address = formatPciAddress(found.address)
    if (division.how === 'not') return [{ address, reason: division.reason }]
    if (division.how === 'vfio' && division.isMade && mine.size === 0)
      return [{ address, reason: 'it is a vGPU that somebody else made, or a leftover' }]
    if (isUsedUp(vgpu))
      return [{ address, reason: `gpu_devices.max_instances: other functions of its card give all vGPUs of ${type}` }]
    if (division.how === 'mdev' && handlesOf(vgpu).length === 0 && division.type.made.length === 0)
      return [{ address, reason: `no vGPU of ${type} can be made now: vGPUs of other types use what it needs` }]
    const foreign = division.how === 'mdev' ? division.type.made.filter((uuid) => !mine.has(uuid)) : []
    return foreign.map((uuid) => ({
      address,
      reason: `mediated device ${uuid} was made by somebody else, or is a leftover`,
    }))
  })

/** The driver's own vGPUs that exist. It is unknown which handle a vGPU of another program uses up. Pure. */
export const vgpusInUse = (vgpus: readonly Vgpu[]): readonly InUse[] =>
  vgpus.flatMap((vgpu) => {
    const { division, mine } = vgpu
    const handles = handlesOf(vgpu)
    if (division.how === 'vfio' && division.isMade && mine.size > 0)
      return handles.map(({ type, info }) => ({ type, info, by: 'its vGPU exists' }))
    const made = division.how === 'mdev' ? division.type.made : []
    return [...mine].flatMap(([uuid, { mark }]) =>
      handles
        .filter(({ info }) => made.includes(uuid) && info['vgpu_mark'] === mark)
        .map(({ type, info }) => ({ type, info, by: `mediated device ${uuid}` })),
    )
  })
