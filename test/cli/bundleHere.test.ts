/** The support bundle that a running program makes of itself: as whom it asks, and what it refuses. */
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { bundlesOf } from '../../src/cli/operators/bundleHere.ts'
import { NOTHING_IN_FORCE } from '../../src/cli/config/inForce.ts'
import { loadConfig } from '../../src/cli/config/config.ts'
import { openMeter } from '../../src/cli/observe/metrics.ts'
import { handClock, until } from '../support/lab.ts'

const MIB = 1024 * 1024
const loaded = loadConfig({ flags: {}, env: {}, readFile: () => '', osHostname: 'here' })
const config = loaded.ok ? { ...loaded.config, inForce: NOTHING_IN_FORCE } : expect.fail(loaded.problems.join())
type Answer = (request: Request) => Response | Promise<Response>
const opened = (answer: Answer | null) => {
  const asked: Request[] = []
  const fetch = async (request: Request) => {
    asked.push(request)
    return request.url.includes('/events') ? Response.json({ events: [], next: '0', more: false }) : answer!(request)
  }
  const api = () => (answer === null ? null : { app: { fetch }, origin: 'http://127.0.0.1:1' })
  const meter = openMeter()
  meter.count('orders_resent_total', {}, 3)
  const clock = handClock()
  return { asked, clock, bundles: bundlesOf({ config, meter, api, clock }) }
}
const made = async (answer: Answer, identity: Readonly<Record<string, string>> = {}) => {
  const { asked, bundles } = opened(answer)
  const file = await bundles(identity)
  if (!file.ok) return expect.fail(JSON.stringify(file.fault))
  const { name, type, content } = file.value
  return { asked, name, type, text: gunzipSync(content).toString('utf8') }
}
const again = (kind: string, reason: string) => ({ ok: false, fault: { kind, reason, retryAfterSeconds: 10 } })

test('the program asks its own API with the headers of the caller and the newest version, and hides the tokens', async () => {
  const identity = { 'x-auth-token': 'planted-token', 'x-roles': 'planted-role' }
  const { asked, name, type, text } = await made(
    () => Response.json({ said: 'planted-token and planted-role' }),
    identity,
  )
  expect([name, type]).toEqual(['accelerando-support-20260101T000000Z.tar.gz', 'application/gzip'])
  expect(asked[0]!.url).toBe('http://127.0.0.1/v2/system')
  for (const { headers, method } of asked)
    expect([method, Object.fromEntries(headers)]).toEqual([
      'GET',
      { ...identity, 'openstack-api-version': 'accelerator latest, accelerando latest' },
    ])
  expect(text).toContain('"said": "(hidden) and planted-role"')
  expect(text).not.toContain('planted-token')
  expect(text).toContain('accelerando_orders_resent_total 3\n')
  expect(text).toContain('"says": "http://127.0.0.1:1/readyz does not answer: ')
})
test('what the API refuses is missing in it, with the reason', async () => {
  const { text } = await made(() =>
    Response.json(
      { errors: [{ detail: 'no such right' }] },
      { status: 403, headers: { 'x-openstack-request-id': 'r1' } },
    ),
  )
  expect(text).toContain('"problem": "GET /hosts: 403 no such right"')
  const empty = await made(() => new Response(null, { status: 500 }))
  expect(empty.text).toContain('"problem": "GET /hosts: 500 it answered nothing"')
  const denied = await made(() => new Response(null, { status: 401 }))
  expect(denied.text).toContain('"problem": "GET /hosts: 401 the API at http://127.0.0.1:1 wants a valid token: ')
})
test('a document of 16 MiB is taken, and of a larger one the rest is not read', async () => {
  let [pulled, cancelled] = [0, 0]
  const chunk = Buffer.alloc(MIB, ' ')
  const endless = () =>
    new ReadableStream({
      pull: (controller) => {
        pulled++
        controller.enqueue(chunk)
      },
      cancel: () => void cancelled++,
    })
  const { text } = await made(({ url }) => {
    if (url.endsWith('/hosts')) return new Response(endless())
    return url.endsWith('/drift') ? new Response(`7${' '.repeat(16 * MIB - 1)}`) : Response.json({})
  })
  expect(text).toContain(`"problem": "its document is larger than ${16 * MIB} bytes"`)
  expect(text.match(/"problem": /g)).toHaveLength(1)
  expect(pulled).toBeLessThan(20)
  expect(cancelled).toBe(1)
})
test('a part may take 15 seconds, and all of them together 45', async () => {
  const { asked, clock, bundles } = opened(() => new Promise<Response>(() => {}))
  let ended = false
  const making = bundles({}).finally(() => (ended = true))
  for (const count of [1, 2, 3]) {
    await until(() => asked.length === count)
    await clock.pass(15_000)
  }
  for (let n = 0; n < 10_000 && !ended; n++) await clock.pass(1)
  expect(ended).toBe(true)
  const file = await making
  const text = file.ok ? gunzipSync(file.value.content).toString('utf8') : expect.fail('there is none')
  const problems = [...text.matchAll(/"name": "(\w+)\.json",\s+"problem": "(.*)"/g)]
  expect(problems.map(([, name, problem]) => `${name}: ${problem}`)).toEqual([
    ...['system', 'overview', 'hosts'].map((name) => `${name}: it was not there within 15000 ms`),
    ...['deliveries', 'deliveries_undelivered', 'drift'].map((name) => `${name}: it was not there within 0 ms`),
  ])
})
test('all parts together have at most 48 MiB', async () => {
  const large = ['/system', '/overview', '/hosts']
  const { text } = await made(({ url }) => {
    const mib = large.some((name) => url.endsWith(name)) ? 15 : url.endsWith('/deliveries') ? 4 : 0
    return new Response(`"${'x'.repeat(mib * MIB)}"`)
  })
  const [problem, ...others] = [...text.matchAll(/"problem": "(.*)"/g)].map(([, said]) => said!)
  expect(others).toEqual([])
  const [, room] = /^it has 4194307 bytes, and there is room for (\d+)$/.exec(problem!)!
  // the parts before it are small: the versions, the configuration, the findings of the doctor
  const SMALL_PARTS_MAX = 10_000
  expect(Number(room)).toBeLessThan(3 * MIB)
  expect(Number(room)).toBeGreaterThan(3 * MIB - SMALL_PARTS_MAX)
})
test('a program that is starting has none yet, and one that makes one makes no second', async () => {
  expect(await opened(null).bundles({})).toEqual(again('unavailable', 'the program is starting'))
  const { promise, resolve } = Promise.withResolvers<Response>()
  const { asked, bundles } = opened((request) => (request.url.endsWith('/system') ? promise : Response.json({})))
  const first = bundles({})
  await until(() => asked.length > 0)
  expect(await bundles({})).toEqual(again('crowded', 'this process is making another support bundle'))
  resolve(Response.json({}))
  expect((await first).ok).toBe(true)
  expect((await bundles({})).ok).toBe(true)
})
