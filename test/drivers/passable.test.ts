/** What keeps a machine from passing its devices on to guests, and what to do about it. */
import { describe, expect, test } from 'vitest'
import { passableHere } from '../../src/drivers/passable.ts'
import { readPciFunctions } from '../../src/drivers/pci/sysfs.ts'
import { recordedHostIo, type Tree } from './recordedHostIo.ts'
import { pciTree } from './trees.ts'

const GPU = '0000:af:00.0'
const NIC = '0000:b0:00.0'
/** A GPU, its audio function, a network card and a bridge; `groups` by address. */
const machine = (groups: Readonly<Record<string, string>>, drivers: Readonly<Record<string, string>> = {}): Tree => {
  const facts: Readonly<Record<string, readonly [string, string]>> = {
    [GPU]: ['10de', '030200'],
    '0000:af:00.1': ['10de', '040300'],
    '0000:b0:00.0': ['8086', '020000'],
    '0000:ae:00.0': ['8086', '060400'],
  }
  const more = (address: string): Tree => ({
    ...(groups[address] === undefined
      ? {}
      : { iommu_group: { '->': `../../../kernel/iommu_groups/${groups[address]}` } }),
    ...(drivers[address] === undefined ? {} : { driver: { '->': `../../../bus/pci/drivers/${drivers[address]}` } }),
  })
  const tree = pciTree(
    Object.fromEntries(
      Object.entries(facts).map(([address, [vendor, pciClass]]) => [
        address,
        { vendor, device: '0001', class: pciClass, more: more(address) },
      ]),
    ),
  )
  const all: Tree = {}
  for (const group of Object.values(groups)) all[group] = {}
  return { ...tree, kernel: { iommu_groups: all } }
}
/** `offered`: by address, the unit in which it is given away, or null where its parts are. */
const judge = async (
  sys: Tree,
  more: Tree = {},
  offered: Readonly<Record<string, string | null>> = { [GPU]: GPU },
  kept: readonly string[] = [],
) => {
  const io = recordedHostIo({ sys, ...more })
  const found = await passableHere(
    io,
    '/sys',
    {
      offered: new Map(Object.entries(offered).map(([at, unit]) => [at, new Set(unit === null ? [] : [unit])])),
      kept: new Set(kept),
    },
    await readPciFunctions(io, '/sys'),
  )
  return new Map(found.map(({ about, ...rest }) => [about, rest]))
}

describe('the IOMMU', () => {
  const off = (proc: Tree) => judge(machine({}), { proc }).then((found) => found.get('IOMMU'))
  test('is on where the kernel has groups', async () =>
    expect((await judge(machine({ [GPU]: '7' }))).get('IOMMU')).toEqual({
      verdict: 'ok',
      says: 'on, with 1 groups',
      advice: null,
    }))
  test.each([
    [
      { cpuinfo: 'vendor_id : GenuineIntel\n', cmdline: 'ro quiet\n' },
      'off: no device can be given to a guest',
      "enable VT-d in the firmware and add intel_iommu=on to the kernel's parameters",
    ],
    [
      { cpuinfo: 'vendor_id : AuthenticAMD\n', cmdline: 'ro\n' },
      'off: no device can be given to a guest',
      'enable AMD-Vi in the firmware (often called IOMMU, beside SVM); the kernel then uses it without a parameter',
    ],
    [
      { cpuinfo: '', cmdline: 'ro amd_iommu=off\n' },
      "off, by the kernel's parameter amd_iommu=off: no device can be given to a guest",
      "take amd_iommu=off out of the kernel's parameters",
    ],
    [
      { cpuinfo: 'vendor_id : GenuineIntel\n', cmdline: 'ro iommu=off\n' },
      "off, by the kernel's parameter iommu=off: no device can be given to a guest",
      "take iommu=off out of the kernel's parameters",
    ],
    [
      { cpuinfo: 'vendor_id : GenuineIntel\n', cmdline: 'ro intel_iommu=off' },
      "off, by the kernel's parameter intel_iommu=off: no device can be given to a guest",
      "take intel_iommu=off out of the kernel's parameters",
    ],
    [
      { cpuinfo: 'CPU implementer : 0x41\n', cmdline: 'ro iommu=offline xiommu=off pcie_acs_override=x\n' },
      'off: no device can be given to a guest',
      'enable the IOMMU (AMD-Vi, VT-d or SMMU) in the firmware',
    ],
    [{}, 'off: no device can be given to a guest', 'enable the IOMMU (AMD-Vi, VT-d or SMMU) in the firmware'],
  ])('is off: %j', async (proc, says, advice) => expect(await off(proc)).toEqual({ verdict: 'problem', says, advice }))
})

