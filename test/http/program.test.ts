/** Programming over HTTP, and the waiting of a bind that needs its host. */
import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { anyImage, openWorkshop } from './cloud.ts'
import { expectRefusal } from './steps.ts'
import { until } from '../support/lab.ts'
import type { ImageCatalogue } from '../../src/actors/neighbours.ts'
import type { Image } from '../../src/vocabulary/images.ts'
import { imageOf, noCatalogue } from '../support/images.ts'

const unknown = noCatalogue('unknown')
const program = (image: string) => ({ body: [{ op: 'replace', path: '/program', value: [{ image_uuid: image }] }] })

let shop: Awaited<ReturnType<typeof openWorkshop>>
afterEach(() => shop.close())

describe('programming', () => {
  test('is done when the host says so: 200 and the image in the answer', async () => {
    shop = await openWorkshop({ parts: { images: anyImage } })
    const image = randomUUID()
    for (const tail of ['/program', `/program/${shop.fpga.uuid}`, '']) {
      const { json } = await shop.must(200, `PATCH /v2/deployables/${shop.fpga.uuid}${tail}`, program(image))
      expect(json).toMatchObject({ uuid: shop.fpga.uuid, bitstream_id: image })
    }
  })
  test.each([
    ['/bitstream_id', [{ image_uuid: 'IMAGE' }]],
    ['/bitstream', 'IMAGE'],
    ['/program', { image_uuid: 'IMAGE' }],
  ])('at the path %s with %j', async (path, value) => {
    shop = await openWorkshop({ parts: { images: anyImage } })
    const image = randomUUID()
    const body = JSON.parse(JSON.stringify([{ op: 'add', path, value }]).replace('IMAGE', image.toUpperCase()))
    expect((await shop.must(200, `PATCH /v2/deployables/${shop.fpga.uuid}`, { body })).json.bitstream_id).toBe(image)
  })
  test('outlasts the wait: 202, and the answer comes later', async () => {
    shop = await openWorkshop({ parts: { images: anyImage, options: { programWaitMs: 20 } }, answering: 'when told' })
    const image = randomUUID()
    const got = await shop.must(202, `PATCH /v2/deployables/${shop.fpga.uuid}/program`, program(image))
    expect(got.json).toMatchObject({ uuid: shop.fpga.uuid, bitstream_id: null })
    await until(() => shop.orders.length > 0)
    await shop.answer(shop.orders[0]!, { status: 'done', bitstreamId: image })
    expect((await shop.must(200, `GET /v2/deployables/${shop.fpga.uuid}`)).json.bitstream_id).toBe(image)
  })
  test('fails in the hardware: 500, with the words of the driver', async () => {
    shop = await openWorkshop({ parts: { images: anyImage }, answering: 'when told' })
    const asked = shop.say(`PATCH /v2/deployables/${shop.fpga.uuid}/program`, program(randomUUID()))
    await until(() => shop.orders.length > 0)
    await shop.answer(shop.orders[0]!, { status: 'failed', reason: 'the card rejects it', final: true })
    const got = await asked
    expectRefusal(got, 500)
    expect(got.text).toContain('The hardware failed to do this: the card rejects it')
  })
  test.each([
    ['image_unknown', 404, 'could not be found'],
    ['image_unavailable', 503, 'cannot be read at present'],
    ['image_corrupt', 409, 'nothing was programmed: image_corrupt: image x cannot be read at present'],
    ['image_unsuitable', 409, 'topology mismatch'],
  ])('fails for its image on the host, %s: %i, and no hardware is blamed', async (code, status, words) => {
    shop = await openWorkshop({ parts: { images: anyImage }, answering: 'when told' })
    const asked = shop.say(`PATCH /v2/deployables/${shop.fpga.uuid}/program`, program(randomUUID()))
    await until(() => shop.orders.length > 0)
    const reason = `${code}: image x cannot be read at present: topology mismatch`
    await shop.answer(shop.orders[0]!, { status: 'failed', reason, final: true })
    const got = await asked
    expectRefusal(got, status)
    expect(got.text).toContain(words)
    expect(got.text).not.toContain('hardware')
  })
  test('needs a deployable that can be programmed, is idle, and an image that is there', async () => {
    shop = await openWorkshop({ parts: { images: anyImage } })
    expectRefusal(await shop.say(`PATCH /v2/deployables/${shop.gpu.uuid}/program`, program(randomUUID())), 409)
    await shop.bound()
    expectRefusal(await shop.say(`PATCH /v2/deployables/${shop.fpga.uuid}/program`, program(randomUUID())), 409)
    await shop.close()
    shop = await openWorkshop({ parts: { images: unknown } })
    expectRefusal(await shop.say(`PATCH /v2/deployables/${shop.fpga.uuid}/program`, program(randomUUID())), 404)
    await shop.close()
    shop = await openWorkshop()
    expectRefusal(await shop.say(`PATCH /v2/deployables/${shop.fpga.uuid}/program`, program(randomUUID())), 409)
  })
})

