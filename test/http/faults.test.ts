/** Each kind of fault has its face; nobody sees more of a failure than that it happened. */
import { describe, expect, test } from 'vitest'
import type { HttpFault } from '../../src/http/faults.ts'
import { errorAnswer, withoutExpected500 } from '../../src/http/faults.ts'
import { silent } from '../../src/log.ts'
import { strictApp } from './app.ts'
import { expectRefusal, send } from './steps.ts'

const FACES: readonly (readonly [HttpFault, number, string])[] = [
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
    { kind: 'exists', resource: 'device_profile', field: 'name', value: 'fpga' },
    409,
    'A device profile with the name fpga already exists.',
  ],
  [
    { kind: 'exists', resource: 'attribute', field: 'key', value: 'k' },
    409,
    'An attribute with the key k already exists.',
  ],
  [{ kind: 'invalid', field: 'name', rule: 'it is missing' }, 400, 'Invalid name: it is missing'],
  [{ kind: 'forbidden', rule: 'cyborg:device:get_all' }, 403, 'Access to cyborg:device:get_all is denied.'],
  [{ kind: 'forbidden', rule: 'Only an administrator may.' }, 403, 'Only an administrator may.'],
  [{ kind: 'service_token', action: 'bind' }, 403, 'The operation bind requires a service token.'],
  [{ kind: 'unresolved', instance: 'i' }, 423, 'Not all accelerator requests of the instance i are resolved.'],
  [{ kind: 'unavailable', reason: 'Busy.', retryAfterSeconds: 3 }, 503, 'Busy.'],
  [
    { kind: 'device_failure', reason: 'The card does not answer.' },
    500,
    'The hardware failed to do this: The card does not answer.',
  ],
  [{ kind: 'no_route', path: '/v2/x' }, 404, 'There is nothing at /v2/x.'],
  [{ kind: 'no_method', method: 'PUT', allow: ['GET'] }, 405, 'PUT is not possible here; possible: GET.'],
  [{ kind: 'not_acceptable', reason: 'Too new.' }, 406, 'Too new.'],
  [{ kind: 'media_type', given: 'text/plain' }, 415, 'The body must be application/json, not text/plain.'],
  [{ kind: 'too_large', limitBytes: 9 }, 413, 'The body is larger than 9 bytes.'],
  [{ kind: 'unreadable', reason: 'it is odd' }, 400, 'The request cannot be read: it is odd.'],
  [{ kind: 'headers_too_large', limitBytes: 9 }, 431, 'The headers are larger than 9 bytes.'],
  [{ kind: 'too_slow' }, 408, 'The request did not arrive whole in time.'],
  [{ kind: 'expectation', given: 'tea' }, 417, 'Nothing here meets the expectation tea.'],
  [
    { kind: 'expected_500', instead: { kind: 'invalid', field: 'name', rule: 'it is empty' } },
    500,
    'Invalid name: it is empty',
  ],
  [
    { kind: 'broken', reason: 'secret' },
    500,
    'The service failed to handle this request; its log knows the request id.',
  ],
]

describe('the face of a fault', () => {
  test.each(FACES)('%o', (fault, status, text) => {
    const answer = errorAnswer(fault, 'req-1')
    const json = JSON.parse(answer.text)
    expect(answer.status).toBe(status)
    expect(JSON.parse(json.error_message)).toEqual({
      faultcode: status < 500 ? 'Client' : 'Server',
      faultstring: text,
      debuginfo: null,
    })
    expect(json.errors[0]).toMatchObject({ status, detail: text, request_id: 'req-1' })
    expect(json.errors[0].title).not.toBe('Error')
    expect(Object.keys(json)).toEqual(['error_message', 'errors'])
  })

  test('says when to come back', () => {
    expect(errorAnswer({ kind: 'unavailable', reason: 'x', retryAfterSeconds: 7 }, 'r').retryAfterSeconds).toBe(7)
    expect(errorAnswer({ kind: 'unresolved', instance: 'i' }, 'r').retryAfterSeconds).toBe(1)
  })

  test('does not repeat a long text at length, nor half a character', () => {
    const { text } = errorAnswer({ kind: 'not_found', resource: 'x', id: '😀'.repeat(5000) }, 'r')
    expect(text.length).toBeLessThan(2500)
    expect(JSON.parse(text).errors[0].detail.isWellFormed()).toBe(true)
  })

  test('is cut after 500 characters', () => {
    const shown = (length: number) =>
      errorAnswer({ kind: 'conflict', reason: `a${'b'.repeat(length - 1)}` }, 'r').detail
    expect([shown(500), shown(501)]).toEqual([`a${'b'.repeat(499)}`, `a${'b'.repeat(499)}\u2026`])
  })

  test('has the title that HTTP has for its status today, also where Node knows an older one', () => {
    const titleOf = (fault: HttpFault) => JSON.parse(errorAnswer(fault, 'r').text).errors[0].title
    expect(titleOf({ kind: 'too_large', limitBytes: 1 })).toBe('Content Too Large')
    expect(titleOf({ kind: 'headers_too_large', limitBytes: 1 })).toBe('Request Header Fields Too Large')
  })

  test('the expected server faults turn into plain refusals', () => {
    const instead = { kind: 'exists', resource: 'device_profile', field: 'uuid', value: 'u' } as const
    expect(withoutExpected500({ kind: 'expected_500', instead })).toBe(instead)
  })
})

describe('what throws behind this room', () => {
  test('is logged and answered without detail', async () => {
    const errors: Record<string, unknown>[] = []
    const log = { ...silent, error: (fields: object) => void errors.push({ ...fields }) }
    const { app } = strictApp({}, { log })
    const got = await send(app, 'GET /v2/devices')
    expectRefusal(got, 500)
    expect(got.text).not.toContain('was asked')
    expect(errors).toEqual([{ request: got.headers.get('x-openstack-request-id'), err: expect.any(Error) }])
  })
})
