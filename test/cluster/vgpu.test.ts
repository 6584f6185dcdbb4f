/** A vGPU from its bind to its end, on the real program, over a restart of the machine: the mediated device is made, made again, and removed. */
import { unpack } from '../drivers/recordedHostIo.ts'
import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { vgpuTree } from '../drivers/trees.ts'
import { type Program, runProgram, tempFolder } from '../support/program.ts'

const folder = tempFolder('vgpu')
const sys = join(folder.path, 'sys')
const TYPE = join(sys, 'devices/pci0000:af/0000:af:00.0/mdev_supported_types/nvidia-223')
const INSTANCE = '11111111-1111-4111-8111-111111111111'

const started: { kernel?: ChildProcess; program?: Program } = {}
const kernel = async (): Promise<void> => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'mdevKernel.ts'), TYPE], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  started.kernel = child
  await new Promise((resolve) => child.stdout.once('data', resolve))
}
const program = async (): Promise<string> => {
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
    env: {
      ACCELERANDO_PCI_SYSFS_ROOT: sys,
      ACCELERANDO_ENABLED_DRIVERS: 'nvidia_gpu_driver',
      ACCELERANDO_GPU_DEVICES_ENABLED_VGPU_TYPES: 'nvidia-223',
      ACCELERANDO_GPU_DEVICES_DEVICE_ADDRESSES: '{"nvidia-223": ["0000:af:00.0"]}',
    },
  })
  started.program = one
  return (await one.said(/ready (http:\S+)/))[1]!
}
afterAll(async () => {
  started.kernel?.kill('SIGKILL')
  await started.program?.end('SIGKILL')
  folder.remove()
})

const made = (): readonly string[] => readdirSync(join(TYPE, 'devices'))
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
  unpack(vgpuTree(), sys)
  await kernel()
  let api = await program()
  const groups = [{ 'resources:VGPU': '1', 'trait:CUSTOM_NVIDIA_1EB8_T4_2B': 'required' }]
  await ask(`${api}/device_profiles`, 'POST', [{ name: 'vgpu', groups }])
  const { arqs } = await ask(`${api}/accelerator_requests`, 'POST', { device_profile_name: 'vgpu' })
  const { deployables } = await ask(`${api}/deployables`)
  const divided = deployables.find(({ name }: { name: string }) => name === 'compute1_0000:af:00.0')
  expect(divided.num_accelerators).toBe(8)
  const uuid: string = arqs[0].uuid
  const values = { hostname: 'compute1', device_rp_uuid: divided.rp_uuid, instance_uuid: INSTANCE }
  const patch = Object.entries(values).map(([name, value]) => ({ op: 'add', path: `/${name}`, value }))
  await ask(`${api}/accelerator_requests`, 'PATCH', { [uuid]: patch })
  const bound = () => ask(`${api}/accelerator_requests/${uuid}`)
  await expect.poll(async () => (await bound()).state, { timeout: 20_000 }).toBe('Bound')
  const { attach_handle_type: type, attach_handle_uuid: handle, attach_handle_info: info } = await bound()
  expect([type, info.asked_type, made()]).toEqual(['MDEV', 'nvidia-223', [handle]])

  // the machine goes down in the middle of everything, and its mediated devices with it
  await started.program!.end('SIGKILL')
  started.kernel!.kill('SIGKILL')
  for (const one of made()) rmSync(join(TYPE, 'devices', one), { recursive: true })
  await kernel()
  api = await program()
  await expect.poll(made, { timeout: 20_000 }).toEqual([handle])
  expect((await bound()).state).toBe('Bound')

  await ask(`${api}/accelerator_requests?instance=${INSTANCE}`, 'DELETE')
  await expect.poll(made, { timeout: 20_000 }).toEqual([])
  // the control learns of it a moment later
  const free = async () => (await ask(`${api}/handles?state=free`)).handles.length
  await expect.poll(free, { timeout: 20_000 }).toBe(9)
  expect((await started.program!.end('SIGTERM')).code).toBe(0)
})
