/** What is looked at around PCI functions: MIG modes, virtual functions to be made, and interfaces. */
import { describe, expect, test } from 'vitest'
import type { Driver, HostIo } from '../../src/drivers/driver.ts'
import { withoutMigCards } from '../../src/drivers/nvidia/mig.ts'
import { findInterfaces } from '../../src/drivers/pci/interfaces.ts'
import { interfacesNow, interfacesOf } from '../../src/drivers/pci/nicInterfaces.ts'
import { pciDriver } from '../../src/drivers/pci/pciDriver.ts'
import { chooseFunctions } from '../../src/drivers/pci/sriov.ts'
import { withVirtualFunctions } from '../../src/drivers/pci/virtualFunctions.ts'
import { readWhitelist, type WhitelistEntry } from '../../src/drivers/pci/whitelist.ts'
import { exampleSetting, whitelistHint } from '../../src/drivers/pci/whitelistHint.ts'
import type { PciFunction } from '../../src/drivers/pci/sysfs.ts'
import type { ReportedDevice } from '../../src/hardware.ts'
import { parsePciAddress, pciInfo, pciJson } from '../../src/pci.ts'
import { never } from './driver.contract.ts'
import { recordedHostIo, type Tree } from './recordedHostIo.ts'
import { pciTree } from './trees.ts'

const at = (text: string) => parsePciAddress(text)!
const [ONE, TWO] = ['0000:3b:00.0', '0000:3c:00.0'] as const
const driverOf = (more: Partial<Driver> = {}): Driver => ({
  name: 'd',
  discover: async () => [],
  prepare: async () => undefined,
  release: async () => undefined,
  ...more,
})

describe('MIG', () => {
  const device = (address: string, vendor = '10de', type: 'PCI' | 'MDEV' = 'PCI'): ReportedDevice => ({
    type: 'GPU',
    vendor,
    model: 'm',
    stdBoardInfo: null,
    vendorBoardInfo: null,
    controlPath: { type: 'PCI', info: pciJson(at(address)) },
    deployables: [
      {
        ...{ name: address, numAccelerators: 1, driverName: 'd', attributes: [], hostWork: false, programmable: false },
        handles: [{ type, info: pciInfo(at(address)) }],
      },
    ],
  })
  const nvidia = (instances: Tree) => ({
    gpus: Object.fromEntries([ONE, TWO].map((one, n) => [one, { information: `Device Minor: \t ${n}\n` }])),
    capabilities: { gpu0: { mig: instances }, gpu1: { mig: {} }, gpus: {}, xgpu2: {} },
  })
  const host = (instances: Tree, answers: (string | Error)[]) => {
    const io = recordedHostIo({ proc: { driver: { nvidia: nvidia(instances) } } }, 'h1')
    const calls: unknown[] = []
    const run: HostIo['run'] = async (...call) => {
      calls.push(call)
      const answer = answers.length > 1 ? answers.shift()! : answers[0]!
      if (answer instanceof Error) throw answer
      return answer
    }
    return { io: { ...io, run }, calls, warnings: io.warnings }
  }
  const left = [{ address: 'x', reason: 'own' }]
  const look = async (driver: Driver, io: HostIo) => [
    (await driver.discover(io)).map(({ deployables: [one] }) => one!.name),
    await driver.leftOut!(io),
  ]
  test('asks the tool for the mode of cards without instances, within eight seconds, and tells what it leaves out', async () => {
    const cards = [device(ONE), device(TWO)]
    const driver = withoutMigCards(driverOf({ discover: async () => cards, leftOut: async () => left }), '/usr/bin/smi')
    const { io, calls } = host({ gi0: {}, gi12: {}, xgi1: {}, gi: {} }, ['00000000:3C:00.0, Enabled\n'])
    expect(await look(driver, io)).toEqual([
      [],
      [
        ...left,
        { address: ONE, reason: 'it is divided into MIG instances (2)' },
        {
          address: TWO,
          reason: `its MIG mode is enabled, without instances: nvidia-smi -i ${TWO} -mig 0 ends that`,
        },
      ],
    ])
    const args = ['--query-gpu=pci.bus_id,mig.mode.current', '--format=csv,noheader']
    expect(calls[0]).toEqual(['/usr/bin/smi', args, 8000])
  })
  test.each<[string, ReportedDevice]>([
    ['of another vendor', device(ONE, '1002')],
    ['that is given in parts', device(ONE, '10de', 'MDEV')],
    ['of no address', { ...device(ONE), controlPath: { type: 'PATH', info: '/dev/x' } }],
  ])('says nothing of a device %s', async (_, one) => {
    const { io } = host({ gi0: {} }, [''])
    expect(await look(withoutMigCards(driverOf({ discover: async () => [one] }), 'smi'), io)).toEqual([[ONE], []])
  })
  test('is looked for also where the vendor is written in another way', async () => {
    const { io } = host({ gi0: {} }, [''])
    const cards = [device(ONE, '0x10DE')]
    expect((await look(withoutMigCards(driverOf({ discover: async () => cards }), 'smi'), io))[0]).toEqual([])
  })
  test('is warned of once as long as the tool does not answer, and again after it has', async () => {
    const no = new Error('smi: no end')
    const { io, warnings } = host({}, [no, no, '00000000:3C:00.0, Disabled\n', no])
    const driver = withoutMigCards(driverOf({ discover: async () => [device(TWO)] }), 'smi')
    for (let n = 0; n < 4; n++) expect(await driver.discover(io)).toHaveLength(1)
    const warning = { event: 'nvidia_mig_mode_unknown', detail: { reason: 'smi: no end' } }
    expect(warnings).toEqual([warning, warning])
  })
  test('keeps what is bound from being prepared whole, and no slot of another kind', async () => {
    const prepared: string[] = []
    const prepare: Driver['prepare'] = async (_io, { uuid }) => void prepared.push(uuid)
    const driver = withoutMigCards(driverOf({ prepare }), 'smi')
    const { io, calls } = host({ gi0: {} }, [''])
    const slot = (uuid: string, type: 'PCI' | 'MDEV', info: Readonly<Record<string, string>>) => ({
      ...{ uuid, deployable: 'd', type, info },
    })
    await expect(driver.prepare(io, slot('a', 'PCI', pciInfo(at(ONE))), never)).rejects.toThrow(
      `slot a: ${ONE} is not given away whole: it is divided into MIG instances (1)`,
    )
    await driver.prepare(io, slot('b', 'MDEV', pciInfo(at(ONE))), never)
    await driver.prepare(io, slot('c', 'PCI', {}), never)
    expect([prepared, calls]).toEqual([['b', 'c'], []])
    const over = AbortSignal.abort(new Error('over'))
    await expect(driver.prepare(io, slot('d', 'MDEV', {}), over)).rejects.toThrow('over')
  })
})

