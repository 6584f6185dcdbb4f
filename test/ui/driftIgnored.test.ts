/** A difference is ignored, and no longer ignored, from the console: over the real API and a Placement in memory. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Placement } from '../../src/actors/placement/port.ts'
import { placementInMemory } from '../support/placement.ts'
import { handClock } from '../support/lab.ts'
import { SAME, type UiWorld, createConsole, openUiWorld } from './world.ts'

const DAY_MS = 86_400_000
const { placement: working, ask } = placementInMemory()
let isSilent = false
const placement: Placement = {
  ...working,
  tree: async (root) =>
    isSilent ? { ok: false, error: 'unanswered', reason: 'no answer in time' } : working.tree(root),
}
const clock = handClock()
let world: UiWorld
let uuid: string
beforeAll(async () => {
  world = await openUiWorld({ clock, pass: clock.pass }, { placement, hosts: ['compute-1'] })
  ask('POST', '/resource_providers', { uuid: randomUUID(), name: 'compute-1' })
  const { must } = world
  await must(200, 'POST /v2/drift/heal?dry_run=false')
  const [handle] = (await must(200, 'GET /v2/handles?state=free&hostname=compute-1')).json.handles
  await must(200, `POST /v2/handles/${handle.uuid}/quarantine`, { body: { reason: 'ECC errors' } })
  await must(200, 'POST /v2/drift/heal?dry_run=false')
  const { drift } = (await must(200, 'GET /v2/drift')).json
  ;[{ uuid }] = drift[0].entries
})
afterAll(() => world.close())

const pageOf = async (place: string, token = ''): Promise<string> => {
  const ui = createConsole(world, { tokens: token !== '' })
  return (await ui.request(`/ui/${place}`, { headers: { cookie: `accelerando-token=${token}` } })).text()
}
const send = async (place: string, fields: Readonly<Record<string, string>>) => {
  const init = { method: 'POST', body: new URLSearchParams(fields), headers: SAME }
  const answer = await createConsole(world).request(`/ui/${place}`, init)
  return { status: answer.status, to: answer.headers.get('location'), html: await answer.text() }
}
const ignoring = () => `differences/${uuid}.compute-1/do/ignore`
const ending = () => `ignored/${uuid}/do/unignore`
const day = (ms: number) => new Date(clock.now() + ms).toISOString().slice(0, 10)
const wish = (more = {}) => ({
  host: 'compute-1',
  difference: uuid,
  until: day(7 * DAY_MS),
  reason: 'the vendor comes',
  ...more,
})

test('the page about drift offers it for what no pass repairs, and the form says what it is about', async () => {
  const drift = await pageOf('drift')
  expect(drift).toContain(`href="${ignoring()}"`)
  const form = await pageOf(ignoring())
  expect(form).toContain('hardware and records differ')
  expect(form).toContain('1 of its attach handles are in quarantine')
  expect(form).toContain(`accelerando drift ignore ${uuid} --host compute-1 --until DAY --reason TEXT`)
  expect(form).toMatch(/<input name="until"[^>]*type="date"/)
})
test('it is not offered to those who may not, nor for what is not there', async () => {
  expect(await pageOf(ignoring(), 'token-of-member')).toContain('your roles do not allow cyborg:drift:ignore')
  expect(await pageOf(`differences/${randomUUID()}.compute-1/do/ignore`)).toContain('it is not there any more')
  expect(await pageOf('ignored/x/do/unignore')).toContain('it is not ignored')
})
test('a host that cannot be compared is not said to show it no more, and the page says why', async () => {
  isSilent = true
  const form = await pageOf(`differences/${randomUUID()}.compute-1/do/ignore`)
  isSilent = false
  expect(form).toContain('cannot be compared now')
  expect(form).toContain('unreachable: no answer in time')
  expect(form).not.toContain('it is not there any more')
})
test.each([
  ['no day', { until: '' }, 'until'],
  ['a day too far ahead', { until: day(200 * DAY_MS) }, 'within 90 days'],
  ['a day that is over', { until: day(-DAY_MS) }, 'in the future'],
  ['no reason', { reason: '' }, 'reason'],
])('%s is refused with the field and the rule, and nothing is ignored', async (_, more, said) => {
  const { status, html } = await send(ignoring(), wish(more))
  expect([status, html]).toEqual([409, expect.stringContaining(said)])
  expect((await world.must(200, 'GET /v2/drift/ignored')).json.ignored).toEqual([])
})
test('what is ignored is shown apart with its reason and its end, and the page says that all else agrees', async () => {
  const { status, to } = await send(ignoring(), wish())
  expect([status, to]).toEqual([303, expect.stringMatching(/^\.\.\/\.\.\/\.\.\/drift\?done=ignore&request=req-/)])
  const page = await pageOf(to!.replace('../../../', ''))
  expect(page).toMatch(/class="done".*Ignore: recorded under req-/)
  expect(page).toContain('Everything else agrees')
  expect(page).toContain('the vendor comes')
  expect(page).toContain(`href="${ending()}"`)
  expect(page).not.toContain(`href="${ignoring()}"`)
})
test('it is ignored no longer when somebody says so, with a reason', async () => {
  expect(await pageOf(ending())).toContain('the vendor comes')
  expect((await send(ending(), { reason: 'they came' })).status).toBe(303)
  const page = await pageOf('drift')
  expect(page).toContain(`href="${ignoring()}"`)
  expect(page).not.toContain('Ignored differences')
  expect(await pageOf(ending())).toContain('it is not ignored')
})
