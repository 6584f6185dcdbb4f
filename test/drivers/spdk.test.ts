/** The driver of SPDK targets, beside a process that answers on a real socket. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { realHostIo } from '../../src/drivers/hostIo.ts'
import { type Recording, recorder } from '../../src/drivers/recording.ts'
import { driverContract } from './driver.contract.ts'
import { driverOf } from './machines.ts'
import { recordedHostIo, type Tree } from './recordedHostIo.ts'

const TARGET = join(import.meta.dirname, '../support/fixtures/spdkTarget.ts')
const folder = mkdtempSync(join(tmpdir(), 'spdk-'))
const children: ChildProcess[] = []
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

const DISCOVERY = {
  nqn: 'nqn.2014-08.org.nvmexpress.discovery',
  subtype: 'Discovery',
  listen_addresses: [],
  allow_any_host: true,
  hosts: [],
}
const subsystem = (nqn: string, bdevs: readonly string[], listeners: readonly object[] = []) => ({
  nqn,
  subtype: 'NVMe',
  listen_addresses: listeners,
  allow_any_host: true,
  hosts: [],
  serial_number: 'SPDK00000000000001',
  model_number: 'SPDK bdev Controller',
  max_namespaces: 32,
  namespaces: bdevs.map((name, at) => ({
    nsid: at + 1,
    bdev_name: name,
    name,
    uuid: '2a90e548-e212-433f-96e3-092a7f69a18b',
  })),
})
const bdev = (name: string, blocks: number, aliases: readonly string[] = []) => ({
  name,
  aliases,
  product_name: 'Malloc disk',
  block_size: 512,
  num_blocks: blocks,
  claimed: true,
  driver_specific: {},
})
const TCP = { trtype: 'TCP', adrfam: 'IPv4', traddr: '10.0.0.1', trsvcid: '4420' }
const ANSWERS = {
  spdk_get_version: { version: 'SPDK v24.05', fields: { major: 24, minor: 5, patch: 0, suffix: '' } },
  nvmf_get_subsystems: [
    DISCOVERY,
    subsystem('nqn.2016-06.io.spdk:two', ['lvs/data'], [TCP, { ...TCP, trtype: 'RDMA' }]),
    subsystem('nqn.2016-06.io.spdk:one', ['Malloc0', 'Malloc1'], [{ trtype: 'VFIOUSER', traddr: '/var/run/one' }]),
  ],
  bdev_get_bdevs: [bdev('Malloc0', 8), bdev('Malloc1', 2), bdev('4f7a', 100, ['lvs/data'])],
}
let started = 0
const target = async (answers: object, how = 'whole'): Promise<string> => {
  const socket = join(folder, `${++started}.sock`)
  const child = spawn(process.execPath, [TARGET, socket, JSON.stringify(answers), how], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  await once(child.stdout, 'data')
  return socket
}
const io = realHostIo({ hostname: 'h1', stateDir: join(folder, 'state'), warn: () => {}, outputMaxBytes: 100_000 })
const spdkDriver = (spdk: { readonly socket: string }) => driverOf('nvmf_spdk_driver', { spdk })
const found = (socket: string) => spdkDriver({ socket }).discover(io)

const answering =
  (answers: Readonly<Record<string, unknown>>) =>
  ([text = '']: readonly string[]): string =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, result: answers[(JSON.parse(text) as { method: string }).method] })
driverContract(
  'nvmf_spdk_driver',
  () => ({
    driver: spdkDriver({ socket: '/run/spdk.sock' }),
    io: recordedHostIo({}, 'compute1', '/state', { '/run/spdk.sock': answering(ANSWERS) }),
  }),
  { offers: false },
)

test('a target is one device, its subsystems are deployables without attach handles, and the discovery subsystem is none', async () => {
  const socket = await target(ANSWERS)
  const devices = await found(socket)
  expect(devices).toMatchObject([
    {
      type: 'SSD',
      vendor: 'SPDK',
      model: 'SPDK v24.05',
      controlPath: { type: 'PATH', info: socket },
      deployables: [
        { name: 'h1_nqn.2016-06.io.spdk:one', numAccelerators: 0, handles: [], hostWork: false, programmable: false },
        { name: 'h1_nqn.2016-06.io.spdk:two', numAccelerators: 0, handles: [] },
      ],
    },
  ])
  expect(
    devices[0]!.deployables.map(({ attributes }) =>
      Object.fromEntries(attributes.map(({ key, value }) => [key, value])),
    ),
  ).toEqual([
    {
      rc: 'CUSTOM_SSD',
      trait0: 'OWNER_CYBORG',
      trait1: 'CUSTOM_SSD_SPDK',
      trait2: 'CUSTOM_SSD_NVMF_VFIOUSER',
      nqn: 'nqn.2016-06.io.spdk:one',
      listeners: 'VFIOUSER:/var/run/one:',
      bdevs: 'Malloc0 Malloc1',
      bytes: '5120',
    },
    {
      rc: 'CUSTOM_SSD',
      trait0: 'OWNER_CYBORG',
      trait1: 'CUSTOM_SSD_SPDK',
      trait2: 'CUSTOM_SSD_NVMF_RDMA',
      trait3: 'CUSTOM_SSD_NVMF_TCP',
      nqn: 'nqn.2016-06.io.spdk:two',
      listeners: 'TCP:10.0.0.1:4420 RDMA:10.0.0.1:4420',
      bdevs: 'lvs/data',
      bytes: '51200',
    },
  ])
})

test('an answer in many pieces is the same answer, and a target without subsystems is no device', async () => {
  const [whole, pieces] = [await found(await target(ANSWERS)), await found(await target(ANSWERS, 'pieces'))]
  expect(pieces[0]!.deployables).toEqual(whole[0]!.deployables)
  expect(await found(await target({ ...ANSWERS, nvmf_get_subsystems: [DISCOVERY] }))).toEqual([])
})

test.each([
  [
    'nobody listens',
    join(folder, 'none.sock'),
    /none\.sock: spdk_get_version: no SPDK target listens there: start nvmf_tgt, or set spdk\.rpc_socket$/,
  ],
  ['it closes at once', 'closes', /spdk_get_version: the answer is not a JSON document$/],
  ['it answers garbage', 'garbage', /the answer is not a JSON document$/],
  ['it answers without end', 'endless', /more than 100000 bytes of answer$/],
  ['it answers another question', 'stranger', /an answer to another question came$/],
  ['it does not answer', 'never', /no complete answer within 5000 ms$/],
])('when %s, the driver fails with the reason (SPDK-3)', async (_what, how, reason) => {
  await expect(found(how.startsWith('/') ? how : await target(ANSWERS, how))).rejects.toThrow(reason)
})

test.each([
  ['lacks a method', { spdk_get_version: ANSWERS.spdk_get_version }, 'nvmf_get_subsystems: Method not found (-32601)'],
  [
    'is still starting',
    { '!spdk_get_version': { code: -1, message: 'Method may only be called after framework is initialized' } },
    'spdk_get_version: Method may only be called after framework is initialized (-1)',
  ],
  ['answers with another shape', { ...ANSWERS, bdev_get_bdevs: [{ name: 'a' }] }, 'bdev_get_bdevs: 0.block_size: '],
])('a target that %s is told with the method and the field', async (_what, answers, reason) => {
  await expect(found(await target(answers))).rejects.toThrow(reason)
})

test('whatever a target answers, there is a whole list or a reason', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), async (version, subsystems, bdevs) => {
      const answers = { spdk_get_version: version, nvmf_get_subsystems: subsystems, bdev_get_bdevs: bdevs }
      const host = recordedHostIo({}, 'h1', '/state', { '/s': answering(answers) })
      const told = await spdkDriver({ socket: '/s' })
        .discover(host)
        .catch((error: unknown) => error)
      expect(told instanceof Error ? told.message : 'a list').toMatch(/^\/s: |^a list$/)
    }),
  )
})

test('subsystems with odd and long names have names of their own that Placement takes', async () => {
  const names = ['nqn.a b', 'nqn.a_b', `nqn.${'x'.repeat(219)}1`, `nqn.${'x'.repeat(219)}2`]
  const subsystems = names.map((nqn) => subsystem(nqn, []))
  const host = recordedHostIo({}, 'h1', '/state', { '/s': answering({ ...ANSWERS, nvmf_get_subsystems: subsystems }) })
  const [device] = await spdkDriver({ socket: '/s' }).discover(host)
  const given = device!.deployables.map(({ name }) => name)
  expect(new Set(given).size).toBe(4)
  for (const name of given) expect(name).toMatch(/^h1_[A-Za-z0-9.:_-]{1,100}$/)
})

/** A host that answers as the recording does. */
const replayed = ({ tree, runs }: Recording) =>
  recordedHostIo(
    tree,
    'h1',
    '/state',
    Object.fromEntries(
      runs.map(({ program }) => [
        program,
        (args) => runs.find((one) => one.program === program && one.args[0] === args[0])!.output!,
      ]),
    ),
  )
