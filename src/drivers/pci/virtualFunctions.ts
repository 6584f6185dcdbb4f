/**
 * Makes the virtual functions that an operator configured, before a driver is asked for its devices (drivers.md 7.3):
 * also when somebody has taken them away meanwhile.
 *
 * VFS-1 only from none: where a function has virtual ones already, another number is never written, because guests may
 *    have them;
 * VFS-2 what was written counts only when the kernel says so afterwards; what could not be made is logged once for each
 *    reason, and tried again with the next discovery.
 */
import { messageOf } from '../../vocabulary/errorText.ts'
import { orAborted } from '../../vocabulary/waiting.ts'
import type { Driver, HostIo } from '../driver.ts'
import { pciFolder } from './sysfs.ts'

/** By the address of a physical function, as `dddd:bb:dd.f`: how many virtual ones it shall have. */
export type VirtualFunctions = Readonly<Record<string, number>>

const numberIn = async (io: HostIo, path: string): Promise<number> => {
  const text = (await io.read(path)).trim()
  if (!/^\d{1,6}$/.test(text)) throw new Error(`${path}: must be a number, is '${text.slice(0, 40)}'`)
  return Number(text)
}

/** Throws why the function has not as many as it shall have. */
const made = async (io: HostIo, folder: string, wanted: number): Promise<void> => {
  const [file, total] = [`${folder}/sriov_numvfs`, await numberIn(io, `${folder}/sriov_totalvfs`)]
  const now = await numberIn(io, file)
  if (now === wanted) return
  if (wanted > total) throw new Error(`${wanted} virtual functions are configured, and it can have ${total}`)
  if (now !== 0)
    throw new Error(
      `it has ${now} virtual functions, and ${wanted} are configured: write 0 to ${file} when no guest has any of them`,
    )
  await io.write(file, String(wanted))
  const after = await numberIn(io, file)
  if (after !== wanted) throw new Error(`${wanted} was written to ${file}, which holds ${after}`)
}

/**
 * The driver, which first sees to it that the functions have their virtual ones. Any driver may do so: what is made
 * already is left alone.
 */
export const withVirtualFunctions = (driver: Driver, sysfsRoot: string, wanted: VirtualFunctions): Driver => {
  const all = Object.entries(wanted)
  const warned = new Set<string>()
  if (all.length === 0) return driver
  const isMade = async (io: HostIo, [address, count]: readonly [string, number], signal: AbortSignal) => {
    try {
      signal.throwIfAborted()
      await orAborted(made(io, `${pciFolder(sysfsRoot)}/${address}`, count), signal)
      return true
    } catch (error) {
      const reason = messageOf(error)
      const mark = `${address} ${reason}`
      if (!warned.has(mark)) io.warn('virtualFunctions.notMade', { address, reason })
      warned.add(mark)
      return false
    }
  }
  const ensure = async (io: HostIo, signal: AbortSignal): Promise<boolean> => {
    let whole = true
    for (const one of all) whole = (await isMade(io, one, signal)) && whole
    return whole
  }
  return {
    ...driver,
    restore: async (io, signal) => {
      const whole = await ensure(io, signal)
      return ((await driver.restore?.(io, signal)) ?? true) && whole
    },
    ensure,
  }
}
