/**
 * vGPUs that upstream had bound, over an import, the first report of the real host program, a restart of the machine,
 * and their end.
 */
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { systemClock, systemIds } from '../../src/vocabulary/clock.ts'
import { recordsOf } from '../../src/actors/upstream/appends.ts'
import { planImport } from '../../src/actors/upstream/plan.ts'
import { openStore } from '../../src/persistence/open.ts'
import { GPU_MACHINE, type GpuMachine, openGpuMachine } from '../support/gpuMachine.ts'
import { type Program, runProgram, tempFolder } from '../support/program.ts'
import {
  attributeRow,
  boundRow,
  deployableRow,
  deviceRow,
  handleRow,
  mdevText,
  nameOf,
  pathRow,
  pciText,
  profileRow,
  tablesOf,
  uuidOf,
} from '../upstream/scenario.ts'

const HOST = 'compute1'
const NAME = nameOf({ host: HOST, bus: 'af' })
const { vgpus, type } = GPU_MACHINE
/** By the ids of their attach handles: upstream numbered the marks from 0. */
const [FIRST, LEAKED, LAST] = [1, 5, vgpus] as const
const inUse: ReadonlySet<number> = new Set([FIRST, LEAKED, LAST])
const TABLES = tablesOf({
  devices: [deviceRow(1, { hostname: HOST, model: '1eb8' })],
  controlpath_ids: [pathRow(1, 1, pciText('af'))],
  deployables: [deployableRow(1, 1, NAME, { numAccelerators: vgpus })],
  attributes: [
    attributeRow(1, 1, 'rc', 'VGPU'),
    attributeRow(2, 1, 'trait0', 'OWNER_CYBORG'),
    attributeRow(3, 1, 'trait1', 'CUSTOM_NVIDIA_1EB8_T4_2B'),
  ],
  attach_handles: Array.from({ length: vgpus }, (_, n) =>
    handleRow(n + 1, 1, mdevText('af', n, type), { type: 'MDEV', inUse: inUse.has(n + 1) }),
  ),
  device_profiles: [profileRow(1, 'vgpu', { json: JSON.stringify({ groups: [GPU_MACHINE.group] }) })],
  extended_accelerator_requests: [FIRST, LAST].map((id) => boundRow(id, id, NAME, { deployableId: 1 })),
})

const folder = tempFolder('vgpu-import')
const data = join(folder.path, 'data')
const imported = async (): Promise<void> => {
  const store = await openStore({ kind: 'pglite', dir: join(data, 'store') })
  await store.loadWhole(recordsOf(planImport(TABLES), systemIds, systemClock.now()))
  await store.close()
}

const started: { machine?: GpuMachine; program?: Program } = {}
const program = async ({ env }: GpuMachine): Promise<string> => {
  const [listen, admin] = ['127.0.0.1:0', '127.0.0.1:0']
  const args = ['start', '--data', data, '--listen', listen, '--admin-listen', admin, '--name', HOST]
  const one = runProgram({ args, env: { ...env, ACCELERANDO_HOST_REPORT_EVERY_SECONDS: '1' } })
  started.program = one
  return (await one.said(/ready (http:\S+)/))[1]!
}
afterAll(async () => {
  started.machine?.stop()
  await started.program?.end('SIGKILL')
  folder.remove()
})

const HEADERS = { 'content-type': 'application/json', 'X-Service-Roles': 'service' }
// Answers are looked into freely; a wrong guess fails the test.
// oxlint-disable-next-line typescript/no-explicit-any
const ask = async (url: string, method = 'GET', body?: unknown): Promise<any> => {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await fetch(url, { method, headers: HEADERS, ...sent })
  const text = await response.text()
  expect(response.status, text).toBeLessThan(300)
  return text === '' ? null : JSON.parse(text)
}
const mdevs = (...ids: readonly number[]) => ids.map((id) => uuidOf('handle', id))
const LIMIT = { timeout: 30_000 }

test('vGPUs that upstream had bound stay what they are, outlive the machine, and are removed with their requests', async () => {
  await imported()
  const machine = await openGpuMachine(folder.path)
  started.machine = machine
  for (const uuid of mdevs(FIRST, LEAKED, LAST)) await machine.make(uuid)
  const made = () => machine.made().toSorted()
  let api = await program(machine)
  const states = async () =>
    (await ask(`${api}/accelerator_requests`)).arqs.map((arq: Record<string, string>) => [
      arq['state'],
      arq['attach_handle_uuid'],
    ])
  const bound = [FIRST, LAST].map((id) => ['Bound', uuidOf('handle', id)])
  const inState = async (state: string) =>
    (await ask(`${api}/handles?state=${state}`)).handles.map(({ uuid }: { uuid: string }) => uuid) as string[]

  // the driver knows both for its own now: only the leaked one is taken from what it can give, and one GPU is whole
  await expect.poll(async () => (await inState('free')).length, LIMIT).toBe(vgpus - 3 - 1 + 1)
  await expect.poll(async () => (await inState('held')).toSorted(), LIMIT).toEqual(mdevs(FIRST, LAST))
  expect(await states()).toEqual(bound)
  expect(await inState('quarantined')).toEqual(mdevs(LEAKED))
  expect(made()).toEqual(mdevs(FIRST, LEAKED, LAST))

  await ask(`${api}/handles/${uuidOf('handle', LEAKED)}/release`, 'POST', { reason: 'no guest has it' })
  await expect.poll(made, LIMIT).toEqual(mdevs(FIRST, LAST))
  await expect.poll(async () => (await inState('free')).length, LIMIT).toBe(vgpus - 2 + 1)

  await started.program!.end('SIGKILL')
  machine.crash()
  await machine.boot()
  api = await program(machine)
  await expect.poll(made, LIMIT).toEqual(mdevs(FIRST, LAST))
  expect(await states()).toEqual(bound)

  await ask(`${api}/accelerator_requests?instance=${uuidOf('instance', LAST)}`, 'DELETE')
  await expect.poll(made, LIMIT).toEqual(mdevs(FIRST))
  expect((await started.program!.end('SIGTERM')).code).toBe(0)
})
