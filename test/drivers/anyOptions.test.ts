/**
 * Whatever stands in options, tables, images and recordings: they are taken, or refused with a reason that names the
 * place.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { recordedHostIn } from '../../src/cli/hardware/recordingFolder.ts'
import { realHostIo } from '../../src/drivers/hostIo.ts'
import { type DriverOptions, driverByName } from '../../src/drivers/index.ts'
import { outputWithoutSecrets, standIns, withoutSecrets } from '../../src/drivers/recording.ts'
import { tempFolder } from '../support/program.ts'
import { anyName, anyText, isMistake } from './anyText.ts'
import { never } from './driver.contract.ts'
import { everyDriver } from './everyDriverHost.ts'
import { faultyHost, lookedAt } from './faultyHost.ts'
import { cardsIn, driverOf } from './machines.ts'
import { recordedHost, recordedHostIo } from './recordedHostIo.ts'
import { alveoTree, gbs, INTEL, opaeTree, xclbin } from './trees.ts'

const SEED = 20261125
const anyValue = fc.anything({ withNullPrototype: true, withDate: true })
const valueOf = (member: string): fc.Arbitrary<unknown> =>
  fc.oneof(anyValue, anyText, fc.constantFrom('*', '0x10de', '10de', member, 'pf', 'GPU', 'CUSTOM_X', '0000:3b:00.0'))

const isRefused = (name: string, options: DriverOptions, place: RegExp): boolean => {
  const reading = driverByName(name, options)
  if (reading.ok) return false
  expect(reading.problems.length).toBeGreaterThan(0)
  for (const { field, rule } of reading.problems) expect(`${field}: ${rule}`).toMatch(place)
  return true
}
test('a whitelist is read, or refused with the place of each problem; what is read can be asked of any function', async () => {
  const KEYS = ['vendor_id', 'product_id', 'address', 'devname', 'device_type', 'resource_class', 'traits', 'mode']
  const entry = fc.dictionary(fc.oneof(fc.constantFrom(...KEYS), fc.string()), valueOf('ens5f0'), { maxKeys: 4 })
  const address = fc.record(
    { domain: anyText, bus: anyText, slot: anyText, function: fc.oneof(anyText, fc.constantFrom('(', '[', '(a+)+$')) },
    { requiredKeys: [] },
  )
  const given = fc.oneof(
    ...[anyText, anyValue, entry, fc.array(entry, { maxLength: 3 })],
    fc.record({ address: fc.oneof(address, anyText) }),
    entry.map((one) => JSON.stringify(one)),
  )
  await fc.assert(
    fc.asyncProperty(given, async (whitelist) => {
      const options = { pci: { whitelist } }
      if (!isRefused('pci_driver', options, /^pci\.passthrough_whitelist.*: (?:must|is not) /s))
        await driverOf('pci_driver', options).discover(recordedHost('odd-host'))
    }),
    { seed: SEED, numRuns: 700 },
  )
})

test('a table of cards is read, or refused with the place of each problem, and never both', () => {
  const KEYS = ['vendor', 'device', 'class', 'type', 'name', 'family', 'rc', 'traits', 'vf_of', 'driver']
  const row = fc.dictionary(fc.oneof(fc.constantFrom(...KEYS), fc.string()), valueOf('id_table_driver'), {
    maxKeys: 10,
  })
  const GOOD = { vendor: '10de', device: '20f1', type: 'GPU', name: 'A' }
  const rows = fc.array(
    fc.oneof(
      row,
      row.map((one) => ({ ...GOOD, ...one })),
      fc.constant(GOOD),
    ),
    { maxLength: 4 },
  )
  fc.assert(
    fc.property(
      fc.oneof(
        rows.map((all) => JSON.stringify(all)),
        fc.json(),
        anyText,
      ),
      (table) => {
        const { cards, problems } = cardsIn(table)
        expect(cards.length === 0 || problems.length === 0).toBe(true)
        for (const problem of problems) expect(problem).toMatch(/\S/)
        for (const one of cards) expect(one).toMatchObject({ vendor: expect.stringMatching(/^[0-9a-f]{4}$/) })
      },
    ),
    { seed: SEED, numRuns: 500 },
  )
})

test('mappings of network cards and types of vGPU are read, or refused with the place', () => {
  fc.assert(
    fc.property(fc.array(anyText, { maxLength: 4 }), fc.array(anyName, { maxLength: 4 }), (items, names) => {
      const addresses = Object.fromEntries(names.map((name, at) => [name, items.slice(at)]))
      isRefused('intel_nic_driver', { nic: { networks: items, functions: [] } }, /^nic_devices\.\w+\[\d\]: \S/)
      isRefused('nvidia_gpu_driver', { gpu: { types: names, addresses } }, /^gpu_devices\.\w+.*: \S/s)
    }),
    { seed: SEED, numRuns: 500 },
  )
})
test.each([
  ['n', 'a:', ':e', 'a:e|', 'a:|e', 'a b:e', 'a:e f', 'a:e,f', 'a:b:c', 'a/b:e', 'a:e/f', 'a:e|e'],
  [`${'n'.repeat(101)}:e`, `n:${'e'.repeat(65)}`],
])('a mapping of another form is refused: case %#', (...items) => {
  for (const item of items)
    expect(
      isRefused(
        'intel_nic_driver',
        { nic: { networks: [item], functions: [] } },
        /\[0\]: must be 'name:interface\|interface', each interface once, is /,
      ),
    ).toBe(true)
})

test('lines of tools and of the kernel that are something else are passed over by a recording', () => {
  const { cards, all } = standIns()
  fc.assert(
    fc.property(anyText, (text) => {
      cards(all(outputWithoutSecrets(text)))
      for (const path of ['/proc/cmdline', '/proc/swaps', '/proc/1/mountinfo', '/proc/net/route', '/x'])
        withoutSecrets(path, text)
    }),
    { seed: SEED, numRuns: 300 },
  )
})

test('an image is loaded, or refused with what is wrong with its header, before the card is touched', async () => {
  const UUID = '862c7020-a250-293e-3203-6f19956669e5'
  const whole = [gbs(INTEL.region, [INTEL.function]), xclbin(UUID)]
  /** A good one with some bytes changed, and cut off somewhere. */
  const damaged = fc
    .tuple(fc.nat(1), fc.array(fc.tuple(fc.nat(600), fc.nat(255)), { maxLength: 8 }), fc.option(fc.nat(600)))
    .map(([which, changes, end]) => {
      const bytes = Buffer.from(whole[which]!, 'latin1')
      for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value
      return bytes.subarray(0, end ?? bytes.length).toString('latin1')
    })
  const any = fc.oneof(damaged, fc.string({ unit: 'binary', maxLength: 600 }), anyText)
  const opt = { xilinx: { xrt: { bin: { xbutil: '' } } } }
  await fc.assert(
    fc.asyncProperty(any, async (image) => {
      for (const [name, card, sys] of [
        ['intel_fpga_driver', '0000:be:00.0', opaeTree()],
        ['xilinx_fpga_driver', '0000:3b:00.0', alveoTree()],
      ] as const) {
        let touched = false
        const change = async () => ((touched = true), '')
        const io = { ...recordedHostIo({ sys, opt, images: { image } }, 'h1'), change }
        const said = await driverOf(name).program!(io, `h1_${card}`, '/images/image', never).then(
          () => 'is loaded',
          (error: Error) => (isMistake(error) ? `a mistake: ${error.message}` : error.message),
        )
        if (touched) expect(said).toMatch(/^is loaded$|does not show/)
        else expect(said).toMatch(/^\/images\/image(?:: (?:is not |its header )| is made for a region)/)
      }
    }),
    { seed: SEED, numRuns: 500 },
  )
})

