/** Simulated hardware at its limits: addresses, images, faults, and the file in which it keeps what it holds. */
import { describe, expect, test } from 'vitest'
import type { HostIo } from '../../src/drivers/driver.ts'
import { effectsKeeper } from '../../src/drivers/simulated/effectsFile.ts'
import { withPrepared, withReleased } from '../../src/drivers/simulated/effects.ts'
import { fakeDriver } from '../../src/drivers/simulated/fake.ts'
import { noFaults, readInjectedFaults, shouldFail } from '../../src/drivers/simulated/injectedFaults.ts'
import { type SimulatedDevice, simulatedDriver } from '../../src/drivers/simulated/simulated.ts'
import { handClock } from '../support/lab.ts'
import { never, slotsOf } from './driver.contract.ts'
import { recordedHostIo } from './recordedHostIo.ts'

const fpga = (handles: number, functions?: number): SimulatedDevice => ({
  kind: 'fpga',
  handles,
  ...(functions === undefined ? {} : { functions }),
})
const made = (...devices: readonly SimulatedDevice[]) => simulatedDriver({ seed: 1, devices })
const host = (images: Readonly<Record<string, string>> = {}) => recordedHostIo({ images }, 'h1')
const text = (info: Readonly<Record<string, string>>) =>
  `${info['domain']}:${info['bus']}:${info['device']}.${info['function']}`

describe('the addresses of simulated cards', () => {
  const addresses = async (...devices: readonly SimulatedDevice[]) =>
    (await made(...devices).discover(host())).map(({ controlPath, deployables: [one] }) => {
      const own = text(JSON.parse(controlPath.info) as Record<string, string>)
      const all = one!.handles.map(({ info }) => text(info))
      return `${own}: ${all.at(0)} to ${all.at(-1)}, ${one!.numAccelerators} of ${all.length}`
    })
  test('are the card itself, or its virtual functions after it; each card begins a bus', async () => {
    expect(await addresses(fpga(1), fpga(2), fpga(255), fpga(256), fpga(1))).toEqual([
      'acc0:00:00.0: acc0:00:00.0 to acc0:00:00.0, 1 of 1',
      'acc0:01:00.0: acc0:01:00.1 to acc0:01:00.2, 2 of 2',
      'acc0:02:00.0: acc0:02:00.1 to acc0:02:1f.7, 255 of 255',
      'acc0:03:00.0: acc0:03:00.1 to acc0:04:00.0, 256 of 256',
      'acc0:05:00.0: acc0:05:00.0 to acc0:05:00.0, 1 of 1',
    ])
  })
  test('go on in the next domain after 256 buses', async () => {
    const all = await addresses(...Array.from({ length: 257 }, () => fpga(1)))
    expect(all.slice(255)).toEqual([
      'acc0:ff:00.0: acc0:ff:00.0 to acc0:ff:00.0, 1 of 1',
      'acc1:00:00.0: acc1:00:00.0 to acc1:00:00.0, 1 of 1',
    ])
  })
  test('of units of two functions are two each, which are given together', async () => {
    const [one, two] = await made(fpga(1, 2), fpga(2, 2)).discover(host())
    const handles = (device: typeof one) =>
      device!.deployables[0]!.handles.map(({ info, set }) => `${text(info)} ${set}`)
    expect(handles(one)).toEqual(['acc0:00:00.0 0', 'acc0:00:00.1 0'])
    expect(handles(two)).toEqual(['acc0:01:00.1 0', 'acc0:01:00.2 0', 'acc0:01:00.3 1', 'acc0:01:00.4 1'])
    expect([one, two].map((device) => [device!.vendor, device!.deployables[0]!.numAccelerators])).toEqual([
      ['10ee', 1],
      ['10ee', 2],
    ])
    expect(one!.deployables[0]!.attributes.map(({ value }) => value)).toContain('CUSTOM_FPGA_XILINX')
    const [plain] = await made(fpga(1, 1)).discover(host())
    expect(plain!.deployables[0]!.handles[0]).not.toHaveProperty('set')
  })
})

