import { existsSync, readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { realHostIo } from '../../src/drivers/hostIo.ts'
import { formatPciAddress } from '../../src/pci.ts'
import { readPciFunctions } from '../../src/drivers/pci/sysfs.ts'
import { describeWith } from '../support/needs.ts'
import { recordedHost, recordedHostIo } from './recordedHostIo.ts'

const line = (one: Awaited<ReturnType<typeof readPciFunctions>>[number]): string =>
  `${formatPciAddress(one.address)} ${one.class} ${one.vendor}:${one.product}`

describe('sysfs of a recorded host', () => {
  test('has 37 functions, ordered, with ids and class as numbers', async () => {
    const functions = await readPciFunctions(recordedHost('mixed-host'), '/sys')
    expect(functions).toHaveLength(37)
    expect(line(functions[0]!)).toBe('0000:00:00.0 060000 8086:2020')
    expect(functions.map(line)).toContain('0000:3b:00.4 030200 10de:20f1')
    expect(functions.map(line)).toEqual(functions.map(line).toSorted())
  })

  test('knows virtual functions, their parents, and who holds a function', async () => {
    const functions = await readPciFunctions(recordedHost('mixed-host'), '/sys')
    const at = (address: string) => functions.find((one) => formatPciAddress(one.address) === address)!
    expect(functions.filter(({ physfn }) => physfn !== null).map(line)).toHaveLength(5)
    expect(formatPciAddress(at('0000:18:02.0').physfn!)).toBe('0000:18:00.0')
    expect(at('0000:18:00.0')).toMatchObject({ physfn: null, totalVfs: 64, driver: 'i40e', driverOverride: null })
    expect(at('0000:af:00.0')).toMatchObject({ totalVfs: 0, driver: 'vfio-pci', driverOverride: 'vfio-pci' })
    expect(at('0000:db:00.0')).toMatchObject({ driver: null, driverOverride: null })
  })

  test('a five-digit domain, upper-case hex and an id that is another vendor are read as they are', async () => {
    expect((await readPciFunctions(recordedHost('odd-host'), '/sys')).map(line)).toEqual([
      '0000:00:03.0 020000 1af4:1041',
      '0000:00:19.0 020000 8086:10de',
      '0000:0a:00.0 028000 dead:beef',
      '0000:0a:00.1 010802 1b36:0010',
      '10000:e1:00.0 010802 8086:0a54',
    ])
  })

  const one = { vendor: '0x1b36\n', device: '0x0010\n', class: '0x010802\n' }
  const hostWith = (devices: Parameters<typeof recordedHostIo>[0]) =>
    recordedHostIo({ sys: { bus: { pci: { devices } } } })

  test('a bus without devices is empty, no bus is an error', async () => {
    expect(await readPciFunctions(hostWith({}), '/sys')).toEqual([])
    await expect(readPciFunctions(recordedHostIo({}), '/sys')).rejects.toThrow('/sys/bus/pci/devices')
  })

  test('what is no function is skipped', async () =>
    expect(await readPciFunctions(hostWith({ 'garbage line': {}, '0000:0a:00.0': one }), '/sys')).toHaveLength(1))

  test.each([
    ['', 'empty'],
    ['0x\n', 'cut off'],
    ['0x1b366', 'too long'],
    ['Red Hat', 'prose'],
  ])("a vendor file that holds '%s' (%s) is an error, not a shorter list", async (vendor) => {
    const io = hostWith({ '0000:0a:00.0': one, '0000:0b:00.0': { ...one, vendor } })
    await expect(readPciFunctions(io, '/sys')).rejects.toThrow(
      '/sys/bus/pci/devices/0000:0b:00.0/vendor: must hold at most 4 hex digits',
    )
  })

  test('a file that is missing is an error too', async () => {
    const { class: _gone, ...rest } = one
    await expect(readPciFunctions(hostWith({ '0000:0a:00.0': rest }), '/sys')).rejects.toThrow('0000:0a:00.0/class')
  })

  test('a function that is unplugged while it is read is left out', async () => {
    const io = hostWith({ '0000:0a:00.0': one, '0000:0b:00.0': one })
    const pulled = {
      ...io,
      read: async (path: string) => {
        if (path.includes('0b:00.0')) io.remove('/sys/bus/pci/devices/0000:0b:00.0')
        return io.read(path)
      },
    }
    expect(await readPciFunctions(pulled, '/sys')).toHaveLength(1)
  })
})

const bus = {
  name: 'a PCI bus',
  installable: false,
  find: () => {
    const at = '/sys/bus/pci/devices'
    return existsSync(at) ? { at } : { lacking: `no ${at}` }
  },
}
describeWith(bus, 'sysfs of this machine', (folder) => {
  test('every function of the bus is read', async () => {
    const io = realHostIo({ hostname: 'here', stateDir: '/nowhere', warn: () => {} })
    const functions = await readPciFunctions(io, '/sys')
    expect(functions.map(({ address }) => formatPciAddress(address)).toSorted()).toEqual(readdirSync(folder).toSorted())
    for (const one of functions) expect(line(one)).toMatch(/^\S+ [0-9a-f]{6} [0-9a-f]{4}:[0-9a-f]{4}$/)
  })
})

describe('drivers that ask at the same time', () => {
  const counted = () => {
    const io = recordedHost('mixed-host')
    const seen: string[] = []
    return { seen, io: { ...io, list: (path: string) => (seen.push(path), io.list(path)), remove: io.remove } }
  }
  test('share one read, which begins after all have asked', async () => {
    const { io, seen } = counted()
    const [one, other] = [readPciFunctions(io, '/sys'), readPciFunctions(io, '/sys')]
    io.remove('/sys/bus/pci/devices/0000:af:00.0')
    expect(await one).toBe(await other)
    expect((await one).some(({ address }) => address.bus === 'af')).toBe(false)
    expect(seen.filter((path) => path === '/sys/bus/pci/devices')).toHaveLength(1)
  })
  test('later read anew, as does another host', async () => {
    const { io } = counted()
    const before = await readPciFunctions(io, '/sys')
    io.remove('/sys/bus/pci/devices/0000:af:00.0')
    expect(await readPciFunctions(io, '/sys')).toHaveLength(before.length - 1)
    const two = await Promise.all([readPciFunctions(io, '/sys'), readPciFunctions(recordedHost('pci-sim'), '/sys')])
    expect(two[0]).not.toEqual(two[1])
  })
  test('share a failure, and ask again after it', async () => {
    const { io } = counted()
    const asked = [readPciFunctions(io, '/nowhere'), readPciFunctions(io, '/nowhere')]
    for (const each of asked) await expect(each).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(readPciFunctions(io, '/nowhere')).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
