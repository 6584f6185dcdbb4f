/** The one rule for text from outside, and every body that holds free text. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { brokenText } from '../../src/vocabulary/text.ts'
import { strictApp } from './app.ts'
import { expectRefusal, send, service, version } from './steps.ts'

const A = 'aaaaaaaa-0000-4000-8000-000000000001'
const RP = 'cccccccc-0000-4000-8000-000000000003'
const VM = 'dddddddd-0000-4000-8000-000000000004'

const FORBIDDEN = [
  ['\u0000', 'control_character'],
  ['\t', 'control_character'],
  ['\n', 'control_character'],
  ['\r', 'control_character'],
  ['\u001b', 'control_character'],
  ['\u007f', 'control_character'],
  ['\u0085', 'control_character'],
  ['\u00ad', 'format_character'],
  ['\u200b', 'format_character'],
  ['\u202e', 'format_character'],
  ['\u2066', 'format_character'],
  ['\ufeff', 'format_character'],
  ['\u{e0041}', 'format_character'],
  ['\u2028', 'line_separator'],
  ['\u2029', 'line_separator'],
  ['\ud800', 'lone_surrogate'],
  ['\udc00', 'lone_surrogate'],
] as const
const shown = (text: string) => `U+${text.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`

describe('text from outside', () => {
  test.each(FORBIDDEN.map(([text, rule]) => [shown(text), rule, text] as const))('%s breaks %s', (name, rule, text) => {
    for (const around of [text, `a${text}`, `${text}b`, `a${text}b`])
      expect(brokenText(around, { bytes: 100 })).toEqual({ rule, problem: expect.stringContaining(`(${name})`) })
  })
  test.each(['', 'node-7.example', 'a b', 'Größe', 'плис', '日本', '🂡', 'e\u0301', '<&>"\'\\'])(
    '%j breaks no rule',
    (text) => expect(brokenText(text, { bytes: 100 })).toBeNull(),
  )
  test('is measured in bytes of UTF-8 or in code points', () => {
    expect(brokenText('ä'.repeat(5), { bytes: 10 })).toBeNull()
    expect(brokenText('ä'.repeat(5), { bytes: 9 })).toEqual({
      rule: 'too_long',
      problem: 'it must not be longer than 9 bytes',
    })
    expect(brokenText('🂡'.repeat(5), { characters: 5 })).toBeNull()
    for (const text of ['🂡'.repeat(6), 'a'.repeat(6), 'a'.repeat(11)])
      expect(brokenText(text, { characters: 5 })).toMatchObject({ rule: 'too_long' })
  })
  test('breaks a rule exactly when one of its characters is of a forbidden category', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const bad = Array.from(text).some((each) => /^[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]$/u.test(each))
        expect(brokenText(text, { bytes: 10_000 }) !== null).toBe(bad)
      }),
    )
  })
})

const bind = (more: Readonly<Record<string, string>>) => ({
  [A]: Object.entries({ hostname: 'h1', device_rp_uuid: RP, instance_uuid: VM, ...more }).map(([path, value]) => ({
    op: 'add',
    path: `/${path}`,
    value,
  })),
})
const group = { 'resources:FPGA': '1' }
type Body = readonly [where: string, line: string, field: string, body: (text: string) => unknown]
const BODIES: readonly Body[] = [
  ['the host name of a bind', 'PATCH /v2/accelerator_requests', `${A}.hostname`, (hostname) => bind({ hostname })],
  ['the project of a bind', 'PATCH /v2/accelerator_requests', `${A}.project_id`, (project_id) => bind({ project_id })],
  ...['x', 'function_id', 'bitstream_name', 'function_name'].map((key): Body => [
    `the value of accel:${key}`,
    'POST /v2/device_profiles',
    `groups[0].accel:${key}`,
    (text) => [{ name: 'p', groups: [{ ...group, [`accel:${key}`]: text }] }],
  ]),
  ['the key of an attribute', 'POST /v2/attributes', 'key', (key) => ({ deployable_id: 1, key, value: 'v' })],
  ['the value of an attribute', 'POST /v2/attributes', 'value', (value) => ({ deployable_id: 1, key: 'k', value })],
  ...[
    'POST /v2/hosts/h/retire',
    'POST /v2/hosts/h/restore',
    `POST /v2/handles/${A}/quarantine`,
    `POST /v2/handles/${A}/release`,
    `POST /v2/accelerator_requests/${A}/force_unbind`,
    `POST /v2/deliveries/${A}/resend`,
    `POST /v2/dead_letters/${A}/replay`,
    `POST /v2/dead_letters/${A}/drop`,
  ].map((line): Body => [`the reason of ${line}`, line, 'reason', (reason) => ({ reason })]),
  [
    'the reason of a profile migration',
    'POST /v2/profile_migrations',
    'reason',
    (reason) => ({ traits: { CUSTOM_A: 'CUSTOM_B' }, apply: true, reason }),
  ],
]

describe('refused with 400 that names field and rule, nobody asked', () => {
  test.each(BODIES)('%s', async (_, line, field, body) => {
    const { app, asked } = strictApp()
    for (const bad of ['a\r\nb: c', 'a\u0000b', 'a\u001b[2Jb', 'a\u202eb', 'a\u200bb', 'a\u2028b', 'a\ud800b']) {
      const got = await send(app, line, { body: body(bad), headers: { ...version(3), ...service } })
      expectRefusal(got, 400)
      expect(got.fault).toMatch(/ holds (a |an |half )/)
      if (!/[\0\ud800]/.test(bad)) expect(got.fault.startsWith(`Invalid ${field}: it holds a`), got.fault).toBe(true)
    }
    expect(asked).toEqual([])
  })

  test.each([' h', 'h ', 'a b', 'a\u00a0b', 'a\u3000b'])('white space in the host name: %j', async (hostname) => {
    const { app, asked } = strictApp()
    const got = await send(app, 'PATCH /v2/accelerator_requests', { body: bind({ hostname }), headers: service })
    expectRefusal(got, 400)
    expect(got.fault).toBe(`Invalid ${A}.hostname: it holds white space`)
    expect(asked).toEqual([])
  })
})
