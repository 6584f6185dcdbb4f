/**
 * Which network functions manage the links between the GPUs of a machine. HGX boards have some with the ids of network
 * cards; only what the function says of itself (VPD) tells them from these. A guest with one of them rules the links of
 * all GPUs.
 */
import { codeOf, messageOf } from '../../vocabulary/errorText.ts'
import { formatPciAddress } from '../../vocabulary/pci.ts'
import type { HostIo } from '../driver.ts'
import { pciFolder, type PciFunction } from './sysfs.ts'

const MELLANOX = '15b3'
const NETWORK = '02'
/** Those that manage links are of this class. */
const INFINIBAND = '0207'
/** More than any such text has. */
const VPD_MAX_BYTES = 4096
export const LINK_MANAGER = 'SMDL=SW_MNG'

/** Answers why a function is not given to a guest; null: it manages no links. What a function has said is kept. */
export const linkManagers = (sysfsRoot: string): ((io: HostIo, found: PciFunction) => Promise<string | null>) => {
  const known = new Map<string, boolean>()
  return async (io, { vendor, product, class: pciClass, physfn, address }) => {
    if (vendor !== MELLANOX || !pciClass.startsWith(NETWORK) || physfn !== null) return null
    const path = `${pciFolder(sysfsRoot)}/${formatPciAddress(address)}/vpd`
    const key = `${path} ${product}`
    try {
      // reading takes the card a while
      const manages =
        known.get(key) ??
        Buffer.from(await io.head(path, VPD_MAX_BYTES))
          .toString('latin1')
          .includes(LINK_MANAGER)
      known.set(key, manages)
      return manages ? `it manages the NVLink connections of the GPUs (${LINK_MANAGER} in its VPD)` : null
    } catch (error) {
      // of many cards that manage nothing the text is broken
      if (codeOf(error) === 'ENOENT' || !pciClass.startsWith(INFINIBAND)) return null
      return `whether it manages the links of GPUs cannot be said: ${messageOf(error)}`
    }
  }
}
