/** Each kind of fault that the service may answer has its status and its words; a failure tells nobody why. */
import { describe, expect, test } from 'vitest'
import type { Fault } from '../../src/vocabulary/fault.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { strictApp } from './app.ts'
import { expectRefusal, send } from './steps.ts'
import { tell } from './toldControl.ts'

const answered = async (fault: Fault) =>
  (await tell('GET /v2/devices', { 'devices.list': async () => ({ ok: false, fault }) })).got

const FACES: readonly (readonly [fault: Fault, status: number, text: string, retryAfter?: string])[] = [
  [{ kind: 'not_found', resource: 'device_profile', id: 'x' }, 404, 'The device profile x could not be found.'],
  [
    { kind: 'bad_state', resource: 'arq', id: 'x', state: 'Bound', allowed: ['Initial', 'Unbound'] },
    409,
    'The arq x is Bound; this needs Initial or Unbound.',
  ],
  [
    { kind: 'bad_state', resource: 'arq', id: 'x', state: 'Gone', allowed: [] },
    409,
    'The arq x is Gone; this needs another state.',
  ],
  [{ kind: 'conflict', reason: 'No free handle.' }, 409, 'No free handle.'],
  [
    { kind: 'exists', resource: 'attribute', field: 'key', value: 'k' },
    409,
    'An attribute with the key k already exists.',
  ],
  [{ kind: 'invalid', field: 'name', rule: 'it is missing' }, 400, 'Invalid name: it is missing'],
  [{ kind: 'forbidden', rule: 'cyborg:device:get_all' }, 403, 'Access to cyborg:device:get_all is denied.'],
  [{ kind: 'forbidden', rule: 'Only an administrator may.' }, 403, 'Only an administrator may.'],
  [{ kind: 'service_token', action: 'bind' }, 403, 'The operation bind requires a service token.'],
  [{ kind: 'unresolved', instance: 'i' }, 423, 'Not all accelerator requests of the instance i are resolved.', '1'],
  [{ kind: 'unavailable', reason: 'Busy.', retryAfterSeconds: 3 }, 503, 'Busy.', '3'],
  [{ kind: 'crowded', reason: 'Too many.', retryAfterSeconds: 5 }, 429, 'Too many.', '5'],
  [
    { kind: 'device_failure', reason: 'The card does not answer.' },
    500,
    'The hardware failed to do this: The card does not answer.',
  ],
  [
    { kind: 'broken', reason: 'secret' },
    500,
    'The service failed to handle this request; its log knows the request id.',
  ],
]

describe('the face of a fault', () => {
  test.each(FACES.map((face) => ({ face })))('$face.0', async ({ face: [fault, status, text, retryAfter = null] }) => {
    const got = await answered(fault)
    expectRefusal(got, status)
    expect([got.fault, got.headers.get('retry-after')]).toEqual([text, retryAfter])
    expect(got.json.errors[0].title).not.toBe('Error')
  })
  test('is cut after 500 characters, and not within one', async () => {
    const shown = async (text: string) => (await answered({ kind: 'conflict', reason: text })).fault
    expect(await shown('a'.repeat(500))).toBe('a'.repeat(500))
    expect(await shown('a'.repeat(501))).toBe(`${'a'.repeat(499)}a\u2026`)
    expect((await shown('\u{1f600}'.repeat(5000))).isWellFormed()).toBe(true)
  })
})

test('what throws behind the API is logged and answered without detail', async () => {
  const errors: Record<string, unknown>[] = []
  const log = { ...silent, error: (fields: object) => void errors.push({ ...fields }) }
  const { app } = strictApp({}, { log })
  const got = await send(app, 'GET /v2/devices')
  expectRefusal(got, 500)
  expect(got.text).not.toContain('was asked')
  expect(errors).toEqual([{ request: got.headers.get('x-openstack-request-id'), err: expect.any(Error) }])
})
