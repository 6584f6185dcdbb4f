/** The repair of drift from the console, over a Placement in memory: first what would be repaired, then the repair. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { placementInMemory } from '../support/placement.ts'
import { type UiWorld, createConsole, openUiWorld } from './world.ts'

const { placement, ask } = placementInMemory()
let world: UiWorld
beforeAll(async () => {
  world = await openUiWorld(undefined, { placement, hosts: ['compute-1'] })
  ask('POST', '/resource_providers', { uuid: randomUUID(), name: 'compute-1' })
})
afterAll(() => world.close())

const PLACE = 'drift/compute-1/do/repair'
const pageOf = async (place: string, tokens = ''): Promise<string> => {
  const ui = createConsole(world, { tokens: tokens !== '' })
  return (await ui.request(`/ui/${place}`, { headers: { cookie: `accelerando-token=${tokens}` } })).text()
}
const providers = () =>
  (ask('GET', '/resource_providers') as { readonly resource_providers: readonly object[] }).resource_providers.length

test('is offered where something can be repaired, shows what it would do, and changes nothing before it is told to', async () => {
  expect(await pageOf('drift')).toContain(`href="${PLACE}"`)
  const asked = await pageOf(PLACE)
  expect(asked).toContain('What would be repaired')
  expect(asked).toContain('Placement shows it otherwise')
  expect(asked).toContain('accelerando drift heal --host compute-1 --apply')
  expect(providers()).toBe(1)
})
test('is not offered to those who may not', async () => {
  expect(await pageOf(PLACE, 'token-of-member')).toContain('your roles do not allow cyborg:drift:heal')
})
test('makes Placement agree, and is not offered any more then', async () => {
  const answer = await createConsole(world).request(`/ui/${PLACE}`, {
    method: 'POST',
    body: new URLSearchParams(),
    headers: { 'sec-fetch-site': 'same-origin' },
  })
  expect([answer.status, answer.headers.get('location')]).toEqual([
    303,
    expect.stringMatching(/^\.\.\/\.\.\/\.\.\/drift\?done=repair&request=req-/),
  ])
  expect(providers()).toBeGreaterThan(1)
  expect(await pageOf('drift')).toContain('Everything agrees')
  expect(await pageOf(PLACE)).toContain('nothing of it can be repaired here')
})