test('groups that a parameter of the kernel has split do not isolate', async () => {
  const proc = { cmdline: 'ro pcie_acs_override=downstream\n' }
  const found = (await judge(machine({ [GPU]: '7' }), { proc })).get('IOMMU')!
  expect([found.verdict, found.says]).toEqual([
    'warning',
    'on, with 1 groups, which pcie_acs_override has split: a guest may reach devices of another group',
  ])
  expect(found.advice).toBe(
    "take pcie_acs_override out of the kernel's parameters, and move cards that share a group then to other slots (their bridges must support ACS)",
  )
})

describe('a function that is offered', () => {
  test('is fine alone in its group, or with bridges, what goes to the same guest and what is unused', async () => {
    const groups = { [GPU]: '7', '0000:ae:00.0': '7', '0000:af:00.1': '7', '0000:b0:00.0': '7' }
    const sys = machine(groups, {
      [GPU]: 'nvidia',
      '0000:ae:00.0': 'pcieport',
      '0000:af:00.1': 'vfio-pci',
      '0000:b0:00.0': 'i40e',
    })
    const says = 'alone in IOMMU group 7 but for what may go with it; the kernel driver nvidia'
    // it is divided, or programmed, by its kernel driver
    const kept = await judge(sys, {}, { [GPU]: 'card 0', [NIC]: 'card 0' }, [GPU])
    expect(kept.get(GPU)).toEqual({ verdict: 'ok', says, advice: null })
    expect(kept.get(NIC)).toMatchObject({ verdict: 'warning' })
  })
  test.each<[string, string | undefined]>([
    ['a kernel driver', 'i40e'],
    ['vfio-pci', 'vfio-pci'],
    ['nothing', undefined],
  ])('is a problem beside another one that is offered, whether %s has that', async (_what, driver) => {
    const drivers = { [GPU]: 'vfio-pci', ...(driver === undefined ? {} : { [NIC]: driver }) }
    const found = await judge(machine({ [GPU]: '7', [NIC]: '7' }, drivers), {}, { [GPU]: GPU, [NIC]: NIC })
    expect(found.get(GPU)).toEqual({
      verdict: 'problem',
      says: `it shares IOMMU group 7 with ${NIC} (${driver ?? 'no driver'}), which is offered as well: they cannot go to two guests`,
      advice:
        'move the card to a slot with a group of its own (its bridges must support ACS), or offer one of them only and bind the others to vfio-pci',
    })
    expect(found.get(NIC)?.says).toContain(`with ${GPU} (vfio-pci), which is offered as well`)
  })
  test('that a kernel driver has is named with what keeps it free for guests; vfio-pci and no driver are fine', async () => {
    const about = async (driver?: string) =>
      (await judge(machine({ [GPU]: '7' }, driver === undefined ? {} : { [GPU]: driver }))).get(GPU)!
    expect(await about('nvidia')).toEqual({
      verdict: 'warning',
      says: 'alone in IOMMU group 7 but for what may go with it; the kernel driver nvidia',
      advice:
        'libvirt takes it from nvidia when a server starts, which fails or waits while this machine uses it; driverctl set-override 0000:af:00.0 vfio-pci keeps it free for guests',
    })
    expect([(await about('vfio-pci')).verdict, (await about()).verdict]).toEqual(['ok', 'ok'])
  })
  test('is a problem without a group', async () =>
    expect((await judge(machine({ '0000:b0:00.0': '1' }))).get(GPU)).toEqual({
      verdict: 'problem',
      says: 'it is in no IOMMU group, so it cannot be given to a guest',
      advice: 'see IOMMU above',
    }))
  test('what is not offered is not judged', async () =>
    expect([...(await judge(machine({ [GPU]: '7' }), {}, {})).keys()]).toEqual(['IOMMU', 'vfio-pci', 'huge pages']))
})

