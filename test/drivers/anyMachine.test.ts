/**
 * Whatever a machine holds, and whoever uses it: what drivers offer is nobody's, no silicon is given twice, and a bind
 * looks again.
 */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Driver, Slot } from '../../src/drivers/driver.ts'
import { HARDWARE_DRIVERS } from '../../src/drivers/index.ts'
import { never, slotsOf } from './driver.contract.ts'
import { addressOf, driverOf, machine, mdevs, type Part, type Parts, vgpu } from './machines.ts'
import type { RecordedHost, Tree } from './recordedHostIo.ts'

const [SEED, RUNS] = [20261128, 40]
const USER = 'aaaaaaaa-1111-4222-8333-444444444444'
/** A card, and what its virtual functions are. */
const KINDS = [
  ['10de:2235 030200', '10de:2235 030200'],
  ['10de:2684 030000', '10de:2684 030000'],
  ['1002:75a0 120000', '1002:75b0 120000'],
  ['8086:56c0 038000', '8086:56c0 038000'],
  ['15b3:1021 020700', '15b3:101e 020700'],
  ['8086:1592 020000', '8086:1889 020000'],
  ['8086:37c8 0b4000', '8086:37c9 0b4000'],
  ['10ee:5000 120000', '10ee:5001 120000'],
  ['144d:a80a 010802', '144d:a80a 010802'],
] as const
const HOST_DRIVERS = ['nvidia', 'mlx5_core', 'acme']
const GUEST_DRIVERS = [
  'vfio-pci',
  'mlx5_vfio_pci',
  'nvgrace-gpu-vfio-pci',
  'qat_vfio_pci',
  'xe-vfio-pci',
  'acme_guests',
]

/** What somebody does with a function. */
type Use = 'nothing' | 'opened' | 'mdev' | 'vgpu'
type Any = { readonly driver: number; readonly use: Use; readonly display: boolean; readonly group: number }
const anyUse = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Use>('nothing') },
  { weight: 1, arbitrary: fc.constantFrom<Use>('opened', 'mdev', 'vgpu') },
)
const anyFunction: fc.Arbitrary<Any> = fc.record({
  driver: fc.nat({ max: 20 }),
  use: anyUse,
  display: fc.boolean(),
  group: fc.integer({ min: 0, max: 30 }),
})
const anyCard = fc.record({
  kind: fc.constantFrom(...KINDS),
  domain: fc.constantFrom('0000', '0000', '0001', '10000'),
  own: anyFunction,
  virtual: fc.array(anyFunction, { maxLength: 3 }),
})
const anyMachine = fc.record({ cards: fc.array(anyCard, { minLength: 1, maxLength: 4 }), iommu: fc.boolean() })

const usedBy: Readonly<Record<Use, Tree>> = {
  nothing: {},
  opened: {},
  mdev: { mdev_supported_types: mdevs('nvidia-1', 1, [USER]) },
  vgpu: vgpu(1148),
}
const partOf = (is: string, { driver, use, display, group }: Any, iommu: boolean): Part => {
  const forGuests = GUEST_DRIVERS[driver % GUEST_DRIVERS.length]!
  const ofHost = [undefined, ...HOST_DRIVERS, forGuests][driver % (HOST_DRIVERS.length + 2)]
  const name = use === 'opened' ? forGuests : ofHost
  return {
    is,
    driver: name,
    enable: use === 'opened' ? 1 : 0,
    group: iommu ? group : undefined,
    more: {
      ...(name === 'acme_guests' ? { 'vfio-dev': {} } : {}),
      ...(display ? { drm: { card0: { 'card0-VGA': { status: 'connected\n' } } } } : {}),
      ...usedBy[use],
    },
  }
}
const partsOf = ({ cards, iommu }: typeof anyMachine extends fc.Arbitrary<infer One> ? One : never): Parts =>
  Object.fromEntries(
    cards.flatMap(({ kind: [is, virtualIs], domain, own, virtual }, n) => {
      const slot = `${domain}:${n + 10}:00`
      const pf = [`${slot}.0`, partOf(is, own, iommu)] as const
      return [
        pf,
        ...virtual.map((one, v) => [`${slot}.${v + 1}`, { ...partOf(virtualIs, one, iommu), physfn: pf[0] }] as const),
      ]
    }),
  )

const proc: Tree = { '1': { mountinfo: '' }, swaps: '' }
const drivers = (): readonly Driver[] => {
  const row = { vendor: '1002', product: '75a0', lastProduct: '75a0', type: 'GPU' as const, family: null, name: 'n' }
  const cards = [{ ...row, vfOf: null, driver: 'id_table_driver', resourceClass: null, traits: [], pciClass: '' }]
  const options = { cards, pci: { whitelist: [{ vendor_id: '8086', mode: 'pf' }, {}] } }
  return HARDWARE_DRIVERS.filter((name) => name !== 'nvmf_spdk_driver').map((name) => driverOf(name, options))
}
const offeredBy = async (driver: Driver, io: RecordedHost): Promise<readonly Slot[]> =>
  slotsOf(await driver.discover(io))
