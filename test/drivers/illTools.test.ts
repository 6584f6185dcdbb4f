/** Cards that the tool of their vendor calls ill, in whatever way it says so, and cards that it does not speak of. */
import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { realHostIo } from '../../src/drivers/hostIo.ts'
import { judgedBy } from '../../src/vocabulary/health.ts'
import { tempFolder } from '../support/program.ts'
import { never } from './driver.contract.ts'
import { driverOf } from './machines.ts'
import { unpack } from './recordedHostIo.ts'
import { pciTree } from './trees.ts'

const folder = tempFolder('ill-tools')
afterAll(() => folder.remove())

let hosts = 0
type Served = 'nvidia' | 'vfio-pci' | null
/** Cards on these buses, each served by a kernel driver, and the tool as a program that answers with a script. */
const hostWith = (cards: Readonly<Record<string, Served>>, kind: 'nvidia' | 'ascend' = 'nvidia') => {
  const root = join(folder.path, `host-${++hosts}`)
  const [vendor, device, pciClass] = kind === 'nvidia' ? ['10de', '20b5', '030200'] : ['19e5', 'd100', '120000']
  const facts = { vendor, device, class: pciClass }
  const driverLink = (name: Served) => (name === null ? {} : { driver: { '->': `../../../bus/pci/drivers/${name}` } })
  const functions = Object.entries(cards).map(([bus, name]) => [
    `0000:${bus}:00.0`,
    { ...facts, more: driverLink(name) },
  ])
  unpack(pciTree(Object.fromEntries(functions)), join(root, 'sys'))
  const program = join(root, 'tool')
  const measuring = { nvidiaSmi: '/nowhere', npuSmi: '/nowhere', [kind === 'nvidia' ? 'nvidiaSmi' : 'npuSmi']: program }
  const sysfsRoot = join(root, 'sys')
  const driver = driverOf(kind === 'nvidia' ? 'nvidia_gpu_driver' : 'huawei_ascend_driver', {
    pci: { sysfsRoot },
    measuring,
  })
  const io = realHostIo({ hostname: 'compute1', stateDir: join(root, 'state'), warn: () => {} })
  const pathOf = (bus: string) => `{"bus": "${bus}", "device": "00", "domain": "0000", "function": "0"}`
  return {
    read: async (script: string) => {
      writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
      const { devices, complaint } = await driver.measure!(io, Object.keys(cards).map(pathOf), never)
      const health = Object.fromEntries(
        Object.keys(cards).map((bus, at) => [bus, judgedBy(devices[at]!.numbers).health]),
      )
      return { health, numbers: devices.map(({ numbers }) => numbers), complaint }
    },
    passOn: (bus: string) => {
      const link = join(sysfsRoot, 'devices', `pci0000:${bus}`, `0000:${bus}:00.0`, 'driver')
      rmSync(link)
      symlinkSync('../../../bus/pci/drivers/vfio-pci', link)
    },
  }
}
const row = (bus: string, values = '41, 87, 12, 71.35, 0, 0, No') => `00000000:${bus.toUpperCase()}:00.0, ${values}`
/** Answers the first question so, and none of the others. */
const saying = (lines: readonly string[], status = 0) =>
  `case "$1" in --query-gpu*) ${lines.map((one) => `echo '${one}'`).join('; ')}; exit ${status};; esac`

