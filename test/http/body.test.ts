/** Bodies: what they are written in, how long they may be, and what no field may hold. */
import { describe, expect, test } from 'vitest'
import { ROUTES } from '../../src/http/routes/all.ts'
import { strictApp } from './app.ts'
import { expectRefusal, send, service } from './steps.ts'
import type { Sent } from './steps.ts'

const [KIB, MIB] = [1024, 1024 * 1024]
/** The most bytes of a body; others are short. */
const LIMITS: Readonly<Record<string, number>> = {
  'POST /v2/attributes': 256 * KIB,
  'POST /v2/device_profiles': 256 * KIB,
  'POST /v2/profile_checks': 256 * KIB,
  'POST /v2/profile_migrations': 256 * KIB,
  'PATCH /v2/device_profiles/:id': MIB,
  'PATCH /v2/accelerator_requests': MIB,
  'PATCH /v2/accelerator_requests/:uuid': MIB,
}
const NEWEST = { 'OpenStack-API-Version': 'accelerator latest, accelerando latest' }
const UUID = '1d8a4e2c-9a6d-4a1c-8b77-1c8d1c3a7a10'
const rows = ROUTES.filter((row) => row.body !== undefined)
const lines = rows.map(({ method, path }) => `${method} ${path.replace(/:\w+/g, UUID)}`)

const refusedBy = async (line: string, sent: Sent, status: number, options = {}): Promise<string> => {
  const { app, asked } = strictApp(options)
  const got = await send(app, line, { ...sent, headers: { ...service, ...NEWEST, ...sent.headers } })
  expectRefusal(got, status)
  expect(asked).toEqual([])
  return got.fault
}

/** Deeper than any document of the API; built as text, because the printer of JSON has limits of its own. */
const nested = (depth: number) => `${'[{"a":'.repeat(depth)}1${'}]'.repeat(depth)}`

describe.each(lines)('%s', (line) => {
  const { method, path } = rows[lines.indexOf(line)]!
  const limit = LIMITS[`${method} ${path}`] ?? 16 * KIB
  test('takes what its documents need, and no more', async () => {
    await refusedBy(line, { raw: `"${'x'.repeat(limit - 2)}"` }, 400)
    await refusedBy(line, { raw: `"${'x'.repeat(limit - 1)}"` }, 413)
  })
  test('takes no more values than its documents have, and builds none of them', async () => {
    for (const each of ['[],', '0,', '{},']) {
      const raw = `{"a":[${each.repeat(limit / each.length - 10)}1]}`
      expect(await refusedBy(line, { raw }, 400)).toContain(`it holds more than ${limit / 32} values`)
    }
  })
  test('needs a body', () => refusedBy(line, { raw: '' }, 400))
  test('needs one that is sent', () => refusedBy(line, {}, 400))
  test('takes no broken JSON', () => refusedBy(line, { raw: '{"a":' }, 400))
  test('takes no bytes that are not UTF-8', () => refusedBy(line, { raw: new Uint8Array([0x22, 0xff, 0x22]) }, 400))
  test.each(['null', 'true', '5', '"text"', '[]', '{}', '[[]]', '[null]', '{"":""}'])(
    'takes no %s',
    async (raw) => void (await refusedBy(line, { raw }, 400)),
  )
  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json-patch+json',
    ';;;',
    '; charset=utf-8',
  ])('takes no %s', async (type) => void (await refusedBy(line, { raw: '{}', headers: { 'content-type': type } }, 415)))
  test('takes no more than the limit', () =>
    refusedBy(line, { raw: `"${'x'.repeat(100)}"` }, 413, { bodyLimitBytes: 100 }))
  test('believes a length that is too large', () =>
    refusedBy(line, { raw: '{}', headers: { 'content-length': '9999999' } }, 413))
  test('takes no length that is none', () => refusedBy(line, { raw: '{}', headers: { 'content-length': 'many' } }, 413))
  test('takes nothing nested without end', async () => {
    expect(await refusedBy(line, { raw: nested(20) }, 400)).toContain('nested deeper')
    for (const raw of ['['.repeat(500_000), nested(100_000)])
      await refusedBy(line, { raw }, raw.length > limit ? 413 : 400)
  })
})

describe('text that nobody can carry is named', () => {
  const rest = ['device_rp_uuid', 'instance_uuid'].map(
    (name) => `{"op": "add", "path": "/${name}", "value": "${UUID}"}`,
  )
  test.each([
    ['POST /v2/device_profiles', '[{"name": "a\\u0000"}]', 'name', 'letters'],
    [
      'POST /v2/device_profiles',
      '[{"name": "a", "groups": [{"accel:x": "\\ud800"}]}]',
      'groups[0].accel:x',
      'surrogate',
    ],
    [
      'POST /v2/device_profiles',
      '[{"name": "a", "groups": [{"accel:\\u0000": "1"}]}]',
      'groups[0].accel:\0',
      'its name',
    ],
    ['POST /v2/accelerator_requests', '{"device_profile_name": "\\u0000"}', 'device_profile_name', 'NUL'],
    ['POST /v2/accelerator_requests', '{"device_profile_name": "\\udfff"}', 'device_profile_name', 'surrogate'],
    ['POST /v2/attributes', '{"deployable_id": 1e999, "key": "k", "value": "v"}', 'deployable_id', 'integer'],
    ['POST /v2/attributes', '{"deployable_id": 1, "key": "k", "value": 1e999}', 'value', 'too large'],
    ['POST /v2/attributes', '{"deployable_id": 1, "key": "k\\u0000", "value": "v"}', 'key', 'control character'],
    [
      'PATCH /v2/accelerator_requests',
      `{"${UUID}": [{"op": "add", "path": "/hostname", "value": "\\u0000"}, ${rest.join(', ')}]}`,
      `${UUID}.hostname`,
      'control character',
    ],
    ['PATCH /v2/accelerator_requests', '{"\\ud83d": [{"op": "remove", "path": "/hostname"}]}', '�', 'UUID'],
  ])('%s %s', async (line, raw, field, why) => {
    const fault = await refusedBy(line, { raw }, 400)
    expect(fault).toContain(`Invalid ${field}: `)
    expect(fault).toContain(why)
  })
})

test('what nobody reads may hold anything', async () => {
  for (const raw of [
    '{"device_profile_name": "!", "x": ["\\u0000"]}',
    '{"device_profile_name": "!", "\\udfff": 1e999}',
  ])
    expect(await refusedBy('POST /v2/accelerator_requests', { raw }, 404)).toContain('device profile')
})

describe('a body where none is needed', () => {
  test.each(['GET /v2/nothing', 'DELETE /v2/device_profiles', 'POST /v2/devices/x/enable'])(
    '%s does not read it',
    async (line) => {
      const { app } = strictApp()
      const raw = line.startsWith('GET') ? {} : { raw: '{broken' }
      expect((await send(app, line, raw)).fault).not.toContain('JSON')
    },
  )
})

describe('a content type', () => {
  test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset=x', ''])(
    '"%s" is JSON',
    async (type) => {
      const { app } = strictApp()
      const body = new TextEncoder().encode('[]')
      const headers = type === '' ? {} : { 'content-type': type }
      const response = await app.request('/v2/device_profiles', { method: 'POST', body, headers })
      expect(response.status).toBe(400)
    },
  )
})
