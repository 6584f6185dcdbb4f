/** What each answer of Placement is read as, and what each refusal of it means, word for word. */
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import {
  ALLOCATIONS,
  fault,
  GENERATION,
  INVENTORIES,
  PROVIDERS,
  type Shape,
  TRAITS,
  errorOf,
  valueIn,
  VERSIONS,
} from '../../../src/neighbours/openstack/placementAnswers.ts'

const answer = (status: number, body: unknown) => ({
  status,
  headers: {},
  text: typeof body === 'string' ? body : JSON.stringify(body),
})
const error = (status: number, detail: string, code?: string) =>
  answer(status, { errors: [{ status, detail, ...(code === undefined ? {} : { code }) }] })
const told = (...of: Parameters<typeof answer>) => errorOf(answer(...of))
const means = (error: string, reason: string) => ({ ok: false, error, reason })

describe('a refusal', () => {
  test.each([
    ['placement.concurrent_update', 'stale'],
    ['placement.inventory.inuse', 'inUse'],
    ['placement.resource_provider.inuse', 'inUse'],
    ['placement.resource_provider.cannot_delete_parent', 'hasChildren'],
    ['placement.duplicate_name', 'duplicate'],
  ])('with the code %s means %s, whatever its status is', (code, trouble) => {
    for (const status of [400, 404, 409])
      expect(errorOf(error(status, 'why', code))).toEqual(means(trouble, `Placement answers ${status}: why`))
  })
  test.each([
    [404, 'why', 'gone'],
    [409, 'why', 'stale'],
    [400, 'why', 'refused'],
    [400, 'No such trait(s): X.', 'unknownName'],
    [400, 'There is no such resource class X.', 'unknownName'],
    [400, 'none such trait', 'refused'],
    [422, 'No such trait X', 'refused'],
    [418, 'why', 'refused'],
  ])('%i without a code, "%s", means %s', (status, detail, trouble) => {
    expect(errorOf(error(status, detail))).toEqual(means(trouble, `Placement answers ${status}: ${detail}`))
    expect(errorOf(error(status, detail, 'placement.undefined_code')).error).toBe(trouble)
  })
  test('says what stands behind the sentence that belongs to its status', () =>
    expect(errorOf(error(400, 'The server could not comply.\n\n  JSON does\n not validate.  ')).reason).toBe(
      'Placement answers 400: JSON does not validate.',
    ))
  test('of the account is named as such', () => {
    expect(told(401, '')).toEqual(means('denied', 'Placement refuses the token of this service'))
    expect(errorOf(error(403, 'why'))).toEqual(
      means('denied', 'the account of this service needs the role admin or service for Placement: why'),
    )
    expect(errorOf(error(401, 'why', 'placement.duplicate_name')).error).toBe('denied')
    expect(errorOf(error(406, 'why'))).toEqual(means('refused', 'Placement does not offer this version any more: why'))
  })
  test.each([500, 502, 503, 408, 425, 429])('with the status %i passes', (status) => {
    expect(errorOf(error(status, 'why', 'placement.duplicate_name'))).toEqual(
      means('unanswered', `Placement answers ${status}: why`),
    )
  })
  test.each(['<html>away</html>', '{"errors": []}', '{"errors": [{"status": 404}]}', '7'])(
    'of something in between passes: %s',
    (text) => expect(told(404, text)).toEqual(means('unanswered', `Placement answers 404: ${text}`)),
  )
  test('is told in one line of at most 500 characters', () => {
    expect(fault('gone', ' a\n\u0007\t b\u001b ').reason).toBe('a b')
    expect(fault('gone', 'x'.repeat(501)).reason).toBe('x'.repeat(500))
  })
})

const UUID = '12345678-ABCD-4000-8000-00000000abcd'
const provider = { uuid: UUID, name: '', generation: 0, parent_provider_uuid: null, root_provider_uuid: UUID }
const record = { total: 1, reserved: 0, min_unit: 1, max_unit: 1, step_size: 1, allocation_ratio: 1.5 }
const generation = { resource_provider_generation: 7 }
const providers = (more: object) => ({ resource_providers: [{ ...provider, ...more }] })
const consumers = (resources: object) => ({ ...generation, allocations: { c: { resources } } })
const inventory = (more: object, name = 'VGPU') => ({ ...generation, inventories: { [name]: { ...record, ...more } } })
const version = (min_version: unknown, max_version: unknown = '1.39') => ({ versions: [{ min_version, max_version }] })