describe('an image that says what it is for', () => {
  const saying = (properties: Image['properties']): ImageCatalogue => ({
    ...anyImage,
    find: async (uuid) => ({ found: true, image: { ...imageOf(uuid), properties } }),
  })
  test('is not programmed into other hardware: 409 with the reason', async () => {
    shop = await openWorkshop({ parts: { images: saying({ vendor: 'Inspur' }) } })
    const image = randomUUID()
    const got = await shop.say(`PATCH /v2/deployables/${shop.fpga.uuid}/program`, program(image))
    expectRefusal(got, 409)
    expect(got.text).toMatch(
      new RegExp(
        `nothing can be programmed: image_unsuitable: image ${image} is made for other hardware: it is for vendor Inspur, and this is (XILINX|INTEL)`,
      ),
    )
    expect(shop.orders).toEqual([])
  })
  test('is not programmed when it is a shell, which no driver loads', async () => {
    shop = await openWorkshop({ parts: { images: saying({ shell_id: '' }) } })
    const got = await shop.say(`PATCH /v2/deployables/${shop.fpga.uuid}/program`, program(randomUUID()))
    expectRefusal(got, 409)
    expect(got.text).toContain('it is a shell, which only the tool of its vendor loads')
    expect(shop.orders).toEqual([])
  })
  test('is compared with the attributes that an operator has set', async () => {
    shop = await openWorkshop({ parts: { images: saying({ board: 'KU115' }) } })
    const path = `PATCH /v2/deployables/${shop.fpga.uuid}/program`
    await shop.must(200, path, program(randomUUID()))
    const attribute = { deployable_id: shop.fpga.uuid, key: 'board', value: 'U250' }
    await shop.must(201, 'POST /v2/attributes', { body: attribute })
    const got = await shop.say(path, program(randomUUID()))
    expectRefusal(got, 409)
    expect(got.text).toContain('it is for board KU115, and this is U250')
  })
})

describe('a bind that waits for its host', () => {
  test('is accepted at once, 423 while it waits, and resolved when the host answers', async () => {
    shop = await openWorkshop({ answering: 'when told' })
    const { arqs, instance } = await shop.bound()
    const resolved = `GET /v2/accelerator_requests?instance=${instance}&bind_state=resolved`
    const waiting = await shop.say(resolved)
    expectRefusal(waiting, 423)
    expect(waiting.headers.get('retry-after')).toBe('1')
    expect((await shop.must(200, `GET /v2/accelerator_requests?instance=${instance}`)).json.arqs[0]).toMatchObject({
      state: 'BindStarted',
      instance_uuid: instance,
      attach_handle_type: '',
      attach_handle_uuid: null,
      attach_handle_info: {},
    })
    await until(() => shop.orders.length > 0)
    await shop.answer(shop.orders[0]!)
    const { json } = await shop.must(200, resolved)
    expect(json.arqs).toMatchObject([{ uuid: arqs[0]!.uuid, state: 'Bound', attach_handle_type: 'PCI' }])
  })
  test('is resolved also when it failed', async () => {
    shop = await openWorkshop({ answering: 'when told' })
    const { instance } = await shop.bound()
    await until(() => shop.orders.length > 0)
    await shop.answer(shop.orders[0]!, { status: 'failed', reason: 'no', final: true })
    const { json } = await shop.must(200, `GET /v2/accelerator_requests?instance=${instance}&bind_state=resolved`)
    expect(json.arqs).toMatchObject([{ state: 'BindFailed', attach_handle_type: '' }])
  })
  test('that failed is no accelerator that Nova could start a server with: the service is refused, a user sees it', async () => {
    shop = await openWorkshop({ answering: 'when told' })
    const { instance } = await shop.bound()
    const [listed, service] = [`GET /v2/accelerator_requests?instance=${instance}`, { 'x-service-roles': 'service' }]
    await until(() => shop.orders.length > 0)
    // the service is answered when the bind has ended
    const held = shop.say(listed, { headers: service })
    await shop.answer(shop.orders[0]!, { status: 'failed', reason: 'no', final: true })
    const refused = await held
    expectRefusal(refused, 409)
    expect(refused.text).toContain(`instance ${instance} failed`)
    expect((await shop.must(200, listed)).json.arqs).toMatchObject([{ state: 'BindFailed' }])
    await shop.must(204, `DELETE /v2/accelerator_requests?instance=${instance}`, { headers: service })
    expect((await shop.must(200, listed, { headers: service })).json.arqs).toEqual([])
  })
})

test('an image that a request has loaded is shown as being loaded, until the host has answered', async () => {
  shop = await openWorkshop({ parts: { images: anyImage }, answering: 'when told' })
  const image = randomUUID()
  const groups = [{ 'resources:FPGA': '1', 'accel:bitstream_id': image }]
  await shop.must(201, 'POST /v2/device_profiles', { body: [{ name: 'with-image', groups }] })
  const bind = async () => {
    const made = await shop.must(201, 'POST /v2/accelerator_requests', { body: { device_profile_name: 'with-image' } })
    const instance = randomUUID()
    await shop.bind(made.json.arqs, instance)
    return instance
  }
  const [first, second] = [await bind(), await bind()]
  await until(() => shop.orders.length > 1)
  const program = async () =>
    (await shop.must(200, 'GET /v2/programs')).json.programs.find(
      ({ deployable_uuid: uuid }: { readonly deployable_uuid: string }) => uuid === shop.fpga.uuid,
    )
  expect(await program()).toMatchObject({
    state: 'running',
    image_uuid: image,
    since: expect.any(String),
    reason: null,
  })
  for (const order of shop.orders) await shop.answer(order, { status: 'done', bitstreamId: image })
  expect(await program()).toMatchObject({ state: 'loaded', image_uuid: image, since: null })
  // both waited for one load
  for (const instance of [first, second])
    expect((await shop.must(200, `GET /v2/accelerator_requests?instance=${instance}`)).json.arqs).toMatchObject([
      { state: 'Bound' },
    ])
})
