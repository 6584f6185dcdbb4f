/** Whether a GPU shows the console of this machine, or anything else on a display. */
import { formatPciAddress } from '../../vocabulary/pci.ts'
import type { HostIo } from '../driver.ts'
import { listed, readIfThere } from '../files.ts'
import { pciFolder, type PciFunction } from './sysfs.ts'

const DISPLAY = '03'

/** The outputs of the card, each with what the kernel says of it. */
const outputsOf = async (io: HostIo, folder: string) => {
  const outputs: { readonly name: string; readonly isShown: boolean }[] = []
  for (const card of (await listed(io, `${folder}/drm`)).filter((name) => /^card\d+$/.test(name)))
    for (const name of (await listed(io, `${folder}/drm/${card}`)).filter((one) => one.startsWith(`${card}-`))) {
      const read = async (file: string) =>
        ((await readIfThere(io, `${folder}/drm/${card}/${name}/${file}`)) ?? '').trim()
      // of some outputs the card cannot tell whether anything is connected, and shows a picture all the same
      const isShown = (await read('status')) === 'connected' || (await read('enabled')) === 'enabled'
      outputs.push({ name: name.slice(card.length + 1), isShown })
    }
  return outputs
}

/**
 * Why the display of this machine needs the function, in words; null: it does not. The card with which the machine was
 * started shows the console unless its outputs are known, and none of them is connected.
 */
export const displayOf = async (io: HostIo, sysfsRoot: string, found: PciFunction): Promise<string | null> => {
  if (!found.class.startsWith(DISPLAY) || found.isForGuests || found.driver === null) return null
  const folder = `${pciFolder(sysfsRoot)}/${formatPciAddress(found.address)}`
  const outputs = await outputsOf(io, folder)
  const connected = outputs.find(({ isShown }) => isShown)
  if (connected !== undefined) return `a display is connected to its output ${connected.name}`
  const isFirst = ((await readIfThere(io, `${folder}/boot_vga`)) ?? '').trim() === '1'
  return isFirst && outputs.length === 0
    ? 'this machine was started with it as its display (boot_vga); bound to vfio-pci from the start it can be given away'
    : null
}
