/**
 * FPGA cards on the real program, whose tools are programs of their own: binds that load an image, and tools that fail
 * in every way.
 */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FPGA_MACHINE, type FpgaMachine, type ToolMode, openFpgaMachine } from '../support/fpgaMachine.ts'
import { type Program, runProgram, tempFolder } from '../support/program.ts'

const HOST = 'compute1'
const { intel, alveo } = FPGA_MACHINE
const folder = tempFolder('fpga')
const instance = (n: number): string => `11111111-1111-4111-8111-${String(n).padStart(12, '0')}`
const LIMIT = { timeout: 60_000 }
/** A program that is started again waits for the lease of the one that was killed. */
const SLOW = { timeout: 180_000 }

let machine: FpgaMachine
let program: Program
let api: string
const started = async (): Promise<void> => {
  const [data, listen] = [join(folder.path, 'data'), '127.0.0.1:0']
  const args = ['start', '--data', data, '--listen', listen, '--admin-listen', listen, '--name', HOST]
  program = runProgram({ args, env: { ...machine.env, ACCELERANDO_HOST_REPORT_EVERY_SECONDS: '1' } })
  api = (await program.said(/ready (http:\S+)/))[1]!
}
beforeAll(async () => {
  machine = openFpgaMachine(folder.path)
  await started()
  for (const [name, { group }] of Object.entries(FPGA_MACHINE))
    await ask('device_profiles', 'POST', [{ name, groups: [group] }])
})
afterAll(async () => {
  await program?.end('SIGKILL')
  folder.remove()
})

const HEADERS = { 'content-type': 'application/json', 'X-Service-Roles': 'service' }
// Answers are looked into freely; a wrong guess fails the test.
// oxlint-disable-next-line typescript/no-explicit-any
const ask = async (path: string, method = 'GET', body?: unknown): Promise<any> => {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await fetch(`${api}/${path}`, { method, headers: HEADERS, ...sent })
  const text = await response.text()
  expect(response.status, text).toBeLessThan(300)
  return text === '' ? null : JSON.parse(text)
}
const cardNamed = async (address: string) => {
  const { deployables } = await ask('deployables')
  return deployables.find(({ name }: { readonly name: string }) => name === `${HOST}_${address}`)
}
type Which = keyof typeof FPGA_MACHINE
/** Asks for what the profile says, all for one instance, and begins its bind. */
const bind = async (which: Which, n: number): Promise<readonly string[]> => {
  const { arqs } = await ask('accelerator_requests', 'POST', { device_profile_name: which })
  const uuids: readonly string[] = arqs.map(({ uuid }: { readonly uuid: string }) => uuid)
  const { rp_uuid: provider } = await cardNamed(FPGA_MACHINE[which].card)
  const values = { hostname: HOST, device_rp_uuid: provider, instance_uuid: instance(n) }
  const patch = Object.entries(values).map(([name, value]) => ({ op: 'add', path: `/${name}`, value }))
  await ask('accelerator_requests', 'PATCH', Object.fromEntries(uuids.map((uuid) => [uuid, patch])))
  return uuids
}
const statesOf = (uuids: readonly string[]): Promise<readonly string[]> =>
  Promise.all(uuids.map(async (uuid) => (await ask(`accelerator_requests/${uuid}`)).state))
const becomes = (uuids: readonly string[], state: string) =>
  expect.poll(() => statesOf(uuids), LIMIT).toEqual(uuids.map(() => state))
const given = async (n: number): Promise<void> => {
  await ask(`accelerator_requests?instance=${instance(n)}`, 'DELETE')
  const held = async () => (await ask('handles?state=free')).handles.length
  await expect.poll(held, LIMIT).toBe(HANDLES)
}
/** One of each Intel card, two of each Alveo card. */
const HANDLES = 2 + 4
const told = async () => JSON.stringify(await cardNamed(intel.card))

describe('a bind whose tool', () => {
  const cases: readonly (readonly [mode: ToolMode, shows: string])[] = [
    ['fails', intel.before],
    ['garbage', intel.before],
    ['floods', intel.before],
    ['halfway', ''],
  ]
  test.each(cases)('%s has failed, and nothing is recorded of the card', SLOW, async (mode, shows) => {
    const n = 1 + cases.findIndex(([one]) => one === mode)
    machine.tools(mode)
    await becomes(await bind('intel', n), 'BindFailed')
    expect(machine.shows().intel).toBe(shows)
    expect((await cardNamed(intel.card)).bitstream_id).toBeNull()
    await given(n)
  })
  test('works has loaded what the profile asks for, also after all of that', SLOW, async () => {
    machine.tools('slow')
    const uuids = await bind('intel', 10)
    expect(await statesOf(uuids)).toEqual(['BindStarted'])
    machine.tools('works')
    await becomes(uuids, 'Bound')
    expect((await ask(`accelerator_requests/${uuids[0]}`)).attach_handle_info).toEqual(intel.attached)
    expect(machine.shows().intel).toBe(intel.after)
    expect((await cardNamed(intel.card)).bitstream_id).toBe(intel.image)
    await expect.poll(told, LIMIT).toContain(`CUSTOM_FPGA_FUNCTION_ID_INTEL_${intel.after.toUpperCase()}`)
  })
  test('outlives its killed host program ends before the next one begins its own', SLOW, async () => {
    await given(10)
    // the card holds what will be asked for: until it is unknown, nothing would be loaded
    machine.tools('halfway')
    const value = [{ image_uuid: intel.image }]
    const { status } = await fetch(`${api}/deployables/${(await cardNamed(intel.card)).uuid}/program`, {
      method: 'PATCH',
      headers: HEADERS,
      body: JSON.stringify([{ op: 'replace', path: '/program', value }]),
    })
    expect(status).toBe(500)
    await expect.poll(async () => (await cardNamed(intel.card)).bitstream_id, LIMIT).toBeNull()
    machine.tools('slow')
    machine.calls()
    const uuids = await bind('intel', 11)
    expect(await statesOf(uuids)).toEqual(['BindStarted'])
    const begun: string[] = []
    await expect.poll(() => begun.push(...machine.calls()), LIMIT).toBeGreaterThan(0)
    const first = begun.at(-1)!.replace('begin ', '')
    await program.end('SIGKILL')
    await started()
    await expect.poll(() => program.logged().map(({ msg }) => msg), LIMIT).toContain('tool.survived')
    machine.tools('works')
    await becomes(uuids, 'Bound')
    const calls = machine.calls()
    expect(calls.map((call) => call.split(' ')[0])).toEqual(['end', 'begin', 'end'])
    expect(calls[0]).toBe(`end ${first}`)
    expect(machine.shows().intel).toBe(intel.after)
    await given(11)
  })
})

test('both functions of an Alveo card go to one instance once xbutil has loaded its image', SLOW, async () => {
  machine.tools('fails')
  await becomes(await bind('alveo', 20), 'BindFailed')
  expect(machine.shows().alveo).toBe('')
  await given(20)
  machine.tools('works')
  const uuids = await bind('alveo', 21)
  expect(uuids).toHaveLength(2)
  await becomes(uuids, 'Bound')
  expect(machine.shows().alveo.replaceAll('-', '')).toBe(alveo.after.replaceAll('-', ''))
  expect((await cardNamed(alveo.card)).bitstream_id).toBe(alveo.image)
  await given(21)
})