describe('virtual functions that are to be made', () => {
  const FOLDER = `/sys/bus/pci/devices/${ONE}`
  const host = (now: string, total = '4') =>
    recordedHostIo({ sys: { bus: { pci: { devices: { [ONE]: { sriov_numvfs: now, sriov_totalvfs: total } } } } } })
  const made = async (io: ReturnType<typeof host>, count: number, more: Partial<Driver> = {}, signal = never) => {
    const whole = await withVirtualFunctions(driverOf(more), '/sys', { [ONE]: count }).restore!(io, signal)
    return [
      whole,
      (await io.read(`${FOLDER}/sriov_numvfs`)).trim(),
      ...io.warnings.map(({ detail }) => detail['reason']),
    ]
  }
  test('are as many as configured, up to what the function can have', async () => {
    expect(await made(host('0\n'), 4)).toEqual([true, '4'])
    expect(await made(host('4'), 4)).toEqual([true, '4'])
    expect(await made(host('0'), 5)).toEqual([false, '0', '5 virtual functions are configured, and it can have 4'])
    expect(await made(host('2'), 3)).toEqual([
      false,
      '2',
      `it has 2 virtual functions, and 3 are configured: write 0 to ${FOLDER}/sriov_numvfs when no guest has any of them`,
    ])
    expect(await made(host('0', 'y'.repeat(50)), 1)).toEqual([
      false,
      '0',
      `${FOLDER}/sriov_totalvfs: must be a number, is '${'y'.repeat(40)}'`,
    ])
    expect((await made(host('0', '1234567'), 1))[0]).toBe(false)
  })
  test('that the kernel does not make are told', async () => {
    const io = { ...host('0'), write: async () => undefined }
    expect(await made(io, 2)).toEqual([false, '0', `2 was written to ${FOLDER}/sriov_numvfs, which holds 0`])
  })
  test('are whole only where the driver has restored the rest as well', async () => {
    expect(await made(host('0'), 1, { restore: async () => false })).toEqual([false, '1'])
    expect(await made(host('0'), 1, { restore: async () => true })).toEqual([true, '1'])
    expect((await made(host('0'), 9, { restore: async () => true }))[0]).toBe(false)
  })
  test('are not made when the time is over', async () =>
    expect(await made(host('0'), 1, {}, AbortSignal.abort(new Error('over')))).toEqual([false, '0', 'over']))
  test('are no concern of a driver where none are configured', () => {
    const driver = driverOf()
    expect(withVirtualFunctions(driver, '/sys', {})).toBe(driver)
  })
})

