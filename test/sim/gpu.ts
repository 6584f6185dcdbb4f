/**
 * A GPU of a simulated compute node that is divided into mediated devices: the real driver over a kernel in memory
 * (drivers.md 4).
 */
import type { Driver, HostIo } from '../../src/drivers/driver.ts'
import { driverByName } from '../../src/drivers/index.ts'
import type { Disk } from '../../src/host/disk.ts'
import { withMdevKernel } from '../drivers/mdevKernel.ts'
import type { RecordedHost, Tree } from '../drivers/recordedHostIo.ts'
import { vgpuTree } from '../drivers/trees.ts'
import type { Life } from './schedule.ts'

const ADDRESS = '0000:af:00.0'
const TYPE = 'nvidia-223'
const TYPES = `/sys/bus/pci/devices/${ADDRESS}/mdev_supported_types`
const MADE_FILE = 'nvidia_gpu_driver.made.json'
/** Few, so that there are too few now and then. */
const UNITS = 3
/** The tree has a whole GPU besides. */
export const GPU_DEVICES = 2

export const gpuTree = (): Tree => {
  const sys = vgpuTree()
  const devices = (sys['devices'] as Tree)['pci0000:af'] as Tree | undefined
  const types = ((devices ?? {})[ADDRESS] as Tree | undefined)?.['mdev_supported_types'] as Tree
  ;(types[TYPE] as Tree)['available_instances'] = `${UNITS}\n`
  return sys
}

export type Gpu = {
  /** For each start of the host program. */
  readonly driver: () => Driver
  /** What the driver does ends with the life of the host program; what the kernel was told stays. */
  readonly ioOf: (life: Life, disk: Disk) => HostIo
  /** The mediated devices that there are, and the slots of whole GPUs, of which the hardware shows nothing. */
  readonly held: () => readonly string[]
  /** The machine restarts: the mediated devices are gone. */
  readonly restart: () => void
  /** Takes a slot from the hardware and from what the driver remembers. */
  readonly forget: (slot: string) => void
  readonly isOf: (deployable: string) => boolean
  /** Somebody else makes a mediated device; `free` removes it again. Null: there is no unit left. */
  readonly occupy: (uuid: string) => { readonly free: () => void } | null
}

/** `restores` false: a planted bug, nothing is made again after a restart of the machine. */
export const openGpu = (tree: RecordedHost, restores: boolean): Gpu => {
  const kernel = withMdevKernel(tree, tree.tree, [ADDRESS])
  const type = (): Tree => tree.tree(`${TYPES}/${TYPE}`)
  const made = (): readonly string[] => Object.keys((type()['devices'] ?? {}) as Tree)
  const told = (action: string, text: string): void => void kernel.write(`${TYPES}/${TYPE}/${action}`, text)
  const whole = new Set<string>()
  const remove = (uuid: string): void => (made().includes(uuid) ? told(`devices/${uuid}/remove`, '1') : undefined)
  return {
    driver: () => {
      const gpu = { types: [TYPE], addresses: { [TYPE]: [ADDRESS] } }
      const reading = driverByName('nvidia_gpu_driver', { gpu })
      if (!reading.ok) throw new Error(JSON.stringify(reading.problems))
      const { prepare, release } = reading.driver
      return {
        ...reading.driver,
        prepare: async (io, slot, signal) => {
          await prepare(io, slot, signal)
          if (slot.type === 'PCI') whole.add(slot.uuid)
        },
        release: async (io, slot, signal) => {
          await release(io, slot, signal)
          whole.delete(slot.uuid)
        },
        ...(restores ? {} : { restore: async () => true }),
      }
    },
    ioOf: (life, disk) => {
      const write = (path: string, text: string): Promise<void> => {
        if (path.startsWith(`${tree.stateDir}/`)) return disk.replace(path, text)
        // a program that has ended writes nothing any more
        return life.alive ? kernel.write(path, text) : new Promise(() => {})
      }
      return { ...tree, write, keep: write }
    },
    held: () => [...made(), ...whole],
    restart: kernel.restart,
    forget: (slot) => {
      remove(slot)
      whole.delete(slot)
      const path = `${tree.stateDir}/${MADE_FILE}`
      const text = tree.kept()[path]
      if (text === undefined) return
      const { made: all, ...rest } = JSON.parse(text) as { readonly made: Readonly<Record<string, unknown>> }
      const { [slot]: _gone, ...others } = all
      void tree.write(path, JSON.stringify({ ...rest, made: others }))
    },
    isOf: (deployable) => deployable.endsWith(ADDRESS),
    occupy: (uuid) => {
      if (Number(type()['available_instances']) === 0) return null
      told('create', uuid)
      return { free: () => remove(uuid) }
    },
  }
}
