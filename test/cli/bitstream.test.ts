/** `accelerando bitstream preload` and `show`, against an API that answers as told. */
import { type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { commandHere } from '../support/commandHere.ts'

const CARD = '5eed0000-0000-4000-8000-000000000001'
const IMAGE = '9a2b44c1-6f5e-4a55-8e5f-0c1d2e3f4a5b'

let status: number
let sent: unknown
let answer: object
let server: Server
let api: string
beforeEach(async () => {
  answer = { uuid: CARD, name: 'card', bitstream_id: IMAGE }
  server = createServer((request, response) => {
    void text(request).then((body) => {
      sent = body === '' ? null : JSON.parse(body)
      response.writeHead(status).end(JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  api = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`
})
afterEach(() => server.close())
const preload = (image: string) => commandHere(['bitstream', 'preload', CARD, '--image', image, '--api', api])

test.each([IMAGE, IMAGE.toUpperCase(), `urn:uuid:${IMAGE}`])('an image that is loaded ends well: %s', async (image) => {
  status = 200
  expect(await preload(image)).toMatchObject({ code: 0, err: '' })
  expect(sent).toEqual([{ op: 'replace', path: '/program', value: [{ image_uuid: image }] }])
})

test('an image that is recorded already and still being loaded again is said to be loading', async () => {
  status = 202
  const { code, err } = await preload(IMAGE)
  expect(code).toBe(6)
  expect(err).toContain(`image ${IMAGE} is still being loaded`)
  expect(err).toContain(`accelerando bitstream show ${CARD}`)
})

test('the driver of the loaded image is shown, and how many images that fit are left out', async () => {
  status = 200
  const image = { name: 'aes', digest: null, driver: 'SDX', driver_ver: '1.0', driver_path: '/opt/sdx' }
  const images = [{ uuid: IMAGE, name: null }]
  answer = { deployable_uuid: CARD, image, image_problem: null, arqs: [], images, images_left_out: 112 }
  const { out } = await commandHere(['bitstream', 'show', CARD, '--api', api])
  expect(out).toMatch(/its driver +SDX 1\.0 \/opt\/sdx/)
  expect(out).toContain(`${IMAGE}, and 112 more`)
})
test('what is wrong with an image is said with its code', async () => {
  status = 409
  const detail = 'nothing was programmed: image_corrupt: the bytes of image x do not match its digest'
  answer = { errors: [{ status, code: 'accelerator.conflict', title: 'Conflict', detail }] }
  const { code, err } = await preload(IMAGE)
  expect(code).toBe(5)
  expect(err).toContain(detail)
})

test('an image of the store that has no name is called the image', async () => {
  status = 200
  answer = { deployable_uuid: CARD, image: { name: null, digest: null }, image_problem: null, arqs: [], images: [] }
  const { code, out } = await commandHere(['bitstream', 'show', CARD, '--api', api])
  expect(code).toBe(0)
  expect(out).toContain('it has the image, without a digest')
})
