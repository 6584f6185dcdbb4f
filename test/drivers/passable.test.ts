/** What keeps a machine from passing its devices on to guests, and what to do about it. */
import { describe, expect, test } from 'vitest'
import type { DriverOptions } from '../../src/drivers/index.ts'
import { judged } from './judged.ts'
import { machine, type Parts } from './machines.ts'
import type { Tree } from './recordedHostIo.ts'

const [GPU, NIC] = ['0000:af:00.0', '0000:b0:00.0'] as const
const gpu = (group?: number, driver?: string): Parts => ({ [GPU]: { is: '10de:1eb8 030200', group, driver } })
const nic = (group?: number, driver?: string): Parts => ({ [NIC]: { is: '8086:1572 020000', group, driver } })
const judge = (parts: Parts, more: Tree = {}, vendors = ['10de', '8086'], kernel: Tree = {}) => {
  const options: DriverOptions = { pci: { whitelist: vendors.map((vendor_id) => ({ vendor_id })) } }
  const io = machine(parts, { proc: { '1': { mountinfo: '' }, ...more } })
  const groups = Object.values(parts).flatMap(({ group }) => (group === undefined ? [] : [[String(group), {}]]))
  Object.assign(io.tree('/sys'), { kernel: { iommu_groups: Object.fromEntries(groups) as Tree, ...kernel } })
  return judged(io, ['pci_driver'], options)
}

describe('the IOMMU', () => {
  test('is on where the kernel has groups', async () =>
    expect((await judge(gpu(7))).get('IOMMU')).toEqual({ verdict: 'ok', says: 'on, with 1 groups', advice: null }))
  const off = (by = '') => `off${by}: no device can be given to a guest`
  const parameter = (name: string): [string, string] => [
    off(`, by the kernel's parameter ${name}`),
    `take ${name} out of the kernel's parameters`,
  ]
  const FIRMWARE = 'enable the IOMMU (AMD-Vi, VT-d or SMMU) in the firmware'
  test.each<[Tree, string, string]>([
    [
      { cpuinfo: 'vendor_id : GenuineIntel\n', cmdline: 'ro quiet\n' },
      off(),
      "enable VT-d in the firmware and add intel_iommu=on to the kernel's parameters",
    ],
    [
      { cpuinfo: 'vendor_id : AuthenticAMD\n', cmdline: 'ro\n' },
      off(),
      'enable AMD-Vi in the firmware (often called IOMMU, beside SVM); the kernel then uses it without a parameter',
    ],
    [{ cpuinfo: '', cmdline: 'ro amd_iommu=off\n' }, ...parameter('amd_iommu=off')],
    [{ cpuinfo: 'vendor_id : GenuineIntel\n', cmdline: 'ro iommu=off\n' }, ...parameter('iommu=off')],
    [{ cpuinfo: 'vendor_id : GenuineIntel\n', cmdline: 'ro intel_iommu=off' }, ...parameter('intel_iommu=off')],
    [{ cpuinfo: 'CPU implementer : 0x41\n', cmdline: 'ro iommu=offline xiommu=off' }, off(), FIRMWARE],
    [{}, off(), FIRMWARE],
  ])('is off: %j', async (proc, says, advice) =>
    expect((await judge(gpu(), proc)).get('IOMMU')).toEqual({ verdict: 'problem', says, advice }),
  )
  test('does not isolate where a parameter of the kernel has split its groups', async () =>
    expect((await judge(gpu(7), { cmdline: 'ro pcie_acs_override=downstream\n' })).get('IOMMU')).toEqual({
      verdict: 'warning',
      says: 'on, with 1 groups, which pcie_acs_override has split: a guest may reach devices of another group',
      advice:
        "take pcie_acs_override out of the kernel's parameters, and move cards that share a group then to other slots (their bridges must support ACS)",
    }))
})