describe('a plan', () => {
  const refused = (...devices: readonly unknown[]) => {
    try {
      made(...(devices as readonly SimulatedDevice[]))
      return null
    } catch (error) {
      return (error as RangeError).message
    }
  }
  test('has up to a thousand devices of up to 4096 handles', () => {
    expect(refused(...Array.from({ length: 1000 }, () => fpga(1)))).toBe(null)
    expect(refused(fpga(1), fpga(4096))).toBe(null)
    for (const handles of [0, 1.5, 4097])
      expect(refused(fpga(1), fpga(handles))).toBe('devices[1].handles: must be a whole number from 1 to 4096')
  })
  test('has units of two functions of FPGAs only, within the same limit', () => {
    expect(refused(fpga(2048, 2))).toBe(null)
    const rule = 'devices[1].functions: must be 1, or 2 for an fpga with at most 2048 handles'
    for (const wrong of [fpga(2049, 2), fpga(1, 3), fpga(1, 0), { kind: 'gpu', handles: 1, functions: 2 }])
      expect(refused(fpga(1), wrong)).toBe(rule)
    expect(refused({ kind: 'gpu', handles: 1, functions: 1 })).toBe(null)
  })
})

describe('an image', () => {
  const loaded = async (path: string, io: HostIo = host()) => {
    const driver = fakeDriver({ handles: 1 })
    await driver.program(io, 'h1_FakeDevice', path, never)
    const [device] = await driver.discover(io)
    const { bitstreamId, attributes } = device!.deployables[0]!
    return [bitstreamId, ...attributes.slice(2).map(({ key, value }) => `${key} ${value}`)]
  }
  test('is found by its name in its folder, wherever that is', async () => {
    const asked: string[] = []
    const io: HostIo = { ...host(), list: async (path) => (asked.push(path), ['a.bin', '.hidden', 'b.tar.gz']) }
    expect(await loaded('/x/y/a.bin', io)).toEqual(['a'])
    expect(await loaded('/b.tar.gz', io)).toEqual(['b.tar'])
    expect(await loaded('.hidden', io)).toEqual(['.hidden'])
    expect(asked).toEqual(['/x/y', '/', '.'])
    await expect(loaded('/images/none', io)).rejects.toThrow('/images/none: no such image')
  })
  test('has a name of up to 100 characters', async () => {
    const [fits, long] = ['n'.repeat(100), 'n'.repeat(101)]
    const io = host({ [`${fits}.bin`]: '', [`${long}.bin`]: '' })
    expect(await loaded(`/images/${fits}.bin`, io)).toEqual([fits])
    await expect(loaded(`/images/${long}.bin`, io)).rejects.toThrow(
      `/images/${long}.bin: the name must not be longer than 100 characters`,
    )
  })
  test.each<[string, string | null]>([
    ['{"function_uuid": "3AFB-1_x"}', '3AFB_1_X'],
    [`{"function_uuid": "${'f'.repeat(64)}"}`, 'F'.repeat(64)],
    [`{"function_uuid": "${'f'.repeat(65)}"}`, null],
    ['{"function_uuid": ""}', null],
    ['{"function_uuid": "a b"}', null],
    ['{"function_uuid": 1}', null],
    ['{}', null],
    ['bits', null],
  ])('that holds %j has the trait of what it does where it says it', async (bits, does) =>
    expect(await loaded('/images/a.bin', host({ 'a.bin': bits }))).toEqual([
      'a',
      ...(does === null ? [] : [`trait1 CUSTOM_FPGA_FUNCTION_ID_0XABCD_${does}`]),
    ]),
  )
  test('that cannot be read says nothing, and is loaded', async () => {
    const io = host({ 'a.bin': '{"function_uuid": "x"}' })
    const read: HostIo['read'] = (path) => (path.endsWith('.bin') ? Promise.reject(new Error('EIO')) : io.read(path))
    expect(await loaded('/images/a.bin', { ...io, read })).toEqual(['a'])
  })
  test('is not loaded into what cannot be programmed, or is not there', async () => {
    const driver = made({ kind: 'gpu', handles: 1 }, fpga(1))
    const program = (name: string) => driver.program(host({ 'a.bin': '' }), name, '/images/a.bin', never)
    await expect(program('h1_acc0:00:00.0')).rejects.toThrow('h1_acc0:00:00.0 cannot be programmed')
    await expect(program('h1_none')).rejects.toThrow('h1 has no h1_none')
    driver.control.unplug(1)
    await expect(program('h1_acc0:01:00.0')).rejects.toThrow('h1 has no h1_acc0:01:00.0')
  })
})

