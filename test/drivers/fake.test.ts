import { describe, expect, test } from 'vitest'
import { type DriverOptions, driverByName } from '../../src/drivers/index.ts'
import { driverOf } from './machines.ts'
import { recordedHostIo } from './recordedHostIo.ts'

const fakeDriver = (fake?: DriverOptions['fake']) => driverOf('fake_driver', fake === undefined ? {} : { fake })
const hostNamed = (hostname: string) => recordedHostIo({ images: { 'a.gbs': '' } }, hostname)
const never = new AbortController().signal

describe('fake_driver', () => {
  test('keeps every value clients know', async () => {
    const [device, ...others] = await fakeDriver().discover(hostNamed('compute-1.example'))
    const { handles, ...deployable } = device!.deployables[0]!
    expect(others).toEqual([])
    expect({ ...device, deployables: [deployable] }).toEqual({
      type: 'FPGA',
      vendor: '0xABCD',
      model: 'miss model info',
      stdBoardInfo: '{"device_id": "0xabcd", "class": "Fake class"}',
      vendorBoardInfo: 'fake_vendor_info',
      controlPath: { type: 'PCI', info: '{"domain":"0000","bus":"0c","device":"00","function":"0"}' },
      deployables: [
        {
          name: 'compute-1_example_FakeDevice',
          numAccelerators: 16,
          driverName: 'fake',
          attributes: [
            { key: 'traits1', value: 'CUSTOM_FAKE_DEVICE' },
            { key: 'rc', value: 'FPGA' },
          ],
          hostWork: false,
          programmable: true,
        },
      ],
    })
    expect(new Set(handles.map(({ type }) => type))).toEqual(new Set(['TEST_PCI']))
    expect(handles.map(({ info }) => JSON.stringify(info))).toEqual(
      Array.from({ length: 16 }, (_, n) => `${(n + 1) >> 3} ${(n + 1) & 7}`).map(
        (pair) => `{"domain":"0000","bus":"0c","device":"${pair[0]}","function":"${pair[2]}"}`,
      ),
    )
  })

  test('shows as many devices and handles as told, within limits', async () => {
    const devices = await fakeDriver({ devices: 3, handles: 4, hostWork: true }).discover(hostNamed('h'))
    expect(devices.map(({ deployables: [one] }) => [one!.name, one!.handles.length, one!.hostWork])).toEqual([
      ['h_FakeDevice', 4, true],
      ['h_FakeDevice_2', 4, true],
      ['h_FakeDevice_3', 4, true],
    ])
    for (const options of [{ devices: 0 }, { devices: 245 }, { handles: 256 }, { handles: 1.5 }])
      expect(driverByName('fake_driver', { fake: options })).toMatchObject({
        problems: [{ rule: expect.stringMatching(/^fake\.(devices|handles): must be a whole number from 1 to \d+$/) }],
      })
  })

  test('remembers on the host what it loaded', async () => {
    const io = hostNamed('h')
    await fakeDriver().program!(io, 'h_FakeDevice', '/images/a.gbs', never)
    expect((await fakeDriver().discover(io))[0]!.deployables[0]!.bitstreamId).toBe('a')
  })

  test('a programming that fails as told leaves what was there', async () => {
    const io = hostNamed('h')
    const driver = fakeDriver({ faults: { failProgram: 1 } })
    await expect(driver.program!(io, 'h_FakeDevice', '/images/a.gbs', never)).rejects.toThrow(
      'program of h_FakeDevice failed',
    )
    expect(io.kept()).toEqual({})
    await driver.program!(io, 'h_FakeDevice', '/images/a.gbs', never)
    await expect(driver.program!(io, 'h_FakeDevice', '/images/none', never)).rejects.toThrow(
      '/images/none: no such image',
    )
    await expect(driver.program!(io, 'h_Other', '/images/a.gbs', never)).rejects.toThrow('h has no h_Other')
    expect((await driver.discover(io))[0]!.deployables[0]!.bitstreamId).toBe('a')
  })
})
