/** How much there is and what is loaded, over HTTP: by the rights of who reads the inventory, and as it is recorded. */
import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { anyImage, openWorkshop, speaker } from './cloud.ts'
import { as, expectRefusal } from './steps.ts'
import { until } from '../support/lab.ts'

const program = (image: string) => ({ body: [{ op: 'replace', path: '/program', value: [{ image_uuid: image }] }] })
let shop: Awaited<ReturnType<typeof openWorkshop>>
afterEach(() => shop.close())

describe('the capacity', () => {
  test('is counted by class and traits, in all and on each host, and can be narrowed', async () => {
    shop = await openWorkshop()
    const { json } = await shop.must(200, 'GET /v2/capacity')
    const amounts = { total: 4, held: 0, free: 4, withheld: 0, broken: 0 }
    const fpga = json.capacity.find((line: { resource_class: string }) => line.resource_class === 'FPGA')
    expect(fpga).toMatchObject({ ...amounts, hosts: [{ host: 'sim-1', ...amounts }] })
    const classes = async (query: string) =>
      (await shop.must(200, `GET /v2/capacity?${query}`)).json.capacity.map(
        (line: { resource_class: string }) => line.resource_class,
      )
    expect(await classes('resource_class=PGPU')).toEqual(['PGPU'])
    expect(await classes(`trait=${fpga.traits[0]}`)).toEqual(['FPGA'])
    expect(await classes('trait=CUSTOM_NOBODY_HAS_IT')).toEqual([])
  })
  test('is shown to those who may read devices', async () => {
    shop = await openWorkshop()
    expectRefusal(await speaker(shop.app, as('reader')).say('GET /v2/capacity'), 403)
    expectRefusal(await speaker(shop.app, as('reader')).say('GET /v2/programs'), 403)
  })
})

describe('programming is listed', () => {
  test('as empty, then running, then failed with the reason, then loaded', async () => {
    shop = await openWorkshop({ parts: { images: anyImage }, answering: 'when told' })
    const listed = async () => (await shop.must(200, 'GET /v2/programs')).json.programs
    const own = { deployable_uuid: shop.fpga.uuid, hostname: 'sim-1', programmable: true }
    expect(await listed()).toMatchObject([{ ...own, state: 'empty', image_uuid: null, since: null, reason: null }])
    const attempt = async (image: string, result: Parameters<typeof shop.answer>[1]) => {
      const before = shop.orders.length
      const asked = shop.say(`PATCH /v2/deployables/${shop.fpga.uuid}/program`, program(image))
      await until(() => shop.orders.length > before)
      expect(await listed()).toMatchObject([{ state: 'running', image_uuid: image, since: expect.any(String) }])
      await shop.answer(shop.orders.at(-1)!, result)
      await asked
    }
    await attempt(randomUUID(), { status: 'failed', reason: 'the card rejects it', final: true })
    expect(await listed()).toMatchObject([{ state: 'failed', image_uuid: null, reason: 'the card rejects it' }])
    const image = randomUUID()
    await attempt(image, { status: 'done', bitstreamId: image })
    expect(await listed()).toMatchObject([{ state: 'loaded', image_uuid: image, reason: null }])
  })
})