describe('the interfaces of a function', () => {
  const sys = (more: Tree, net: Tree = {}): Tree => ({
    ...pciTree({ [ONE]: { vendor: '8086', device: '1572', class: '020000', more } }),
    class: { net },
  })
  test('are its own and those of a virtio device on it', async () => {
    const virtio = { virtio3: { net: { eth1: {} } }, xvirtio4: { net: { eth2: {} } }, virtio5x: { net: { eth3: {} } } }
    const io = recordedHostIo({ sys: sys({ net: { eth0: {}, alias: {} }, ...virtio }) })
    expect(await interfacesNow(io, '/sys', ONE)).toEqual(['alias', 'eth0', 'eth1'])
    expect(await interfacesNow(io, '/sys', TWO)).toEqual([])
  })
  test('are remembered while a guest has it, and forgotten with it', async () => {
    const FILE = '/state/nic_interfaces.json'
    const io = recordedHostIo({ sys: sys({ net: { eth0: {} } }) })
    const found = async (...addresses: readonly string[]) =>
      Object.fromEntries(await interfacesOf(io, '/sys', addresses.map(at)))
    expect(await found(ONE, TWO)).toEqual({ [ONE]: ['eth0'], [TWO]: [] })
    expect(io.kept()[FILE]).toBe(`{"${ONE}":["eth0"]}`)
    io.remove(`/sys/bus/pci/devices/${ONE}/net`)
    expect(await found(ONE)).toEqual({ [ONE]: ['eth0'] })
    await io.write(FILE, `{"${ONE}":["eth0",7],"${TWO}":"eth1"}`)
    expect(await found(ONE, TWO)).toEqual({ [ONE]: ['eth0'], [TWO]: [] })
    expect(io.kept()[FILE]).toBe(`{"${ONE}":["eth0"]}`)
    expect([await found(), io.kept()[FILE]]).toEqual([{}, '{}'])
  })
  test('lead to it by their device, or by their own place, and are remembered until they are elsewhere', async () => {
    const FILE = '/state/interfaces.json'
    const net: Tree = {
      eth0: { device: { '->': `../../../devices/pci0000:3b/${ONE}` } },
      eth1: { '->': `../../devices/pci0000:3c/${TWO}/virtio1/net/eth1` },
      lo: {},
    }
    const io = recordedHostIo({ sys: sys({}, net) })
    const found = async (...names: readonly string[]) => Object.fromEntries(await findInterfaces(io, '/sys', names))
    expect([await found(), io.kept()]).toEqual([{}, {}])
    expect(await found('eth0', 'eth1', 'lo', 'none')).toEqual({ eth0: at(ONE), eth1: at(TWO) })
    expect(io.kept()[FILE]).toBe(`{"eth0":"${ONE}","eth1":"${TWO}"}`)
    io.remove('/sys/class/net/eth0')
    expect(await found('eth0')).toEqual({ eth0: at(ONE) })
    expect(io.kept()[FILE]).toBe(`{"eth0":"${ONE}"}`)
    io.tree('/sys/class/net')['eth0'] = { device: { '->': `../../../devices/x/${TWO}` } }
    expect(await found('eth0')).toEqual({ eth0: at(TWO) })
  })
})

