/** `pci_driver`: what it offers of the functions that its whitelist takes, and what it says of the others. */
import { describe, expect, test } from 'vitest'
import { never, slotsOf } from './driver.contract.ts'
import { driverOf as named } from './machines.ts'
import { recordedHost, recordedHostIo, type Tree } from './recordedHostIo.ts'

const driverOf = (given: unknown) => named('pci_driver', { pci: { whitelist: given } })
const seenWith = async (given: unknown, io = recordedHost('mixed-host')): Promise<readonly string[]> =>
  (await driverOf(given).discover(io)).flatMap(({ deployables }) => deployables.map(({ name }) => name))

describe('pci_driver reports', () => {
  test('a whitelisted function with the values clients know', async () => {
    const given = { vendor_id: '1b36', product_id: '0010' }
    expect(await driverOf(given).discover(recordedHost('mixed-host'))).toEqual([
      {
        type: 'GPU',
        vendor: '1b36',
        model: '0010',
        stdBoardInfo: '{"product_id": "0010", "controller": null}',
        vendorBoardInfo: 'miss_vb_info',
        controlPath: { type: 'PCI', info: '{"bus": "00", "device": "12", "domain": "0000", "function": "0"}' },
        card: { kind: { pci: '1b36:0010' }, marks: {} },
        deployables: [
          {
            name: 'compute1_0000:00:12.0',
            numAccelerators: 1,
            driverName: '1B36',
            attributes: [
              { key: 'rc', value: 'CUSTOM_PCI' },
              { key: 'trait0', value: 'OWNER_CYBORG' },
              { key: 'trait1', value: 'CUSTOM_PCI_PRODUCT_ID_0010' },
              { key: 'trait2', value: 'CUSTOM_PCI_1B36_0010' },
            ],
            handles: [{ type: 'PCI', info: { bus: '00', device: '12', domain: '0000', function: '0' } }],
            // it is an NVMe drive
            hostWork: true,
            programmable: false,
          },
        ],
      },
    ])
  })

  test.each([
    ['10de', 'NVIDIA'],
    ['102b', 'MATROX'],
    ['8086', 'INTEL'],
    ['1bd4', 'INSPUR'],
    ['10ee', 'XILINX'],
    ['19e5', 'HUAWEI'],
  ])('vendor %s by the name %s', async (vendor, name) => {
    const [device] = await driverOf({ vendor_id: vendor }).discover(recordedHost('mixed-host'))
    const [{ driverName, attributes }] = [device!.deployables[0]!]
    expect(driverName).toBe(name)
    expect(attributes[2]).toEqual({ key: 'trait1', value: `CUSTOM_PCI_${name}` })
  })

  test('what the entry says instead of its own values', async () => {
    const entry = {
      vendor_id: '1da3',
      device_type: 'AICHIP',
      resource_class: 'CUSTOM_AICHIP',
      traits: ['CUSTOM_GAUDI2', 'OWNER_CYBORG'],
      check: true,
    }
    const [device] = await driverOf([entry, {}])
      .discover(recordedHost('mixed-host'))
      .then((all) => all.filter(({ vendor }) => vendor === '1da3'))
    expect(device!.type).toBe('AICHIP')
    expect(device!.deployables[0]).toMatchObject({ hostWork: true })
    expect(device!.deployables[0]!.attributes.map(({ value }) => value)).toEqual([
      'CUSTOM_AICHIP',
      'OWNER_CYBORG',
      'CUSTOM_PCI_PRODUCT_ID_1020',
      'CUSTOM_PCI_1DA3_1020',
      'CUSTOM_GAUDI2',
    ])
  })

  test.each([
    [
      'everything but physical functions that have virtual ones, bare virtual GPUs and what a card needs itself',
      {},
      29,
    ],
    ['one vendor by its number, not by text in a name', { vendor_id: '10de' }, 8],
    ['the virtual functions of a physical one', { address: '0000:18:00.0' }, 1],
    ['the virtual functions of an interface', { devname: 'ens24f0' }, 1],
    ['nothing for an interface that is not there', { devname: 'ens9' }, 0],
  ])('%s', async (_name, given, count) => expect(await seenWith(given)).toHaveLength(count))

  test('odd hosts as they are', async () => {
    const odd = (given: unknown) => seenWith(given, recordedHost('odd-host'))
    expect(await odd({ vendor_id: '10de' })).toEqual([])
    expect(await odd({ vendor_id: 'DEAD' })).toEqual(['compute1_0000:0a:00.0'])
    expect(await odd({ product_id: '0a54' })).toEqual([])
    expect(await odd({ devname: 'eth0' })).toEqual(['compute1_0000:00:03.0'])
  })

  test('virtual functions by product, as kernel test fixtures show them', async () => {
    const devices = await driverOf({ product_id: '1001' }).discover(recordedHost('pci-sim'))
    expect(devices).toHaveLength(7)
    expect(devices[0]!.deployables[0]!.attributes).toContainEqual({
      key: 'trait1',
      value: 'CUSTOM_PCI_PRODUCT_ID_1001',
    })
  })

  test('a function whose interface a guest has taken over', async () => {
    const io = recordedHost('mixed-host')
    const driver = driverOf({ devname: 'ens5f0' })
    const before = await driver.discover(io)
    io.remove('/sys/class/net/ens5f0')
    expect(await driverOf({ devname: 'ens5f0' }).discover(io)).toEqual(before)
    io.remove('/sys/bus/pci/devices/0000:05:00.0')
    expect(await driver.discover(io)).toEqual([])
  })

  test('no function that is unplugged while it is read, nor what is no function', async () => {
    const io = recordedHost('odd-host')
    io.tree('/sys/bus/pci/devices')['garbage line'] = {}
    const read = (path: string) => {
      if (path.includes('0a:00.0')) io.remove('/sys/bus/pci/devices/0000:0a:00.0')
      return io.read(path)
    }
    expect(await driverOf({}).discover({ ...io, read })).toHaveLength((await seenWith({}, io)).length)
  })

  test('an error rather than a shorter list', async () => {
    const io = recordedHost('mixed-host')
    io.remove('/sys/devices/pci0000:af/0000:af:00.0/vendor')
    await expect(driverOf({}).discover(io)).rejects.toThrow('0000:af:00.0/vendor')
    for (const vendor of ['', '0x\n', '0x1b366', 'Red Hat']) {
      io.tree('/sys/devices/pci0000:af/0000:af:00.0')['vendor'] = vendor
      await expect(driverOf({}).discover(io)).rejects.toThrow('0000:af:00.0/vendor: must hold at most 4 hex digits')
    }
    await expect(driverOf({}).discover(recordedHostIo({}))).rejects.toThrow('/sys/bus/pci/devices')
  })
})

