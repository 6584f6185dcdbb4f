/** Decides which start of a host program a report comes from. Pure. */
import type { BootId } from '../../vocabulary/identifiers.ts'

/** Hosts up to release 0.2.0 do not number their starts; this many ids of former starts of a host are remembered. */
export const BOOTS_KEPT = 256

export type FromBoot = { readonly bootId: BootId; readonly bootNumber?: number | undefined }
/** The recorded data about the starts of a host. */
export type Boots = {
  readonly exists: boolean
  readonly bootId: BootId
  readonly bootNumber?: number
  readonly formerBoots: readonly BootId[]
}
export type BootAge = 'present' | 'newer' | 'former'

export const bootAge = (host: Boots, { bootId, bootNumber }: FromBoot): BootAge => {
  if (!host.exists) return 'newer'
  if (bootId === host.bootId) return 'present'
  if (bootNumber !== undefined && host.bootNumber !== undefined)
    return bootNumber > host.bootNumber ? 'newer' : 'former'
  return host.formerBoots.includes(bootId) ? 'former' : 'newer'
}
