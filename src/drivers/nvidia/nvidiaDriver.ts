/**
 * `nvidia_gpu_driver` (drivers.md 3.1 and 4): whole GPUs, and vGPUs of those functions for which a type is configured.
 * A vGPU is made when it is bound and removed when it is given up.
 *
 * VGPU-1 the mediated device has the UUID of its attach handle; what another program made is never removed;
 * VGPU-2 what is to be made is noted before it is made, and what is removed is forgotten after it is gone: what a crash
 *    leaves behind is known;
 * VGPU-3 a handle whose vGPU this driver made, or may have made, never leaves the report;
 * VGPU-4 all functions of a card together show no more handles of a type than `gpu_devices.max_instances` says, except
 *    those of VGPU-3: each function alone says that it has room.
 */
import { cardDriver, type CardOptions } from '../cards/cardDriver.ts'
import { NVIDIA_KIND } from '../cards/cardKinds.ts'
import { pciNames } from '../cards/pciNames.ts'
import type { Driver } from '../driver.ts'
import { vgpuReport } from './vgpuReport.ts'
import { Vgpus, vgpusInUse, vgpusLeftOut, type VgpusOptions } from './vgpus.ts'

export const nvidiaDriver = ({
  typeAt,
  most,
  ...options
}: CardOptions & Pick<VgpusOptions, 'typeAt' | 'most'>): Driver => {
  const { sysfsRoot, known } = options
  const vgpus = new Vgpus({ sysfsRoot, known, typeAt, most })
  const whole = cardDriver(NVIDIA_KIND, { ...options, skip: vgpus.isDivided })
  const namesOf = pciNames(known)
  return {
    name: NVIDIA_KIND.driver,
    discover: async (io) => {
      const divided = await vgpus.look(io)
      const functions = divided.map(({ found }) => found)
      const nameOf = await namesOf(io, functions)
      return [...(await whole.discover(io)), ...divided.map((one) => vgpuReport(io.hostname, one, nameOf(one.found)))]
    },
    leftOut: async (io) => {
      const divided = await vgpus.look(io)
      return [...(await whole.leftOut(io)), ...vgpusLeftOut(divided)]
    },
    prepare: async (io, slot, signal) => {
      signal.throwIfAborted()
      const asked = vgpus.askedFor(slot)
      await (asked === null ? whole.prepare(io, slot, signal) : vgpus.prepare(io, slot, asked))
    },
    release: async (io, slot, signal) => {
      signal.throwIfAborted()
      await vgpus.release(io, slot)
    },
    restore: (io, signal) => vgpus.restore(io, signal),
    measure: whole.measure,
    inUse: async (io) => [...(await whole.inUse(io)), ...vgpusInUse(await vgpus.look(io))],
  }
}
