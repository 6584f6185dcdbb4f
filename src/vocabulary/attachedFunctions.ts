/**
 * Decides which attach handles are the same hardware: both attach the same function, or one attaches a physical
 * function and the other one of its virtual functions. Such handles are never given to two requests at the same time
 * (data-model R7). Pure.
 */
import type { HandleType } from './hardware.ts'
import { canonicalInfo, formatPciAddress, parsePciAddress, pciAddressOf } from './pci.ts'

export type Attaching = {
  readonly type: HandleType
  readonly info: Readonly<Record<string, string>>
  /** For a virtual function: the address of its physical function. */
  readonly physfn?: string
}

/** A PCI function as `dddd:bb:dd.f`; anything else in its canonical form. */
export const functionOf = ({ type, info }: Attaching): string => {
  const address = type === 'PCI' ? pciAddressOf(info) : null
  return address ? formatPciAddress(address) : `${type}:${canonicalInfo(info)}`
}
/**
 * The functions that are divided when this handle is attached: the physical function of a virtual one, and the function
 * of a mediated device. No other request may have such a function as a whole.
 */
export const dividedBy = ({ type, info, physfn }: Attaching): readonly string[] => {
  const address = type === 'MDEV' ? pciAddressOf(info) : null
  return [...(physfn === undefined ? [] : [physfn]), ...(address === null ? [] : [formatPciAddress(address)])]
}
/** The canonical spelling of an address; null: the text is not an address. */
export const canonicalAddress = (text: string): string | null => {
  const address = parsePciAddress(text)
  return address && formatPciAddress(address)
}

/**
 * Records which owner attaches which functions. Several owners may have the same one, because earlier records may have
 * been wrong.
 */
export type Claims = {
  readonly add: (owner: string, handles: readonly Attaching[]) => void
  /** Describes a function of these handles that another owner has; null: there is none. */
  readonly against: (owner: string, handles: readonly Attaching[]) => string | null
}

type Owners = Map<string, Set<string>>
const note = (owners: Owners, what: string, owner: string) =>
  void owners.set(what, (owners.get(what) ?? new Set<string>()).add(owner))
const ownedByOther = (owners: Owners, what: string, owner: string): boolean =>
  [...(owners.get(what) ?? [])].some((one) => one !== owner)

export const openClaims = (): Claims => {
  const [functions, divided]: [Owners, Owners] = [new Map(), new Map()]
  const wrong = (owner: string, handle: Attaching): string | null => {
    const own = functionOf(handle)
    if (ownedByOther(functions, own, owner)) return `function ${own} is offered or attached already`
    if (ownedByOther(divided, own, owner)) return `parts of function ${own} are offered or attached already`
    const whole = dividedBy(handle).find((parent) => ownedByOther(functions, parent, owner))
    return whole === undefined ? null : `function ${whole}, of which ${own} is a part, is offered or attached already`
  }
  return {
    add: (owner, handles) => {
      for (const handle of handles) {
        note(functions, functionOf(handle), owner)
        for (const parent of dividedBy(handle)) note(divided, parent, owner)
      }
    },
    against: (owner, handles) => {
      for (const handle of handles) {
        const reason = wrong(owner, handle)
        if (reason !== null) return reason
      }
      return null
    },
  }
}