describe('of an SR-IOV device pci_driver offers', () => {
  const PF = 'compute1_0000:d0:00.0'
  const [byAddress, byProduct] = [{ address: '0000:d0:00.0', product_id: '1000' }, { product_id: '1001' }]
  const seen = (given: unknown, io = recordedHost('pci-sim')) => seenWith(given, io)
  const withoutVirtual = () => {
    const io = recordedHost('pci-sim')
    for (let n = 1; n <= 7; n++) io.remove(`/sys/bus/pci/devices/0000:d0:00.${n}`)
    return io
  }
  const VIRTUAL = [1, 2, 3, 4, 5, 6, 7].map((n) => `compute1_0000:d0:00.${n}`)

  test.each([
    ['one entry takes all of them', {}],
    ['the physical one is taken by its address and the virtual ones by their product', [byAddress, byProduct]],
    ['the entries stand the other way round', [byProduct, byAddress]],
  ])('only the virtual functions, also when %s', async (_name, given) => {
    expect(await seen(given)).toEqual(VIRTUAL)
  })
  test('nothing when only the physical one is whitelisted: who has it controls the others', async () => {
    expect(await seen(byAddress)).toEqual([])
  })
  test.each([
    ['one entry', { ...byAddress, product_id: '*', mode: 'pf' }],
    ['another entry for the virtual ones', [byProduct, { ...byAddress, mode: 'pf' }]],
  ])('only the physical function when its entry says so, with %s', async (_name, given) => {
    expect(await seen(given)).toEqual([PF])
  })
  test('the physical function while it has no virtual ones, unless its entry is for virtual ones only', async () => {
    expect(await seen({ vendor_id: '1d55' }, withoutVirtual())).toEqual([PF])
    expect(await seen({ vendor_id: '1d55', mode: 'vf' }, withoutVirtual())).toEqual([])
    expect(await seen({ vendor_id: '1d55', mode: 'vf' })).toEqual(VIRTUAL)
  })
  test('a function that is no part of such a device in either mode', async () => {
    for (const mode of ['pf', 'vf'])
      expect(await seenWith({ vendor_id: '1b36', mode })).toEqual(['compute1_0000:00:12.0'])
  })
  test('each virtual function with the address of its physical one', async () => {
    const devices = await driverOf({ vendor_id: '1d55' }).discover(recordedHost('pci-sim'))
    const handles = devices.flatMap(({ deployables }) => deployables.flatMap((one) => one.handles))
    expect(handles.map(({ physfn }) => physfn)).toEqual(VIRTUAL.map(() => '0000:d0:00.0'))
  })
  test('and says what is left out and why, once until it changes', async () => {
    const io = recordedHost('pci-sim')
    const driver = driverOf({ vendor_id: '1d55' })
    await driver.discover(io)
    await driver.discover(io)
    expect(io.warnings).toMatchObject([
      { event: 'pci_functions_left_out', detail: { functions: [{ address: '0000:d0:00.0' }] } },
    ])
    expect(JSON.stringify(io.warnings)).toContain('it has virtual functions')
  })
})

