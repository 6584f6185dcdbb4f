import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { effectsPath, readEffects } from '../../src/drivers/simulated/effects.ts'
import { realHostIo } from '../../src/drivers/hostIo.ts'
import { pciAddressOf } from '../../src/vocabulary/pci.ts'
import { simulatedDriver, type SimulatedPlan } from '../../src/drivers/simulated/simulated.ts'
import { handClock } from '../support/lab.ts'
import { never, slotsOf } from './driver.contract.ts'
import { recordedHostIo } from './recordedHostIo.ts'

const KINDS = ['gpu', 'fpga', 'nic', 'qat', 'ssd', 'aichip'] as const
const small: SimulatedPlan = {
  seed: 1,
  devices: [
    { kind: 'fpga', handles: 4 },
    { kind: 'gpu', handles: 1 },
  ],
}
const host = () => recordedHostIo({ images: { 'a.bin': '' } }, 'sim-1')
const effectsOf = (io: ReturnType<typeof host>) =>
  readEffects(io.kept()[effectsPath('/state', 'simulated_driver')] ?? null)

describe('simulated devices', () => {
  test('of a kind have its type, class, traits and need of the host', async () => {
    const devices = KINDS.map((kind) => ({ kind, handles: 2 }))
    const shown = await simulatedDriver({ seed: 5, devices }).discover(host())
    const facts = shown.map(({ type, deployables: [one] }) => [
      type,
      one!.attributes[0]!.value,
      one!.hostWork,
      one!.programmable,
    ])
    expect(facts).toEqual([
      ['GPU', 'PGPU', false, false],
      ['FPGA', 'FPGA', true, true],
      ['NIC', 'CUSTOM_NIC', true, false],
      ['QAT', 'CUSTOM_QAT', false, false],
      ['SSD', 'CUSTOM_SSD', false, false],
      ['AICHIP', 'CUSTOM_AICHIP', false, false],
    ])
    for (const { deployables, type } of shown) {
      const [rc, owner, ...traits] = deployables[0]!.attributes
      expect([rc!.key, owner!.value]).toEqual(['rc', 'OWNER_CYBORG'])
      expect(traits[0]!.value).toMatch(new RegExp(`^CUSTOM_${type}_[A-Z]+$`))
      expect(traits[1]!.value).toMatch(new RegExp(`^CUSTOM_${type}_PRODUCT_ID_[0-9A-F]{4}$`))
    }
  })

  test('differ by seed and by nothing else', async () => {
    const shown = async (seed: number | string) =>
      JSON.stringify(
        await simulatedDriver({ seed, devices: KINDS.map((kind) => ({ kind, handles: 1 })) }).discover(host()),
      )
    expect(await shown(1)).toBe(await shown(1))
    expect(new Set(await Promise.all([1, 2, 3, 4, 5, 6].map(shown))).size).toBe(6)
  })

  test('need the host as forced, device before plan before kind', async () => {
    const work = async (plan: SimulatedPlan) =>
      (await simulatedDriver(plan).discover(host())).map(({ deployables }) => deployables[0]!.hostWork)
    expect(await work(small)).toEqual([true, false])
    expect(await work({ ...small, hostWork: true })).toEqual([true, true])
    expect(await work({ seed: 1, hostWork: true, devices: [{ kind: 'fpga', handles: 1, hostWork: false }] })).toEqual([
      false,
    ])
  })

  test('have valid addresses, also when a device spreads over buses and a host over domains', async () => {
    const driver = simulatedDriver({
      seed: 1,
      devices: Array.from({ length: 400 }, () => ({ kind: 'fpga', handles: 300 })),
    })
    const devices = await driver.discover(host())
    const paths = devices.map(({ controlPath }) => pciAddressOf(JSON.parse(controlPath.info)))
    expect(paths).not.toContain(null)
    expect(new Set(paths.map((path) => path!.domain)).size).toBeGreaterThan(1)
    const infos = slotsOf(devices).map(
      ({ info }) => `${info['domain']}:${info['bus']}:${info['device']}.${info['function']}`,
    )
    expect(new Set(infos).size).toBe(400 * 300)
    expect(infos.filter((text) => !/^acc[0-9a-f]:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]$/.test(text))).toEqual([])
  })

  test('refuse a plan that breaks a limit', () => {
    const plan = (device: unknown) => ({ seed: 1, devices: [device] }) as SimulatedPlan
    expect(() => simulatedDriver(plan({ kind: 'fpga', handles: 0 }))).toThrow(
      'devices[0].handles: must be a whole number from 1 to 4096',
    )
    for (const more of [{ handles: 2049, functions: 2 }, { functions: 3 }, { kind: 'gpu', functions: 2 }])
      expect(() => simulatedDriver(plan({ kind: 'fpga', handles: 1, ...more }))).toThrow(
        'devices[0].functions: must be 1, or 2 for an fpga with at most 2048 handles',
      )
    expect(() => simulatedDriver(plan({ kind: 'tpu', handles: 1 }))).toThrow(
      'devices[0].kind: must be one of gpu, fpga, nic, qat, ssd, aichip',
    )
    expect(() => simulatedDriver({ seed: 1, devices: Array.from({ length: 1001 }, () => small.devices[0]!) })).toThrow(
      'devices: must not be more than 1000',
    )
  })
})

