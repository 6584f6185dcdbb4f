/**
 * What `accelerando device scan` prints of recorded hosts, word for word, and that a recording stays as it was. Where a
 * change is meant: `npx vitest run test/cli/scanned.test.ts -u`.
 */
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { writeRecording } from '../../src/cli/hardware/recordingFolder.ts'
import { alveoTree, pciTree, vgpuTree } from '../drivers/trees.ts'
import { tempFolder } from '../support/program.ts'
import { openTranscript } from './transcript.ts'

const folder = tempFolder('scanned')
afterAll(folder.remove)
const data = join(folder.path, 'data')
mkdirSync(data)
const recorded = async (name: string, tree: Parameters<typeof writeRecording>[1]['tree']): Promise<string> => {
  const path = join(folder.path, name)
  await writeRecording(path, { tree, runs: [] })
  return path
}
/** The same commands, each time with what else is configured. */
const openScans = () => {
  const parts: string[] = []
  const scan = async (
    title: string,
    from: string,
    env: Readonly<Record<string, string>>,
    ...how: readonly string[]
  ) => {
    const usual = { ACCELERANDO_DATA: data, ACCELERANDO_HOST_NAME: 'h1', ACCELERANDO_LOG_LEVEL: 'silent' }
    const { run, text } = openTranscript({ ...usual, ...env }, [[folder.path, '<folder>']], [])
    for (const more of how) await run(`device scan --from ${from}${more}`)
    parts.push(`### ${title}\n${text()}`)
  }
  return { scan, text: () => parts.join('\n') }
}

test('of recorded hosts, with drivers that are enabled and with none', async () => {
  const cards = await recorded('cards', { sys: alveoTree() })
  const { scan, text } = openScans()
  await scan('a first scan', cards, {}, '', ' --json')
  await scan('a driver is enabled', cards, { ACCELERANDO_ENABLED_DRIVERS: 'xilinx_fpga_driver' }, '', ' -f csv')
  const whitelist = '[{"vendor_id": "10ee", "product_id": "5000"}, {"devname": "eth0"}]'
  const offered = (drivers: string) => ({
    ACCELERANDO_PCI_PASSTHROUGH_WHITELIST: whitelist,
    ACCELERANDO_ENABLED_DRIVERS: drivers,
  })
  await scan('a whitelist without its driver', cards, offered('fake_driver'), '')
  await scan('a whitelist', cards, offered('pci_driver'), '', ' -f csv')
  await scan('a whitelist that takes what another driver offers', cards, offered('pci_driver,xilinx_fpga_driver'), '')
  const gpus = await recorded('gpus', { sys: vgpuTree() })
  const divided = {
    ACCELERANDO_ENABLED_DRIVERS: 'nvidia_gpu_driver',
    ACCELERANDO_GPU_DEVICES_ENABLED_VGPU_TYPES: 'nvidia-223',
    ACCELERANDO_GPU_DEVICES_DEVICE_ADDRESSES: '{"nvidia-223": ["0000:af:00.0"]}',
  }
  await scan('a function is divided', gpus, divided, '')
  await expect(text()).toMatchFileSnapshot('golden/scanned.txt')
  expect(readdirSync(data)).toEqual([])
})

test('a function that the whitelist takes is not offered where its driver leaves it out', async () => {
  const [whole, divided] = ['0000:3b:00.0', '0000:3c:00.0']
  const gpu = { vendor: '10de', device: '20f1', class: '030200' }
  const gpus = { [whole]: { information: 'Device Minor: 0\n' }, [divided]: { information: 'Device Minor: 1\n' } }
  const nvidia = { gpus, capabilities: { gpu0: {}, gpu1: { mig: { gi1: {} } } } }
  const from = await recorded('divided', {
    sys: pciTree({ [whole]: gpu, [divided]: gpu }),
    proc: { driver: { nvidia } },
  })
  const env = {
    ACCELERANDO_ENABLED_DRIVERS: 'pci_driver',
    ACCELERANDO_PCI_PASSTHROUGH_WHITELIST: '[{"vendor_id": "10de"}]',
  }
  const { scan, text } = openScans()
  await scan('a card is divided', from, env, '', ' --json')
  await scan('no host', data, env, '')
  await expect(text()).toMatchFileSnapshot('golden/scannedDivided.txt')
})
