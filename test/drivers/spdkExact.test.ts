/** What the driver of SPDK targets asks, what it reports in full, and its limits; over a socket in memory. */
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { HostIo } from '../../src/drivers/driver.ts'
import { SPDK_SOCKET, recordableAnswer, spdkDriver } from '../../src/drivers/spdk.ts'
import { never } from './driver.contract.ts'
import { recordedHostIo } from './recordedHostIo.ts'

type Answers = Readonly<Record<string, unknown>>
const bdev = (name: string, more: object = {}) => ({ name, block_size: 512, num_blocks: 8, ...more })
const subsystem = (nqn: string, more: object = {}) => ({ nqn, subtype: 'NVMe', ...more })
const TARGET: Answers = {
  spdk_get_version: { version: 'SPDK v24.05' },
  nvmf_get_subsystems: [subsystem('nqn.one')],
  bdev_get_bdevs: [],
}
const host = (
  answers: Answers,
  whole: (result: unknown) => unknown = (result) => ({ jsonrpc: '2.0', id: 1, result }),
) => {
  const asked: unknown[] = []
  const io: HostIo = {
    ...recordedHostIo({}, 'h1'),
    askSocket: async (path, text, timeoutMs) => {
      const question = JSON.parse(text) as { readonly method: string }
      asked.push([path, question, timeoutMs])
      return whole(answers[question.method])
    },
  }
  return { asked, io }
}
const found = (answers: Answers) => spdkDriver({ socket: '/s' }).discover(host(answers).io)
const deployablesOf = async (subsystems: readonly object[], bdevs: readonly object[] = []) =>
  (await found({ ...TARGET, nvmf_get_subsystems: subsystems, bdev_get_bdevs: bdevs }))[0]!.deployables
const attributesOf = async (...given: Parameters<typeof deployablesOf>) =>
  Object.fromEntries((await deployablesOf(...given))[0]!.attributes.map(({ key, value }) => [key, value]))

test('a target is asked for its version, its subsystems and its drives, each within five seconds', async () => {
  const { io, asked } = host(TARGET)
  await spdkDriver().discover(io)
  const question = (method: string) => [SPDK_SOCKET, { jsonrpc: '2.0', id: 1, method }, 5000]
  expect(asked).toEqual(['spdk_get_version', 'nvmf_get_subsystems', 'bdev_get_bdevs'].map(question))
  expect(SPDK_SOCKET).toBe('/var/tmp/spdk.sock')
})

test('the whole report of a target: subsystems by name, each with its listeners and the size of its drives', async () => {
  const listener = (trtype: string, more: object = {}) => ({ trtype, ...more })
  const devices = await found({
    spdk_get_version: { version: ' SPDK v24.05 ' },
    nvmf_get_subsystems: [
      subsystem('nqn.discovery', { subtype: 'Discovery' }),
      subsystem('nqn.b', {
        listen_addresses: [
          listener('tcp', { traddr: '10.0.0.1', trsvcid: '4420' }),
          listener('RDMA', { traddr: '10.0.0.2' }),
          listener('TCP'),
        ],
        namespaces: [{ nsid: 1, bdev_name: 'one' }, { nsid: 2, bdev_name: 'alias of two' }, { nsid: 3 }],
      }),
      subsystem('nqn.a'),
    ],
    bdev_get_bdevs: [bdev('one'), bdev('two', { aliases: ['x', 'alias of two'], num_blocks: 3, block_size: 4096 })],
  })
  const common = { numAccelerators: 0, driverName: 'spdk', handles: [], hostWork: false, programmable: false }
  const own = ['OWNER_CYBORG', 'CUSTOM_SSD_SPDK']
  const attributes = (traits: readonly string[], more: Readonly<Record<string, string>>) => [
    { key: 'rc', value: 'CUSTOM_SSD' },
    ...traits.map((value, n) => ({ key: `trait${n}`, value })),
    ...Object.entries(more).map(([key, value]) => ({ key, value })),
  ]
  expect(devices).toStrictEqual([
    {
      type: 'SSD',
      vendor: 'SPDK',
      model: 'SPDK v24.05',
      stdBoardInfo: '{"controller":"NVMe-oF target"}',
      vendorBoardInfo: null,
      controlPath: { type: 'PATH', info: '/s' },
      deployables: [
        {
          name: 'h1_nqn.a',
          ...common,
          attributes: attributes(own, { nqn: 'nqn.a', listeners: '', bdevs: '', bytes: '0' }),
        },
        {
          name: 'h1_nqn.b',
          ...common,
          attributes: attributes([...own, 'CUSTOM_SSD_NVMF_RDMA', 'CUSTOM_SSD_NVMF_TCP'], {
            nqn: 'nqn.b',
            listeners: 'tcp:10.0.0.1:4420 RDMA:10.0.0.2: TCP::',
            bdevs: 'one alias of two ',
            bytes: String(8 * 512 + 3 * 4096),
          }),
        },
      ],
    },
  ])
})

