/**
 * Names in the path, the query and the headers obey the rule for text from outside, and nobody is asked when one does
 * not.
 */
import { describe, expect, test } from 'vitest'
import { ROUTES } from '../../src/http/routes/all.ts'
import { strictApp } from './app.ts'
import { expectRefusal, send, service, version } from './steps.ts'

const UUID = '1d8a4e2c-9a6d-4a1c-8b77-1c8d1c3a7a10'
/** Percent-encoded, and the rule it breaks. */
const BAD = [
  ['%00', 'it holds a control character (U+0000)'],
  ['a%00b', 'it holds a control character (U+0000)'],
  ['a%0ab', 'it holds a control character (U+000A)'],
  ['%e2%80%ae', 'it holds an invisible format character (U+202E)'],
  ['a%e2%80%8bb', 'it holds an invisible format character (U+200B)'],
  ['%e2%80%a8', 'it holds a line or paragraph separator (U+2028)'],
  ['x'.repeat(256), 'it must not be longer than 255 characters'],
  ['%f0%9f%82%a1'.repeat(256), 'it must not be longer than 255 characters'],
] as const

const asks = async (line: string, headers: Readonly<Record<string, string>> = {}) => {
  const { app, asked } = strictApp()
  // a body is wrong on purpose: the path, the query and the headers are judged before it is read
  const raw = /^(GET|DELETE)/.test(line) ? undefined : '{'
  const got = await send(app, line, {
    ...(raw === undefined ? {} : { raw }),
    headers: { ...version(3), ...service, ...headers },
  })
  expect(asked, line).toEqual([])
  return got
}

const named = ROUTES.flatMap((row) =>
  [...row.path.matchAll(/:(\w+)/g)]
    .filter(([, name]) => row.uuids?.[name!] === undefined)
    .map(([, name]) => [`${row.method} ${row.path}`, name!] as const),
)
describe('a name in the path', () => {
  test.each(named)('%s: %s', async (line, name) => {
    for (const [bad, rule] of BAD) {
      const got = await asks(line.replace(`:${name}`, bad))
      expectRefusal(got, 400)
      expect(got.fault).toBe(`Invalid ${name}: ${rule}`)
    }
  })
})

describe('a UUID in the path is nothing else', () => {
  const lines = ROUTES.filter((row) => row.uuids !== undefined).map(({ method, path }) => `${method} ${path}`)
  test.each(lines)('%s', async (line) => {
    for (const [bad] of BAD) expect([400, 404]).toContain((await asks(line.replace(/:\w+/g, bad))).status)
  })
})

/** Arguments of free text, and lists of it. */
const texts = ROUTES.flatMap((row) =>
  Object.entries(row.query ?? {}).flatMap(([name, { schema }]) => {
    const { type, maxLength, items } = schema as { type?: string; maxLength?: number; items?: { maxLength?: number } }
    const free = type === 'array' ? items?.maxLength : maxLength
    return free === 255 ? [[`${row.method} ${row.path}`, name] as const] : []
  }),
)
describe('text in the query', () => {
  test('there is such text', () => expect(texts.length).toBeGreaterThan(8))
  test.each(texts)('%s: %s', async (line, name) => {
    for (const [bad] of BAD) {
      const got = await asks(`${line.replace(/:\w+/g, UUID)}?${name}=${bad}`)
      expectRefusal(got, 400)
      expect(got.fault).toMatch(new RegExp(`^Invalid ${name}: it (holds|must not be longer)`))
    }
  })
  test('also as a filter', async () => {
    for (const [bad] of BAD) {
      const pairs = await asks(`GET /v2/devices?filters.field=vendor&filters.value=${bad}`)
      const json = encodeURIComponent(JSON.stringify({ vendor: decodeURIComponent(bad) }))
      for (const got of [pairs, await asks(`GET /v2/devices?filters=${json}`)]) {
        expectRefusal(got, 400)
        expect(got.fault).toMatch(/^Invalid (filters\.)?v(endor|alue): it (holds|must not be longer)/)
      }
    }
  })
  test('and what a filter has beside its field and value is not looked at', async () => {
    const filter = encodeURIComponent(JSON.stringify({ field: 'limit', value: '0', '\0': ['\0'] }))
    expect((await asks(`GET /v2/devices?filters=${filter}`)).fault).toContain('limit')
  })
})

describe('who is calling', () => {
  const headers = ['X-Project-Id', 'X-User-Id', 'X-Roles', 'X-Service-Roles']
  test.each(headers)('%s', async (name) => {
    // a header carries bytes: a client of another language may send any of them but NUL, CR and LF
    for (const bad of ['a\u0001b', 'a\u0085b', 'a\u00adb', 'x'.repeat(8193)]) {
      const got = await asks('GET /v2/accelerator_requests', { [name]: bad })
      expectRefusal(got, 400)
      expect(got.fault).toMatch(new RegExp(`^Invalid ${name.toLowerCase()}: it (holds|must not be longer)`))
    }
  })
  test.each(['X-Project-Id', 'X-User-Id'])('%s of more than 255 characters', async (name) => {
    const got = await asks('POST /v2/accelerator_requests', { [name]: 'p'.repeat(256) })
    expectRefusal(got, 400)
    expect(got.fault).toBe(`Invalid ${name.toLowerCase()}: it must not be longer than 255 characters`)
  })
})
