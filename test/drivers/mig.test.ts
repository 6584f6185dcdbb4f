/** NVIDIA GPUs that are divided into MIG instances are not offered as a whole, by no driver (drivers.md 4.6). */
import { describe, expect, test } from 'vitest'
import { realHostIo } from '../../src/drivers/hostIo.ts'
import { recorder } from '../../src/drivers/recording.ts'
import { never, slotsOf } from './driver.contract.ts'
import { driverOf } from './machines.ts'
import { type Programs, recordedHostIo, type Tree } from './recordedHostIo.ts'
import { pciTree } from './trees.ts'

const [DIVIDED, WHOLE, OTHER] = ['0000:3b:00.0', '0000:3c:00.0', '0000:d8:00.0']
const gpu = { vendor: '10de', device: '20f1', class: '030200' }
/** As the kernel driver writes it. */
const information = (minor: number | null, uuid = 'GPU-3c6c5d4c-7f4b-2c1e-8a3f-0123456789ab'): string =>
  `Model: \t\t NVIDIA A100-PCIE-40GB\nIRQ:   \t\t 58\nGPU UUID: \t ${uuid}\nBus Type: \t PCIe\n${
    minor === null ? '' : `Device Minor: \t ${minor}\n`
  }GPU Excluded:\t No\n`
const instance: Tree = { access: 'DeviceFileMinor: 12\n', ci0: { access: 'DeviceFileMinor: 13\n' } }

/** Three cards served by the kernel driver; the first one, whose number is not its place in the list, has instances. */
const machine = (over: { readonly gpus?: Tree; readonly capabilities?: Tree; readonly modes?: string } = {}) => {
  const {
    gpus = {
      [DIVIDED]: { information: information(1) },
      [WHOLE]: { information: information(0) },
      [OTHER]: { information: information(2) },
    },
    capabilities = {
      mig: { config: 'DeviceFileMinor: 1\n', monitor: 'DeviceFileMinor: 2\n' },
      gpu0: { mig: {} },
      gpu1: { mig: { gi1: instance, gi2: instance } },
      gpu2: {},
    },
    modes = `00000000:3B:00.0, Enabled\n00000000:3C:00.0, Disabled\n00000000:D8:00.0, [N/A]\n`,
  } = over
  const sys = pciTree({ [DIVIDED]: gpu, [WHOLE]: gpu, [OTHER]: gpu })
  const asked: (readonly string[])[] = []
  const programs: Programs = {
    'nvidia-smi': (args) => {
      asked.push(args)
      if (modes === '') throw new Error('nvidia-smi: no end within 8000 ms')
      return modes
    },
  }
  const io = recordedHostIo(
    { sys, proc: { driver: { nvidia: { gpus, capabilities } } } },
    'compute1',
    '/state',
    programs,
  )
  return { io, asked }
}
const nvidia = () => driverOf('nvidia_gpu_driver')
const looked = async ({ io }: ReturnType<typeof machine>, driver = nvidia()) => ({
  offered: (await driver.discover(io)).map(({ controlPath }) => /"bus": "(..)"/.exec(controlPath.info)![1]),
  leftOut: await driver.leftOut!(io),
})

describe('a card with MIG instances', () => {
  test.each([
    ['nvidia_gpu_driver', {}],
    ['pci_driver', { pci: { whitelist: '{"vendor_id": "10de"}' } }],
    [
      'id_table_driver',
      {
        cards: [
          {
            vendor: '10de',
            product: '20f1',
            lastProduct: '20f1',
            type: 'GPU',
            family: null,
            name: 'A100',
            vfOf: null,
            driver: 'id_table_driver',
            resourceClass: null,
            traits: [],
            pciClass: '',
          },
        ],
      },
    ],
  ] as const)(
    'is left out by %s, with the reason, and the other cards of the host are offered',
    async (name, options) => {
      expect(await looked(machine(), driverOf(name, options))).toEqual({
        offered: ['3c', 'd8'],
        leftOut: [{ address: DIVIDED, reason: 'it is divided into MIG instances (2)' }],
      })
    },
  )

  test('is not prepared for a request that got it before it was divided', async () => {
    const [before, driver] = [machine({ capabilities: {} }), nvidia()]
    const slot = slotsOf(await driver.discover(before.io))[0]!
    await driver.prepare(before.io, slot, never)
    await expect(driver.prepare(machine().io, slot, never)).rejects.toThrow(
      `slot ${slot.uuid}: ${DIVIDED} is not given away whole: it is divided into MIG instances (2)`,
    )
  })

  test('is left out in MIG mode as well where nvidia-smi tells so of it, and fails because another card is lost', async () => {
    const capabilities = { gpu0: { mig: {} }, gpu1: { mig: {} }, gpu2: {} }
    const { io } = machine({ capabilities })
    const real = realHostIo({ hostname: 'compute1', stateDir: '/none', warn: () => undefined })
    const script = 'echo "00000000:3B:00.0, Enabled"; echo "00000000:3C:00.0, Disabled"; exit 15'
    const run = () => real.run('/bin/sh', ['-c', script], 8000)
    expect((await nvidia().discover({ ...io, run })).map(({ controlPath }) => controlPath.info.slice(9, 11))).toEqual([
      '3c',
      'd8',
    ])
  })

  test('is offered again once its instances are gone and its mode is off', async () => {
    const capabilities = { gpu0: { mig: {} }, gpu1: { mig: {} }, gpu2: {} }
    const modes = '00000000:3B:00.0, Disabled\n'
    expect(await looked(machine({ capabilities, modes }))).toEqual({ offered: ['3b', '3c', 'd8'], leftOut: [] })
  })
})