const functionAt = (address: string, more: Partial<PciFunction> = {}): PciFunction => ({
  ...{ address: at(address), vendor: '8086', product: '1572', class: '020000', physfn: null, totalVfs: 0 },
  ...{ driver: null, driverOverride: null, isForGuests: false, group: null },
  ...more,
})
const entryOf = (given: object): WhitelistEntry => {
  const reading = readWhitelist(given)
  if (!reading.ok) throw new Error(JSON.stringify(reading))
  return reading.entries[0]!
}
test('of a divided function either the whole or its parts are offered, with the reason for the others', () => {
  const [plain, pf] = [entryOf({}), entryOf({ mode: 'pf' })]
  const vf = functionAt('0000:3b:00.1', { physfn: at(ONE) })
  const reasons = (own: WhitelistEntry | null, part: WhitelistEntry | null) =>
    chooseFunctions([
      { found: functionAt(ONE), entry: own },
      { found: vf, entry: part },
      { found: functionAt(TWO), entry: pf },
    ]).map(({ leftOut }) => leftOut)
  const DIVIDED = 'it has virtual functions, and its whitelist entry does not have "mode": "pf"'
  expect(reasons(plain, plain)).toEqual([DIVIDED, null, null])
  expect(reasons(plain, null)).toEqual([DIVIDED, null, null])
  expect(reasons(null, plain)).toEqual([null, null, null])
  expect(reasons(pf, plain)).toEqual([null, `its physical function ${ONE} is offered as a whole`, null])
  expect(reasons(pf, null)).toEqual([null, null, null])
})

describe('a host without a whitelist', () => {
  const of = (...classes: readonly string[]) =>
    classes.map((one, n) => functionAt(`0000:3b:00.${n}`, { class: `${one}0000`, product: `000${n}` }))
  const setting = (product: string) =>
    `ACCELERANDO_PCI_PASSTHROUGH_WHITELIST='[{"vendor_id":"8086","product_id":"${product}"}]'`
  test('is shown a setting for what is most likely free, or for anything but a bridge', () => {
    for (const own of ['01', '02', '03', '05', '06', '08', '0c'])
      expect(exampleSetting(of('06', own, '12'))).toBe(setting('0002'))
    expect(exampleSetting(of('06', '02', '01'))).toBe(setting('0001'))
    expect([exampleSetting(of('06')), exampleSetting([])]).toEqual([null, null])
  })
  test('is told so once, also where its bus cannot be read', async () => {
    const io = recordedHostIo({})
    const driver = pciDriver({ whitelist: [] })
    for (let n = 0; n < 2; n++) expect([await driver.discover(io), await driver.leftOut!(io)]).toEqual([[], []])
    expect(io.warnings).toEqual([
      {
        event: 'pci_whitelist_empty',
        detail: {
          hint: 'No PCI device is whitelisted, and none can be seen: Error: ENOENT: /sys/bus/pci/devices',
        },
      },
    ])
    const seen = recordedHostIo({ own: pciTree({ [ONE]: { vendor: '1', device: '1', class: '1' } }) })
    await pciDriver({ whitelist: [], sysfsRoot: '/own' }).discover(seen)
    expect(seen.warnings).toEqual([{ event: 'pci_whitelist_empty', detail: { hint: whitelistHint(1) } }])
  })
})
test('what the whitelist takes and is left out is logged when it changes, and a bind looks at the network once more', async () => {
  const card = { vendor: '8086', device: '1572', class: '020000' }
  const io = recordedHostIo({ sys: pciTree({ [ONE]: { ...card, more: { net: { eth0: {} } } }, [TWO]: card }) })
  const driver = pciDriver({ whitelist: [entryOf({})] })
  expect(await driver.discover(io)).toHaveLength(2)
  const slot = { uuid: 'u', deployable: 'd', type: 'PCI' as const, info: pciInfo(at(ONE)) }
  await driver.prepare(io, slot, never)
  io.tree('/sys')['class'] = { net: { eth0: { upper_br0: '' } } }
  const reason = 'eth0 belongs to br0 of the host, as to a bridge, a bond or a switch'
  await expect(driver.prepare(io, slot, never)).rejects.toThrow(`slot u: ${ONE} is not given to a guest: ${reason}`)
  const left = [{ address: ONE, reason }]
  for (let n = 0; n < 2; n++) expect([(await driver.discover(io)).length, await driver.leftOut!(io)]).toEqual([1, left])
  io.remove('/sys/class/net/eth0/upper_br0')
  expect(await driver.discover(io)).toHaveLength(2)
  io.tree('/sys/class/net/eth0')['upper_br0'] = ''
  await driver.discover(io)
  const warning = { event: 'pci_functions_left_out', detail: { functions: left } }
  expect(io.warnings).toEqual([warning, warning])
})
