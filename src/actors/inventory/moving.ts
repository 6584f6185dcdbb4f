/**
 * The addresses in what is recorded of a card, when the card is found at another address of its host, or when another
 * card is at its address. Pure.
 *
 * MOVING-1 the functions of a card keep their distances from each other, so that a move of its control path says where
 *    each of them is now;
 * MOVING-2 a card whose place another card has taken is at no address: its handles name none, so that nobody can attach
 *    the other card in its name.
 */
import { canonicalInfo, formatPciAddress, parsePciAddress, pciAddressOf, pciInfo } from '../../vocabulary/pci.ts'
import type { PciAddress } from '../../vocabulary/pci.ts'
import { atDistance, distanceFrom, movedName as nameMoved } from '../../vocabulary/pciMoves.ts'
import { jsonIn } from '../../vocabulary/jsonText.ts'
import type { ReportedDeployable } from '../../vocabulary/hardware.ts'
import type { DeviceUuid } from '../../vocabulary/identifiers.ts'

/** The member of a handle's info that stands for its address: the device, and the distance from its control path. */
const AWAY = 'away'

/** `from`, `to`: canonical control paths. `to` null: at no address. */
export type Move = { readonly device: DeviceUuid; readonly from: string; readonly to: string | null }
type Info = Readonly<Record<string, string>>

const addressAt = (canonical: string | null): PciAddress | null =>
  canonical === null ? null : pciAddressOf(jsonIn(canonical))
/** The info after the move; null: it names no address that moves. */
export const movedInfo = (info: Info, { device, from, to }: Move): Info | null => {
  const { domain: _d, bus: _b, device: _v, function: _f, [AWAY]: away, ...rest } = info
  const [address, was] = [pciAddressOf(info), addressAt(from)]
  const distance = address ? was && distanceFrom(was, address) : (/ (-?\d+)$/.exec(away ?? '')?.[1] ?? null)
  if (distance === null) return null
  const base = addressAt(to)
  return base
    ? { ...rest, ...pciInfo(atDistance(base, Number(distance))) }
    : { ...rest, [AWAY]: `${device} ${distance}` }
}
export const movedName = (name: string, { from, to }: Move): string => {
  const [was, is] = [addressAt(from), addressAt(to)]
  return was && is ? nameMoved(name, was, is) : name
}

type Attachable = Pick<ReportedDeployable['handles'][number], 'type' | 'info'> & { readonly physfn?: string }
/** Null: nothing of it moves. */
export const movedHandle = <One extends Attachable>(
  { physfn, ...handle }: One,
  move: Move,
): (Omit<One, 'physfn'> & { readonly physfn?: string; readonly canonical: string }) | null => {
  const info = movedInfo(handle.info, move)
  if (info === null) return null
  const above = physfn === undefined ? null : parsePciAddress(physfn)
  const parent = above && movedInfo(pciInfo(above), move)
  const address = parent && pciAddressOf(parent)
  return {
    ...handle,
    info,
    canonical: `${handle.type}:${canonicalInfo(info)}`,
    ...(address ? { physfn: formatPciAddress(address) } : {}),
  }
}