test('a slot is prepared whose handle its deployable has, in whatever spelling', async () => {
  const [driver, io] = [made(fpga(2)), host()]
  const [slot] = slotsOf(await driver.discover(io))
  await driver.prepare(io, { ...slot!, info: { ...slot!.info, bus: '0X00', domain: 'ACC0' } }, never)
  await expect(
    driver.prepare(io, { ...slot!, uuid: 'u-1', info: { ...slot!.info, function: '7' } }, never),
  ).rejects.toThrow('slot u-1: h1_acc0:00:00.0 has no {"bus":"00","device":"00","domain":"acc0","function":"7"}')
})

test('what is in use and what is measured is told of the devices that are named, in the file and by control', async () => {
  const driver = made(...Array.from({ length: 32 }, () => fpga(1)))
  const io = host()
  const devices = await driver.discover(io)
  const paths = devices.map(({ controlPath }) => controlPath.info)
  const name = (at: number) => devices[at]!.deployables[0]!.name
  driver.control.faults.inUse = [name(1)]
  driver.control.faults.bad = [0]
  driver.control.unplug(3)
  driver.control.unplug(3)
  await io.write('/state/faults.json', JSON.stringify({ inUse: [name(0)], bad: [31], unplugged: [2] }))
  const used = (at: number) => {
    const { type, info } = devices[at]!.deployables[0]!.handles[0]!
    return { type, info, by: 'something that the fault file names' }
  }
  expect(await driver.inUse(io)).toEqual([used(0), used(1)])
  const wanted = [paths[31]!, paths[0]!, paths[2]!, paths[3]!, paths[29]!, paths[30]!, 'other']
  expect(await driver.measure(io, wanted, never)).toEqual({
    devices: [
      { controlPath: paths[0], numbers: { temperature_celsius: 40, pci_fatal_errors: 1 } },
      { controlPath: paths[29], numbers: { temperature_celsius: 69, pci_fatal_errors: 0 } },
      { controlPath: paths[30], numbers: { temperature_celsius: 40, pci_fatal_errors: 0 } },
      { controlPath: paths[31], numbers: { temperature_celsius: 41, pci_fatal_errors: 1 } },
    ],
  })
  expect(await driver.discover(io)).toHaveLength(30)
  driver.control.replug(3)
  expect(await driver.discover(io)).toHaveLength(31)
})

describe('injected faults', () => {
  const call = { action: 'prepare', deployable: 'card', slot: 'slot' } as const
  test('strike so often, always, never, or where they are named', () => {
    const strikes = (failPrepare: Parameters<typeof shouldFail>[0]['failPrepare']) => {
      const faults = { ...noFaults(), failPrepare }
      return [shouldFail(faults, call), shouldFail(faults, call), shouldFail(faults, { ...call, action: 'release' })]
    }
    expect(strikes(1)).toEqual([true, false, false])
    for (const never of [0, -1, false, [], ['other'], () => false])
      expect(strikes(never)).toEqual([false, false, false])
    for (const always of [2, true, ['slot'], ['card']]) expect(strikes(always)).toEqual([true, true, false])
    expect(shouldFail({ ...noFaults(), failProgram: [''] }, { ...call, action: 'program', slot: null })).toBe(true)
  })
  test('of a file are those that it names, and no others', () => {
    const all = {
      delayMs: 5,
      failPrepare: 2,
      failRelease: ['a'],
      failProgram: true,
      unplugged: [0, 3],
      inUse: ['b'],
      bad: [1],
    }
    expect(readInjectedFaults(JSON.stringify(all), 'f')).toEqual(all)
    const none = { delayMs: 0, failPrepare: 0, failRelease: 0, failProgram: 0, unplugged: [], inUse: [], bad: [] }
    expect([readInjectedFaults('{}', 'f'), readInjectedFaults(null, 'f'), noFaults()]).toEqual([none, none, none])
  })
  test.each<[object, string]>([
    [{ other: 1 }, 'f: other: must be one of delayMs, failPrepare, failRelease, failProgram, unplugged, inUse, bad'],
    [{ delayMs: '1' }, 'f: delayMs: must be a number of milliseconds'],
    [{ failPrepare: -1 }, 'f: failPrepare: must be a count, true, false or a list of slots and deployables'],
    [{ failRelease: 'x' }, 'f: failRelease: must be a count, true, false or a list of slots and deployables'],
    [{ failProgram: [1] }, 'f: failProgram: must be a count, true, false or a list of deployables'],
    [{ inUse: 'x' }, 'f: inUse: must be a list of deployables'],
    [{ bad: 1 }, 'f: bad: must be a list of device numbers, from 0'],
    [{ bad: [-1] }, 'f: bad.0: must be the number of a device, from 0'],
    [{ unplugged: ['1'] }, 'f: unplugged.0: must be the number of a device, from 0'],
  ])('of a file with %j are refused', (file, rule) =>
    expect(() => readInjectedFaults(JSON.stringify(file), 'f')).toThrow(rule),
  )
  test('of a file are counted anew when its text changes, and the longer delay of both counts', async () => {
    const [clock, io] = [handClock(), host({ 'a.bin': '' })]
    const driver = simulatedDriver({ seed: 1, devices: [fpga(1)], clock, faults: { delayMs: 100 } })
    const [slot] = slotsOf(await driver.discover(io))
    const fails = async (work: Promise<void>, ms: number) => {
      let end: unknown = 'under way'
      void work.then(
        () => (end = null),
        (error: unknown) => (end = (error as Error).message),
      )
      await clock.pass(ms - 1)
      const before = end
      await clock.pass(1)
      return [before, end]
    }
    await io.write('/state/faults.json', '{"failPrepare": 1, "delayMs": 50}')
    const told = `prepare of ${slot!.uuid} failed, as it was told to`
    expect(await fails(driver.prepare(io, slot!, never), 100)).toEqual(['under way', told])
    expect(await fails(driver.prepare(io, slot!, never), 100)).toEqual(['under way', null])
    await io.write('/state/faults.json', '{"failPrepare": 1, "failProgram": 1, "delayMs": 200}')
    expect(await fails(driver.prepare(io, slot!, never), 200)).toEqual(['under way', told])
    expect(await fails(driver.program(io, slot!.deployable, '/images/a.bin', never), 200)).toEqual([
      'under way',
      `program of ${slot!.deployable} failed, as it was told to`,
    ])
    await expect(driver.release(io, slot!, AbortSignal.abort(new Error('over')))).rejects.toThrow('over')
  })
})

