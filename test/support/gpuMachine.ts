/**
 * The hardware of a host with two GPUs, as the NVIDIA driver sees it: `/sys` in a folder, and a process in the kernel's
 * place that makes its mediated devices.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unpack } from '../drivers/recordedHostIo.ts'
import { vgpuTree } from '../drivers/trees.ts'

const DIVIDED = '0000:af:00.0'
const TYPE = 'nvidia-223'
const KERNEL = join(import.meta.dirname, '../cluster/mdevKernel.ts')

/** What the machine offers: one GPU is divided into vGPUs of one type, the other one is given whole. */
export const GPU_MACHINE = {
  divided: DIVIDED,
  type: TYPE,
  /** Requests a vGPU of this type. */
  group: { 'resources:VGPU': '1', 'trait:CUSTOM_NVIDIA_1EB8_T4_2B': 'required' },
  deployables: 2,
  vgpus: 8,
  handles: 9,
} as const

export type GpuMachine = {
  /** Settings of the host program. */
  readonly env: Readonly<Record<string, string>>
  /** The UUIDs of the mediated devices that exist. */
  readonly made: () => readonly string[]
  /** As somebody else makes one: resolves when it is there. */
  readonly make: (uuid: string) => Promise<void>
  /** The kernel ends, and all mediated devices with it; afterwards `boot` starts it again. */
  readonly crash: () => void
  readonly boot: () => Promise<void>
  readonly stop: () => void
}

/** `folder`: where its `/sys` is made. It runs when this has resolved. */
export const openGpuMachine = async (folder: string): Promise<GpuMachine> => {
  const sys = join(folder, 'sys')
  const type = join(sys, 'devices/pci0000:af', DIVIDED, 'mdev_supported_types', TYPE)
  unpack(vgpuTree(), sys)
  let kernel: ChildProcess | null = null
  const boot = async (): Promise<void> => {
    // it ends with its standard input, which is closed when this process ends
    const child = spawn(process.execPath, [KERNEL, type], { stdio: ['pipe', 'pipe', 'inherit'] })
    kernel = child
    await new Promise<void>((resolve, reject) => {
      child.stdout.once('data', () => resolve())
      child.once('error', reject).once('exit', (code) => reject(new Error(`the kernel ended with ${code}`)))
    })
    child.stdout.setEncoding('utf8').resume()
  }
  const stop = () => void kernel?.kill('SIGKILL')
  const make = async (uuid: string): Promise<void> => {
    const { stdout } = kernel!
    const done = new Promise<void>((resolve) => {
      const heard = (text: unknown): void => {
        if (!String(text).includes(`made ${uuid}`)) return
        stdout!.off('data', heard)
        resolve()
      }
      stdout!.on('data', heard)
    })
    writeFileSync(join(type, 'create'), uuid)
    await done
  }
  const made = () => readdirSync(join(type, 'devices'))
  await boot()
  return {
    env: {
      ACCELERANDO_PCI_SYSFS_ROOT: sys,
      ACCELERANDO_ENABLED_DRIVERS: 'nvidia_gpu_driver',
      ACCELERANDO_GPU_DEVICES_ENABLED_VGPU_TYPES: TYPE,
      ACCELERANDO_GPU_DEVICES_DEVICE_ADDRESSES: JSON.stringify({ [TYPE]: [DIVIDED] }),
    },
    made,
    make,
    crash: () => {
      stop()
      for (const one of made()) rmSync(join(type, 'devices', one), { recursive: true })
    },
    boot,
    stop,
  }
}