describe('an answer', () => {
  test.each<[string, Shape<unknown>, unknown, unknown]>([
    [
      'of providers',
      PROVIDERS,
      providers({ name: 'n'.repeat(255), more: 1 }),
      [{ uuid: UUID.toLowerCase(), name: 'n'.repeat(255), generation: 0, parent: null, root: UUID.toLowerCase() }],
    ],
    [
      'of a child',
      PROVIDERS,
      providers({ parent_provider_uuid: UUID }),
      [expect.objectContaining({ parent: UUID.toLowerCase() })],
    ],
    ['of no providers', PROVIDERS, { resource_providers: [] }, []],
    ['of a generation', GENERATION, generation, 7],
    ['of inventories', INVENTORIES, inventory({ more: 1 }), { generation: 7, inventories: { VGPU: record } }],
    ['of traits', TRAITS, { ...generation, traits: ['A'] }, { generation: 7, traits: ['A'] }],
    ['of allocations', ALLOCATIONS, consumers({ VGPU: 0 }), { generation: 7, consumers: { c: { VGPU: 0 } } }],
    ['of versions', VERSIONS, version('1.0', '1.9999'), { lowest: 0, highest: 9999 }],
  ])('%s is read', (_, shape, body, value) => expect(valueIn(shape, answer(200, body))).toEqual({ ok: true, value }))
  test.each<[Shape<unknown>, unknown, string]>([
    [PROVIDERS, providers({ uuid: `x${UUID}` }), 'resource_providers.0.uuid'],
    [PROVIDERS, providers({ uuid: `${UUID}0` }), 'resource_providers.0.uuid'],
    [PROVIDERS, providers({ name: 'n'.repeat(256) }), 'resource_providers.0.name'],
    [PROVIDERS, providers({ generation: -1 }), 'resource_providers.0.generation'],
    [PROVIDERS, providers({ generation: 0.5 }), 'resource_providers.0.generation'],
    [PROVIDERS, providers({ parent_provider_uuid: 'x' }), 'resource_providers.0.parent_provider_uuid'],
    [PROVIDERS, providers({ root_provider_uuid: null }), 'resource_providers.0.root_provider_uuid'],
    [PROVIDERS, { resource_providers: Array.from({ length: 100_001 }, () => provider) }, 'resource_providers'],
    [GENERATION, {}, 'resource_provider_generation'],
    [INVENTORIES, inventory({}, 'n'.repeat(256)), `inventories.${'n'.repeat(256)}`],
    [INVENTORIES, inventory({ allocation_ratio: null }), 'inventories.VGPU.allocation_ratio'],
    ...Object.keys(record).map((name): [Shape<unknown>, unknown, string] => [
      INVENTORIES,
      inventory({ [name]: '1' }),
      `inventories.VGPU.${name}`,
    ]),
    [TRAITS, { ...generation, traits: [''] }, 'traits.0'],
    [TRAITS, { ...generation, traits: Array.from({ length: 100_001 }, () => 'A') }, 'traits'],
    [ALLOCATIONS, consumers({ VGPU: -1 }), 'allocations.c.resources.VGPU'],
    [ALLOCATIONS, consumers({ '': 1 }), 'allocations.c.resources.'],
    [VERSIONS, { versions: [] }, 'versions'],
    [VERSIONS, version('2.0'), 'versions.0.min_version'],
    [VERSIONS, version('1.0', 'v1.39'), 'versions.0.max_version'],
    [VERSIONS, version('1.0', '1.39999'), 'versions.0.max_version'],
  ])('that cannot be read may have been a success, %#', (shape, body, place) => {
    const read = valueIn(shape, answer(200, body))
    const [issue] = v.safeParse(shape, body).issues ?? []
    expect(read).toEqual(
      fault('unanswered', `the answer of Placement is not what its API promises, at ${place}: ${issue!.message}`),
    )
  })
  test('that is no JSON is named as a whole', () =>
    expect(valueIn(GENERATION, answer(200, 'x'))).toEqual(
      means(
        'unanswered',
        'the answer of Placement is not what its API promises, at the body: Invalid type: Expected Object but received undefined',
      ),
    ))
})
