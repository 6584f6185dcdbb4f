/** Virtual functions that the host makes because an operator configured them. */
import { afterEach, expect, test } from 'vitest'
import type { Host } from '../../src/host/host.ts'
import { openHostLab } from '../support/hostLab.ts'
import { driverOf } from './machines.ts'
import { type RecordedHost, recordedHostIo } from './recordedHostIo.ts'

const PF = '0000:3d:00.0'
const FOLDER = `/sys/bus/pci/devices/${PF}`
const never = new AbortController().signal

/** `kernel`: what becomes of the number that is written. */
const machine = (now: string, kernel: (written: string) => string = (written) => written) => {
  const files = { vendor: '0x8086', device: '0x37c8', class: '0x0b4000', sriov_totalvfs: '16', sriov_numvfs: now }
  const io = recordedHostIo({ sys: { bus: { pci: { devices: { [PF]: files } } } } })
  const written: string[] = []
  const write: RecordedHost['write'] = async (path, text) => {
    written.push(`${path} ${text}`)
    const kept = kernel(text)
    await io.write(path, kept)
    for (let n = 0; n < Number(kept); n++)
      io.tree('/sys/bus/pci/devices')[`0000:3d:01.${n}`] = {
        vendor: '0x8086',
        device: '0x37c9',
        class: '0x0b4000',
        physfn: { '->': `../${PF}` },
      }
  }
  return { io: { ...io, write }, written }
}
const driverWith = (virtualFunctions: Readonly<Record<string, number>>) => {
  return driverOf('intel_qat_driver', { pci: { virtualFunctions } })
}
const host = (): Pick<ReturnType<typeof machine>, 'io' | 'written'> => machine('0')
let program: Host | null = null
afterEach(async () => program?.stop('at once'))

test('are made before the driver is first asked for its devices', async () => {
  const { io, written } = host()
  const lab = await openHostLab()
  program = await lab.boot({ drivers: [driverWith({ [PF]: 2 })], io })
  expect(written).toEqual([`${FOLDER}/sriov_numvfs 2`])
  const [section] = lab.inventories()[0]!.drivers
  const names =
    section!.status === 'ok' ? section!.devices.flatMap(({ deployables }) => deployables.map(({ name }) => name)) : []
  expect(names).toEqual(['compute1_0000:3d:01.0', 'compute1_0000:3d:01.1'])
})

test('are made again while the program runs, when somebody has taken them away', async () => {
  const { io, written } = host()
  const lab = await openHostLab()
  program = await lab.boot({ drivers: [driverWith({ [PF]: 2 })], io })
  const devices = io.tree('/sys/bus/pci/devices')
  for (const n of [0, 1]) delete devices[`0000:3d:01.${n}`]
  io.tree(FOLDER)['sriov_numvfs'] = '0'
  await program.reportNow()
  expect(written).toEqual([`${FOLDER}/sriov_numvfs 2`, `${FOLDER}/sriov_numvfs 2`])
  const [section] = lab.inventories().at(-1)!.drivers
  const shown = section!.status === 'ok' ? section!.devices.flatMap(({ deployables }) => deployables) : []
  expect(shown).toHaveLength(2)
  await program.reportNow()
  expect(written).toHaveLength(2)
})

test('are left alone where nothing is configured, and where there are as many as there shall be', async () => {
  for (const [now, wanted] of [
    ['0', {}],
    ['2', { [PF]: 2 }],
  ] as const) {
    const { io, written } = machine(now)
    expect((await driverWith(wanted).restore?.(io, never)) ?? true).toBe(true)
    expect(written).toEqual([])
  }
})

test.each([
  [
    'there are others already (VFS-1)',
    machine('4'),
    2,
    /^it has 4 virtual functions, and 2 are configured: write 0 to /,
  ],
  ['the function cannot have so many', host(), 17, /^17 virtual functions are configured, and it can have 16$/],
  ['the kernel does not make them (VFS-2)', machine('0', () => '0'), 2, /^2 was written to .*, which holds 0$/],
  ['the kernel says nothing', machine('?'), 2, /sriov_numvfs: must be a number, is '\?'$/],
])('when %s, that is logged once, and tried again', async (_what, { io }, wanted, reason) => {
  const driver = driverWith({ [PF]: wanted })
  expect(await driver.restore!(io, never)).toBe(false)
  expect(await driver.restore!(io, never)).toBe(false)
  expect(io.warnings).toEqual([
    { event: 'virtualFunctions.notMade', detail: { address: PF, reason: expect.stringMatching(reason) } },
  ])
  await expect(driver.discover(io)).resolves.toHaveLength(1)
})

test('of one function do not keep those of others from being made, and a write that hangs ends with its time', async () => {
  const { io } = host()
  const driver = driverWith({ '0000:99:00.0': 1, [PF]: 1 })
  expect(await driver.restore!(io, never)).toBe(false)
  expect(await io.read(`${FOLDER}/sriov_numvfs`)).toBe('1')
  const stuck = host()
  const { promise } = Promise.withResolvers<never>()
  const over = AbortSignal.timeout(20)
  expect(await driverWith({ [PF]: 1 }).restore!({ ...stuck.io, write: () => promise }, over)).toBe(false)
})
