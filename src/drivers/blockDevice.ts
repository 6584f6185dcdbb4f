/** What the kernel says of a block device: its number, and whether something on this machine has it for itself. */
import { systemClock } from '../vocabulary/clock.ts'
import { codeOf } from '../vocabulary/errorText.ts'
import { pause } from '../vocabulary/waiting.ts'
import type { BlockDevice } from './driver.ts'

export type DeviceFiles = {
  readonly stat: (path: string) => Promise<{ readonly rdev: bigint; readonly isBlockDevice: () => boolean }>
  /**
   * Opens a block device for reading with `O_EXCL`, which asks to be the only one. The kernel refuses that (`EBUSY`)
   * while anything else is: mounted file systems, swap, md, dm, btrfs and ZFS are, each of all drives that it uses, and
   * who has a partition has its whole drive as well. Closes it at once, with nothing in between that this process may
   * have to wait for: as long as it is open, no other program gets it for itself.
   */
  readonly openAlone: (path: string) => void
}

/** Another program may be looking at the same moment, such as `accelerando device scan` beside the host program. */
const TRIES = 4
const AGAIN_MS = 25

const isFree = (path: string, { openAlone }: DeviceFiles): boolean => {
  try {
    openAlone(path)
    return true
  } catch (error) {
    if (codeOf(error) === 'EBUSY') return false
    throw error
  }
}
const isClaimed = async (path: string, files: DeviceFiles): Promise<boolean> => {
  for (let tried = 0; tried < TRIES; tried++) {
    if (tried > 0) await pause(systemClock, AGAIN_MS)
    if (isFree(path, files)) return false
  }
  return true
}

/** As the kernel packs both parts into one number. */
const majorOf = (packed: bigint): bigint => ((packed >> 8n) & 0xfffn) | ((packed >> 32n) & 0xfffff000n)
const minorOf = (packed: bigint): bigint => (packed & 0xffn) | ((packed >> 12n) & 0xffffff00n)

export const blockDevice = async (path: string, files: DeviceFiles): Promise<BlockDevice> => {
  const found = await files.stat(path)
  if (!found.isBlockDevice()) throw new Error(`${path}: is no block device`)
  return { number: `${majorOf(found.rdev)}:${minorOf(found.rdev)}`, isClaimed: await isClaimed(path, files) }
}