test('a bitstream that says what it does changes the function trait, until another is loaded', async () => {
  const does = (function_uuid: string) => JSON.stringify({ function_uuid })
  const io = recordedHostIo({ images: { 'a.bin': does('3AFB-1'), 'b.bin': does('c0'), 'c.bin': 'bits' } }, 'sim-1')
  const driver = simulatedDriver(small)
  const [slot] = slotsOf(await driver.discover(io))
  const traits = async () => {
    const [device] = await driver.discover(io)
    const { attributes } = device!.deployables[0]!
    const found = attributes.filter(({ value }) => value.startsWith('CUSTOM_FPGA_FUNCTION_ID_'))
    expect(new Set(attributes.map(({ key }) => key)).size).toBe(attributes.length)
    return found.map(({ value }) => value.replace(/_(XILINX|INTEL)_/, '_V_'))
  }
  expect(await traits()).toEqual([])
  await driver.program(io, slot!.deployable, '/images/a.bin', never)
  expect(await traits()).toEqual(['CUSTOM_FPGA_FUNCTION_ID_V_3AFB_1'])
  await driver.program(io, slot!.deployable, '/images/b.bin', never)
  expect(await traits()).toEqual(['CUSTOM_FPGA_FUNCTION_ID_V_C0'])
  await driver.program(io, slot!.deployable, '/images/c.bin', never)
  expect(await traits()).toEqual([])
})

describe('what simulated hardware holds', () => {
  test('is in a file: slots prepared and bitstreams loaded', async () => {
    const io = host()
    const driver = simulatedDriver(small)
    const [one, two] = slotsOf(await driver.discover(io))
    await Promise.all([driver.prepare(io, one!, never), driver.prepare(io, two!, never)])
    await driver.program(io, one!.deployable, '/images/a.bin', never)
    expect(effectsOf(io)).toEqual({
      prepared: {
        [one!.uuid]: {
          deployable: 'sim-1_acc0:00:00.0',
          info: '{"bus":"00","device":"00","domain":"acc0","function":"1"}',
        },
        [two!.uuid]: {
          deployable: 'sim-1_acc0:00:00.0',
          info: '{"bus":"00","device":"00","domain":"acc0","function":"2"}',
        },
      },
      loaded: { 'sim-1_acc0:00:00.0': 'a' },
    })
    await simulatedDriver(small).release(io, one!, never)
    expect(Object.keys(effectsOf(io).prepared)).toEqual([two!.uuid])
    expect(readEffects(null)).toEqual({ prepared: {}, loaded: {} })
    expect(readEffects('{}')).toEqual({ prepared: {}, loaded: {} })
    expect(() => readEffects('{"prepared"')).toThrow('effects: must hold a JSON object')
    expect(() => readEffects('{"prepared": {"a": {"info": "b"}}}')).toThrow(
      'effects: prepared.a.deployable: must be there',
    )
    expect(() => readEffects('{"prepared": {"a": 7}}')).toThrow('effects: prepared.a: must be an object')
    expect(() => readEffects('{"loaded": 7}')).toThrow('effects: loaded: must be an object')
  })

  test('is not made anew by looking', async () => {
    const io = host()
    await simulatedDriver(small).discover(io)
    expect(io.kept()).toEqual({})
  })
})