describe('a function that is offered', () => {
  const alone = (driver: string) => `alone in IOMMU group 7 but for what may go with it; ${driver}`
  test.each([
    ['vfio-pci', 'the kernel driver vfio-pci', null],
    [undefined, 'no kernel driver', null],
    [
      'nvidia',
      'the kernel driver nvidia',
      'libvirt takes it from nvidia when a server starts, which fails or waits while this machine uses it; driverctl set-override 0000:af:00.0 vfio-pci keeps it free for guests',
    ],
  ])('is fine alone in its group with bridges, and told what keeps it free: %s', async (driver, by, advice) => {
    const bridge = { '0000:ae:00.0': { is: '8086:2030 060400', driver: 'pcieport', group: 7 } }
    expect((await judge({ ...gpu(7, driver), ...bridge })).get(GPU)).toEqual({
      verdict: advice === null ? 'ok' : 'warning',
      says: alone(by),
      advice,
    })
  })
  test.each(['vfio-pci', undefined])('is a problem beside another one that is offered: %s', async (driver) => {
    const found = await judge({ ...gpu(7, 'vfio-pci'), ...nic(7, driver) })
    expect(found.get(GPU)).toEqual({
      verdict: 'problem',
      says: `it shares IOMMU group 7 with ${NIC} (${driver ?? 'no driver'}), which is offered as well: they cannot go to two guests`,
      advice:
        'move the card to a slot with a group of its own (its bridges must support ACS), or offer one of them only and bind the others to vfio-pci',
    })
    expect(found.get(NIC)?.says).toContain(`with ${GPU} (vfio-pci), which is offered as well`)
  })
  test('is none of the problems of what is not offered, or has no group while there are some', async () => {
    expect([...(await judge(gpu(7), {}, ['8086'])).keys()]).toEqual(['IOMMU', 'vfio-pci', 'huge pages'])
    expect((await judge({ ...gpu(), ...nic() })).get(GPU)).toMatchObject({
      verdict: 'problem',
      advice: 'see IOMMU above',
    })
  })
  test('of an Alveo card whose two functions go together is no problem of the other', async () => {
    const card = (fn: number) => ({ is: `10ee:500${fn} 120000`, driver: 'vfio-pci', group: 7 })
    const io = machine({ [GPU]: card(0), '0000:af:00.1': card(1) })
    const fpga = { fpgaconf: '', xrtFolder: '', withManagement: true }
    for (const at of [GPU, '0000:af:00.1'])
      expect((await judged(io, ['xilinx_fpga_driver'], { fpga })).get(at)?.says).toBe(
        alone('the kernel driver vfio-pci'),
      )
  })
})

test('vfio-pci and huge pages are told, and what to do where they are not there', async () => {
  const bare = await judge(gpu(7))
  expect([bare.get('vfio-pci'), bare.get('huge pages')]).toEqual([
    {
      verdict: 'warning',
      says: 'not loaded',
      advice: 'modprobe vfio-pci; libvirt loads it itself where the module is installed',
    },
    {
      verdict: 'warning',
      says: 'none are set aside: servers whose flavor has hw:mem_page_size=large do not start here',
      advice: 'set vm.nr_hugepages if such flavors are used, otherwise leave it',
    },
  ])
  const pages = (count: string): Tree => ({ nr_hugepages: `${count}\n` })
  const mm = {
    hugepages: { 'hugepages-1048576kB': pages('1'), 'hugepages-2048kB': pages('512'), 'hugepages-64kB': {} },
  }
  const io = machine(gpu(7))
  const sys = io.tree('/sys')
  Object.assign(sys, { kernel: { mm } })
  Object.assign(sys['bus'] as Tree, { pci: { ...((sys['bus'] as Tree)['pci'] as Tree), drivers: { 'vfio-pci': {} } } })
  const found = await judged(io, ['pci_driver'])
  expect([found.get('vfio-pci')?.says, found.get('huge pages')?.says]).toEqual([
    'loaded',
    '1 of 1048576kB, 512 of 2048kB',
  ])
})
