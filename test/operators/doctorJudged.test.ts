/** What `doctor` says of made-up answers of neighbours, word for word. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import type { PlacementError, Provider } from '../../src/actors/placement/port.ts'
import { judgeAll } from '../../src/cli/doctor/check.ts'
import { judgeImages } from '../../src/cli/doctor/images.ts'
import { API_CHECKS, askFor, PLACEMENT_CHECKS, type PlacementFacts } from '../../src/cli/doctor/neighbours.ts'
import { judgeOverlap } from '../../src/cli/doctor/novaConf.ts'
import { noImage } from '../../src/images.ts'
import { handClock } from '../support/lab.ts'

const provider = (name: string, root = 'r1'): Provider => ({
  uuid: `u ${name}`,
  name,
  generation: 0,
  parent: root,
  root,
})
const is = <Value>(value: Value) => ({ ok: true as const, value })
const fails = (trouble: PlacementError) => ({ ok: false as const, error: trouble, reason: `why ${trouble}` })
const said = (facts: Partial<PlacementFacts>) =>
  judgeAll(PLACEMENT_CHECKS, { version: is('1.39'), owned: is([]), ofNova: is([]), ...facts }).map(
    ({ check, verdict, says, advice }) => `${verdict} ${check}: ${says}${advice === undefined ? '' : ` -> ${advice}`}`,
  )
const passed = (bus: string, host = 'c') => `${host}_0000:${bus}:00.0`
const WELL = 'ok placement: it answers, in version 1.39; 0 providers of this service'
const CHECK_IT = 'check the credentials, the endpoint in the service catalogue, and that Placement runs'

test('of Placement', () => {
  expect(said({})).toEqual([WELL])
  expect(said({ owned: is([provider('a')]) })).toEqual([
    'ok placement: it answers, in version 1.39; 1 provider of this service',
  ])
  for (const trouble of ['stale', 'gone', 'unanswered'] as const) {
    const both = { version: fails(trouble), owned: fails('denied'), ofNova: fails('denied') }
    expect(said(both)).toEqual([`problem placement: why ${trouble} -> ${CHECK_IT}`])
  }
  expect(said({ version: fails('refused'), owned: fails('refused') })).toEqual([
    'problem placement: why refused -> upgrade Placement',
  ])
  expect(said({ owned: fails('denied') })).toEqual([
    'problem placement: why denied -> give the account of keystone_authtoken the role service, or admin, in the project of the service users',
  ])
  expect(said({ owned: fails('unknownName') })).toEqual([
    'problem placement: why unknownName -> upgrade os-traits where Placement runs, and start it anew: it lacks the trait of this service',
  ])
})
test('of devices that Nova shows in Placement as well', () => {
  expect(said({ ofNova: fails('unknownName') })).toEqual([WELL])
  expect(said({ ofNova: fails('unanswered') })).toEqual([
    WELL,
    'problem overlap with nova: devices of Nova cannot be read: why unanswered -> give the account of keystone_authtoken the role service, or admin, in the project of the service users',
  ])
  const owned = is([
    provider(passed('af')),
    provider(passed('b0')),
    provider('no function'),
    provider(passed('b1'), 'r2'),
  ])
  const [, nothing] = said({ owned, ofNova: is([provider(passed('b1')), provider('no function either')]) })
  expect(nothing).toBe(undefined)
  const ofNova = is([provider(passed('AF', 'C')), provider('c_pci_0000_b0_00_0'), provider(passed('b1'))])
  expect(said({ owned, ofNova }).slice(1)).toEqual([
    'problem overlap with nova: 2 devices shown by Nova as well: c_0000:af:00.0, c_0000:b0:00.0 -> offer each in one place (accelerando drift names all): take it out of pci.passthrough_whitelist here, or out of [pci] device_spec there',
  ])
})
test("of Nova's configuration", () => {
  const at = { address: '0000:af:00.0', ids: '10de:20f1', how: 'Nova takes it' }
  expect(judgeOverlap({ overlaps: [], offered: 1, taken: 3 })).toEqual([
    { check: 'overlap with nova', verdict: 'ok', says: '1 PCI function offered here, 3 by Nova, none by both' },
  ])
  expect(judgeOverlap({ overlaps: [at, at], offered: 2, taken: 3 })).toEqual(
    [1, 2].map(() => ({
      check: 'overlap with nova',
      verdict: 'problem',
      says: '0000:af:00.0 (10de:20f1) is offered here, and Nova takes it',
      advice: "offer it in one place: take it out of pci.passthrough_whitelist here, or out of Nova's configuration",
    })),
  )
})
test('of the image service', () => {
  const advice =
    'check the image service, its endpoint in the catalogue (keystone_authtoken.interfaces, region_name), and the account in keystone_authtoken; or name a folder with the option images. Without either nothing can be programmed'
  const check = 'images'
  expect(
    [null, 'absent' as const, noImage('forbidden', 'x'), noImage('unavailable', 'y'), noImage('unknown')].map(
      judgeImages,
    ),
  ).toEqual([
    { check, verdict: 'ok', says: 'the image service answers, and lets this service read' },
    {
      check,
      verdict: 'warning',
      says: 'the catalogue has no image service where this service looks: binds of profiles that name a bitstream or a function are refused',
      advice:
        'nothing, if no profile does; otherwise check keystone_authtoken.interfaces and region_name, or name a folder with the option images',
    },
    {
      check,
      verdict: 'problem',
      says: 'the image service does not let this service read',
      advice: 'give the account in keystone_authtoken a role in its project that may list images',
    },
    { check, verdict: 'problem', says: 'the image service cannot be used: y', advice },
    { check, verdict: 'problem', says: 'the image service cannot be used: unknown', advice },
  ])
})

test('of the clock of the API', async () => {
  const clockOf = (skewMs: number | null) => {
    const found = judgeAll(API_CHECKS, { url: 'u', status: 200, reason: '', skewMs })
    return found.slice(1).map(({ verdict, says }) => `${verdict} ${says}`)
  }
  expect([null, 0, -1, 2999, 3000, -2999, -3000].flatMap(clockOf)).toEqual([
    'ok 0 ms ahead of this machine (give or take 1 s)',
    'ok 1 ms behind this machine (give or take 1 s)',
    'ok 3 s ahead of this machine (give or take 1 s)',
    'warning 3 s ahead of this machine (give or take 1 s)',
    'ok 3 s behind this machine (give or take 1 s)',
    'warning 3 s behind this machine (give or take 1 s)',
  ])
  const clock = handClock()
  let date: string | null = new Date(clock.now() + 7000).toUTCString()
  const server = createServer((_, response) => {
    response.sendDate = false
    if (date !== null) response.setHeader('date', date)
    response.writeHead(204, { connection: 'close' }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  expect(await askFor(url, clock)).toEqual({ url, status: 204, reason: '', skewMs: 7500 })
  date = null
  expect(await askFor(url, clock)).toEqual({ url, status: 204, reason: '', skewMs: null })
  await new Promise((resolve) => server.close(resolve))
  expect(await askFor(url, clock)).toEqual({
    url,
    status: null,
    reason: expect.stringContaining('ECONNREFUSED'),
    skewMs: null,
  })
})
