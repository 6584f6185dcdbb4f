/** The other tables of refusals: creating requests, programming, attributes. Nobody is asked. */
import { describe, expect, test } from 'vitest'
import { strictApp } from './app.ts'
import { expectRefusal, send, service } from './steps.ts'

const UUID = '1d8a4e2c-9a6d-4a1c-8b77-1c8d1c3a7a10'
const OTHER = '2d8a4e2c-9a6d-4a1c-8b77-1c8d1c3a7a10'

const refusedBy = async (line: string, body: unknown, field: string): Promise<void> => {
  const { app, asked } = strictApp()
  const got = await send(app, line, { body, headers: service })
  expectRefusal(got, 400)
  expect(got.fault).toContain(`Invalid ${field}: `)
  expect(asked).toEqual([])
}

describe('creating requests', () => {
  test.each([
    ['a list', [], 'body'],
    ['text', 'fpga', 'body'],
    ['null', null, 'body'],
    ['no name', {}, 'device_profile_name'],
    ['a null name', { device_profile_name: null }, 'device_profile_name'],
    ['a number', { device_profile_name: 5 }, 'device_profile_name'],
    ['a list for a name', { device_profile_name: ['fpga'] }, 'device_profile_name'],
  ])('%s', (_, body, field) => refusedBy('POST /v2/accelerator_requests', body, field))
})

const image = [{ image_uuid: OTHER }]
const program = (more: object = {}) => [{ op: 'replace', path: '/program', value: image, ...more }]

describe.each(['', '/program', `/program/${UUID}`])('programming at /v2/deployables/{uuid}%s', (tail) => {
  test.each([
    ['an object', program()[0], 'body'],
    ['an empty list', [], '0'],
    ['null in the list', [null], '0'],
    ['no op', [{ path: '/program', value: image }], '0.op'],
    ['op remove', program({ op: 'remove' }), '0.op'],
    ['op test', program({ op: 'test' }), '0.op'],
    ['a path nobody knows', program({ path: '/name' }), '0.path'],
    ['no path', [{ op: 'add', value: image }], '0.path'],
    ['no value', [{ op: 'add', path: '/program' }], '0.value'],
    ['a number', program({ value: 5 }), '0.value'],
    ['an empty list of images', program({ value: [] }), '0.value'],
    ['an image without uuid', program({ value: [{}] }), '0.value'],
    ['an image with a number', program({ value: [{ image_uuid: 5 }] }), '0.value'],
    ['an image that is not a UUID', program({ value: [{ image_uuid: 'x' }] }), 'image_uuid'],
    ['a text that is not a UUID', program({ value: 'x' }), 'image_uuid'],
    ['a further key', program({ from: '/x' }), '0.from'],
  ])('%s', (_, body, field) => refusedBy(`PATCH /v2/deployables/${UUID}${tail}`, body, field))
})

describe('the path of programming', () => {
  test('names a UUID', () => refusedBy('PATCH /v2/deployables/x/program', program(), 'uuid'))
  test('names it twice', () => refusedBy(`PATCH /v2/deployables/${UUID}/program/x`, program(), 'again'))
})

const attribute = (more: object = {}) => ({ deployable_id: 1, key: 'k', value: 'v', ...more })

describe('creating an attribute', () => {
  test.each([
    ['a list', [], 'body'],
    ['nothing', {}, 'deployable_id'],
    ['nothing wrapped', { attribute: {} }, 'deployable_id'],
    ['null wrapped', { attribute: null }, 'body'],
    ['text wrapped', { attribute: 'x' }, 'body'],
    ['no deployable', { key: 'k', value: 'v' }, 'deployable_id'],
    ['a null deployable', attribute({ deployable_id: null }), 'deployable_id'],
    ['a fraction of one', attribute({ deployable_id: 1.5 }), 'deployable_id'],
    ['a negative one', attribute({ deployable_id: -1 }), 'deployable_id'],
    ['a huge one', attribute({ deployable_id: 1e300 }), 'deployable_id'],
    ['one past what a store counts to', attribute({ deployable_id: 2 ** 31 }), 'deployable_id'],
    ['a name for one', attribute({ deployable_id: 'fpga' }), 'deployable_id'],
    ['a list of them', attribute({ deployable_id: [1] }), 'deployable_id'],
    ['no key', { deployable_id: 1, value: 'v' }, 'key'],
    ['a null key', attribute({ key: null }), 'key'],
    ['an empty key', attribute({ key: '' }), 'key'],
    ['a number for a key', attribute({ key: 5 }), 'key'],
    ['a key without end', attribute({ key: 'k'.repeat(256) }), 'key'],
    ['no value', { deployable_id: 1, key: 'k' }, 'value'],
    ['a null value', attribute({ value: null }), 'value'],
    ['an object for a value', attribute({ value: {} }), 'value'],
    ['a list for a value', attribute({ value: ['v'] }), 'value'],
    ['a value without end', attribute({ value: 'v'.repeat(65_536) }), 'value'],
  ])('%s', (_, body, field) => refusedBy('POST /v2/attributes', body, field))
})