test('a recording holds nothing of the target that names hardware, hosts or addresses, and still which drives a subsystem has', async () => {
  const [uuid, nguid, eui] = ['2a90e548-e212-433f-96e3-092a7f69a18b', 'a'.repeat(31) + '1', '36344730528166ab']
  const one = {
    ...subsystem(`nqn.2014-08.org.nvmexpress:uuid:${uuid}`, [uuid, `vol-${nguid}`], [TCP]),
    hosts: [{ nqn: 'nqn.2016-06.io.spdk:S3CR3T-host' }],
    serial_number: 'S3CR3T 42',
  }
  const secret = { nguid, eui64: eui, serial_number: 'S3CR3T' }
  const bdevs = [
    { ...bdev('Nvme0n1', 8, [uuid]), driver_specific: { nvme: [secret] } },
    { ...bdev(`vol-${nguid}`, 2, [eui]), uuid },
  ]
  const answers = { ...ANSWERS, nvmf_get_subsystems: [one], bdev_get_bdevs: bdevs }
  const host = recordedHostIo({}, 'h1', '/state', { '/s': answering(answers) })
  const { io: recording, recording: made } = recorder(host)
  const bytesIn = async (one: typeof host) => {
    const [device] = await spdkDriver({ socket: '/s' }).discover(one)
    return device!.deployables[0]!.attributes.find(({ key }) => key === 'bytes')!.value
  }
  const bytes = await bytesIn({ ...host, ...recording })
  const text = JSON.stringify(made().runs)
  for (const word of ['S3CR3T', '10.0.0.1', uuid.slice(0, 8), nguid, eui])
    expect(text.toLowerCase()).not.toContain(word.toLowerCase())
  expect(await bytesIn(replayed(made()))).toBe(bytes)
})

test('a target is here where its socket is, and nothing of it can be attached', async () => {
  const driver = spdkDriver({ socket: '/run/spdk.sock' })
  const isHere = (run: Tree) => driver.isHere!(recordedHostIo({ run }))
  expect([await isHere({ 'spdk.sock': '' }), await isHere({ other: '' })]).toEqual([true, false])
  const slot = { uuid: 'u-1', deployable: 'h1_nqn', type: 'PCI' as const, info: {} }
  await expect(driver.prepare(recordedHostIo({}), slot, new AbortController().signal)).rejects.toThrow(
    'slot u-1: nvmf_spdk_driver offers nothing that can be attached',
  )
})
