/** What commands print of made-up findings, word for word: `golden/printed.txt`. */
import { expect, test } from 'vitest'
import { planImport } from '../../src/actors/upstream/plan.ts'
import type { SurveyedDriver } from '../../src/cli/hardware/survey.ts'
import { fieldsOf, tableOf } from '../../src/cli/output.ts'
import { collectedLines, orphanLines } from '../../src/cli/operators/orphanLines.ts'
import { scanJson, scanLines } from '../../src/cli/operators/surveyLines.ts'
import { importLines, summaryOf } from '../../src/cli/store/importText.ts'
import type { ReportedDeployable, ReportedDevice } from '../../src/hardware.ts'
import type { ScannedDevice } from '../../src/drivers/pci/scan.ts'
import { tablesOf } from '../upstream/scenario.ts'
import { WHOLE } from '../upstream/whole.ts'

const ADDRESS = { domain: '0000', bus: 'af', device: '00', function: '0' }
const deployable = (more: Partial<ReportedDeployable> = {}): ReportedDeployable => ({
  name: 'compute-1_0000:af:00.0',
  numAccelerators: 2,
  driverName: 'd',
  attributes: [
    { key: 'rc', value: 'PGPU' },
    { key: 'trait0', value: 'CUSTOM_A' },
    { key: 'trait1', value: 'OWNER_CYBORG' },
    { key: 'trait2', value: 'CUSTOM_B' },
    { key: 'other', value: 'x' },
  ],
  handles: [{ type: 'PCI', info: ADDRESS, physfn: '0000:af:00.0' }],
  hostWork: false,
  programmable: false,
  ...more,
})
const device = (more: Partial<ReportedDevice> = {}): ReportedDevice => ({
  type: 'GPU',
  vendor: '10de',
  model: 'A100',
  stdBoardInfo: null,
  vendorBoardInfo: null,
  controlPath: { type: 'PCI', info: JSON.stringify(ADDRESS) },
  deployables: [deployable()],
  ...more,
})
const driver = (name: string, more: Partial<SurveyedDriver> = {}): SurveyedDriver => ({
  driver: name,
  enabled: true,
  error: null,
  devices: [],
  leftOut: [],
  ...more,
})
const seen = (more: Partial<ScannedDevice>): ScannedDevice => ({
  address: '0000:af:00.0',
  vendor_id: '10de',
  product_id: '20f1',
  class: '030200',
  class_name: 'display',
  offered: true,
  reason: null,
  whitelist_entry: null,
  ...more,
})
const DRIVERS = [
  driver('pci_driver', {
    devices: [
      device(),
      device({ stub: true, deployables: [deployable({ attributes: [], handles: [], bitstreamId: 'b' })] }),
      device({
        controlPath: { type: 'PCI', info: 'no address' },
        deployables: [deployable({ name: 'h_' }), deployable({ name: 'plain' })],
      }),
    ],
    leftOut: [{ address: '0000:01:00.0', reason: 'it is in use' }],
  }),
  driver('nvidia_gpu_driver', { enabled: false, devices: [device()] }),
  driver('intel_fpga_driver', { error: 'no folder' }),
  driver('xilinx_fpga_driver', { enabled: false, error: 'no tool' }),
]
const DEVICES = [
  seen({}),
  seen({
    address: '0000:b0:00.0',
    offered: false,
    reason: 'no whitelist is set',
    whitelist_entry: { vendor_id: '10de', product_id: '\u202e' },
  }),
]
const SCAN = {
  drivers: DRIVERS,
  devices: DEVICES,
  example: 'EXAMPLE',
  passable: [
    { verdict: 'ok', about: 'IOMMU', says: 'on', advice: null },
    { verdict: 'problem', about: 'x', says: 'y', advice: 'z' },
  ] as const,
}
const ORPHAN = { instance_uuid: 'i1', hostname: 'h1', arqs: ['a1', 'a2'], changed_at: 'T1' }
const KEPT = { instance_uuid: 'i2', reason: 'Nova does not answer', arqs: ['a3'] }

test('as text', async () => {
  const parts: Readonly<Record<string, readonly string[]>> = {
    'a scan': scanLines(SCAN),
    'a scan that finds nothing': scanLines({
      drivers: [driver('pci_driver')],
      devices: [],
      passable: [],
      example: null,
    }),
    'a scan as JSON': [JSON.stringify(scanJson(SCAN), null, 1)],
    orphans: orphanLines({ orphans: [ORPHAN, { ...ORPHAN, hostname: null }], unclear: [KEPT], asked: 3 } as never),
    'no orphans': orphanLines({ orphans: [], unclear: [], asked: 1 }),
    collected: collectedLines({ orphans: [ORPHAN], kept: [KEPT] } as never),
    'nothing collected': collectedLines({ orphans: [], kept: [] }),
    table: tableOf(
      ['a', 'head'],
      [
        ['long one', null],
        [0, undefined],
        ['', 'x'],
      ],
    ),
    fields: fieldsOf({ first: 1, 'the second': null }),
    import: importLines(planImport(WHOLE)),
    'import of nothing': importLines(planImport(tablesOf())),
    'import as JSON': [JSON.stringify(summaryOf(planImport(WHOLE)))],
  }
  const text = Object.entries(parts).map(([name, lines]) => `# ${name}\n${lines.join('\n')}\n`)
  await expect(text.join('\n')).toMatchFileSnapshot('golden/printed.txt')
})
