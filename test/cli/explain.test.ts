/** `accelerando explain` against an API over a control plane: what is said, and the exit codes. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestApp } from '../http/app.ts'
import { commandHere } from '../support/commandHere.ts'
import { NOVA, openPlane, value } from '../support/plane.ts'
import { tempFolder } from '../support/program.ts'

const folder = tempFolder('explain')
let world: Awaited<ReturnType<typeof openPlane>>
let api = ''
const server = createServer((request, response) => {
  void text(request).then(async (body) => {
    const { method = 'GET', url, headers } = request
    const sent = { method, headers: headers as Record<string, string>, ...(body === '' ? {} : { body }) }
    const answered = await createTestApp(world.control).request(`http://127.0.0.1${url}`, sent)
    response.writeHead(answered.status).end(await answered.text())
  })
})
beforeAll(async () => {
  world = await openPlane()
  for (const [host, kinds] of [
    ['compute-1', ['fpga', 'gpu']],
    ['compute-2', ['fpga', 'fpga']],
    ['compute-3', []],
  ] as const)
    await world.shows(host, { seed: 3, devices: kinds.map((kind) => ({ kind, handles: 2 })) })
  const devices = value(await world.control.devices.list({ hostname: 'compute-2' }, {})).items
  value(await world.control.devices.setStatus(NOVA, devices[0]!.uuid, 'maintaining'))
  for (const [name, groups] of Object.entries({
    'one-fpga': [{ 'resources:FPGA': '1' }],
    'three-fpgas': [{ 'resources:FPGA': '3', 'trait:CUSTOM_GOLD': 'required' }],
    both: [{ 'resources:FPGA': '2' }, { 'resources:PGPU': '1' }],
  }))
    value(await world.control.profiles.create(NOVA, { name, description: null, groups }))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  api = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`
})
afterAll(async () => {
  server.close()
  folder.remove()
  await world.plane.stop()
  await world.store.close()
})

const run = async (...args: readonly string[]) => commandHere(['explain', ...args, '--api', api, '--as', 'kim'])
const draft = (name: string, content: string): string => {
  writeFileSync(join(folder.path, name), content)
  return join(folder.path, name)
}

test('what fits, what stands in the way of the rest, and what would change it', async () => {
  const { code, out } = await run('one-fpga')
  expect([code, out.split('\n')]).toEqual([
    0,
    [
      '2 of 3 hosts fit; 4 devices looked at; no Placement is configured',
      'group 0: 1 accelerator request, 2 devices without an obstacle',
      '  obstacles: resource_class 1, device_disabled 1',
      'compute-1: fits',
      '  group 0: compute-1_acc0:00:00.0 fits',
      '  group 0: 1 further device',
      'compute-2: fits',
      '  group 0: compute-2_acc0:01:00.0 fits',
      '  group 0: compute-2_acc0:00:00.0',
      '    device_disabled: its device is in maintenance (a bind is refused)',
      '      Enable the device.',
      'compute-3: does not fit',
      '  no_device: it has no devices (a bind is refused)',
      '    Add a device, or see why the host reports none: accelerando device scan.',
      '',
    ],
  ])
  expect((await run('one-fpga', '--limit', '1')).out).toMatch(/\n2 further hosts; --limit shows more\n$/)
  expect((await run('both', '--host', 'compute-1')).out).toMatch(/^1 of 1 host fits; 2 devices looked at/)
  expect(await run('both', '--host', 'compute-2')).toMatchObject({
    code: 7,
    out: expect.stringContaining('  nearest: compute-2_acc0:01:00.0 on compute-2\n    resource_class: it offers FPGA'),
  })
  expect(await run('nothing-of-that-name')).toMatchObject({ code: 3, out: '' })
})

test('of several profiles each is judged, the first that fits is named, and the exit code is 7 when none does', async () => {
  const named = async (...profiles: readonly string[]) => {
    const { code, out, err } = await run(...profiles, '--limit', '1')
    return [code, err, ...out.split('\n\n')[0]!.trimEnd().split('\n')]
  }
  expect(await named('three-fpgas', 'both', 'one-fpga')).toEqual([
    0,
    '',
    'the first that fits: both',
    '1. three-fpgas: does not fit',
    '2. both: fits',
    '3. one-fpga: fits',
  ])
  expect(await named('three-fpgas', 'three-fpgas')).toEqual([
    7,
    '',
    'none of them fits',
    '1. three-fpgas: does not fit',
    '2. three-fpgas: does not fit',
  ])
  const { out, code } = await run('three-fpgas', 'one-fpga', '--json')
  expect([code, JSON.parse(out)]).toMatchObject([
    0,
    { fits: true, first: 'one-fpga', profiles: [{ fits: false }, { fits: true, profile: { name: 'one-fpga' } }] },
  ])
})
test('one of several that is not there ends the question, with its name', async () => {
  const { code, out, err } = await run('one-fpga', 'nothing-of-that-name')
  expect([code, out]).toEqual([3, ''])
  expect(err).toContain('nothing-of-that-name')
})

test('a draft, as JSON, as it would be posted, and as TOML', async () => {
  const json = draft('a.json', JSON.stringify([{ name: 'x', groups: [{ 'resources:FPGA': 1 }] }]))
  const toml = draft('b.toml', '[[groups]]\n"resources:FPGA" = 1\n')
  const stored = await run('one-fpga')
  expect([await run('--file', json), await run('--file', toml)]).toEqual([stored, stored])
  const documents = await run('--file', toml, '--json')
  expect(JSON.parse(documents.out)).toMatchObject({ profile: null, fits: true, hosts_checked: 3 })
})

test.each([
  [[], 'name a device profile, or a draft of one with --file'],
  [['p', '--file', 'x'], 'name a device profile, or a draft of one with --file'],
  [['--file', '/nowhere'], "ENOENT: no such file or directory, open '/nowhere'"],
])('explain %j is refused', async (args, why) => {
  const isMissing = why.startsWith('ENOENT')
  const next = isMissing ? '' : 'next: accelerando explain --help\n'
  expect(await run(...args)).toEqual({ code: isMissing ? 1 : 2, out: '', err: `${why}\n${next}` })
})

test('a table of hosts: each code of an obstacle once', async () => {
  const { out } = await run('three-fpgas', '-f', 'value')
  expect(out).toMatchInlineSnapshot(`
    "compute-1	false	trait_missing no_free_handle	three-fpgas
    compute-2	false	trait_missing no_free_handle device_disabled	three-fpgas
    compute-3	false	no_device	three-fpgas
    "
  `)
  expect((await run('one-fpga', '-f', 'value')).out).toMatchInlineSnapshot(`
    "compute-1	true		one-fpga
    compute-2	true	device_disabled	one-fpga
    compute-3	false	no_device	one-fpga
    "
  `)
})