describe('a recording that somebody sent', () => {
  const folder = tempFolder('any-recording')
  afterAll(folder.remove)
  const here = realHostIo({ hostname: 'compute1', stateDir: join(folder.path, 'state'), warn: () => undefined })
  const NUL = /\0|\//
  const files = fc.dictionary(
    fc.constantFrom('vendor', 'device', 'class', 'physfn', 'driver_override', 'sriov_totalvfs', 'nvme', 'fpga', 'net'),
    anyText,
    { maxKeys: 5 },
  )
  const tree = fc.dictionary(
    fc.oneof(
      fc.constantFrom('0000:3b:00.0', '0000:3B:00.1', '10000:00:00.0'),
      anyName.filter((name) => !NUL.test(name) && name !== '.' && name !== '..' && name.isWellFormed()),
    ),
    files,
    { maxKeys: 4 },
  )
  const runs = fc.oneof(
    anyText,
    fc
      .array(
        fc.record({
          program: fc.constantFrom('nvidia-smi', '/run/spdk/spdk.sock'),
          args: fc.array(fc.string()),
          output: fc.option(anyText),
          error: fc.option(anyText),
        }),
      )
      .map((all) => JSON.stringify(all)),
  )
  test('is shown, with a reason for each driver that cannot use it, or is no recording', async () => {
    let at = 0
    await fc.assert(
      fc.asyncProperty(tree, runs, async (functions, commands) => {
        const own = join(folder.path, String(++at))
        const devices = join(own, 'root/sys/bus/pci/devices')
        mkdirSync(devices, { recursive: true })
        writeFileSync(join(own, 'commands.json'), commands)
        for (const [name, texts] of Object.entries(functions)) {
          mkdirSync(join(devices, name))
          for (const [file, text] of Object.entries(texts)) writeFileSync(join(devices, name, file), text)
        }
        try {
          const { sections, thrown } = await lookedAt(
            faultyHost(await recordedHostIn(own, here), () => undefined),
            everyDriver(),
          )
          expect(thrown.filter(({ error }) => isMistake(error))).toEqual([])
          for (const section of sections) if (section.status === 'failed') expect(section.error).toMatch(/\S/)
        } catch (error) {
          expect(String(error)).toContain('is not a recording of a host')
        } finally {
          rmSync(own, { recursive: true })
        }
      }),
      { seed: SEED, numRuns: 30 },
    )
  }, 60_000)
})