describe('texts of a target', () => {
  test('are shortened, and hold nothing that a store refuses', async () => {
    const modelOf = async (version: string) => (await found({ ...TARGET, spdk_get_version: { version } }))[0]!.model
    expect(await modelOf('v'.repeat(255))).toBe('v'.repeat(255))
    expect(await modelOf(`${'v'.repeat(255)}x`)).toBe('v'.repeat(255))
    expect([await modelOf(' \0 '), await modelOf('a\0b')]).toEqual(['SPDK', 'ab'])
    const names = (text: string) => [subsystem('nqn.one', { namespaces: [{ nsid: 1, bdev_name: text }] })]
    expect((await attributesOf(names('b'.repeat(1000))))['bdevs']).toBe('b'.repeat(1000))
    expect((await attributesOf(names(`${'b'.repeat(1000)}x`)))['bdevs']).toBe('b'.repeat(1000))
    expect((await attributesOf([subsystem('nqn\0one')]))['nqn']).toBe('nqnone')
  })
  test('make a name for Placement: as it is where it can be, and otherwise with a digest', async () => {
    const nameOf = async (nqn: string) => (await deployablesOf([subsystem(nqn)]))[0]!.name
    const digest = (nqn: string) => createHash('sha256').update(nqn).digest('hex').slice(0, 16)
    const [fits, long] = ['n'.repeat(100), 'n'.repeat(101)]
    expect(await nameOf('nqn.A-b_c:9')).toBe('h1_nqn.A-b_c:9')
    expect(await nameOf(fits)).toBe(`h1_${fits}`)
    expect(await nameOf(long)).toBe(`h1_${'n'.repeat(83)}_${digest(long)}`)
    expect(await nameOf('nqn a/b')).toBe(`h1_nqn_a_b_${digest('nqn a/b')}`)
  })
})