test('vfio-pci and huge pages', async () => {
  const without = await judge(machine({ [GPU]: '7' }))
  expect([without.get('vfio-pci')?.verdict, without.get('huge pages')?.verdict]).toEqual(['warning', 'warning'])
  const sys = machine({ [GPU]: '7' }) as { bus: { pci: Tree }; kernel: Tree }
  sys.bus.pci['drivers'] = { 'vfio-pci': {} }
  sys.kernel['mm'] = {
    hugepages: { 'hugepages-2048kB': { nr_hugepages: '512\n' }, 'hugepages-1048576kB': { nr_hugepages: '0\n' } },
  }
  const found = await judge(sys)
  expect([found.get('vfio-pci')?.says, found.get('huge pages')?.says]).toEqual(['loaded', '512 of 2048kB'])
})

test('the whole of a machine: what is wrong is said with what to do, what is not without', async () => {
  const bare = await judge(machine({}), {}, {})
  expect(Object.fromEntries(bare)).toEqual({
    IOMMU: {
      verdict: 'problem',
      says: 'off: no device can be given to a guest',
      advice: 'enable the IOMMU (AMD-Vi, VT-d or SMMU) in the firmware',
    },
    'vfio-pci': {
      verdict: 'warning',
      says: 'not loaded',
      advice: 'modprobe vfio-pci; libvirt loads it itself where the module is installed',
    },
    'huge pages': {
      verdict: 'warning',
      says: 'none are set aside: servers whose flavor has hw:mem_page_size=large do not start here',
      advice: 'set vm.nr_hugepages if such flavors are used, otherwise leave it',
    },
  })
  const sys = machine({ [GPU]: '12', [NIC]: '13' }, { [NIC]: 'i40e' }) as { bus: { pci: Tree }; kernel: Tree }
  sys.bus.pci['drivers'] = { 'vfio-pci-core': {}, 'vfio-pci': {} }
  sys.kernel['mm'] = {
    hugepages: {
      'hugepages-1048576kB': { nr_hugepages: '1\n' },
      'hugepages-2048kB': { nr_hugepages: '512\n' },
      'hugepages-64kB': {},
    },
  }
  const found = await judge(sys, {}, { [GPU]: GPU, [NIC]: NIC })
  expect(Object.fromEntries(found)).toEqual({
    IOMMU: { verdict: 'ok', says: 'on, with 2 groups', advice: null },
    'vfio-pci': { verdict: 'ok', says: 'loaded', advice: null },
    'huge pages': { verdict: 'ok', says: '1 of 1048576kB, 512 of 2048kB', advice: null },
    [GPU]: {
      verdict: 'ok',
      says: 'alone in IOMMU group 12 but for what may go with it; no kernel driver',
      advice: null,
    },
    [NIC]: {
      verdict: 'warning',
      says: 'alone in IOMMU group 13 but for what may go with it; the kernel driver i40e',
      advice:
        'libvirt takes it from i40e when a server starts, which fails or waits while this machine uses it; driverctl set-override 0000:b0:00.0 vfio-pci keeps it free for guests',
    },
  })
})

describe('of a function that shares its group', () => {
  const AUDIO = '0000:af:00.1'
  const shared = async (
    offered: Readonly<Record<string, string | null>>,
    drivers: Readonly<Record<string, string>>,
  ) => {
    const sys = machine({ [GPU]: '7', [AUDIO]: '7', [NIC]: '7' }, drivers)
    return (await judge(sys, {}, offered)).get(GPU)!.says
  }
  test('each one of another unit is named, but those of its own', async () =>
    expect(await shared({ [GPU]: 'unit', [AUDIO]: 'unit', [NIC]: 'other' }, { [NIC]: 'vfio-pci' })).toBe(
      `it shares IOMMU group 7 with ${NIC} (vfio-pci), which is offered as well: they cannot go to two guests`,
    ))
  test('whose parts are given away, nothing of it matters', async () =>
    expect(
      await shared({ [GPU]: null, [AUDIO]: null, [NIC]: NIC }, { [GPU]: 'nvidia', [AUDIO]: 'snd', [NIC]: 'i40e' }),
    ).toContain('alone in IOMMU group 7'))
})
