import { type SimulatedPlan, simulatedDriver } from '../../src/drivers/simulated/simulated.ts'
import { driverContract } from './driver.contract.ts'
import { HARDWARE_DRIVERS } from '../../src/drivers/index.ts'
import { driverOf } from './machines.ts'
import { type Programs, recordedHost, recordedHostIo, type Tree } from './recordedHostIo.ts'
import { withMdevKernel } from './mdevKernel.ts'
import { alveoTree, dflTree, gbs, INTEL, opaeTree, vgpuTree, xclbin } from './trees.ts'

for (const recording of ['mixed-host', 'odd-host', 'pci-sim'])
  driverContract(`pci_driver on ${recording}`, () => ({
    driver: driverOf('pci_driver', { pci: { whitelist: '{}' } }),
    io: recordedHost(recording),
  }))

driverContract('fake_driver', () => ({ driver: driverOf('fake_driver'), io: recordedHost('pci-sim') }))
driverContract('fake_driver with many devices', () => ({
  driver: driverOf('fake_driver', { fake: { devices: 30, handles: 200 } }),
  io: recordedHost('pci-sim'),
}))

const plans: readonly SimulatedPlan[] = [
  {
    seed: 7,
    devices: (['fpga', 'gpu', 'nic', 'qat', 'ssd', 'aichip'] as const).map((kind, n) => ({ kind, handles: n * n + 1 })),
  },
  { seed: 'size', devices: Array.from({ length: 40 }, () => ({ kind: 'fpga', handles: 64 })), hostWork: true },
  { seed: 1, devices: [{ kind: 'fpga', handles: 700, functions: 2 }] },
]
for (const plan of plans)
  driverContract(`simulated_driver of seed ${plan.seed} with ${plan.devices.length} devices`, () => ({
    driver: simulatedDriver(plan),
    io: recordedHost('pci-sim'),
  }))

/** The other drivers of hardware have hosts of their own below, or none at all. */
const NO_CORPUS = ['pci_driver', 'nvmf_spdk_driver', 'intel_fpga_driver', 'xilinx_fpga_driver']
for (const name of HARDWARE_DRIVERS.filter((one) => !NO_CORPUS.includes(one)))
  driverContract(`${name} on mixed-host`, () => ({ driver: driverOf(name), io: recordedHost('mixed-host') }))

const VGPU = '0000:af:00.0'
driverContract('nvidia_gpu_driver with vGPUs', () => {
  const io = recordedHostIo({ sys: vgpuTree() })
  const gpu = { types: ['nvidia-223'], addresses: { 'nvidia-223': [VGPU] } }
  return { driver: driverOf('nvidia_gpu_driver', { gpu }), io: withMdevKernel(io, io.tree, [VGPU]) }
})

const LOADED = '00112233445566778899aabbccddeeff'
const images = { 'design-one.gbs': gbs(INTEL.region, [LOADED]) }
const showEverywhere = (folder: Tree, id: string): void => {
  for (const [name, node] of Object.entries(folder))
    if (name === 'afu_id') folder[name] = `${id}\n`
    else if (typeof node === 'object') showEverywhere(node, id)
}
/** The ports of the card with this address show what the image holds. */
const programs: Programs = {
  '/usr/bin/fpgaconf': (args, root) => {
    const bus = args[args.indexOf('--bus') + 1]!.slice(2)
    const { devices } = root['sys'] as { readonly devices: Tree }
    showEverywhere(devices[`pci0000:${bus}`] as Tree, LOADED)
    return ''
  },
}
for (const [title, tree] of [
  ['the OPAE kernel driver', opaeTree],
  ['the driver of the kernel', dflTree],
] as const)
  driverContract(`intel_fpga_driver with ${title}`, () => ({
    driver: driverOf('intel_fpga_driver'),
    io: recordedHostIo({ sys: tree(), images }, 'compute1', '/state', programs),
  }))

const UUID = '862c7020-a250-293e-3203-6f19956669e5'
driverContract('xilinx_fpga_driver', () => {
  const sys = alveoTree()
  const opt = { xilinx: { xrt: { bin: { xbutil: '' } } } }
  const io = recordedHostIo({ sys, opt, images: { 'design-one.gbs': xclbin(UUID) } }, 'compute1', '/state', {
    '/opt/xilinx/xrt/bin/xbutil': (args) => {
      io.tree(`/sys/bus/pci/devices/${args[2]!}`)['xclbinuuid'] = UUID
      return ''
    },
  })
  return { driver: driverOf('xilinx_fpga_driver'), io }
})
