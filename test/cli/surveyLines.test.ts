/** What `device scan` shows of devices that drivers found, with all that can be known of them and with little. */
import { expect, test } from 'vitest'
import type { ReportedDevice } from '../../src/hardware.ts'
import type { SurveyedDriver } from '../../src/cli/hardware/survey.ts'
import { foundIn, providerOf, scanJson, scanLines } from '../../src/cli/operators/surveyLines.ts'

const address = { domain: '0000', bus: '3b', device: '00', function: '0' }
const card: ReportedDevice = {
  type: 'FPGA',
  vendor: '10ee',
  model: 'U250',
  stdBoardInfo: null,
  vendorBoardInfo: null,
  controlPath: { type: 'PCI', info: JSON.stringify(address) },
  deployables: [
    {
      name: 'h1_0000:3b:00.0',
      numAccelerators: 2,
      driverName: 'd1',
      hostWork: true,
      programmable: true,
      bitstreamId: 'b1',
      attributes: [
        { key: 'trait1', value: 'CUSTOM_A' },
        { key: 'rc', value: 'FPGA' },
        { key: 'trait2', value: 'OWNER_CYBORG' },
        { key: 'other', value: 'x' },
      ],
      handles: [{ type: 'PCI', info: address, set: 0 }],
    },
  ],
}
const bare: ReportedDevice = {
  ...card,
  model: 'unknown',
  stub: true,
  deployables: [
    {
      ...{ name: 'h1_', numAccelerators: 0, driverName: 'd1', attributes: [], handles: [] },
      ...{ hostWork: false, programmable: false },
    },
  ],
}
const driver = (more: Partial<SurveyedDriver>): SurveyedDriver => ({
  ...{ driver: 'd1', enabled: true, error: null, devices: [], leftOut: [] },
  ...more,
})
const leftOut = [{ address: '0000:3c:00.0', reason: 'it is divided' }]
const scan = {
  drivers: [
    driver({ devices: [card, bare], leftOut }),
    driver({ driver: 'd2', enabled: false, error: 'no bus' }),
    driver({ driver: 'd3', error: 'no right' }),
  ],
  passable: [],
  devices: [],
  example: null,
}

test('a provider has the owner as a trait once, whether the driver reports it or not', () => {
  const [one, other] = [card, bare].map(({ deployables }) => providerOf(deployables[0]!))
  expect(one).toEqual({
    provider: 'h1_0000:3b:00.0',
    resource_class: 'FPGA',
    total: 2,
    traits: ['CUSTOM_A', 'OWNER_CYBORG'],
  })
  expect(other).toEqual({ provider: 'h1_', resource_class: null, total: 0, traits: ['OWNER_CYBORG'] })
})
test('a deployable is named by the end of its name, or by the address of its device', () => {
  const row = { driver: 'd1', enabled: true, device: '0000:3b:00.0', type: 'FPGA' }
  expect(foundIn(scan)).toEqual([
    {
      ...row,
      model: 'U250',
      usable: true,
      total: 2,
      resource_class: 'FPGA',
      traits: ['CUSTOM_A', 'OWNER_CYBORG'],
    },
    { ...row, model: 'unknown', usable: false, total: 0, resource_class: null, traits: ['OWNER_CYBORG'] },
  ])
})
test('the text begins with the drivers that failed', () => {
  const lines = scanLines(scan)
  expect(lines.slice(0, 4)).toEqual([
    'd2 (not enabled) failed: no bus',
    'd3 failed: no right',
    '',
    'What the drivers find:',
  ])
  expect(lines.slice(6, 11)).toEqual([
    expect.stringContaining('not usable yet'),
    '',
    'What they leave out:',
    'DRIVER  DEVICE        LEFT OUT BECAUSE',
    'd1      0000:3c:00.0  it is divided',
  ])
})
test('the document has each device with its deployables, their handles and their providers', () => {
  const device = { address: '0000:3b:00.0', type: 'FPGA', vendor: '10ee' }
  const nothing = { devices: [], left_out: [] }
  expect(scanJson(scan)).toEqual({
    drivers: [
      {
        driver: 'd1',
        enabled: true,
        error: null,
        devices: [
          {
            ...device,
            model: 'U250',
            usable: true,
            deployables: [
              {
                name: 'h1_0000:3b:00.0',
                attach_handles: [{ type: 'PCI', info: address }],
                bitstream_id: 'b1',
                placement: providerOf(card.deployables[0]!),
              },
            ],
          },
          {
            ...device,
            model: 'unknown',
            usable: false,
            deployables: [
              {
                name: 'h1_',
                attach_handles: [],
                bitstream_id: null,
                placement: providerOf(bare.deployables[0]!),
              },
            ],
          },
        ],
        left_out: leftOut,
      },
      { driver: 'd2', enabled: false, error: 'no bus', ...nothing },
      { driver: 'd3', enabled: true, error: 'no right', ...nothing },
    ],
    passing_on: [],
    devices: [],
  })
})