describe('injected faults', () => {
  test('counts strike so many times, then it is quiet again', async () => {
    const io = host()
    const driver = simulatedDriver({ ...small, faults: { failPrepare: 2 } })
    const [slot] = slotsOf(await driver.discover(io))
    const fails = () =>
      driver.prepare(io, slot!, never).then(
        () => false,
        () => true,
      )
    expect([await fails(), await fails(), await fails()]).toEqual([true, true, false])
    driver.control.faults.failRelease = 1
    await expect(driver.release(io, slot!, never)).rejects.toThrow(`release of ${slot!.uuid} failed, as it was told to`)
    expect(Object.keys(effectsOf(io).prepared)).toEqual([slot!.uuid])
    await driver.release(io, slot!, never)
    expect(effectsOf(io).prepared).toEqual({})
  })

  test('predicates and lists choose the slot', async () => {
    const io = host()
    const driver = simulatedDriver(small)
    const [one, two] = slotsOf(await driver.discover(io))
    driver.control.faults.failPrepare = ({ slot }) => slot === one!.uuid
    await expect(driver.prepare(io, one!, never)).rejects.toThrow('as it was told to')
    await driver.prepare(io, two!, never)
    driver.control.faults.failRelease = [two!.uuid]
    await expect(driver.release(io, two!, never)).rejects.toThrow('as it was told to')
    await driver.release(io, one!, never)
    driver.control.faults.failProgram = [one!.deployable]
    await expect(driver.program(io, one!.deployable, '/images/a.bin', never)).rejects.toThrow('as it was told to')
  })

  test('an unplugged device is not shown and prepares nothing, its slots can be released, and it comes back', async () => {
    const io = host()
    const driver = simulatedDriver(small)
    const before = await driver.discover(io)
    const [slot] = slotsOf(before)
    await driver.prepare(io, slot!, never)
    driver.control.unplug(0)
    expect(await driver.discover(io)).toEqual(before.slice(1))
    await expect(driver.prepare(io, slot!, never)).rejects.toThrow('sim-1 has no sim-1_acc0:00:00.0')
    await expect(driver.program(io, slot!.deployable, '/images/a.bin', never)).rejects.toThrow('sim-1 has no')
    await driver.release(io, slot!, never)
    expect(effectsOf(io).prepared).toEqual({})
    driver.control.replug(0)
    expect(await driver.discover(io)).toEqual(before)
  })

  test('a delay is waited for, and given up with the caller', async () => {
    const [io, clock] = [host(), handClock()]
    const driver = simulatedDriver({ ...small, clock, faults: { delayMs: 250 } })
    const [slot] = slotsOf(await driver.discover(io))
    const first = driver.prepare(io, slot!, never)
    await clock.pass(249)
    expect(effectsOf(io).prepared).toEqual({})
    await clock.pass(1)
    await first
    const caller = new AbortController()
    const second = driver.release(io, slot!, caller.signal)
    const refused = expect(second).rejects.toThrow('past its deadline')
    await clock.pass(100)
    caller.abort(new Error('past its deadline'))
    await refused
    await clock.pass(250)
    expect(Object.keys(effectsOf(io).prepared)).toEqual([slot!.uuid])
  })
})

test('what is in use and what is bad is told of the devices that are named, in the file and by control', async () => {
  const [io, driver] = [host(), simulatedDriver(small)]
  const devices = await driver.discover(io)
  const [fpga, gpu] = devices.map(({ deployables }) => deployables[0]!.name) as [string, string]
  driver.control.faults.inUse = [gpu]
  driver.control.faults.bad = [0]
  await io.write('/state/faults.json', JSON.stringify({ inUse: [fpga], bad: [1] }))
  const by = 'something that the fault file names'
  expect((await driver.inUse(io)).map((one) => one.by)).toEqual(Array(5).fill(by))
  const paths = devices.map(({ controlPath }) => controlPath.info)
  const measured = await driver.measure(io, [...paths, 'other'], never)
  expect(measured.devices.map(({ numbers }) => numbers.pci_fatal_errors)).toEqual([1, 1])
})

describe('the faults file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'simulated-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const io = realHostIo({ hostname: 'sim-1', stateDir: folder, warn: () => {} })
  const driver = simulatedDriver(small)
  const told = (text: string) => writeFileSync(join(folder, 'faults.json'), text)

  test('is read at each call', async () => {
    const before = await driver.discover(io)
    const [slot] = slotsOf(before)
    told('{"unplugged": [0]}')
    expect(await driver.discover(io)).toEqual(before.slice(1))
    await expect(driver.prepare(io, slot!, never)).rejects.toThrow('sim-1 has no')
    told('{"failPrepare": 1}')
    expect(await driver.discover(io)).toEqual(before)
    await expect(driver.prepare(io, slot!, never)).rejects.toThrow('as it was told to')
    await driver.prepare(io, slot!, never)
    rmSync(join(folder, 'faults.json'))
    await driver.prepare(io, slot!, never)
    const kept = readFileSync(effectsPath(folder, 'simulated_driver'), 'utf8')
    expect(Object.keys(readEffects(kept).prepared)).toEqual([slot!.uuid])
  })

  test.each([
    ['{', 'faults.json: must hold a JSON object'],
    ['[]', 'faults.json: must hold a JSON object'],
    [
      '{"delay": 1}',
      'faults.json: delay: must be one of delayMs, failPrepare, failRelease, failProgram, unplugged, inUse',
    ],
    ['{"delayMs": -1}', 'faults.json: delayMs: must be a number of milliseconds'],
    [
      '{"failPrepare": "x"}',
      'faults.json: failPrepare: must be a count, true, false or a list of slots and deployables',
    ],
    ['{"unplugged": 0}', 'faults.json: unplugged: must be a list of device numbers, from 0'],
    ['{"unplugged": [0, -1]}', 'faults.json: unplugged.1: must be the number of a device, from 0'],
  ])('%s is refused by name', async (text, problem) => {
    told(text)
    await expect(driver.discover(io)).rejects.toThrow(problem)
  })
})
