/** Whatever is sent, the answer is no server fault, and nobody's records change without a success. */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROUTES } from '../../src/http/routes/all.ts'
import { bindBody, freshName, openCloud } from './cloud.ts'
import type { Cloud } from './cloud.ts'
import { service, version } from './steps.ts'
import type { Got, Sent } from './steps.ts'

let cloud: Cloud
beforeAll(async () => void (cloud = await openCloud()))
afterAll(() => cloud.close())

const RUNS = 150

/** The three that tests of clients expect (rest-api 3.3) are asked for on purpose elsewhere. */
const expectedFault = (got: Got): boolean =>
  /^Invalid name: it (is empty|must not be longer)|^A device profile with the uuid \S+ already exists/.test(got.fault)

const wellAnswered = (got: Got): void => {
  const what = `${got.status} ${got.text.slice(0, 300)}`
  expect(got.status < 500 || expectedFault(got), what).toBe(true)
  if (got.status >= 400) expect(Object.keys(got.json), what).toEqual(['error_message', 'errors'])
  expect(got.headers.get('x-openstack-request-id'), what).toMatch(/^req-/)
}
const ask = async (line: string, sent: Sent): Promise<Got> => {
  const got = await cloud.say(line, { ...sent, headers: { ...service, ...version(3), ...sent.headers } })
  wellAnswered(got)
  return got
}

const oddText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('', '\0', '\ud800', '__proto__', 'constructor', '../..', "' or 1=1 --", '%', '𝕏', 'x'.repeat(3000)),
)
const oddValue = fc.oneof(
  oddText,
  fc.double(),
  fc.bigInt().map(Number),
  fc.constantFrom(null, true, [], {}, -0, 2 ** 31, 2 ** 53, 1e308),
  fc.jsonValue(),
)
const collections = ['device_profiles', 'accelerator_requests', 'devices', 'deployables', 'attributes', 'hosts']
const writes = ROUTES.filter((row) => row.body !== undefined)

/** JSON text of a value; a number beyond all numbers is written out, as JSON allows. */
const textOf = (value: unknown): string =>
  (
    JSON.stringify(value, (_, each: unknown) =>
      typeof each === 'number' && !Number.isFinite(each) ? '(beyond)' : each,
    ) ?? 'null'
  ).replaceAll('"(beyond)"', '1e999')

const run = <T>(arbitrary: fc.Arbitrary<T>, check: (value: T) => Promise<unknown>) =>
  fc.assert(
    fc.asyncProperty(arbitrary, async (value) => void (await check(value))),
    { numRuns: RUNS },
  )

