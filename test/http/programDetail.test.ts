/** What there is to know before an image is loaded: who uses the card, what fits it, and what the store says of it. */
import { randomUUID } from 'node:crypto'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import type { ImageCatalogue } from '../../src/actors/neighbours.ts'
import { type Image, noImage } from '../../src/vocabulary/images.ts'
import { EXITS } from '../../src/cli/exits.ts'
import { listen, urlOf } from '../../src/cli/programs/listen.ts'
import { commandHere } from '../support/commandHere.ts'
import { imageOf } from '../support/images.ts'
import { openWorkshop, speaker } from './cloud.ts'
import { as, expectRefusal } from './steps.ts'

let shop: Awaited<ReturnType<typeof openWorkshop>>
afterEach(() => shop.close())

const [FITS, OTHER, LATER] = [randomUUID(), randomUUID(), randomUUID()] as const
const DRIVER = { driver: 'SDX', driver_ver: '1.0', driver_path: '/opt/sdx' }
const DIGEST = { algorithm: 'sha512', value: 'ab'.repeat(64) }
/** Images by their UUID; what is taken out of `images` is not found any more. */
const storeOf = (images: Map<string, Image>): ImageCatalogue => ({
  find: async (uuid) => {
    const image = images.get(uuid)
    return image === undefined ? noImage('unknown') : { found: true, image }
  },
  search: async () => ({ found: true, images: [...images.values()] }),
})
const opened = async () => {
  const images = new Map<string, Image>([
    [FITS, { ...imageOf(FITS), name: 'aes', digest: DIGEST, size: 7, properties: DRIVER }],
    [OTHER, { ...imageOf(OTHER), properties: { vendor: 'Inspur' } }],
    [LATER, imageOf(LATER)],
  ])
  shop = await openWorkshop({ parts: { images: storeOf(images) } })
  const detail = async () => (await shop.must(200, `GET /v2/programs/${shop.fpga.uuid}`)).json
  const load = (image: string, headers = {}) =>
    shop.must(200, `PATCH /v2/deployables/${shop.fpga.uuid}/program`, {
      body: [{ op: 'replace', path: '/program', value: [{ image_uuid: image }] }],
      headers,
    })
  return { images, detail, load }
}

