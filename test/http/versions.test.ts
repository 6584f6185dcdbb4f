/**
 * The header matrix of the contract, row by row, and what each microversion changed as far as nothing is asked for it.
 */
import { describe, expect, test } from 'vitest'
import { negotiate } from '../../src/http/versions.ts'
import { strictApp } from './app.ts'
import { HEADER_MATRIX } from './headerMatrix.ts'
import { expectRefusal, send, version } from './steps.ts'

const ask = (header: string | undefined, path = '/v2') =>
  send(strictApp().app, `GET ${path}`, header === undefined ? {} : { headers: { 'OpenStack-API-Version': header } })

const RANGE = { min: '2.0', max: '2.3', vary: 'OpenStack-API-Version' }
const rangeOf = (headers: Headers) => ({
  min: headers.get('openstack-api-minimum-version'),
  max: headers.get('openstack-api-maximum-version'),
  vary: headers.get('vary'),
})

describe('a header that is understood', () => {
  test.each(HEADER_MATRIX.filter(([, effective]) => effective !== null))('%s means %s', async (header, effective) => {
    const got = await ask(header)
    expect(got.status).toBe(200)
    expect(got.headers.get('openstack-api-version')).toBe(`accelerator ${effective}`)
    expect(rangeOf(got.headers)).toEqual(RANGE)
  })
})

test.each([
  ['accelerator 2.1, accelerator 2.2', 2],
  ['2.9, accelerator 2.1, compute 2.9', 1],
  ['myaccelerator 2.9', 0],
])('of several parts the last for this service counts: "%s" means 2.%i', (header, minor) =>
  expect(negotiate(header, 3)).toEqual({ ok: true, minor }),
)

describe('a header that is not', () => {
  test.each(HEADER_MATRIX.filter(([, effective]) => effective === null))('"%s" is not acceptable', async (header) => {
    const got = await ask(header)
    expectRefusal(got, 406)
    expect(got.fault).toContain('[2.0, 2.3]')
    expect(rangeOf(got.headers)).toEqual(RANGE)
    expect(got.headers.has('openstack-api-version')).toBe(false)
  })

  test('the refusal names the version asked for', async () => {
    expect((await ask('accelerator 2.9')).fault).toContain('2.9')
  })

  test('a supported version in a header that is no list is not called unsupported', async () => {
    expect((await ask('accelerator\u00a02.3')).fault).toMatch(
      /not a list of services and versions in ASCII.*\[2\.0, 2\.3\]/,
    )
  })

  const range = 'the supported range is [2.0, 2.3].'
  const noVersion = (text: string) => `"${text}" is not a version; ${range}`
  test.each([
    ['accelerator 2.9', `Version 2.9 is not supported; ${range}`],
    ['accelerator 3.0', `Version 3.0 has another major number; ${range}`],
    ['accelerator foo', noVersion('foo')],
    ['accelerator 2.01', noVersion('2.01')],
    ['accelerator -2.1', noVersion('-2.1')],
    ['accelerator 2.1x', noVersion('2.1x')],
    [`accelerator ${'x'.repeat(41)}`, noVersion('x'.repeat(40))],
    ['compute \u00e9', noVersion('compute \u00e9')],
    ['accelerator\u00a02.3', `The header is not a list of services and versions in ASCII; ${range}`],
  ])('the refusal of "%s" says what it is', (header, reason) =>
    expect(negotiate(header, 3)).toEqual({ ok: false, fault: { kind: 'not_acceptable', reason } }),
  )

  test('it is judged before the path, also without /v2', async () => {
    expectRefusal(await ask('accelerator 9.9', '/v2/nothing'), 406)
    expectRefusal(await ask('accelerator 9.9', '/devices'), 406)
  })

  test('outside /v2 it is ignored, and no range is told', async () => {
    for (const path of ['/', '/healthz', '/openapi.json']) {
      const got = await ask('accelerator 9.9', path)
      expect(got.status).toBe(200)
      expect(rangeOf(got.headers)).toEqual({ min: null, max: null, vary: null })
    }
  })
})

describe('the additive microversion', () => {
  test('is there only when it is switched on', async () => {
    const { app } = strictApp({ additiveMicroversion: true })
    const got = await send(app, 'GET /v2', { headers: version('latest') })
    expect(got.headers.get('openstack-api-version')).toBe('accelerator 2.5')
    expect(got.json.max_version).toBe('2.5')
    expect((await send(app, 'GET /')).json.versions[0].max_version).toBe('2.5')
    expect(negotiate('accelerator 2.4', 3).ok).toBe(false)
  })
})

describe('before its microversion', () => {
  test('a profile is not found by name', async () => {
    for (const minor of [0, 1]) {
      const { app, asked } = strictApp()
      const got = await send(app, 'GET /v2/device_profiles/fpga', { headers: version(minor) })
      expectRefusal(got, 406)
      expect(asked).toEqual([])
    }
  })
  test('a profile has no versions, whatever the body says', async () => {
    for (const headers of [{}, version(3)])
      for (const raw of ['{', '{"reason": "x", "description": "y"}']) {
        const { app, asked } = strictApp()
        expectRefusal(await send(app, 'PATCH /v2/device_profiles/fpga', { raw, headers }), 406)
        expect(asked).toEqual([])
      }
  })
  test('project_id is no path of a patch', async () => {
    const { app } = strictApp()
    const body = { '1d8a4e2c-9a6d-4a1c-8b77-1c8d1c3a7a10': [{ op: 'add', path: '/project_id', value: 'p' }] }
    expectRefusal(await send(app, 'PATCH /v2/accelerator_requests', { body }), 406)
  })
})
