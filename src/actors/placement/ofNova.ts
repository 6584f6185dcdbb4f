/** Providers that Nova makes of PCI functions it tracks itself, as their names tell (placement 6.3). Pure. */
import { formatPciAddress, parsePciAddress } from '../../pci.ts'
import type { Provider } from './port.ts'

/** Every provider of a function that Nova passes through carries it. */
export const MANAGED_TRAIT = 'COMPUTE_MANAGED_PCI_DEVICE'

/** A function that Nova passes through, in upper case; or one that it divides into mediated devices, as libvirt names it. */
const PASSED = /_([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])$/i
const DIVIDED = /_pci_([0-9a-f]{4,8})_([0-9a-f]{2})_([0-9a-f]{2})_([0-7])$/i

export type OfNova = {
  readonly provider: Provider
  /** As sysfs names it. */
  readonly function: string
  readonly use: 'passed' | 'divided'
}

/** Null: the name is not one that Nova gives. */
export const ofNova = (provider: Provider): OfNova | null => {
  const [, passed] = PASSED.exec(provider.name) ?? []
  const [, domain, bus, device, fn] = DIVIDED.exec(provider.name) ?? []
  const address = parsePciAddress(passed ?? `${domain}:${bus}:${device}.${fn}`)
  return address && { provider, function: formatPciAddress(address), use: passed === undefined ? 'divided' : 'passed' }
}
