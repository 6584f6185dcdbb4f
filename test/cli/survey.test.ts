/** What the drivers of a host offer, by the functions that go to one guest together. */
import { expect, test } from 'vitest'
import { offeredBy, surveyHost } from '../../src/cli/hardware/survey.ts'
import { recordedHostIo } from '../drivers/recordedHostIo.ts'
import { alveoTree, vgpuTree } from '../drivers/trees.ts'

test('functions of one accelerator are one unit, other functions each one, and a divided function none', async () => {
  const offered = async (sys: ReturnType<typeof alveoTree>, enabledDrivers: readonly string[]) => {
    const options = {
      fpga: { fpgaconf: '', xrtFolder: '', withManagement: true },
      gpu: { types: ['nvidia-223'], addresses: { 'nvidia-223': ['0000:af:00.0'] } },
    }
    const drivers = await surveyHost({ io: recordedHostIo({ sys }), options, enabledDrivers }, false)
    return Object.fromEntries([...offeredBy(drivers)].map(([address, units]) => [address, [...units]]))
  }
  expect(await offered(alveoTree(), ['xilinx_fpga_driver'])).toEqual({
    '0000:3b:00.0': ['compute1_0000:3b:00.0 0'],
    '0000:3b:00.1': ['compute1_0000:3b:00.0 0'],
    '0000:66:00.0': ['compute1_0000:66:00.0 0'],
    '0000:66:00.1': ['compute1_0000:66:00.0 0'],
  })
  expect(await offered(vgpuTree(), ['nvidia_gpu_driver'])).toEqual({
    '0000:af:00.0': [],
    '0000:b0:00.0': ['0000:b0:00.0'],
  })
})