describe('pci_driver without a whitelist', () => {
  test('reports nothing and says once, in one sentence, how many devices it saw and which command shows them', async () => {
    const io = recordedHost('odd-host')
    const driver = driverOf('')
    expect(await driver.discover(io)).toEqual([])
    expect(await driver.discover(io)).toEqual([])
    const hint =
      "5 PCI devices seen, none offered: no whitelist is set. 'accelerando device scan' shows each device and the setting that offers it"
    expect(io.warnings).toEqual([{ event: 'pci_whitelist_empty', detail: { hint } }])
  })

  test('takes a host without a PCI bus for what it is', async () => {
    const io = recordedHostIo({})
    expect(await driverOf(undefined).discover(io)).toEqual([])
    expect(io.warnings).toHaveLength(1)
  })
})

describe('pci_driver at a bind', () => {
  test('makes sure the device is there', async () => {
    const [io, driver] = [recordedHost('mixed-host'), driverOf({ vendor_id: '10de' })]
    const devices = await driver.discover(io)
    expect(devices.flatMap(({ deployables }) => deployables).every(({ hostWork }) => hostWork)).toBe(true)
    const slot = slotsOf(devices)[0]!
    await driver.prepare(io, slot, never)
    io.remove('/sys/bus/pci/devices/0000:41:00.0')
    await expect(driver.prepare(io, slot, never)).rejects.toThrow(
      `slot ${slot.uuid}: no PCI device 0000:41:00.0 on compute1`,
    )
    await driver.release(io, slot, never)
  })

  test('takes nothing but a PCI address', async () => {
    const driver = driverOf({})
    const slot = { uuid: 'u', deployable: 'compute1_x', type: 'PCI', info: { bus: '../..' } } as const
    await expect(driver.prepare(recordedHost('mixed-host'), slot, never)).rejects.toThrow(
      'slot u: info must be a PCI address',
    )
  })
})

describe('pci_driver says which of its functions are in use', () => {
  const ADDRESS = '0000:3b:00.0'
  const machine = (more: Tree) =>
    recordedHostIo({
      sys: {
        bus: {
          pci: {
            devices: { [ADDRESS]: { vendor: '0x10de\n', device: '0x1eb8\n', class: '0x030200\n', ...more } },
            drivers: { 'vfio-pci': {}, nvidia: {} },
          },
        },
      },
    })
  const bound = (driver: string, enable: string): Tree => ({
    driver: { '->': `../../drivers/${driver}` },
    enable: `${enable}\n`,
  })
  const used = async (more: Tree, whitelist: object = { vendor_id: '10de' }) => {
    const [driver, io] = [driverOf(whitelist), machine(more)]
    await driver.discover(io)
    return (await driver.inUse!(io)).map(({ info, by }) => [info['bus'], by])
  }

  test('PCI-USE-1 one that a process has opened through vfio-pci', async () => {
    expect(await used(bound('vfio-pci', '1'))).toEqual([['3b', 'a process has opened it through vfio-pci']])
  })
  test('PCI-USE-1 not one that is only kept for guests to come, nor one that a driver of the host uses', async () => {
    expect(await used(bound('vfio-pci', '0'))).toEqual([])
    expect(await used(bound('nvidia', '1'))).toEqual([])
    expect(await used({})).toEqual([])
  })
  test('not one that it does not offer', async () => {
    expect(await used(bound('vfio-pci', '1'), { vendor_id: '8086' })).toEqual([])
  })
})
