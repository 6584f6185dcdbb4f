/**
 * What the kernel shows of Intel FPGA cards: the regions that can be programmed, and the functions that are loaded. The
 * tree of the OPAE kernel driver (`fpga/intel-fpga-dev.N`) and the one of the kernel's own driver
 * (`fpga_region/regionN`) say the same in other places.
 */
import { type PciAddress, formatPciAddress } from '../../vocabulary/pci.ts'
import type { HostIo } from '../driver.ts'
import { listed, readIfThere } from '../files.ts'
import { pciFolder } from '../pci/sysfs.ts'
import { plainId } from './gbs.ts'

export type FpgaPart = {
  /** A kernel driver serves the function; without it nothing can be programmed. */
  readonly served: boolean
  /** Types of the regions (interface ids), and of the loaded functions (AFU ids): 32 hex digits, sorted. */
  readonly regions: readonly string[]
  readonly functions: readonly string[]
}

/** Parts of a path; a regular expression stands for all names that match. */
type Pattern = readonly (string | RegExp)[]
const TREES: readonly { readonly under: string; readonly region: Pattern; readonly function: Pattern }[] = [
  {
    under: 'fpga',
    region: [/^intel-fpga-fme\.\d+$/, 'pr', 'interface_id'],
    function: [/^intel-fpga-port\.\d+$/, 'afu_id'],
  },
  {
    under: 'fpga_region',
    region: [/^dfl-fme\.\d+$/, /^dfl-fme-region\.\d+$/, 'fpga_region', /^region\d+$/, 'compat_id'],
    function: [/^dfl-port\.\d+$/, 'afu_id'],
  },
]

const found = async (io: HostIo, folder: string, [next, ...rest]: Pattern): Promise<readonly string[]> => {
  if (next === undefined) {
    const text = await readIfThere(io, folder)
    return text === null || !/^[0-9a-f]{32}$/.test(plainId(text)) ? [] : [plainId(text)]
  }
  if (typeof next === 'string') return found(io, `${folder}/${next}`, rest)
  const names = (await listed(io, folder)).filter((name) => next.test(name))
  return (await Promise.all(names.map((name) => found(io, `${folder}/${name}`, rest)))).flat()
}

const sorted = (ids: readonly string[]): readonly string[] => [...new Set(ids)].toSorted()

export const readFpgaPart = async (io: HostIo, sysfsRoot: string, address: PciAddress): Promise<FpgaPart> => {
  const own = `${pciFolder(sysfsRoot)}/${formatPciAddress(address)}`
  const parts: FpgaPart[] = []
  for (const tree of TREES)
    for (const name of await listed(io, `${own}/${tree.under}`)) {
      const folder = `${own}/${tree.under}/${name}`
      parts.push({
        served: true,
        regions: await found(io, folder, tree.region),
        functions: await found(io, folder, tree.function),
      })
    }
  return {
    served: parts.length > 0,
    regions: sorted(parts.flatMap(({ regions }) => regions)),
    functions: sorted(parts.flatMap(({ functions }) => functions)),
  }
}
