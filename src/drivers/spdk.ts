/**
 * `nvmf_spdk_driver` (drivers.md 3.11): accepted because configurations name it. What it was written for, software targets of SPDK, is no device of this
 * host, so it reports a complete and empty list, and says so once.
 */
import type { Driver } from './driver.ts'

export const spdkDriver = (): Driver => {
  let told = false
  return {
    name: 'nvmf_spdk_driver',
    discover: async (io) => {
      if (!told)
        io.warn('spdk_reports_nothing', {
          hint: 'targets of SPDK are no devices; drives are offered by nvme_ssd_driver',
        })
      told = true
      return []
    },
    prepare: async (_io, slot) => {
      throw new Error(`slot ${slot.uuid}: nvmf_spdk_driver has no devices`)
    },
    release: async () => {},
  }
}
