/**
 * Whatever stands in options, tables, images and recordings: they are taken, or refused with a reason that names the
 * place.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { recordedHostIn } from '../../src/cli/hardware/recordingFolder.ts'
import { readMapping } from '../../src/drivers/cards/nicMappings.ts'
import { readOperatorTable } from '../../src/drivers/cards/operatorTable.ts'
import { usedIn } from '../../src/drivers/pci/drivesInUse.ts'
import { defaultInterfaces } from '../../src/drivers/pci/ownNetwork.ts'
import { namesIn } from '../../src/drivers/cards/pciNames.ts'
import { readGbs } from '../../src/drivers/fpga/gbs.ts'
import { readXclbin } from '../../src/drivers/fpga/xclbin.ts'
import { realHostIo } from '../../src/drivers/hostIo.ts'
import { creatableTypes } from '../../src/drivers/nvidia/division.ts'
import { minorIn, modesIn } from '../../src/drivers/nvidia/mig.ts'
import { readVgpuOptions } from '../../src/drivers/nvidia/vgpuOptions.ts'
import { matchesEntry, readWhitelist } from '../../src/drivers/pci/whitelist.ts'
import { outputWithoutSecrets, standIns, withoutSecrets } from '../../src/drivers/recording.ts'
import { parentIn } from '../../src/drivers/processTree.ts'
import { tempFolder } from '../support/program.ts'
import { anyName, anyText, isMistake } from './anyText.ts'
import { everyDriver } from './everyDriverHost.ts'
import { faultyHost, lookedAt } from './faultyHost.ts'
import { gbs, INTEL, xclbin } from './trees.ts'

const SEED = 20261125
const FOUND = {
  vendor: '10de',
  product: '20f1',
  address: { domain: '0000', bus: '3b', device: '00', function: '0' },
  physfn: null,
  totalVfs: 0,
}
const anyValue = fc.anything({ withNullPrototype: true, withDate: true })
const valueOf = (member: string): fc.Arbitrary<unknown> =>
  fc.oneof(anyValue, anyText, fc.constantFrom('*', '0x10de', '10de', member, 'pf', 'GPU', 'CUSTOM_X', '0000:3b:00.0'))

describe('a whitelist', () => {
  const KEYS = ['vendor_id', 'product_id', 'address', 'devname', 'device_type', 'resource_class', 'traits', 'mode']
  const entry = fc.dictionary(fc.oneof(fc.constantFrom(...KEYS), fc.string()), valueOf('ens5f0'), { maxKeys: 4 })
  const address = fc.record(
    { domain: anyText, bus: anyText, slot: anyText, function: fc.oneof(anyText, fc.constantFrom('(', '[', '(a+)+$')) },
    { requiredKeys: [] },
  )
  const given = fc.oneof(
    anyText,
    anyValue,
    entry,
    fc.array(entry, { maxLength: 3 }),
    fc.record({ address: fc.oneof(address, anyText) }),
    entry.map((one) => JSON.stringify(one)),
  )
  test('is read, or refused with the place of each problem; what is read can be asked of any function', () =>
    fc.assert(
      fc.property(given, (whitelist) => {
        const reading = readWhitelist(whitelist)
        if (reading.ok) for (const one of reading.entries) matchesEntry(one, FOUND, new Map())
        else {
          expect(reading.problems.length).toBeGreaterThan(0)
          for (const { field, rule } of reading.problems) {
            expect(field).toMatch(/^pci\.passthrough_whitelist/)
            expect(rule).toMatch(/^(?:must|is not) /)
          }
        }
      }),
      { seed: SEED, numRuns: 1500 },
    ))
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
    fc.property(fc.oneof(rows, anyValue, anyText), (table) => {
      const { cards, problems } = readOperatorTable(table)
      expect(cards.length === 0 || problems.length === 0).toBe(true)
      for (const problem of problems) expect(problem).toMatch(/\S/)
      for (const one of cards) expect(one).toMatchObject({ vendor: expect.stringMatching(/^[0-9a-f]{4}$/) })
    }),
    { seed: SEED, numRuns: 1500 },
  )
})

test('mappings of network cards and types of vGPU are read, or refused with the place', () => {
  fc.assert(
    fc.property(fc.array(anyText, { maxLength: 4 }), fc.array(anyName, { maxLength: 4 }), (items, names) => {
      const mapping = readMapping(items, 'nic_devices.x')
      const addresses = Object.fromEntries(names.map((name, at) => [name, items.slice(at)]))
      const vgpus = readVgpuOptions({ types: names, addresses })
      for (const reading of [mapping, vgpus])
        if (!reading.ok)
          for (const { field, rule } of reading.problems) expect(`${field} ${rule}`).toMatch(/^\w+.* \S/s)
    }),
    { seed: SEED, numRuns: 500 },
  )
})

test('lines of tables, of the kernel and of tools that are something else are passed over', () => {
  const { cards, all } = standIns()
  fc.assert(
    fc.property(anyText, anyText, (text, other) => {
      namesIn(text, [FOUND])
      usedIn(text, other)
      defaultInterfaces(text, other)
      creatableTypes(text)
      minorIn(text)
      modesIn(text)
      parentIn(text)
      cards(all(outputWithoutSecrets(text)))
      for (const path of ['/proc/cmdline', '/proc/swaps', '/proc/1/mountinfo', '/proc/net/route', '/x'])
        withoutSecrets(path, text)
    }),
    { seed: SEED, numRuns: 300 },
  )
})

describe('the header of an image', () => {
  const UUID = '862c7020-a250-293e-3203-6f19956669e5'
  const whole = [gbs(INTEL.region, [INTEL.function]), xclbin(UUID)].map((one) => Buffer.from(one, 'latin1'))
  /** A good one with some bytes changed, and cut off somewhere. */
  const damaged = fc
    .tuple(fc.nat(1), fc.array(fc.tuple(fc.nat(600), fc.nat(255)), { maxLength: 8 }), fc.option(fc.nat(600)))
    .map(([which, changes, end]) => {
      const bytes = Buffer.from(whole[which]!)
      for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value
      return bytes.subarray(0, end ?? bytes.length)
    })
  const any = fc.oneof(
    damaged,
    fc.uint8Array({ maxLength: 600 }),
    anyText.map((text) => Buffer.from(text)),
  )
  test('is read, or refused with what is wrong with it', () =>
    fc.assert(
      fc.property(any, (bytes) => {
        for (const read of [readGbs, readXclbin])
          try {
            const header = read(bytes)
            if ('uuid' in header) expect(header.uuid).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
            else for (const id of [header.region, ...header.functions]) expect(id).toMatch(/^[0-9a-f]{32}$/)
          } catch (error) {
            expect(isMistake(error), String(error)).toBe(false)
            expect((error as Error).message).toMatch(/^(?:is not |its header )/)
          }
      }),
      { seed: SEED, numRuns: 3000 },
    ))
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
