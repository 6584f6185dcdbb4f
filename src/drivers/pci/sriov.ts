/**
 * Which functions of an SR-IOV device are offered: the physical function or its virtual ones, never both (data-model
 * R7). Pure. A guest that has the physical function controls the virtual ones, so that nobody else can have those.
 */
import { formatPciAddress } from '../../vocabulary/pci.ts'
import type { PciFunction } from './sysfs.ts'
import type { WhitelistEntry } from './whitelist.ts'

/** A function of the host, and the whitelist entry that takes it. */
type Taken = { readonly found: PciFunction; readonly entry: WhitelistEntry | null }

const parentOf = ({ physfn }: PciFunction): string | null => (physfn ? formatPciAddress(physfn) : null)

/**
 * All functions of the host, each with why it is left out although an entry takes it. A physical function that has
 * virtual ones, whitelisted or not, is offered only when its entry says `"mode": "pf"`, and then they are not.
 */
export const chooseFunctions = <One extends Taken>(
  all: readonly One[],
): readonly (One & { readonly leftOut: string | null })[] => {
  const divided = new Set(all.flatMap(({ found }) => parentOf(found) ?? []))
  const whole = new Set(
    all.flatMap(({ found, entry }) => {
      const address = formatPciAddress(found.address)
      return entry?.mode === 'pf' && divided.has(address) ? [address] : []
    }),
  )
  const leftOut = ({ found, entry }: Taken): string | null => {
    const [address, parent] = [formatPciAddress(found.address), parentOf(found)]
    if (entry === null) return null
    if (parent !== null && whole.has(parent)) return `its physical function ${parent} is offered as a whole`
    return divided.has(address) && !whole.has(address)
      ? 'it has virtual functions, and its whitelist entry does not have "mode": "pf"'
      : null
  }
  return all.map((one) => ({ ...one, leftOut: leftOut(one) }))
}