describe('nvidia-smi', () => {
  test.each([
    'Unable to determine the device handle for GPU0000:1A:00.0: Unknown Error',
    'Unable to determine the device handle for gpu 0000:1a:00.0: GPU is lost.  Reboot the system to recover this GPU',
    'Unable to determine the device handle for GPU 00000000:1A:00.0: GPU requires reset',
  ])('that names a card in an error calls this one ill, and the rows of the others count: %s', async (error) => {
    const host = hostWith({ '19': 'nvidia', '1a': 'nvidia', '1b': 'nvidia' })
    const { health, numbers, complaint } = await host.read(saying([row('19'), error, row('1b')], 15))
    expect(health).toEqual({ '19': 'ok', '1a': 'bad', '1b': 'ok' })
    expect(numbers.map((one) => one.temperature_celsius)).toEqual([41, undefined, 41])
    expect(complaint).toContain(error)
  })
  test('is heard on standard error as well, also when it prints nothing', async () => {
    const error = 'Unable to determine the device handle for GPU0000:1A:00.0: Unknown Error'
    const { health, complaint } = await hostWith({ '19': 'nvidia', '1a': 'nvidia' }).read(
      `echo '${error}' >&2; exit 255`,
    )
    expect([health, complaint]).toEqual([{ '19': 'ok', '1a': 'bad' }, expect.stringContaining(error)])
  })
  test.each(['[GPU is lost]', '[GPU requires reset]', '[Unknown Error]', 'ERR!', '[Timeout]'])(
    'that says %s in place of a number calls the card ill, whatever its exit status',
    async (word) => {
      const lost = Array(7).fill(word).join(', ')
      for (const [values, status] of [
        [lost, 15],
        [`41, 87, 12, ${word}, 0, 0, No`, 0],
      ] as const) {
        const host = hostWith({ '19': 'nvidia', '1a': 'nvidia' })
        const { health, complaint } = await host.read(saying([row('19'), row('1a', values)], status))
        expect(health).toEqual({ '19': 'ok', '1a': 'bad' })
        expect(complaint).toContain(`0000:1a:00.0: ${word}`)
      }
    },
  )
  test.each(['[N/A]', 'N/A', '[Not Supported]', '[Insufficient Permissions]', '[Function Not Found]', ''])(
    'that says %s of what a card does not tell says nothing else',
    async (word) => {
      const values = `41, ${Array(6).fill(word).join(', ')}`
      const { health, complaint } = await hostWith({ '1a': 'nvidia' }).read(saying([row('1a', values)]))
      expect([health, complaint]).toEqual([{ '1a': 'ok' }, undefined])
    },
  )
  test('that warns of a card, and tells of it, is a warning', async () => {
    const warning = 'WARNING: infoROM is corrupted at gpu 0000:1A:00.0'
    const { health, complaint } = await hostWith({ '1a': 'nvidia' }).read(saying([row('1a'), warning], 14))
    expect([health, complaint]).toEqual([{ '1a': 'warning' }, expect.stringContaining(warning)])
  })
  test('that lists a card no more calls it ill, until it is listed again', async () => {
    const host = hostWith({ '19': 'nvidia', '1a': 'nvidia' })
    const [both, one] = [saying([row('19'), row('1a')]), saying([row('19')])]
    // a card that was never listed may be none of those that the tool knows
    expect((await host.read(one)).health).toEqual({ '19': 'ok', '1a': 'ok' })
    expect((await host.read(both)).health).toEqual({ '19': 'ok', '1a': 'ok' })
    for (let again = 0; again < 2; again++) {
      const { health, complaint } = await host.read(one)
      expect([health, complaint]).toEqual([{ '19': 'ok', '1a': 'bad' }, expect.stringContaining('0000:1a:00.0')])
    }
    expect(await host.read(both)).toMatchObject({ health: { '19': 'ok', '1a': 'ok' }, complaint: undefined })
  })
  test('that finds no devices any more calls those ill that it listed', async () => {
    const host = hostWith({ '19': 'nvidia', '1a': 'nvidia' })
    await host.read(saying([row('19'), row('1a')]))
    const { health, complaint } = await host.read(saying(['No devices were found'], 6))
    expect([health, complaint]).toEqual([{ '19': 'bad', '1a': 'bad' }, expect.stringContaining('not listed any more')])
  })
  test('that says an error in place of an address means the card that it does not list', async () => {
    const host = hostWith({ '19': 'nvidia', '1a': 'nvidia' })
    await host.read(saying([row('19'), row('1a')]))
    const lost = Array(8).fill('[GPU is lost]').join(', ')
    expect((await host.read(saying([row('19'), lost], 15))).health).toEqual({ '19': 'ok', '1a': 'bad' })
  })
  test('that cannot list a card because a guest has it, or because the tool itself fails, says nothing of it', async () => {
    const host = hostWith({ '19': 'nvidia', '1a': 'nvidia' })
    await host.read(saying([row('19'), row('1a')]))
    const mismatch = saying(['Failed to initialize NVML: Driver/library version mismatch'], 18)
    expect(await host.read(mismatch)).toMatchObject({
      health: { '19': 'ok', '1a': 'ok' },
      complaint: expect.stringContaining('Driver/library version mismatch'),
    })
    host.passOn('1a')
    expect(await host.read(saying([row('19')]))).toMatchObject({
      health: { '19': 'ok', '1a': 'ok' },
      complaint: undefined,
    })
  })
  test('is quoted where it complains on standard output, and not asked where all cards are kept for guests', async () => {
    const failing = saying(['NVIDIA-SMI has failed because it couldn`t communicate with the NVIDIA driver.'], 9)
    const served = await hostWith({ '19': 'nvidia', '1a': 'vfio-pci' }).read(failing)
    expect(served.complaint).toMatch(/exit status 9: NVIDIA-SMI has failed/)
    expect((await hostWith({ '19': 'vfio-pci', '1a': 'vfio-pci' }).read(failing)).complaint).toBeUndefined()
  })
})

describe('npu-smi', () => {
  const chip = (health: string, bus: string, power = '12.8 45') => [
    `| 0 310 | ${health} | ${power} 0 / 970 |`,
    `| 0 | 0000:${bus}:00.0 | 7 2457 / 8192 |`,
  ]
  const printing = (lines: readonly string[], status = 0) =>
    [...lines.map((one) => `echo '${one}'`), `exit ${status}`].join('\n')
  test('calls a chip ill by a word in place of its health or of a number, and its other rows count', async () => {
    const host = hostWith({ '81': null, '82': null, '83': null }, 'ascend')
    const table = [...chip('OK', '81'), ...chip('UNKNOWN', '82', 'NA NA'), ...chip('OK', '83', 'ERR! 45')]
    const { health, numbers } = await host.read(printing(table, 1))
    expect(health).toEqual({ '81': 'ok', '82': 'bad', '83': 'bad' })
    expect(numbers[0]).toMatchObject({ temperature_celsius: 45, vendor_alarm: 0 })
  })
  test('calls a chip ill that it names in an error, or lists no more', async () => {
    const host = hostWith({ '81': 'nvidia', '82': 'nvidia' }, 'ascend')
    await host.read(printing([...chip('OK', '81'), ...chip('OK', '82')]))
    expect((await host.read(printing(chip('OK', '81')))).health).toEqual({ '81': 'ok', '82': 'bad' })
    const error = 'dcmi: failed to get the health of 0000:81:00.0, ret is -8005'
    expect(await host.read(printing([error, ...chip('OK', '82')], 1))).toMatchObject({
      health: { '81': 'bad', '82': 'ok' },
      complaint: expect.stringContaining(error),
    })
  })
})