describe('an answer', () => {
  const refused = (answers: Answers) =>
    found({ ...TARGET, ...answers }).then(
      () => null,
      (error: unknown) => (error as Error).message,
    )
  test.each<[object, RegExp]>([
    [{ spdk_get_version: {} }, /^\/s: spdk_get_version: version: /],
    [{ spdk_get_version: 1 }, /^\/s: spdk_get_version: the answer: /],
    [{ nvmf_get_subsystems: [subsystem('')] }, /^\/s: nvmf_get_subsystems: 0\.nqn: /],
    [{ nvmf_get_subsystems: [subsystem('n'.repeat(1001))] }, /^\/s: nvmf_get_subsystems: 0\.nqn: /],
    [{ nvmf_get_subsystems: [{ nqn: 'n' }] }, /^\/s: nvmf_get_subsystems: 0\.subtype: /],
    [{ nvmf_get_subsystems: [subsystem('n', { namespaces: [{}] })] }, /: 0\.namespaces\.0\.nsid: /],
    [{ nvmf_get_subsystems: [subsystem('n', { listen_addresses: [{}] })] }, /: 0\.listen_addresses\.0\.trtype: /],
    [{ nvmf_get_subsystems: [subsystem('n', { serial_number: 1 })] }, /: 0\.serial_number: /],
    [{ bdev_get_bdevs: [bdev('b', { block_size: -1 })] }, /^\/s: bdev_get_bdevs: 0\.block_size: /],
    [{ bdev_get_bdevs: [bdev('b', { num_blocks: -1 })] }, /^\/s: bdev_get_bdevs: 0\.num_blocks: /],
    [{ bdev_get_bdevs: [bdev('b', { aliases: [1] })] }, /^\/s: bdev_get_bdevs: 0\.aliases\.0: /],
  ])('that is not of its form names the socket, the method and the field: case %#', async (answers, reason) =>
    expect(await refused(answers as Answers)).toMatch(reason),
  )
  test('may be as large as a thousand subsystems of a thousand characters', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => subsystem(`nqn.${n}`))
    expect(await deployablesOf(many(1000))).toHaveLength(1000)
    expect(await deployablesOf([subsystem('n'.repeat(1000))])).toHaveLength(1)
    expect(await refused({ nvmf_get_subsystems: many(1001) })).toMatch(/^\/s: nvmf_get_subsystems: the answer: /)
    const zero = [bdev('one', { block_size: 0 }), bdev('two', { num_blocks: 0 })]
    expect(await refused({ bdev_get_bdevs: zero })).toBe(null)
  })
  test.each<[unknown, string]>([
    [
      { id: 1, error: { code: -32601, message: 'Method not found' } },
      '/s: spdk_get_version: Method not found (-32601)',
    ],
    [{ id: 2, result: { version: '1' } }, '/s: spdk_get_version: an answer to another question came'],
  ])(
    'to another question, or a refusal, is an error: %j',
    async (whole, reason) =>
      await expect(spdkDriver({ socket: '/s' }).discover(host(TARGET, () => whole).io)).rejects.toThrow(reason),
  )
  test.each([
    ['ENOENT: /s', 'no SPDK target listens there: start nvmf_tgt, or set spdk.rpc_socket'],
    ['connect ECONNREFUSED /s', 'no SPDK target listens there: start nvmf_tgt, or set spdk.rpc_socket'],
    ['XENOENTX', 'XENOENTX'],
    ['no complete answer within 5000 ms', 'no complete answer within 5000 ms'],
  ])('that does not come because of %j is told as %j', async (failure, told) => {
    const io: HostIo = { ...recordedHostIo({}), askSocket: () => Promise.reject(new Error(failure)) }
    await expect(spdkDriver({ socket: '/s' }).discover(io)).rejects.toThrow(`/s: spdk_get_version: ${told}`)
  })
})

test('of an answer a recording keeps what is read, without secrets, and other texts with stand-ins', () => {
  const answer = [
    {
      id: 1,
      error: { code: 1, message: 'm', more: 'x' },
      result: [{ nqn: 'n', serial_number: 's', hosts: ['h'], namespaces: [{ nsid: 1, uuid: 'u', bdev_name: 'b' }] }],
      version: 'v',
      listen_addresses: [{ trtype: 'TCP', traddr: '10.0.0.1', trsvcid: '1', adrfam: 'IPv4' }],
      name: 'n',
      aliases: ['a'],
      product_name: 'p',
      block_size: 512,
      num_blocks: null,
      subtype: 'NVMe',
    },
  ]
  expect(recordableAnswer(answer, (text) => `<${text}>`)).toStrictEqual([
    {
      id: 1,
      error: { code: 1, message: '<m>' },
      result: [{ nqn: '<n>', serial_number: 'removed', namespaces: [{ nsid: 1, bdev_name: '<b>' }] }],
      version: '<v>',
      listen_addresses: [{ trtype: '<TCP>', traddr: 'removed', trsvcid: '<1>' }],
      name: '<n>',
      aliases: ['<a>'],
      product_name: '<p>',
      block_size: 512,
      num_blocks: null,
      subtype: '<NVMe>',
    },
  ])
})

test('a target is here where its socket is, and nothing of it can be attached', async () => {
  const driver = spdkDriver({ socket: '/run/spdk.sock' })
  const isHere = (run: Parameters<typeof recordedHostIo>[0]) => driver.isHere!(recordedHostIo(run))
  expect([await isHere({ run: { 'spdk.sock': '' } }), await isHere({ run: { other: '' } }), await isHere({})]).toEqual([
    true,
    false,
    false,
  ])
  const slot = { uuid: 'u-1', deployable: 'h1_nqn', type: 'PCI' as const, info: {} }
  const io = recordedHostIo({})
  await expect(driver.prepare(io, slot, never)).rejects.toThrow(
    'slot u-1: nvmf_spdk_driver offers nothing that can be attached',
  )
  expect(await driver.release(io, slot, never)).toBe(undefined)
  expect(driver.name).toBe('nvmf_spdk_driver')
})
