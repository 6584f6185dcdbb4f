/** Where the functions of a card are when it is at another address: they keep their distances from each other. Pure. */
import { formatPciAddress, hexText, parsePciAddress, type PciAddress } from './pci.ts'

const numberOf = ({ bus, device, function: fn }: PciAddress): number =>
  (Number.parseInt(bus, 16) << 8) | (Number.parseInt(device, 16) << 3) | Number.parseInt(fn, 16)

/** Null: the addresses are of different domains, so neither says anything of the other. */
export const distanceFrom = (from: PciAddress, address: PciAddress): number | null =>
  from.domain === address.domain ? numberOf(address) - numberOf(from) : null

export const atDistance = (base: PciAddress, distance: number): PciAddress => {
  const number = numberOf(base) + distance
  return {
    domain: base.domain,
    bus: hexText((number >> 8) & 0xff, 2),
    device: hexText((number >> 3) & 0x1f, 2),
    function: hexText(number & 7, 1),
  }
}

const ADDRESSES = /[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]/gi
/** The address of the card in the name of a deployable; null: the name contains none. */
export const addressInName = (name: string): PciAddress | null => parsePciAddress(name.match(ADDRESSES)?.[0] ?? '')
/** Names of deployables contain the addresses of their functions. */
export const movedName = (name: string, from: PciAddress, to: PciAddress): string =>
  name.replaceAll(ADDRESSES, (text) => {
    const address = parsePciAddress(text)
    const distance = address && distanceFrom(from, address)
    return distance === null ? text : formatPciAddress(atDistance(to, distance))
  })
