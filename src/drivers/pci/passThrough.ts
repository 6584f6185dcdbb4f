/**
 * What every driver does that hands whole PCI functions to guests: a bind changes nothing on the host, so there is
 * little to do but to look whether the function may be given away now (`ruleOfUse.ts`).
 */
import { type PciAddress, formatPciAddress, pciAddressOf, pciInfo } from '../../vocabulary/pci.ts'
import type { ReportedHandle } from '../../vocabulary/hardware.ts'
import type { Driver, HostIo, Slot } from '../driver.ts'
import { usesIn } from './inUse.ts'
import { type RuleOfUse, ruleOfUse, type Terms } from './ruleOfUse.ts'
import { isPresent, type PciFunction, readPciFunctions } from './sysfs.ts'

/** The attach handle of a function, with its physical function if it is a virtual one. */
export const passedHandle = ({ address, physfn }: Pick<PciFunction, 'address' | 'physfn'>): ReportedHandle => ({
  type: 'PCI',
  info: pciInfo(address),
  ...(physfn ? { physfn: formatPciAddress(physfn) } : {}),
})

/** Neutron's ports name the network; Nova reads it from the handle. Null: the function is in none. */
export const withNetwork = (info: ReportedHandle['info'], network: string | null): ReportedHandle['info'] =>
  network === null ? info : { ...info, physical_network: network }

/** The function that a slot attaches. Throws when the slot is none of a PCI function, or the host does not have it. */
export const presentFunction = async (io: HostIo, sysfsRoot: string, slot: Slot): Promise<PciAddress> => {
  const address = pciAddressOf(slot.info)
  if (slot.type !== 'PCI' || address === null) throw new Error(`slot ${slot.uuid}: info must be a PCI address`)
  if (!(await isPresent(io, sysfsRoot, address)))
    throw new Error(`slot ${slot.uuid}: no PCI device ${formatPciAddress(address)} on ${io.hostname}`)
  return address
}

/** What a driver knows of a function, among all of the host. */
export type TermsOf = (io: HostIo, found: PciFunction, all: readonly PciFunction[]) => Terms | Promise<Terms>

export type PassThrough = Required<Pick<Driver, 'prepare' | 'release' | 'inUse'>> & {
  /** The functions that are offered now; the driver says so with each discovery. */
  readonly offer: (functions: readonly PciAddress[]) => void
  readonly whyNot: RuleOfUse['whyNot']
}
export const passThrough = (sysfsRoot: string, termsOf: TermsOf = () => ({})): PassThrough => {
  let offered: readonly PciAddress[] = []
  const rule = ruleOfUse(sysfsRoot)
  /** Why the function is not given to the guest of a slot now; null: it is. */
  const refusal = async (io: HostIo, slot: Slot, address: string): Promise<string | null> => {
    const all = await readPciFunctions(io, sysfsRoot)
    const at = (wanted: string) => all.find((one) => formatPciAddress(one.address) === wanted)
    const found = at(address)
    if (found === undefined) return null
    const terms = await termsOf(io, found, all)
    const given = slot.again ? { ...terms, kept: null } : terms
    const why = await (await rule.whyNot(io, all, true))(found, given)
    // its guest may have it already
    if (why !== null || slot.again) return why
    const { opened } = usesIn(io, sysfsRoot, all)
    const above = found.physfn === null ? terms.above : at(formatPciAddress(found.physfn))
    // of the physical function only itself counts: another virtual one of it is another guest's
    const ofAbove = above === undefined ? null : await usesIn(io, sysfsRoot, [above]).opened(above)
    const what = found.physfn === null ? 'the management function of its card' : 'its physical function'
    return (await opened(found)) ?? (ofAbove === null ? null : `${what}: ${ofAbove}`)
  }
  return {
    offer: (functions) => void (offered = functions),
    whyNot: rule.whyNot,
    prepare: async (io, slot, signal) => {
      signal.throwIfAborted()
      const address = formatPciAddress(await presentFunction(io, sysfsRoot, slot))
      const why = await refusal(io, slot, address)
      if (why !== null) throw new Error(`slot ${slot.uuid}: ${address} is not given to a guest: ${why}`)
    },
    release: async () => {},
    inUse: (io) => rule.inUse(io, offered),
  }
}
