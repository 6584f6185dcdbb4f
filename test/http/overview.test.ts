/**
 * What operators look at first: counts, what waits for Nova, who is asking and what they may do; and the filters of
 * lists that go with it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApp } from '../../src/http/app.ts'
import { noauth } from '../../src/http/identity.ts'
import { silent } from '../../src/vocabulary/log.ts'
import { openWorkshop, speaker } from './cloud.ts'
import { as, expectRefusal } from './steps.ts'

type Shop = Awaited<ReturnType<typeof openWorkshop>>
let shop: Shop
/** Nova never answers: what it is to hear waits. */
const deaf = async () => Promise.reject(new Error('not reached'))
beforeAll(async () => void (shop = await openWorkshop({ parts: { nova: { post: deaf } as never }, hostWork: false })))
afterAll(() => shop.close())

/** Counts are kept for a second, or longer. */
const counted = async () => {
  const asked = Date.now()
  const answer = async () => (await shop.must(200, 'GET /v2/overview')).json
  await expect.poll(async () => Date.parse((await answer()).counted_at), { timeout: 20_000 }).toBeGreaterThan(asked)
  return answer()
}

describe('the overview', () => {
  test('counts by state, and leaves out what there is none of', async () => {
    const { arqs } = await shop.bound(1)
    await shop.newArqs(1)
    const { json: list } = await shop.must(200, 'GET /v2/accelerator_requests')
    const { arqs: states, handles, hosts, devices } = await counted()
    expect(states).toEqual({ Bound: 1, Initial: list.arqs.length - 1 })
    expect([handles.held, hosts, devices]).toEqual([1, { up: 1 }, { enabled: 2 }])
    expect(arqs).toHaveLength(1)
  })
  test('names what waits for Nova, and until when it is tried', async () => {
    const { arqs, instance } = await shop.bound(1)
    const { deliveries } = await counted()
    expect(deliveries.waiting).toBeGreaterThan(0)
    const { json } = await shop.must(200, 'GET /v2/deliveries')
    const mine = json.deliveries.find((each: { instance_uuid: string }) => each.instance_uuid === instance)
    expect(mine).toMatchObject({ hostname: 'node-7', statuses: { [arqs[0]!.uuid]: 'completed' } })
    expect(Date.parse(mine.until)).toBeGreaterThan(Date.parse(mine.next_at))
  })
  test('shows deliveries page by page', async () => {
    await shop.bound(1)
    const { json: first } = await shop.must(200, 'GET /v2/deliveries?limit=1')
    expect(first.deliveries_links).toHaveLength(1)
    const marker = first.deliveries[0].instance_uuid
    const { json: rest } = await shop.must(200, `GET /v2/deliveries?marker=${marker}`)
    // the order follows the tries, which go on meanwhile
    expect(rest.deliveries.map((each: { instance_uuid: string }) => each.instance_uuid)).not.toContain(marker)
    expect((await shop.say('GET /v2/deliveries?limit=501')).status).toBe(200)
  })
  test('says of the program what the program says of itself', async () => {
    const app = createApp({ control: shop.control, identify: noauth, log: silent, about: () => ({ store: 'memory' }) })
    expect((await speaker(app).must(200, 'GET /v2/overview')).json.program).toEqual({ store: 'memory' })
    expect((await shop.must(200, 'GET /v2/overview')).json.program).toEqual({})
  })
})

test('a caller learns who it is and what its roles allow', async () => {
  const { json } = await speaker(shop.app, as('reader')).must(200, 'GET /v2/permissions')
  expect([json.user_id, json.project_id]).toEqual(['u1', 'p1'])
  expect(json.permissions).toMatchObject({ 'cyborg:arq:get_all': true, 'cyborg:device:disable': false })
  const { json: all } = await shop.must(200, 'GET /v2/permissions')
  expect(Object.values(all.permissions)).not.toContain(false)
})

describe('filters', () => {
  test('requests of one state, and of one project among those that are visible', async () => {
    await shop.newArqs(1)
    await shop.bound(1)
    const states = async (query: string) =>
      new Set(
        (await shop.must(200, `GET /v2/accelerator_requests?${query}`)).json.arqs.map(
          (one: { state: string }) => one.state,
        ),
      )
    expect(await states('state=Bound')).toEqual(new Set(['Bound']))
    expect(await states('state=Initial')).toEqual(new Set(['Initial']))
    expect(await states('project_id=nobody')).toEqual(new Set())
    const foreign = speaker(shop.app, as('member', { 'X-Project-Id': 'p2' }))
    const { project_id: project } = (await shop.must(200, 'GET /v2/accelerator_requests?limit=1')).json.arqs[0]
    expect((await foreign.must(200, `GET /v2/accelerator_requests?project_id=${project}`)).json.arqs).toEqual([])
    expectRefusal(await shop.say('GET /v2/accelerator_requests?state=Lost'), 400)
  })
  test('hosts of one state', async () => {
    const names = async (state: string) => (await shop.must(200, `GET /v2/hosts?liveness=${state}`)).json.hosts.length
    expect([await names('up'), await names('down')]).toEqual([1, 0])
  })
})
