/**
 * A vGPU from its bind to its end, on the real program, over a restart of the machine: the mediated device is made,
 * made again, and removed.
 */
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { GPU_MACHINE, type GpuMachine, openGpuMachine } from '../support/gpuMachine.ts'
import { type Program, runProgram, tempFolder } from '../support/program.ts'

const folder = tempFolder('vgpu')
const INSTANCE = '11111111-1111-4111-8111-111111111111'

const started: { machine?: GpuMachine; program?: Program } = {}
const program = async ({ env }: GpuMachine): Promise<string> => {
  const one = runProgram({
    args: [
      'start',
      '--data',
      join(folder.path, 'data'),
      '--listen',
      '127.0.0.1:0',
      '--admin-listen',
      '127.0.0.1:0',
      '--name',
      'compute1',
    ],
    env,
  })
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
  const response = await fetch(url, {
    method,
    headers: HEADERS,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  expect(response.status, text).toBeLessThan(300)
  return text === '' ? null : JSON.parse(text)
}

test('a vGPU is made, made again after a restart of the machine, and removed', async () => {
  const machine = await openGpuMachine(folder.path)
  started.machine = machine
  const { made } = machine
  let api = await program(machine)
  const groups = [GPU_MACHINE.group]
  await ask(`${api}/device_profiles`, 'POST', [{ name: 'vgpu', groups }])
  const { arqs } = await ask(`${api}/accelerator_requests`, 'POST', { device_profile_name: 'vgpu' })
  const { deployables } = await ask(`${api}/deployables`)
  const divided = deployables.find(({ name }: { name: string }) => name === `compute1_${GPU_MACHINE.divided}`)
  expect(divided.num_accelerators).toBe(GPU_MACHINE.vgpus)
  const uuid: string = arqs[0].uuid
  const values = { hostname: 'compute1', device_rp_uuid: divided.rp_uuid, instance_uuid: INSTANCE }
  const patch = Object.entries(values).map(([name, value]) => ({ op: 'add', path: `/${name}`, value }))
  await ask(`${api}/accelerator_requests`, 'PATCH', { [uuid]: patch })
  const bound = () => ask(`${api}/accelerator_requests/${uuid}`)
  await expect.poll(async () => (await bound()).state, { timeout: 20_000 }).toBe('Bound')
  const { attach_handle_type: type, attach_handle_uuid: handle, attach_handle_info: info } = await bound()
  expect([type, info.asked_type, made()]).toEqual(['MDEV', GPU_MACHINE.type, [handle]])

  // the machine goes down in the middle of everything, and its mediated devices with it
  await started.program!.end('SIGKILL')
  machine.crash()
  await machine.boot()
  api = await program(machine)
  await expect.poll(made, { timeout: 20_000 }).toEqual([handle])
  expect((await bound()).state).toBe('Bound')

  await ask(`${api}/accelerator_requests?instance=${INSTANCE}`, 'DELETE')
  await expect.poll(made, { timeout: 20_000 }).toEqual([])
  // the control learns of it a moment later
  const free = async () => (await ask(`${api}/handles?state=free`)).handles.length
  await expect.poll(free, { timeout: 20_000 }).toBe(GPU_MACHINE.handles)
  expect((await started.program!.end('SIGTERM')).code).toBe(0)
})
