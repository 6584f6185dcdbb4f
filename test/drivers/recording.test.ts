/** What a recording of a host holds, and what it must not. */
import { expect, test } from 'vitest'
import { recorder } from '../../src/drivers/recording.ts'
import { recordedHostIo, type Tree } from './recordedHostIo.ts'

const nodeIn = (tree: Tree, path: readonly string[]): Tree | string | undefined =>
  path.reduce<Tree | string | undefined>((node, name) => (typeof node === 'object' ? node[name] : undefined), tree)

/**
 * Of the first card as the kernel and as `nvidia-smi` name it, and of an instance of it; none of them may leave the
 * host.
 */
const [CARD, OTHER, INSTANCE] = [
  '3c6c5d4c-7f4b-2c1e-8a3f-0123456789ab',
  'f00dfeed-7f4b-2c1e-8a3f-0123456789ab',
  'c7384736-a75d-5afc-978f-d2f1294409fd',
]
test('UUIDs of GPUs and of their MIG instances become others, the same ones wherever they occur', async () => {
  const gpus = {
    '0000:3b:00.0': { information: `GPU UUID: \t GPU-${CARD}\nDevice Minor: \t 0\n` },
    '0000:3c:00.0': { information: `GPU UUID: \t GPU-${OTHER}\nDevice Minor: \t 1\n` },
  }
  const listing = `GPU 1: A100 (UUID: GPU-${OTHER})\nGPU 0: A100 (UUID: GPU-${CARD.toUpperCase()})\n  MIG 1g.5gb (UUID: MIG-${INSTANCE})\n  (UUID: MIG-GPU-${CARD}/1/0)\n`
  const programs = {
    'nvidia-smi': ([, card]: readonly string[]) => {
      if (card !== undefined) throw new Error(`no MIG-${INSTANCE} on GPU-${CARD}`)
      return listing
    },
    '/socket': () => JSON.stringify({ name: `GPU-${CARD}`, uuid: CARD }),
  }
  const host = recordedHostIo({ proc: { driver: { nvidia: { gpus } } } }, 'compute1', '/state', programs)
  const { io, recording } = recorder(host)
  for (const address of Object.keys(gpus)) {
    const text = await io.read(`/proc/driver/nvidia/gpus/${address}/information`)
    expect(text).toBe(gpus[address as keyof typeof gpus].information)
  }
  expect(await io.run('nvidia-smi', ['-L'], 1000)).toBe(listing)
  await expect(io.run('nvidia-smi', ['-i', `GPU-${CARD}`], 1000)).rejects.toThrow(CARD)
  expect(await io.askSocket('/socket', `GPU-${OTHER}`, 1000)).toEqual({ name: `GPU-${CARD}`, uuid: CARD })
  const { tree, runs } = recording()
  const [one, two, three] = [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}`)
  const informationAt = (address: string) => nodeIn(tree, ['proc', 'driver', 'nvidia', 'gpus', address, 'information'])
  expect(informationAt('0000:3b:00.0')).toBe(`GPU UUID: \t GPU-${one}\nDevice Minor: \t 0\n`)
  expect(informationAt('0000:3c:00.0')).toBe(`GPU UUID: \t GPU-${two}\nDevice Minor: \t 1\n`)
  expect(runs).toEqual([
    {
      program: 'nvidia-smi',
      args: ['-L'],
      output: `GPU 1: A100 (UUID: GPU-${two})\nGPU 0: A100 (UUID: GPU-${one})\n  MIG 1g.5gb (UUID: MIG-${three})\n  (UUID: MIG-GPU-${one}/1/0)\n`,
      error: null,
    },
    { program: 'nvidia-smi', args: ['-i', `GPU-${one}`], output: null, error: `no MIG-${three} on GPU-${one}` },
    {
      program: '/socket',
      args: [`GPU-${two}`],
      output: JSON.stringify({ name: `GPU-${one}` }),
      error: null,
    },
  ])
})

test('what a block device says is recorded, and that it could not be looked at', async () => {
  const { io, recording } = recorder(recordedHostIo({ dev: { nvme0n1: '259:0 claimed' } }))
  expect(await io.blockDevice('/dev/nvme0n1')).toEqual({ number: '259:0', isClaimed: true })
  await expect(io.blockDevice('/dev/nvme1n1')).rejects.toMatchObject({ code: 'ENOENT' })
  expect(recording().runs).toEqual([
    { program: '/dev/nvme0n1', args: ['O_EXCL'], output: '{"number":"259:0","isClaimed":true}', error: null },
    { program: '/dev/nvme1n1', args: ['O_EXCL'], output: null, error: 'ENOENT: /dev/nvme1n1' },
  ])
})

test('the tree holds what was asked for, with its links, and nothing of the driver itself', async () => {
  const host = recordedHostIo({
    sys: { a: { link: { '->': '/sys/b/c' } }, b: { c: { file: 'text', other: 'not asked for' }, d: {} } },
  })
  await host.write('/state/own.json', '{}')
  const { io, recording } = recorder(host)
  expect(await io.read('/sys/a/link/file')).toBe('text')
  expect(await io.list('/sys/b')).toEqual(['c', 'd'])
  expect(await io.link('/sys/a/link')).toBe('/sys/b/c')
  await io.read('/state/own.json')
  await expect(io.read('/sys/none')).rejects.toMatchObject({ code: 'ENOENT' })
  await expect(io.run('/bin/none', ['-a'], 1000)).rejects.toThrow('ENOENT')
  await io.write('/sys/b/c/file', 'changed')
  expect(await host.read('/sys/b/c/file')).toBe('text')
  expect(recording()).toEqual({
    tree: { sys: { a: { link: { '->': '../b/c' } }, b: { c: { file: 'text' }, d: {} } } },
    runs: [{ program: '/bin/none', args: ['-a'], output: null, error: expect.stringContaining('ENOENT') }],
  })
})
