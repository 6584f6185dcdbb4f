/** The tools of vendors that tell measurements, as programs of their own at the place that an operator names. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { realHostIo } from '../../src/drivers/hostIo.ts'
import { tempFolder } from '../support/program.ts'
import { driverOf } from './machines.ts'
import { unpack } from './recordedHostIo.ts'
import { pciTree } from './trees.ts'

const folder = tempFolder('measuring')
afterAll(() => folder.remove())
const [sys, stateDir] = [join(folder.path, 'sys'), join(folder.path, 'state')]
unpack(pciTree({ '0000:81:00.0': { vendor: '10de', device: '20f1', class: '030200' } }), sys)
unpack(pciTree({ '0000:82:00.0': { vendor: '19e5', device: 'd100', class: '120000' } }), sys)

const TOOLS = {
  nvidia: {
    driver: 'nvidia_gpu_driver',
    option: 'nvidiaSmi',
    bus: '81',
  },
  ascend: {
    driver: 'huawei_ascend_driver',
    option: 'npuSmi',
    bus: '82',
  },
} as const

let programs = 0
/** Measures with a tool of this text. */
const measured = async (which: keyof typeof TOOLS, script: string, signal = new AbortController().signal) => {
  const { driver: name, option, bus } = TOOLS[which]
  const program = join(folder.path, `tool-${++programs}`)
  writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const measuring = { nvidiaSmi: '/nowhere', npuSmi: '/nowhere', [option]: program }
  const driver = driverOf(name, { pci: { sysfsRoot: sys }, measuring })
  const io = realHostIo({ hostname: 'compute1', stateDir, warn: () => {} })
  const path = `{"bus": "${bus}", "device": "00", "domain": "0000", "function": "0"}`
  const { devices, complaint } = await driver.measure!(io, [path], signal)
  return { numbers: devices.map(({ numbers }) => numbers), complaint }
}

describe.each(['nvidia', 'ascend'] as const)('the tool of %s', (which) => {
  test('that never stops printing is killed', async () => {
    expect((await measured(which, 'yes')).complaint).toMatch(/^tool-\d+: .*(more than|MiB|bytes)/)
  })
  test('that hangs is killed with its children when its time is over', async () => {
    const [begun, over] = [join(folder.path, `begun-${which}`), new AbortController()]
    const waiting = measured(
      which,
      `sleep 1000 &\necho $! > ${begun}.part; mv ${begun}.part ${begun}\nwait`,
      over.signal,
    )
    await expect.poll(() => existsSync(begun), { timeout: 10_000 }).toBe(true)
    over.abort()
    // the driver goes on to the next card with the signal, and ends with it
    await waiting.catch(() => undefined)
    const child = Number(readFileSync(begun, 'utf8'))
    const state = () => {
      try {
        return readFileSync(`/proc/${child}/stat`, 'utf8').split(') ')[1]?.[0]
      } catch {
        return 'gone'
      }
    }
    await expect.poll(state, { timeout: 10_000 }).toMatch(/gone|Z/)
  })
})
