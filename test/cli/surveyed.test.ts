/** What follows from what drivers found: which functions are offered, which the kernel keeps, what is refused. */
import { expect, test } from 'vitest'
import { keptByKernel, offeredBy, refusedOf, type SurveyedDriver, surveyHost } from '../../src/cli/hardware/survey.ts'
import { pciHere } from '../../src/cli/hardware/pciHere.ts'
import { examineHardware } from '../../src/cli/doctor/hardware.ts'
import { recordedHostIo } from '../drivers/recordedHostIo.ts'
import { pciTree } from '../drivers/trees.ts'

const address = (bus: string) => JSON.stringify({ domain: '0000', bus, device: '00', function: '0' })
type Handle = { readonly type: string; readonly bus?: string; readonly set?: number }
const deployable = (name: string, handles: readonly Handle[], programmable = false) => ({
  name,
  programmable,
  attributes: [{ key: 'rc', value: name === 'vgpu' ? 'VGPU' : 'PGPU' }],
  handles: handles.map(({ type, bus, set }) => ({
    type,
    info: bus === undefined ? { path: 'x' } : JSON.parse(address(bus)),
    set,
  })),
})
const driver = (name: string, enabled: boolean, ...deployables: readonly ReturnType<typeof deployable>[]) =>
  ({
    driver: name,
    enabled,
    error: null,
    devices: deployables.map((one) => ({ deployables: [one] })),
    leftOut: [],
  }) as unknown as SurveyedDriver

const DRIVERS = [
  driver(
    'one',
    true,
    deployable('alone', [{ type: 'PCI', bus: '01' }]),
    deployable('together', [
      { type: 'PCI', bus: '02', set: 0 },
      { type: 'PCI', bus: '03', set: 0 },
      { type: 'PCI', bus: '04', set: 1 },
    ]),
    deployable('divided', [{ type: 'MDEV', bus: '05' }]),
    deployable('both', [
      { type: 'PCI', bus: '06' },
      { type: 'MDEV', bus: '06' },
    ]),
    deployable('made up', [{ type: 'TEST_PCI', bus: '07' }]),
    deployable('elsewhere', [{ type: 'PCI' }, { type: 'MDEV' }]),
    deployable('programmed', [{ type: 'PCI', bus: '08' }], true),
    deployable('vgpu', [{ type: 'PCI', bus: '0b' }]),
  ),
  driver('intel_fpga_driver', true, deployable('shown', [{ type: 'PCI', bus: '0a' }])),
  driver('two', false, deployable('off', [{ type: 'PCI', bus: '09' }], true)),
]
const at = (bus: string) => `0000:${bus}:00.0`

test('functions that drivers offer, in the units in which guests get them', () => {
  const units = (all?: boolean) =>
    Object.fromEntries([...offeredBy(DRIVERS, all)].map(([where, own]) => [where, [...own]]))
  const enabled = {
    [at('01')]: [at('01')],
    [at('02')]: ['together 0'],
    [at('03')]: ['together 0'],
    [at('04')]: ['together 1'],
    [at('05')]: [],
    [at('06')]: [at('06')],
    [at('08')]: [at('08')],
    [at('0b')]: [at('0b')],
    [at('0a')]: [at('0a')],
  }
  expect(units()).toEqual(enabled)
  expect(units(true)).toEqual({ ...enabled, [at('09')]: [at('09')] })
})
test('functions that the kernel keeps are those that are divided, vGPUs, programmed, or shown by it alone', () => {
  expect([...keptByKernel(DRIVERS)]).toEqual([at('05'), at('06'), at('08'), at('0b'), at('0a')])
  expect([...keptByKernel(DRIVERS, true)]).toEqual([at('05'), at('06'), at('08'), at('0b'), at('0a'), at('09')])
})
test('why a driver does not offer functions, or anything', () => {
  const leftOut = [
    { address: 'a', reason: 'why a' },
    { address: 'b', reason: 'why b' },
  ]
  const drivers = [
    { ...driver('one', true), leftOut },
    { ...driver('two', true), error: 'no bus' },
  ]
  const reasons = new Map([
    ['a', 'why a'],
    ['b', 'why b'],
  ])
  expect(refusedOf(drivers, 'one')).toEqual({ reasons, failure: null })
  expect(refusedOf(drivers, 'two')).toEqual({ reasons: new Map(), failure: 'two failed: no bus' })
  expect(refusedOf(drivers, 'three')).toEqual({ reasons: new Map(), failure: null })
})

const GPU = { vendor: '10de', device: '20f1', class: '030200' }
const io = recordedHostIo({ sys: pciTree({ [at('3b')]: GPU }) })
test('a driver whose options are wrong says each of them, and drivers are asked once', async () => {
  const begun: string[] = []
  const whitelist = ['{"vendor_id": "xyz"}', '{"product_id": "12345"}']
  const survey = await surveyHost(
    {
      io,
      options: { pci: { whitelist } },
      enabledDrivers: ['pci_driver', 'nvidia_gpu_driver', 'pci_driver'],
      begins: (name) => void begun.push(name),
    },
    false,
  )
  expect(begun).toEqual(['pci_driver', 'nvidia_gpu_driver'])
  expect(survey.map(({ driver: name, enabled, devices }) => [name, enabled, devices.length])).toEqual([
    ['pci_driver', true, 0],
    ['nvidia_gpu_driver', true, 1],
  ])
  expect(survey[0]!.error).toMatch(/^\S+vendor_id: .*; \S+product_id: .*$/)
  const all = await surveyHost({ io, options: {}, enabledDrivers: ['nvidia_gpu_driver'] })
  expect(all.filter(({ enabled }) => enabled).map(({ driver: name }) => name)).toEqual(['nvidia_gpu_driver'])
  expect(all.map(({ driver: name }) => name).filter((name) => name === 'nvidia_gpu_driver')).toHaveLength(1)
})
test('the doctor names drivers that fail, and those that find nothing', async () => {
  const here = (enabledDrivers: readonly string[], whitelist: readonly string[] = []) =>
    pciHere({ host: { name: 'h1' }, data: '/none', drivers: { pci: { whitelist } }, enabledDrivers } as never, io)
  const SCAN = 'accelerando device scan shows what each driver finds, and why not'
  const found = async (...given: Parameters<typeof here>) =>
    (await examineHardware(here(...given), async () => '/usr/bin/flock')).filter(({ says }) => /driver/.test(says))
  expect(await found(['pci_driver', 'nvidia_gpu_driver', 'intel_nic_driver'], ['{"vendor_id": "xyz"}'])).toEqual([
    {
      check: 'hardware',
      verdict: 'problem',
      says: expect.stringMatching(/^pci_driver failed: \S+vendor_id: must be hex/),
      advice: SCAN,
    },
    { check: 'hardware', verdict: 'ok', says: 'nvidia_gpu_driver finds 1 device' },
    { check: 'hardware', verdict: 'warning', says: 'intel_nic_driver finds nothing', advice: SCAN },
  ])
})