test('a card that a guest has, or that another kernel driver serves, is whole', async () => {
  expect((await looked(machine({ gpus: {} }))).offered).toEqual(['3b', '3c', 'd8'])
})

test('a card of which the kernel does not say its number is left out while the kernel shows capabilities', async () => {
  for (const text of ['', information(null), information(null, 'Device Minor: 0')]) {
    const gpus = { [DIVIDED]: { information: text }, [WHOLE]: { information: information(0) }, [OTHER]: {} }
    const reason = (address: string) =>
      `/proc/driver/nvidia/gpus/${address}/information names no Device Minor, so it may be divided by MIG`
    expect(await looked(machine({ gpus }))).toEqual({
      offered: ['3c'],
      leftOut: [DIVIDED, OTHER].map((address) => ({ address, reason: reason(address) })),
    })
    expect((await looked(machine({ gpus, capabilities: { mig: {} } }))).offered).toEqual(['3b', '3c', 'd8'])
  }
})

test('what cannot be read fails the driver, and does not make its list shorter or longer', async () => {
  for (const path of ['gpus', 'capabilities', `gpus/${DIVIDED}/information`, 'capabilities/gpu1/mig'] as const) {
    const { io } = machine()
    const refused =
      <Answer>(of: (at: string) => Promise<Answer>) =>
      async (at: string) => {
        if (at !== `/proc/driver/nvidia/${path}`) return of(at)
        throw Object.assign(new Error(`EACCES: ${at}`), { code: 'EACCES' })
      }
    await expect(nvidia().discover({ ...io, read: refused(io.read), list: refused(io.list) })).rejects.toThrow('EACCES')
  }
})

describe('a card in MIG mode without instances', () => {
  const modes = '00000000:3B:00.0, Enabled\n00000000:3C:00.0, Enabled\n'
  const left = {
    address: WHOLE,
    reason: `its MIG mode is enabled, without instances: nvidia-smi -i ${WHOLE} -mig 0 ends that`,
  }

  test('is left out, with what makes it whole', async () => {
    expect((await looked(machine({ modes }))).leftOut).toEqual([{ address: DIVIDED, reason: expect.anything() }, left])
  })

  test('stays as it was last seen while nvidia-smi does not answer', async () => {
    const driver = nvidia()
    expect((await looked(machine({ modes }), driver)).offered).toEqual(['d8'])
    expect((await looked(machine({ modes: '' }), driver)).offered).toEqual(['d8'])
  })

  test('is offered when nvidia-smi has never answered, which is logged once', async () => {
    const [host, driver] = [machine({ modes: '' }), nvidia()]
    expect((await looked(host, driver)).offered).toEqual(['3c', 'd8'])
    expect(host.io.warnings).toEqual([
      { event: 'nvidia_mig_mode_unknown', detail: { reason: 'nvidia-smi: no end within 8000 ms' } },
    ])
  })

  test('costs a call of nvidia-smi only on a host with a card that can be divided', async () => {
    const host = machine({ capabilities: { gpu1: { mig: { gi1: instance } } } })
    await nvidia().discover(host.io)
    expect(host.asked).toEqual([])
  })
})

test('a recording of the host gives the same report, without the UUIDs of the cards', async () => {
  const host = machine()
  const { io, recording } = recorder(host.io)
  const driver = nvidia()
  const [devices, leftOut] = [await driver.discover(io), await driver.leftOut!(io)]
  const { tree, runs } = recording()
  expect(JSON.stringify({ tree, runs })).not.toContain('3c6c5d4c')
  const replayed = recordedHostIo(tree, 'compute1', '/state', { 'nvidia-smi': () => runs[0]!.output! })
  const again = nvidia()
  // nor the mark that comes from it
  const unmarked = (all: typeof devices) => all.map((device) => ({ ...device, card: undefined }))
  expect(unmarked(await again.discover(replayed))).toEqual(unmarked(devices))
  expect(await again.leftOut!(replayed)).toEqual(leftOut)
})
