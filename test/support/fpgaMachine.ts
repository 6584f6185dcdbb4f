/**
 * The hardware of a host with FPGA cards of Intel and AMD: `/sys` in a folder, the programs that load images into them,
 * and two images.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unpack } from '../drivers/recordedHostIo.ts'
import { alveoTree, gbs, INTEL, opaeTree, xclbin } from '../drivers/trees.ts'

const TOOL = join(import.meta.dirname, 'fixtures/cardTool.ts')
const imageOf = (n: number): string => `4a3bd0ae-0000-4000-8000-00000000000${n}`

/** Cards by the names that a host gives them, without the name of the host. */
export const FPGA_MACHINE = {
  intel: {
    card: '0000:5e:00.0',
    product: '09c4',
    attached: { bus: '5e', device: '00', domain: '0000', function: '1' },
    /** What the card shows before and after its image is loaded. */
    before: INTEL.function,
    after: 'f7df405cbd7acf7222f144b0b93acd18',
    image: imageOf(1),
    group: { 'resources:FPGA': '1', 'trait:CUSTOM_FPGA_INTEL': 'required', 'accel:bitstream_id': imageOf(1) },
  },
  alveo: {
    card: '0000:3b:00.0',
    user: '0000:3b:00.1',
    after: 'c0ffee00-1234-4567-89ab-0123456789ab',
    image: imageOf(2),
    group: { 'resources:FPGA': '1', 'trait:CUSTOM_FPGA_XILINX': 'required', 'accel:bitstream_id': imageOf(2) },
  },
} as const

export type ToolMode = 'works' | 'fails' | 'halfway' | 'slow' | 'garbage' | 'floods'
/** The image of the Intel card, as an operator uploads it. */
export const intelImage = (): Uint8Array => Buffer.from(gbs(INTEL.region, [FPGA_MACHINE.intel.after]), 'latin1')

export type FpgaMachine = {
  /** Settings of the host program. */
  readonly env: Readonly<Record<string, string>>
  /** How the programs behave from now on, also one that is waiting. */
  readonly tools: (mode: ToolMode) => void
  /** What the programs have noted since the last question: `begin` or `end`, and their processes. */
  readonly calls: () => readonly string[]
  /** What the cards show now. */
  readonly shows: () => { readonly intel: string; readonly alveo: string }
}

/** `folder`: where its files are made. */
export const openFpgaMachine = (folder: string): FpgaMachine => {
  const [sys, bin, images, mode] = ['sys', 'bin', 'images', 'mode'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
    string,
  ]
  for (const tree of [opaeTree(), alveoTree()]) unpack(tree, sys)
  for (const path of [bin, images]) mkdirSync(path, { recursive: true })
  for (const name of ['fpgaconf', 'xbutil']) {
    const script = `#!/bin/sh\nexec "${process.execPath}" "${TOOL}" "${sys}" "${mode}" ${name} "$@"\n`
    writeFileSync(join(bin, name), script, { mode: 0o755 })
  }
  const { intel, alveo } = FPGA_MACHINE
  writeFileSync(join(images, `${intel.image}.gbs`), intelImage())
  writeFileSync(join(images, `${alveo.image}.xclbin`), xclbin(alveo.after), 'latin1')
  const tools = (now: ToolMode) => writeFileSync(mode, now)
  tools('works')
  const shown = (address: string, file: string) =>
    readFileSync(join(sys, 'bus/pci/devices', address, file), 'utf8').trim()
  const calls = `${mode}.calls`
  let told = 0
  return {
    calls: () => {
      const lines = existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : []
      const fresh = lines.slice(told)
      told = lines.length
      return fresh
    },
    env: {
      ACCELERANDO_PCI_SYSFS_ROOT: sys,
      ACCELERANDO_ENABLED_DRIVERS: 'intel_fpga_driver,xilinx_fpga_driver',
      ACCELERANDO_FPGA_FPGACONF: join(bin, 'fpgaconf'),
      ACCELERANDO_FPGA_XRT_FOLDER: bin,
      ACCELERANDO_FPGA_ALVEO_MANAGEMENT: 'true',
      ACCELERANDO_IMAGES: images,
    },
    tools,
    shows: () => ({
      intel: shown(intel.card, 'fpga/intel-fpga-dev.0/intel-fpga-port.0/afu_id'),
      alveo: shown(alveo.user, 'xclbinuuid'),
    }),
  }
}
