/**
 * One host with hardware for each driver, put together from the recorded hosts of the contract suite: each of those is
 * a PCI domain of it.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Driver, HostIo } from '../../src/drivers/driver.ts'
import { DRIVER_NAMES, type DriverOptions, driverByName } from '../../src/drivers/index.ts'
import { type Programs, type Tree, recordedHostIo } from './recordedHostIo.ts'
import { alveoTree, dflTree, opaeTree, vgpuTree } from './trees.ts'

const recorded = (name: string): Tree =>
  JSON.parse(readFileSync(join(import.meta.dirname, 'recorded', `${name}.json`), 'utf8')) as Tree
const inDomain = (domain: string, tree: Tree): Tree =>
  JSON.parse(JSON.stringify(tree).replaceAll('0000:', `${domain}:`)) as Tree
const merged = (one: Tree, other: Tree): Tree => {
  const all: Tree = { ...one }
  for (const [name, node] of Object.entries(other)) {
    const known = all[name]
    all[name] = typeof known === 'object' && typeof node === 'object' ? merged(known, node) : node
  }
  return all
}

/** Of the two cards of the first domain that can be divided by MIG, the first one is. */
const NVIDIA: Tree = {
  gpus: {
    '0000:3b:00.0': { information: 'Model: \t\t A100\nDevice Minor: \t 0\n' },
    '0000:41:00.0': { information: 'Model: \t\t H100\nDevice Minor: \t 1\n' },
  },
  capabilities: { mig: { config: '' }, gpu0: { mig: { gi1: { access: '' } } }, gpu1: { mig: {} } },
}
const PCI_IDS =
  '10de  NVIDIA Corporation\n\t20f1  GA100 [A100 PCIe 40GB]\n8086  Intel Corporation\n\t37c8  C62x\nC 03  Display\n'
const tree = (): Tree => ({
  sys: [
    recorded('mixed-host'),
    inDomain('0001', vgpuTree()),
    inDomain('0002', opaeTree()),
    inDomain('0003', dflTree()),
    inDomain('0004', alveoTree()),
    inDomain('0005', recorded('pci-sim')),
    inDomain('0006', recorded('odd-host')),
  ].reduce(merged),
  proc: {
    driver: { nvidia: NVIDIA },
    net: { route: 'Iface\tDestination\neno1\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n', ipv6_route: '' },
    '1': { mountinfo: '22 1 259:9 / / rw shared:1 - ext4 /dev/nvme9n1p1 rw\n' },
    swaps: 'Filename\tType\n/dev/nvme9n1p2 partition\n',
    sys: { kernel: { random: { boot_id: '6e8d4f5c-0000-4000-8000-000000000001\n' } } },
  },
  usr: { share: { misc: { 'pci.ids': PCI_IDS } } },
  opt: { xilinx: { xrt: { bin: { xbutil: '' } } } },
  run: { spdk: { 'spdk.sock': '' } },
})

const SOCKET = '/run/spdk/spdk.sock'
const SUBSYSTEM = {
  nqn: 'nqn.2016-06.io.spdk:cnode1',
  subtype: 'NVMe',
  listen_addresses: [{ trtype: 'TCP', traddr: '10.0.0.1', trsvcid: '4420' }],
  namespaces: [{ nsid: 1, bdev_name: 'Malloc0' }],
}
const RESULTS: Readonly<Record<string, unknown>> = {
  spdk_get_version: { version: 'SPDK v24.05' },
  nvmf_get_subsystems: [SUBSYSTEM],
  bdev_get_bdevs: [{ name: 'Malloc0', block_size: 512, num_blocks: 2048 }],
}
const programs: Programs = {
  'nvidia-smi': ([what]) =>
    what!.includes('mig.mode')
      ? '00000000:3B:00.0, Enabled\n00000000:41:00.0, Disabled\n'
      : '00000000:43:00.0, 41, 87, 12, 71.35, 0, 0, No\n',
  'npu-smi': () => '| 0 310 | OK | 12.8 45 0 / 970 |\n| 0 | 0000:81:00.0 | 7 2457 / 8192 |\n',
  [SOCKET]: ([question]) => {
    const { method } = JSON.parse(question!) as { readonly method: string }
    return JSON.stringify({ jsonrpc: '2.0', id: 1, result: RESULTS[method] })
  },
}

const OPTIONS: DriverOptions = {
  pci: { whitelist: '[{"vendor_id": "1af4"}, {"vendor_id": "1b36"}, {"devname": "ens5f0"}, {"vendor_id": "10de"}]' },
  gpu: { types: ['nvidia-223'], addresses: { 'nvidia-223': ['0001:af:00.0'] } },
  nic: { networks: ['physnet1:ens24f0'], functions: [] },
  spdk: { socket: SOCKET },
  simulated: { seed: 3, devices: [{ kind: 'gpu', handles: 2 }] },
}
/** All of the list, each new. */
export const everyDriver = (): readonly Driver[] =>
  DRIVER_NAMES.map((name) => {
    const reading = driverByName(name, OPTIONS)
    if (!reading.ok) throw new Error(JSON.stringify(reading.problems))
    return reading.driver
  })
export const everyDriverHost = (): HostIo => recordedHostIo(tree(), 'compute1', '/state', programs)