describe('no server fault', () => {
  const line = (path: string) => path.replace(/:\w+/g, cloud.fpga.uuid)

  test('from any bytes as a body', () =>
    run(fc.tuple(fc.constantFrom(...writes), fc.uint8Array({ maxLength: 200 })), ([row, bytes]) =>
      ask(`${row.method} ${line(row.path)}`, { raw: new Uint8Array(bytes) }),
    ))

  test('from any JSON as a body', () =>
    run(fc.tuple(fc.constantFrom(...writes), oddValue), ([row, value]) =>
      ask(`${row.method} ${line(row.path)}`, { raw: textOf(value) }),
    ))

  test('from a body that is nearly right', async () => {
    const arqs = await cloud.newArqs(2)
    const right = {
      '/v2/device_profiles': {
        name: 'p',
        description: 'd',
        uuid: randomUUID(),
        groups: [{ 'resources:FPGA': '1', 'trait:CUSTOM_A': 'required' }],
      },
      '/v2/accelerator_requests': { device_profile_name: await cloud.newProfile() },
      '/v2/attributes': { deployable_id: cloud.fpga.uuid, key: 'k', value: 'v' },
    }
    const patches = bindBody(arqs, cloud.fpga.rp_uuid, randomUUID())
    const bodies = fc.constantFrom<readonly [string, unknown]>(
      ...Object.entries(right).map(([path, body]) => [`POST ${path}`, body] as const),
      ['PATCH /v2/accelerator_requests', patches],
      [
        `PATCH /v2/deployables/${cloud.fpga.uuid}/program`,
        [{ op: 'add', path: '/program', value: [{ image_uuid: randomUUID() }] }],
      ],
    )
    await run(fc.tuple(bodies, fc.nat(), oddValue, oddText), ([[each, body], place, value, name]) =>
      ask(each, { raw: textOf(spoilt(body, place, value, name)) }),
    )
  })

  test('from any query', () => {
    const names = fc.oneof(
      oddText,
      fc.constantFrom(
        'limit',
        'marker',
        'sort_key',
        'sort_dir',
        'name',
        'instance',
        'arqs',
        'bind_state',
        'filters',
        'filters.field',
        'filters.value',
        'deployable_id',
        'value',
        'type',
      ),
    )
    const sent = fc.array(fc.tuple(names, fc.oneof(oddText, fc.constantFrom('1', 'x', randomUUID(), 'created_at'))), {
      maxLength: 4,
    })
    const encode = (text: string): string => (text.isWellFormed() ? encodeURIComponent(text) : '%ED%A0%80')
    return run(
      fc.tuple(fc.constantFrom('GET', 'DELETE'), fc.constantFrom(...collections), sent),
      ([method, path, pairs]) =>
        ask(`${method} /v2/${path}?${pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')}`, {}),
    )
  })

  test('from any path, method, version and identity', () => {
    const segment = fc.oneof(
      oddText.filter((text) => text.isWellFormed()).map(encodeURIComponent),
      fc.constantFrom('v2', 'program', 'timeline', 'enable', '%00', '%', '%2F', '.', ...collections),
    )
    const method = fc.constantFrom('GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'PUT', 'OPTIONS')
    const header = fc.stringMatching(/^[ -~]{0,40}$/)
    return run(
      fc.tuple(method, fc.array(segment, { maxLength: 5 }), header, header, header),
      async ([verb, path, asked, roles, project]) => {
        const headers = {
          'OpenStack-API-Version': asked,
          'X-Roles': roles,
          'X-Project-Id': project,
          'X-Service-Roles': roles,
        }
        const response = await cloud.app.request(`/${path.join('/')}`, { method: verb, headers })
        expect(response.status, `${verb} /${path.join('/')}`).toBeLessThan(500)
      },
    )
  })
})

test('a refused write changes nothing', async () => {
  const name = await cloud.newProfile(1)
  const [arq] = await cloud.arqsOf(name)
  const records = async () =>
    Promise.all(
      ['device_profiles', 'accelerator_requests', 'attributes'].map(
        async (path) => (await cloud.must(200, `GET /v2/${path}`)).text,
      ),
    )
  const body = { name: freshName(), groups: [{ 'resources:FPGA': '1' }] }
  await run(fc.tuple(fc.nat(), oddValue, oddText), async ([place, value, key]) => {
    const before = await records()
    const posted = await ask('POST /v2/device_profiles', { raw: textOf([spoilt(body, place, value, key)]) })
    if (posted.status !== 201) expect(await records()).toEqual(before)
    else await cloud.must(204, `DELETE /v2/device_profiles/${posted.json.uuid}`)
    const patch = bindBody([arq!], cloud.fpga.rp_uuid, randomUUID())
    const bound = await ask('PATCH /v2/accelerator_requests', { raw: textOf(spoilt(patch, place, value, key)) })
    if (bound.status === 202)
      await cloud.must(202, 'PATCH /v2/accelerator_requests', {
        body: { [arq!.uuid]: [{ op: 'remove', path: '/hostname' }] },
        headers: service,
      })
    else expect(await records()).toEqual(before)
  })
})

/** The document with one of its places (counted through) replaced, renamed or removed. */
function spoilt(body: unknown, place: number, value: unknown, name: string): unknown {
  const copy = structuredClone(body) as object
  const places: (readonly [object, string])[] = []
  const gather = (each: unknown): void => {
    if (typeof each !== 'object' || each === null) return
    for (const key of Object.keys(each)) {
      places.push([each, key])
      gather((each as Record<string, unknown>)[key])
    }
  }
  gather(copy)
  const [owner, key] = places[place % places.length]! as [Record<string, unknown>, string]
  const turn = place % 3
  if (turn === 0) owner[key] = value
  else if (turn === 1 || Array.isArray(owner)) Reflect.deleteProperty(owner, key)
  else Object.defineProperty(owner, name, { value, enumerable: true, configurable: true })
  return copy
}
