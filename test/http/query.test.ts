/** Query arguments that are refused before anybody is asked. */
import { describe, expect, test } from 'vitest'
import { ROUTES } from '../../src/http/routes/all.ts'
import { strictApp } from './app.ts'
import { as, expectRefusal, send, service } from './steps.ts'

const UUID = '1d8a4e2c-9a6d-4a1c-8b77-1c8d1c3a7a10'

const json = (value: unknown) => `filters=${encodeURIComponent(JSON.stringify(value))}`
describe('filters of the older form that cannot be read', () => {
  test.each([
    'filters.field=colour&filters.value=red',
    'filters.field=&filters.value=red',
    'filters.field=limit',
    'filters.value=2',
    'limit=5&filters.value=2',
    'filters[0].field=limit&filters[1].value=2',
    'filters.field=limit&filters.value=two',
    'filters.field=sort_key&filters.value=password',
    'filters.field=marker&filters.value=x',
    'filters=%7Bbroken',
    'filters=',
    'filters=null',
    json([5]),
    'filters=%7B%22__proto__%22:%22x%22%7D',
    json({ constructor: 'x' }),
    json({ limit: [2] }),
    json({ vendor: '\u0000' }),
    json({ vendor: '\ud800' }),
    'filters.colour=1',
    'xfilters.field=vendor&xfilters.value=x',
    'filters.field.field=vendor&filters.field.value=x',
    'filters[1234].field=vendor&filters[1234].value=x',
  ])('GET /v2/devices?%s', async (query) => {
    const { app, asked } = strictApp()
    expectRefusal(await send(app, `GET /v2/devices?${query}`), 400)
    expect(asked).toEqual([])
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
