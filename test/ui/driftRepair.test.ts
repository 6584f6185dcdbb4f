/** The repair of drift from the console, over a Placement in memory: first what would be repaired, then the repair. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { placementInMemory } from '../support/placement.ts'
import { handClock } from '../support/lab.ts'
import { SAME, type UiWorld, apiOf, consoleOf, createConsole, openUiWorld } from './world.ts'

const { placement, ask } = placementInMemory()
let world: UiWorld
beforeAll(async () => {
  // no time passes, so that nothing but the console repairs
  const clock = handClock()
  world = await openUiWorld({ clock, pass: clock.pass }, { placement, hosts: ['compute-1'] })
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
const repair = (ui: ReturnType<typeof consoleOf>) =>
  ui.request(`/ui/${PLACE}`, { method: 'POST', body: new URLSearchParams(), headers: SAME })
/** The real API, which answers a repair as it is told to. */
const answering = (answer: () => Promise<Response>) => {
  const api = apiOf(world)
  const clock = handClock()
  const fetch = (request: Request) =>
    request.url.includes('/drift/heal') && request.url.includes('dry_run=false') ? answer() : api(request)
  return { clock, ui: consoleOf(fetch, null, { clock }) }
}
const healed = (outcome: string) =>
  Response.json({ dry_run: false, drift: [], next: null, healed: [{ host: 'compute-1', outcome, left: null }] })

test('that left something says so, under no request, on a page of what is left', async () => {
  const answer = await repair(answering(async () => healed('left')).ui)
  const place = answer.headers.get('location')!
  expect([answer.status, place]).toEqual([303, '../../../drift?host=compute-1&done=repair&ended=left'])
  const page = await pageOf(place.replace('../../../', ''))
  expect(page).toMatch(/class="done".*Not everything is repaired/)
  expect(page).toContain('Differences of compute-1')
  expect(page).toContain('Only host compute-1 is shown')
  expect(page).not.toContain('Repaired: ')
})
test('that another control kept from its host did nothing, and can be tried again', async () => {
  const answer = await repair(answering(async () => healed('busy')).ui)
  const page = await answer.text()
  expect([answer.status, page.includes('Nothing was repaired: another control works on this host')]).toEqual([
    409,
    true,
  ])
  expect(page).toContain('<button type="submit"')
})
test('of which the API does not say what came of it is not believed', async () => {
  for (const response of [Response.json({}), Response.json({ healed: [] }), healed('done')]) {
    const answer = await repair(answering(async () => response).ui)
    expect([answer.status, await answer.text()]).toEqual([409, expect.not.stringContaining('class="done"')])
  }
})
test('is waited for longer than other answers', async () => {
  const repaired = Promise.withResolvers<Response>()
  const asked = Promise.withResolvers<void>()
  const { ui, clock } = answering(() => {
    asked.resolve()
    return repaired.promise
  })
  const answer = repair(ui)
  await asked.promise
  await clock.pass(30_000)
  repaired.resolve(healed('in_step'))
  expect((await answer).status).toBe(303)
})
test('makes Placement agree, says so, and is not offered any more then', async () => {
  const answer = await repair(createConsole(world))
  const place = answer.headers.get('location')!
  expect([answer.status, place]).toEqual([303, '../../../drift?done=repair&ended=in_step'])
  expect(providers()).toBeGreaterThan(1)
  const page = await pageOf(place.replace('../../../', ''))
  expect(page).toContain('Everything agrees')
  expect(page).toMatch(/class="done".*Repaired: nothing of the host differs now/)
  expect(await pageOf('drift?done=repair&ended=elsewhere')).not.toContain('class="done"')
  expect(await pageOf(PLACE)).toContain('nothing of it can be repaired here')
})
