/**
 * Recognizes, by their names, the providers that Nova makes for PCI functions that it tracks itself (placement 6.3).
 * Pure.
 */
import { formatPciAddress, parsePciAddress } from '../../vocabulary/pci.ts'
import type { Provider } from './port.ts'

/** The trait of every provider of a function that Nova passes through. */
export const MANAGED_TRAIT = 'COMPUTE_MANAGED_PCI_DEVICE'

/**
 * Names end with a function that Nova passes through, in upper case, or with one that it divides into mediated devices,
 * as libvirt names it.
 */
const PASSED = /_([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])$/i
const DIVIDED = /_pci_([0-9a-f]{4,8})_([0-9a-f]{2})_([0-9a-f]{2})_([0-7])$/i

export type OfNova = {
  readonly provider: Provider
  /** The PCI address as sysfs names it. */
  readonly function: string
  readonly use: 'passed' | 'divided'
}

/** Null: the name does not have the form of Nova's names. */
export const ofNova = (provider: Provider): OfNova | null => {
  const [, passed] = PASSED.exec(provider.name) ?? []
  const [, domain, bus, device, fn] = DIVIDED.exec(provider.name) ?? []
  const address = parsePciAddress(passed ?? `${domain}:${bus}:${device}.${fn}`)
  return address && { provider, function: formatPciAddress(address), use: passed === undefined ? 'divided' : 'passed' }
}
