/** Asking a host for a report from the console: the question, its answer, and what is shown while there is none. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SAME, type UiWorld, consoleOf, createConsole, openUiWorld } from './world.ts'

let world: UiWorld
const boot = randomUUID()
const reports = (more: object = {}) =>
  world.report(
    'compute-9',
    [
      { driver: 'd1', status: 'ok', devices: [] },
      { driver: 'd2', status: 'failed', error: 'link down' },
    ],
    boot,
    { bootNumber: 1, ...more },
  )
beforeAll(async () => {
  world = await openUiWorld(undefined, { hosts: ['compute-1'] })
  await reports()
})
afterAll(() => world.close())

const PLACE = 'hosts/compute-9/do/probe'
const page = async (place: string, tokens = '') =>
  (
    await createConsole(world, { tokens: tokens !== '' }).request(`/ui/${place}`, {
      headers: { cookie: `accelerando-token=${tokens}` },
    })
  ).text()
const post = (ui: ReturnType<typeof consoleOf>) =>
  ui.request(`/ui/${PLACE}`, { method: 'POST', body: new URLSearchParams(), headers: SAME })

test('the question shows the equal command; the page of the host then shows what it reported', async () => {
  expect(await page('hosts/compute-9')).not.toContain('Last question for a report')
  expect(await page(PLACE)).toContain('accelerando host probe compute-9')
  const asking = post(createConsole(world))
  await expect.poll(() => world.questions.at(-1)?.host).toBe('compute-9')
  await reports({ slots: { prepared: [], answers: world.questions.at(-1)!.id } })
  const answer = await asking
  expect([answer.status, answer.headers.get('location')]).toEqual([
    303,
    '../../../hosts/compute-9?done=probe&ended=answered',
  ])
  const html = await page('hosts/compute-9?done=probe&ended=answered')
  expect(html).toMatch(/class="done".*The host has answered/)
  expect(html).toContain('Last question for a report')
  expect(html).toMatch(/<dt>Drivers that failed<\/dt><dd>d2<\/dd>/)
})
test('a host that was asked a moment ago is not asked again, and the reason is shown', async () => {
  const again = await post(createConsole(world))
  expect([again.status, await again.text()]).toEqual([
    409,
    expect.stringContaining('and is asked once in 10 s at most'),
  ])
})
test('a host that has not answered is said to be silent, and since when', async () => {
  const fetch = async (request: Request) => {
    const { json } = await world.must(200, 'GET /v2/hosts/compute-9')
    const asked = { ...json, probe: { ...json.probe, answer: null } }
    if (request.method === 'POST') return Response.json(asked, { status: 202 })
    return request.url.endsWith('/hosts/compute-9') ? Response.json(asked) : new Response('{}', { status: 404 })
  }
  const answer = await post(consoleOf(fetch))
  expect(answer.headers.get('location')).toBe('../../../hosts/compute-9?done=probe&ended=silent')
  const html = await (await consoleOf(fetch).request('/ui/hosts/compute-9?done=probe&ended=silent')).text()
  expect(html).toContain('the host has not answered yet')
  expect(html).toMatch(/<dt>Silent since<\/dt><dd><time/)
})
test('those who may not ask are told the rule', async () => {
  expect(await page(PLACE, 'token-of-member')).toContain('your roles do not allow cyborg:host:probe')
})