test('the images that fit its hardware are to choose from, and nobody uses it', async () => {
  const { detail } = await opened()
  const answer = await detail()
  expect(answer).toMatchObject({
    deployable_uuid: shop.fpga.uuid,
    state: 'empty',
    refusal: null,
    arqs: [],
    arqs_left_out: 0,
    image: null,
    image_problem: null,
    images_left_out: 0,
    images_problem: null,
  })
  expect(answer.images).toEqual([
    { uuid: FITS, name: 'aes', size: 7, digest: `sha512:${DIGEST.value}`, ...DRIVER },
    { uuid: LATER, name: null, size: null, digest: null, driver: null, driver_ver: null, driver_path: null },
  ])
})
test('what uses it is named, with the reason why it cannot be programmed', async () => {
  const { detail } = await opened()
  const { arqs } = await shop.bound()
  const answer = await detail()
  expect(answer.arqs).toEqual(arqs.map(({ uuid }: { readonly uuid: string }) => uuid))
  expect(answer.refusal).toContain('a request uses it, so it cannot be programmed now')
})
test('a card that cannot be programmed has nothing to choose from', async () => {
  await opened()
  const { json } = await shop.must(200, `GET /v2/programs/${shop.gpu.uuid}`)
  expect(json).toMatchObject({ programmable: false, refusal: expect.any(String), images: [] })
})
test('what it held before is known, and can be loaded again', async () => {
  const { detail, load } = await opened()
  await load(FITS)
  expect(await detail()).toMatchObject({ image_uuid: FITS, former_image_uuid: null })
  await load(LATER)
  expect(await detail()).toMatchObject({ image_uuid: LATER, former_image_uuid: FITS })
  await load(FITS)
  expect(await detail()).toMatchObject({ image_uuid: FITS, former_image_uuid: LATER })
})
test('an image that the store does not give any more is told, with the reason', async () => {
  const { detail, load, images } = await opened()
  await load(FITS)
  expect(await detail()).toMatchObject({ image: { name: 'aes' }, image_problem: null })
  images.delete(FITS)
  expect(await detail()).toMatchObject({ image: null, image_problem: `there is no image ${FITS}` })
})
test.each([
  [DIGEST.value, null],
  [
    'cd'.repeat(64),
    `it has other bytes under this id by now, sha512:${'ab'.repeat(64)}: the card holds sha512:${'cd'.repeat(64)}`,
  ],
])('a file of the store that is not the one which the card holds is told: %s', async (value, problem) => {
  const { detail, load } = await opened()
  await load(FITS)
  const [card, ...others] = await shop.discovered('sim-1', {
    seed: 1,
    devices: [
      { kind: 'fpga', handles: 4, hostWork: true },
      { kind: 'gpu', handles: 1 },
    ],
  })
  const [whole] = card!.deployables
  const told = [
    { key: 'bitstream_id', value: FITS },
    { key: 'digest', value: `sha512:${value}`, parent: whole!.attributes.length },
  ]
  const held = { ...whole!, bitstreamId: FITS, attributes: [...whole!.attributes, ...told] }
  const devices = [{ ...card!, deployables: [held] }, ...others]
  await shop.report('sim-1', [{ driver: 'simulated_driver', status: 'ok', devices }])
  expect(await detail()).toMatchObject({ image: { name: 'aes' }, image_problem: problem })
})
test('without an image store it says so instead of an empty list', async () => {
  shop = await openWorkshop()
  const { json } = await shop.must(200, `GET /v2/programs/${shop.fpga.uuid}`)
  expect(json).toMatchObject({ images: [], images_problem: 'no image store is configured' })
})
test('looking changes nothing: neither what is recorded nor what is ordered', async () => {
  const { detail } = await opened()
  const rows = async () => (await shop.store.journal.feed('', 1000)).length
  const before = await rows()
  await detail()
  expect([await rows(), shop.orders.length]).toEqual([before, 0])
})
test('it is for those who may program', async () => {
  await opened()
  expectRefusal(await speaker(shop.app, as('manager')).say(`GET /v2/programs/${shop.fpga.uuid}`), 403)
  expectRefusal(await shop.say(`GET /v2/programs/${randomUUID()}`), 404)
  expectRefusal(await shop.say('GET /v2/programs/x'), 400)
})
test('a programming that is sent again under its key is made once', async () => {
  const { load } = await opened()
  const key = { 'idempotency-key': randomUUID() }
  const [first, again] = [await load(FITS, key), await load(FITS, key)]
  expect([first.json.bitstream_id, again.json.bitstream_id]).toEqual([FITS, FITS])
  const started = (await shop.store.journal.feed('', 1000)).flatMap(({ events }) =>
    events.filter(({ type }) => type === 'ProgramStarted'),
  )
  expect(started).toHaveLength(1)
})
test('the commands load one image, then another, and load again what the card held before', async () => {
  await opened()
  const served = await listen(shop.app, { host: '127.0.0.1', port: 0 })
  onTestFinished(() => served.close(0))
  const { uuid } = shop.fpga
  const run = (...args: readonly string[]) =>
    commandHere(['bitstream', ...args], { ACCELERANDO_URL: `${urlOf(served)}/v2` })
  const shown = async () => JSON.parse((await run('show', uuid, '--json')).out)
  const loads = async (image: string, ...args: readonly string[]) => {
    const { code, out, err } = await run(...args)
    expect([code, err], args.join(' ')).toEqual([0, ''])
    expect(out).toMatch(new RegExp(`^image +${image}$`, 'm'))
  }
  const none = { code: EXITS.conflict.code, out: '', err: expect.stringContaining('no image is recorded') }
  expect(await run('revert', uuid)).toMatchObject(none)
  await loads(FITS, 'preload', uuid, '--image', FITS)
  expect(await run('revert', uuid), 'it held none before its first').toMatchObject(none)
  await loads(LATER, 'preload', uuid, '--image', LATER)
  expect(await shown()).toMatchObject({ image_uuid: LATER, former_image_uuid: FITS })
  await loads(FITS, 'revert', uuid)
  expect(await shown()).toMatchObject({ state: 'loaded', image_uuid: FITS, former_image_uuid: LATER })
})
