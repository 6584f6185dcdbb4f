/** Small recorded hosts with the cards that drivers.md describes. */
import type { Tree } from './recordedHostIo.ts'

export type Facts = {
  readonly vendor: string
  readonly device: string
  readonly class: string
  /** Address of the physical function. */
  readonly physfn?: string
  readonly more?: Tree
}

/** `/sys` with these functions, by address. Functions lie in the folder of their bus, as the kernel has them. */
export const pciTree = (functions: Readonly<Record<string, Facts>>): Tree => {
  const links: Tree = {}
  const devices: Tree = {}
  for (const [address, { vendor, device, class: pciClass, physfn, more = {} }] of Object.entries(functions)) {
    const bus = `pci${address.slice(0, address.lastIndexOf(':'))}`
    links[address] = { '->': `../../../devices/${bus}/${address}` }
    const folder = (devices[bus] ??= {}) as Tree
    folder[address] = {
      vendor: `0x${vendor}\n`,
      device: `0x${device}\n`,
      class: `0x${pciClass}\n`,
      ...(physfn === undefined ? {} : { physfn: { '->': `../${physfn}` } }),
      ...more,
    }
  }
  return { bus: { pci: { devices: links } }, devices }
}

/** The example of drivers.md 4.5, with nothing made. */
export const vgpuTree = (): Tree =>
  pciTree({
    '0000:af:00.0': {
      vendor: '10de',
      device: '1eb8',
      class: '030200',
      more: {
        mdev_supported_types: {
          'nvidia-222': { name: 'GRID T4-1B\n', available_instances: '16\n', create: '', devices: {} },
          'nvidia-223': {
            name: 'GRID T4-2B\n',
            available_instances: '8\n',
            device_api: 'vfio-pci\n',
            description: 'num_heads=4, frl_config=45, framebuffer=2048M, max_resolution=5120x2880, max_instance=8\n',
            create: '',
            devices: {},
          },
        },
      },
    },
    '0000:b0:00.0': { vendor: '10de', device: '20f1', class: '030200' },
  })

const REGION = '9926ab6d6c925a68aabca7d84c545738'
const FUNCTION = 'd8424dc4a4a3c413f89e433683f9040b'
export const INTEL = { region: REGION, function: FUNCTION }
/** Cards of drivers.md 3.2. */
export const opaeTree = (): Tree =>
  pciTree({
    '0000:5e:00.0': {
      vendor: '8086',
      device: '09c4',
      class: '120000',
      more: {
        sriov_totalvfs: '1\n',
        sriov_numvfs: '1\n',
        fpga: {
          'intel-fpga-dev.0': {
            'intel-fpga-fme.0': { pr: { interface_id: `${REGION}\n` } },
            'intel-fpga-port.0': { afu_id: `${FUNCTION}\n` },
          },
        },
      },
    },
    '0000:5e:00.1': {
      vendor: '8086',
      device: '09c5',
      class: '120000',
      physfn: '0000:5e:00.0',
      more: { fpga: { 'intel-fpga-dev.2': { 'intel-fpga-port.1': { afu_id: `${FUNCTION}\n` } } } },
    },
    '0000:be:00.0': {
      vendor: '8086',
      device: '09c4',
      class: '120000',
      more: {
        sriov_totalvfs: '1\n',
        sriov_numvfs: '0\n',
        fpga: {
          'intel-fpga-dev.1': {
            'intel-fpga-fme.1': { pr: { interface_id: `${REGION}\n` } },
            'intel-fpga-port.2': { afu_id: `${FUNCTION}\n` },
          },
        },
      },
    },
  })

/** A card of the kernel's own driver (drivers.md 7.1). */
export const dflTree = (): Tree =>
  pciTree({
    '0000:b1:00.0': {
      vendor: '8086',
      device: '0b2b',
      class: '120000',
      more: {
        fpga_region: {
          region0: {
            'dfl-fme.0': { 'dfl-fme-region.1': { fpga_region: { region1: { compat_id: `${REGION}\n` } } } },
            'dfl-port.0': { afu_id: `${FUNCTION}\n` },
          },
        },
      },
    },
  })

/** The header of a bitstream for that region, with these functions, as a text of one byte a character. */
export const gbs = (region: string, functions: readonly string[]): string => {
  const hyphens = (id: string) => id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  const json = JSON.stringify({
    version: 1,
    'afu-image': {
      power: 0,
      'interface-uuid': hyphens(region).toUpperCase(),
      'accelerator-clusters': functions.map((id) => ({
        name: 'test',
        'total-contexts': 1,
        'accelerator-type-uuid': hyphens(id),
      })),
    },
  })
  const length = Buffer.alloc(4)
  length.writeUInt32LE(json.length)
  return Buffer.concat([
    Buffer.from('XeonFPGA'),
    Buffer.from([0xb7]),
    Buffer.from('GBSv001'),
    length,
    Buffer.from(json),
  ]).toString('latin1')
}

/** Cards of drivers.md 3.4. */
export const alveoTree = (): Tree =>
  pciTree({
    '0000:3b:00.0': { vendor: '10ee', device: '5000', class: '120000' },
    '0000:3b:00.1': { vendor: '10ee', device: '5001', class: '120000', more: { xclbinuuid: '' } },
    '0000:66:00.0': { vendor: '10ee', device: '5020', class: '120000' },
    '0000:66:00.1': { vendor: '10ee', device: '5021', class: '120000' },
    '0000:68:00.0': { vendor: '10ee', device: '9038', class: '058000' },
  })

/** The beginning of an image with that UUID, as a text of one byte a character. */
export const xclbin = (uuid: string): string => {
  const bytes = Buffer.alloc(456 + 40)
  bytes.write('xclbin2\0')
  bytes.writeInt32LE(-1, 8)
  bytes.fill(0xff, 12, 40)
  bytes.write('xilinx_u200_gen3x16_xdma_2_202110_1', 352)
  bytes.write(uuid.replaceAll('-', ''), 416, 'hex')
  return bytes.toString('latin1')
}