const isGiven = (driver: Driver, io: RecordedHost, slot: Slot): Promise<boolean> =>
  driver.prepare(io, slot, never).then(
    () => true,
    () => false,
  )
const silicon = (parts: Parts, address: string): readonly string[] => {
  const { physfn } = parts[address]!
  const virtual = Object.keys(parts).filter((one) => parts[one]!.physfn === address)
  return [address, ...(physfn === undefined ? [] : [physfn]), ...virtual]
}
const isOpened = ({ enable }: Part): boolean => enable === 1
const isDivided = ({ more }: Part): boolean =>
  more?.['mdev_supported_types'] !== undefined || more?.['nvidia'] !== undefined
const folder = (io: RecordedHost, address: string): Tree => io.tree(`/sys/bus/pci/devices/${address}`)
/** A guest gets the function as libvirt gives it. */
const open = (io: RecordedHost, address: string): void => {
  Object.assign(folder(io, address), { driver: { '->': '../../../bus/pci/drivers/vfio-pci' }, enable: '1\n' })
}

test('what is offered is nobody else’s: parts of others are never offered, and what is open is named and not given', async () => {
  await fc.assert(
    fc.asyncProperty(anyMachine, async (any) => {
      const parts = partsOf(any)
      const io = machine(parts, { proc })
      for (const driver of drivers()) {
        const slots = await offeredBy(driver, io)
        const used = new Set((await driver.inUse!(io)).map(addressOf))
        for (const slot of slots) {
          const address = addressOf(slot)
          const own = [address, ...Object.keys(parts).filter((one) => parts[one]!.physfn === address)]
          expect(own.filter((one) => isDivided(parts[one]!))).toEqual([])
          const opened = own.some((one) => isOpened(parts[one]!))
          expect(used.has(address)).toBe(opened)
          const whole = parts[address]!.physfn
          expect(await isGiven(driver, io, slot)).toBe(!opened && !(whole !== undefined && isOpened(parts[whole]!)))
        }
      }
    }),
    { seed: SEED, numRuns: RUNS },
  )
})

test('no silicon is given twice, by whichever drivers', async () => {
  await fc.assert(
    fc.asyncProperty(anyMachine, fc.nat(), async (any, order) => {
      const parts = partsOf(any)
      const io = machine(parts, { proc })
      const all = (
        await Promise.all(
          drivers().map(async (driver) => (await offeredBy(driver, io)).map((slot) => ({ driver, slot }))),
        )
      ).flat()
      const given = new Set(Object.keys(parts).filter((address) => isOpened(parts[address]!)))
      for (const n of all.keys()) {
        const { driver, slot } = all[(n * 7 + order) % all.length]!
        if (!(await isGiven(driver, io, slot))) continue
        const address = addressOf(slot)
        expect(silicon(parts, address).filter((one) => given.has(one))).toEqual([])
        given.add(address)
        open(io, address)
      }
    }),
    { seed: SEED, numRuns: RUNS },
  )
})

/** What may happen to a function between the look and the bind. */
const CHANGES: Readonly<Record<string, (io: RecordedHost, address: string) => void>> = {
  opened: open,
  divided: (io, address) => void Object.assign(folder(io, address), usedBy.mdev),
  'made a vGPU': (io, address) => void Object.assign(folder(io, address), usedBy.vgpu),
  'given virtual functions': (io, address) => {
    const vf = { vendor: '0x1002\n', device: '0x75b0\n', class: '0x120000\n', physfn: { '->': `../${address}` } }
    io.tree('/sys/bus/pci/devices')['0000:ff:00.1'] = vf
  },
  'put beside a function of the machine': (io, address) => {
    const group = { iommu_group: { '->': '../../../kernel/iommu_groups/99' } }
    Object.assign(folder(io, address), group)
    const one = { vendor: '0x1002\n', device: '0xab28\n', class: '0x040300\n', driver: { '->': '../drivers/snd' } }
    io.tree('/sys/bus/pci/devices')['0000:ff:00.2'] = { ...one, ...group }
  },
}
test.each(Object.keys(CHANGES))('a bind refuses what was %s after the look', async (change) => {
  await fc.assert(
    fc.asyncProperty(anyMachine, fc.nat(), async (any, pick) => {
      const parts = partsOf(any)
      const look = machine(parts, { proc })
      for (const driver of drivers().filter(({ name }) => name !== 'pci_driver')) {
        const slots = (await offeredBy(driver, look)).filter((slot) => !isOpened(parts[addressOf(slot)]!))
        const slot = slots[pick % slots.length]
        if (slot === undefined) continue
        const io = machine(parts, { proc })
        CHANGES[change]!(io, addressOf(slot))
        expect(await isGiven(driver, io, slot)).toBe(false)
      }
    }),
    { seed: SEED, numRuns: RUNS / 4 },
  )
})
