/** Query arguments, filters and pages, as far as nobody has to be asked. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createFilters, withFilters } from '../../src/http/filters.ts'
import { pageArgs, pageOf } from '../../src/http/pages.ts'
import { listBody } from '../../src/http/listing.ts'
import { integer, list, pairsOf, readQuery, text, uuid } from '../../src/http/query.ts'
import { ROUTES } from '../../src/http/routes/all.ts'
import { brokenText, NAME_LIMIT } from '../../src/text.ts'
import { canonicalUuid } from '../../src/uuid.ts'
import { strictApp } from './app.ts'
import { as, expectRefusal, send, service } from './steps.ts'

const UUID = '1d8a4e2c-9a6d-4a1c-8b77-1c8d1c3a7a10'

describe('a UUID', () => {
  test.each([UUID, UUID.toUpperCase(), UUID.replaceAll('-', ''), `{${UUID}}`, `urn:uuid:${UUID}`, `uuid:${UUID}`])(
    '%s is one',
    (spelling) => expect(canonicalUuid(spelling)).toBe(UUID),
  )
  test.each([
    '',
    'fpga',
    UUID.slice(1),
    `${UUID}0`,
    `{${UUID}`,
    UUID.replace('1', 'g'),
    '-'.repeat(36),
    ` ${UUID}`,
    `${UUID}\n`,
  ])('"%s" is none', (other) => expect(canonicalUuid(other)).toBeNull())
  test('reading is idempotent', () => fc.assert(fc.property(fc.uuid(), (id) => canonicalUuid(id.toUpperCase()) === id)))
})

describe('arguments', () => {
  const args = { name: text(''), id: uuid(''), names: list('') }
  const read = (sent: string) => {
    const got = readQuery(args, sent)
    return got.ok ? got.query : got.fault
  }
  test.each([
    ['', {}],
    ['name=a', { name: 'a' }],
    ['name=a&name=b', { name: 'b' }],
    ['name=', { name: undefined }],
    ['name', { name: undefined }],
    ['name=a+b%2Bc', { name: 'a b+c' }],
    ['&&name=a&', { name: 'a' }],
    ['names=a,b&names=c', { names: ['a', 'b', 'c'] }],
    ['names=', { names: [''] }],
    [`id=${UUID.toUpperCase()}`, { id: UUID }],
  ])('"%s"', (sent, expected) => expect(read(sent)).toEqual(expected))

  test.each([
    ['other=1', 'other'],
    ['constructor=1', 'constructor'],
    ['__proto__=1', '__proto__'],
    ['id=', 'id'],
    ['id=x', 'id'],
    ['name=%zz', 'query'],
    ['name=%ff', 'query'],
    ['%=1', 'query'],
    ['=x', ''],
    ['=%zz', 'query'],
    ['name=a%00b', 'name'],
    ['na%00me=a', 'na�me'],
    ['name=%ed%a0%80', 'query'],
  ])('"%s" is refused', (sent, field) => expect(read(sent)).toMatchObject({ kind: 'invalid', field }))

  test('are what was encoded', () => {
    const value = fc.string({ unit: 'grapheme' }).filter((each) => brokenText(each, NAME_LIMIT) === null && each !== '')
    fc.assert(
      fc.property(value, (each) => void expect(read(`name=${encodeURIComponent(each)}`)).toEqual({ name: each })),
    )
  })
})

test.each([
  [0, '0', true],
  [1, '0', false],
  [1, '1', true],
  [1, '2147483647', true],
  [1, '2147483648', false],
] as const)('an integer from %i may be %s: %s', (min, value, ok) =>
  expect(integer(min, '').read([value], 'n')).toMatchObject(ok ? { ok, value: Number(value) } : { ok }),
)

describe('filters', () => {
  const plain = { ...pageArgs(['created_at', 'name']), name: text(''), vendor: text('') }
  const args = { ...plain, filters: createFilters(plain) }
  const read = (sent: string) => {
    const asked = readQuery(args, sent)
    if (!asked.ok) return asked.fault
    const got = withFilters(plain, asked.query as never, asked.pairs)
    if (!got.ok) return got.fault
    const { filters: _, ...query } = got.query as Record<string, unknown>
    return query
  }
  const json = (value: unknown) => `filters=${encodeURIComponent(JSON.stringify(value))}`
  test.each([
    ['filters.field=name&filters.value=x', { name: 'x' }],
    ['filters.field=limit&filters.value=2&filters.field=sort_dir&filters.value=desc', { limit: 2, sort_dir: 'desc' }],
    ['filters[0].field=limit&filters[0].value=2&filters[1].field=name&filters[1].value=x', { limit: 2, name: 'x' }],
    [json([{ field: 'limit', value: 2 }]), { limit: 2 }],
    [json({ field: 'limit', value: '2' }), { limit: 2 }],
    [json({ limit: 2, name: 'x' }), { limit: 2, name: 'x' }],
    [json({ vendor: 'x' }), { vendor: 'x' }],
    ['filters.field=board&filters.value=x', {}],
    [
      `limit=5&filters.field=limit&filters.value=2&filters.field=marker&filters.value=${UUID}`,
      { limit: 5, marker: UUID },
    ],
  ])('%s', (sent, expected) => expect(read(sent)).toEqual(expected))

  test.each(['parent_uuid', 'root_uuid', 'board', 'availability', 'interface_type', 'instance_uuid'])(
    'the older field %s is taken and has no effect',
    (field) => expect(read(`filters.field=${field}&filters.value=${UUID}`)).toEqual({}),
  )
  test.each([
    ['filters.field=colour&filters.value=red'],
    ['filters.field=&filters.value=red'],
    ['filters.field=limit'],
    ['filters.value=2'],
    ['limit=5&filters.value=2'],
    ['filters[0].field=limit&filters[1].value=2'],
    ['filters.field=limit&filters.value=two'],
    ['filters.field=limit&filters.value=0'],
    ['filters.field=sort_key&filters.value=password'],
    ['filters.field=marker&filters.value=x'],
    ['filters=%7Bbroken'],
    ['filters='],
    ['filters=5'],
    ['filters=null'],
    [json([5])],
    ['filters=%7B%22__proto__%22:%22x%22%7D'],
    [json({ constructor: 'x' })],
    [json({ prototype: 'x', name: 'x' })],
    [json({ limit: [2] })],
    [json({ name: '\u0000' })],
    [json({ name: '\ud800' })],
    ['filters.colour=1'],
    ['xfilters.field=name&xfilters.value=x'],
    ['filters.fields=name&filters.values=x'],
    ['filters.field.field=name&filters.field.value=x'],
    ['filters[1234].field=name&filters[1234].value=x'],
    ['filters[x].field=limit'],
  ])('%s is refused', (sent) => expect(read(sent)).toMatchObject({ kind: 'invalid' }))
})

describe('a page', () => {
  test('nothing asked is everything', () => expect(pageOf({})).toEqual({}))
  test('what was asked is passed on', () => {
    expect(pageOf({ limit: 2, marker: UUID, sort_key: 'name', sort_dir: 'desc' })).toEqual({
      limit: 2,
      marker: UUID,
      sort: 'name',
      descending: true,
    })
    expect(pageOf({ sort_dir: 'asc' })).toEqual({})
  })

  const listing = (sent: string, more: boolean, items: readonly { id: string }[]) => {
    const split = pairsOf(sent)
    if (!split.ok) throw new Error(sent)
    const parts = { key: 'arqs', collection: 'accelerator_requests', base: 'http://h', pairs: split.pairs }
    const next = more ? { value: 1, key: items.at(-1)!.id } : null
    return listBody({ items, next }, { ...parts, item: ({ id }) => id, markerOf: ({ id }) => id })
  }
  test('the last one links nowhere', () => expect(listing('limit=2', false, [{ id: 'a' }])).toEqual({ arqs: ['a'] }))
  test('others link to the next, which keeps what was asked', () => {
    const body = listing('limit=2&instance=x%20y&marker=z', true, [{ id: 'a' }, { id: 'b' }])
    const href = 'http://h/accelerator/v2/accelerator_requests?limit=2&instance=x+y&marker=b'
    expect(body).toEqual({ arqs: ['a', 'b'], arqs_links: [{ rel: 'next', href }] })
    expect(Object.keys(body)[0]).toBe('arqs')
  })
})

const rows = ROUTES.filter((row) => row.rule !== null)
const line = (method: string, path: string) => `${method} ${path.replace(/:id/g, 'fpga').replace(/:\w+/g, UUID)}`

describe('an argument nobody knows', () => {
  test.each(rows.map((row) => line(row.method, row.path)))('%s', async (each) => {
    const { app, asked } = strictApp()
    const got = await send(app, `${each}?colour=red`, { headers: service })
    expectRefusal(got, 400)
    expect(got.fault).toContain('colour')
    expect(asked).toEqual([])
  })
})

describe('an argument that says nothing sensible', () => {
  test.each([
    'devices?limit=0',
    'devices?limit=-1',
    'devices?limit=two',
    'devices?limit=',
    'devices?limit=1.5',
    'devices?limit=99999999999999999999',
    'devices?marker=x',
    'devices?sort_key=hardware',
    'devices?sort_dir=up',
    'devices?filters.field=limit&filters.value=x',
    'devices?type=%00',
    'deployables?device_id=x',
    'deployables?device_uuid=x',
    'deployables?rp_uuid=x',
    'deployables?limit=x',
    'attributes?deployable_id=x',
    'attributes?deployable_id=-1',
    'attributes?deployable_id=99999999999',
    'attributes?deployable_id=',
    'accelerator_requests?instance=',
    'accelerator_requests?instance=vm',
    'accelerator_requests?bind_state=unresolved',
    'accelerator_requests?arqs=x',
    'accelerator_requests?arqs=',
    'hosts?limit=x',
    'device_profiles?sort_key=groups',
  ])('GET /v2/%s', async (path) => {
    const { app, asked } = strictApp()
    expectRefusal(await send(app, `GET /v2/${path}`), 400)
    expect(asked).toEqual([])
  })

  test.each([
    ['accelerator_requests', 400],
    [`accelerator_requests?arqs=${UUID}&instance=${UUID}`, 400],
    ['accelerator_requests?arqs=', 400],
    ['accelerator_requests?arqs=x', 400],
    [`accelerator_requests?arqs=${UUID},`, 400],
    ['accelerator_requests?instance=x', 400],
    ['accelerator_requests/x', 400],
    ['accelerator_requests/a,b', 400],
    ['device_profiles', 400],
    ['device_profiles/', 400],
    ['device_profiles?value=', 400],
    ['device_profiles?value=a,', 400],
    ['device_profiles?name=', 400],
    ['device_profiles?name=a&value=b', 400],
    ['device_profiles/x?value=a', 400],
    ['device_profiles/a%20b', 404],
    ['device_profiles?value=a,%40', 404],
    ['attributes', 405],
    ['attributes/', 405],
    ['attributes/x', 404],
  ])('DELETE /v2/%s is %i', async (path, status) => {
    const { app, asked } = strictApp()
    expectRefusal(await send(app, `DELETE /v2/${path}`, { headers: service }), status)
    expect(asked).toEqual([])
  })

  test.each([
    ['GET /v2/devices/x', 404],
    ['POST /v2/devices/x/enable', 404],
    ['POST /v2/devices/x/disable', 404],
    ['GET /v2/deployables/x', 400],
    ['GET /v2/attributes/x', 400],
    ['GET /v2/accelerator_requests/x', 400],
    ['GET /v2/accelerator_requests/x/timeline', 400],
    ['GET /v2/accelerator_requests/%00', 400],
    ['GET /v2/accelerator_requests/%zz', 400],
  ])('%s is %i', async (each, status) => {
    const { app, asked } = strictApp()
    expectRefusal(await send(app, each, { headers: as('admin') }), status)
    expect(asked).toEqual([])
  })
})