describe('the file of what simulated hardware holds', () => {
  const slot = (uuid: string) => ({ uuid, deployable: 'd', type: 'PCI' as const, info: { a: uuid } })
  const FILE = '/state/x.effects.json'
  const keeping = () => {
    const io = host()
    const [writes, reads]: [string[], string[]] = [[], []]
    let full = false
    const counting: HostIo = {
      ...io,
      read: (path) => (reads.push(path), io.read(path)),
      write: async (path, kept) => {
        if (full) throw new Error('ENOSPC')
        writes.push(kept)
        await io.write(path, kept)
      },
    }
    return { io: counting, writes, reads, fills: (now: boolean) => (full = now), ...effectsKeeper('x') }
  }
  test('is written once for all changes that wait, and not where nothing changes', async () => {
    const { io, writes, change, read } = keeping()
    await Promise.all(['a', 'b'].map((uuid) => change(io, never, (before) => withPrepared(before, slot(uuid)))))
    const kept = {
      prepared: { a: { deployable: 'd', info: '{"a":"a"}' }, b: { deployable: 'd', info: '{"a":"b"}' } },
      loaded: {},
    }
    expect(writes).toEqual([JSON.stringify(kept)])
    await change(io, never, (before) => withReleased(before, slot('none')))
    expect([writes.length, await read(io)]).toEqual([1, kept])
  })
  test('does not hold what was given up while it waited', async () => {
    const { io, change, read } = keeping()
    const abort = new AbortController()
    const given = change(io, abort.signal, (before) => withPrepared(before, slot('a')))
    const other = change(io, never, (before) => withPrepared(before, slot('b')))
    abort.abort(new Error('over'))
    await expect(given).rejects.toThrow('over')
    await other
    expect(Object.keys((await read(io)).prepared)).toEqual(['b'])
  })
  test('is read once, and again after a write that failed', async () => {
    const { io, change, reads, fills, read } = keeping()
    const prepare = (uuid: string) => change(io, never, (before) => withPrepared(before, slot(uuid)))
    await prepare('a')
    await prepare('b')
    expect(reads).toEqual([FILE])
    fills(true)
    await expect(prepare('c')).rejects.toThrow('ENOSPC')
    fills(false)
    await prepare('d')
    expect([reads.length, Object.keys((await read(io)).prepared)]).toEqual([2, ['a', 'b', 'd']])
  })
})
