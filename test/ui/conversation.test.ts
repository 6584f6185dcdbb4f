/** The bind conversation of an instance: its members, its deadline, what Nova is told of it and answers for each. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Nova } from '../../src/actors/neighbours.ts'
import { bindBody } from '../http/cloud.ts'
import { service } from '../http/steps.ts'
import { type UiWorld, createConsole, openUiWorld, wordsOf } from './world.ts'

let world: UiWorld
const nova: Nova = {
  notify: async (events) =>
    events.map(({ tag }, at) =>
      at === 0 ? { tag, outcome: 'delivered', code: 200 } : { tag, outcome: 'refused', code: 400, note: 'malformed' },
    ),
}
beforeAll(async () => {
  world = await openUiWorld(undefined, { nova })
  const groups = [{ 'resources:FPGA': '2' }]
  await world.must(201, 'POST /v2/device_profiles', { body: [{ name: 'two', groups }] })
})
afterAll(() => world.close())
const begun = async () => {
  const { json } = await world.must(201, 'POST /v2/accelerator_requests', { body: { device_profile_name: 'two' } })
  const instance = randomUUID()
  const body = bindBody(json.arqs, world.fpga.rp_uuid, instance, 'compute-1')
  await world.must(202, 'PATCH /v2/accelerator_requests', { body, headers: service })
  await world.pump()
  const orders = json.arqs.map(({ uuid }: { uuid: string }) =>
    world.orders.find((order) => order.type === 'PrepareSlot' && order.arq === uuid),
  )
  return { instance, orders }
}
const shown = async (instance: string): Promise<string> => {
  const html = await (await createConsole(world).request(`/ui/instances/${instance}`)).text()
  return wordsOf(html)
}
test('the page of an instance shows how far a bind of two requests is, and then what Nova answered for each', async () => {
  const { instance, orders } = await begun()
  await world.answer(orders[0])
  const open = await shown(instance)
  expect(open).toMatch(/1 of 2.requests prepared; the bind fails if the rest is not, in \d/)
  expect(open).toMatch(/waited for on compute-1/)
  expect(open).toContain('Told to Nova when it has ended')
  await world.answer(orders[1])
  await expect.poll(() => shown(instance)).toContain('1 answer so far')
  const page = await shown(instance)
  expect(page).toMatch(/All of 2.requests bound after/)
  expect(page).toMatch(/ready on compute-1 after .* completed taken/)
  expect(page).toMatch(/completed refused/)
})
test('the page of a bind that failed says why first', async () => {
  const { instance, orders } = await begun()
  await world.answer(orders[1], { status: 'failed', reason: 'the card did not answer', final: true })
  const page = await shown(instance)
  expect(page).toMatch(/The bind of 2.requests failed after .*: the card did not answer\./)
  expect(page).toContain('not ready on compute-1')
})
test('the page of an instance whose requests nobody has bound', async () => {
  expect(await shown(randomUUID())).toContain('No accelerator request belongs to this instance')
})
