/**
 * The hardware of the third compute: two GPUs, and two FPGA cards of Intel that an operator offers in a resource class
 * of their own.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FPGA_MACHINE, type FpgaMachine, openFpgaMachine } from '../support/fpgaMachine.ts'
import { GPU_MACHINE, type GpuMachine, openGpuMachine } from '../support/gpuMachine.ts'

const { intel } = FPGA_MACHINE
/** No flavor that asks for any FPGA is served by them, so that the other computes keep the units that are counted. */
export const OPAE_CLASS = 'CUSTOM_FPGA_OPAE'
const TABLE = [
  {
    vendor: '8086',
    device: intel.product,
    type: 'FPGA',
    name: 'Programmable acceleration card',
    rc: OPAE_CLASS,
    driver: 'intel_fpga_driver',
  },
]
const FPGA_CARDS = 2
export const CARDS = {
  deployables: GPU_MACHINE.deployables + FPGA_CARDS,
  handles: GPU_MACHINE.handles + FPGA_CARDS,
} as const

export type Cards = {
  readonly gpus: GpuMachine
  readonly fpgas: FpgaMachine
  /** Settings of the host program. */
  readonly env: Readonly<Record<string, string>>
}

/** `folder`: where its `/sys` is made. */
export const openCards = async (folder: string): Promise<Cards> => {
  const [fpgas, gpus] = [openFpgaMachine(folder), await openGpuMachine(folder)]
  const table = join(folder, 'cards.json')
  writeFileSync(table, JSON.stringify(TABLE))
  // images come from Glance, not from a folder
  const { ACCELERANDO_IMAGES: _folder, ...tools } = fpgas.env
  const both = { ACCELERANDO_ENABLED_DRIVERS: 'nvidia_gpu_driver,intel_fpga_driver', ACCELERANDO_CARDS_ID_TABLE: table }
  return { gpus, fpgas, env: { ...tools, ...gpus.env, ...both } }
}
