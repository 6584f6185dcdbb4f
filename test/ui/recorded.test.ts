/** The page after an action shows what the action has recorded, and what hosts have answered to it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { handClock, until } from '../support/lab.ts'
import { SAME, type UiWorld, apiOf, consoleOf, createConsole, openUiWorld, wordsOf } from './world.ts'

let world: UiWorld
beforeAll(async () => {
  world = await openUiWorld()
  await world.newProfile('fpga-small')
})
afterAll(() => world.close())

type Ui = ReturnType<typeof consoleOf>
type Fields = Readonly<Record<string, string>>
const hiddenIn = (html: string): Fields =>
  Object.fromEntries(
    [...html.matchAll(/name="(command|since|sent)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  )
const formOf = async (ui: Ui, place: string): Promise<Fields> =>
  hiddenIn(await (await ui.request(`/ui/${place}`)).text())
/** The address of the page after the action, from the root of the console. */
const sent = async (ui: Ui, place: string, fields: Fields): Promise<string> => {
  const answer = await ui.request(`/ui/${place}`, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: SAME,
  })
  expect(answer.status).toBe(303)
  return answer.headers.get('location')!.replace('../../../', '')
}
const pageOf = async (ui: Ui, place: string): Promise<string> => (await ui.request(`/ui/${place}`)).text()
/** As a browser renews the page: without waiting for anything. */
type Done = { readonly text: string; readonly recorded?: { readonly events: unknown; readonly follow: string } } | null
const doneAt = async (ui: Ui, place: string): Promise<Done> => {
  const answer = await ui.request(`/ui/${place}`, { headers: { accept: 'application/json' } })
  return ((await answer.json()) as { done: Done }).done
}
const cardOf = async (): Promise<string> =>
  (await world.must(200, 'GET /v2/devices?hostname=compute-1&type=FPGA')).json.devices[0].uuid
const switched = async (ui: Ui, name: 'disable' | 'enable') => {
  const place = `devices/${await cardOf()}/do/${name}`
  return sent(ui, place, await formOf(ui, place))
}
/** An action that its host has to carry out, and the order to the host. */
const forced = async (ui: Ui) => {
  const { uuid } = await world.bound('fpga-small')
  const place = `arqs/${uuid}/do/force-unbind`
  const form = await formOf(ui, place)
  const page = await sent(ui, place, { ...form, reason: 'gone', confirm: uuid.slice(0, 8) })
  await until(() => world.orders.at(-1)?.type === 'ReleaseSlot', 'the order')
  return { page, order: world.orders.at(-1)! }
}

test('shows each recorded event: its type, its entity, its time, what it changed, and its position', async () => {
  const ui = createConsole(world)
  const html = await pageOf(ui, await switched(ui, 'disable'))
  const card = await cardOf()
  expect(wordsOf(html)).toMatch(/Disable: recorded under req-[0-9a-f-]{36}\. /)
  const [device] = [...html.matchAll(/<tr>.*?<\/tr>/gs)].map(([row]) => row).filter((row) => row.includes(card))
  expect(device).toContain('StatusSet')
  expect(wordsOf(device!)).toMatch(/device .* \{&quot;status&quot;:&quot;maintaining&quot;\}/)
  expect(device).toMatch(/<time datetime="20\d\d-/)
  expect(device).toMatch(/href="events\?after=[\d.]+-\d+-[0-9a-f]{12}"/)
  // the parts of the device in the same append
  expect(html.match(/StatusSet/g)!.length).toBeGreaterThan(1)
  expect(html).toMatch(/href="events\?after=[^"]+&amp;request=req-/)
})
test('a form that is sent twice shows the same events each time, whatever was recorded between', async () => {
  const ui = createConsole(world)
  const place = `devices/${await cardOf()}/do/enable`
  const form = await formOf(ui, place)
  const first = await sent(ui, place, form)
  await world.newProfile('between')
  const again = await sent(ui, place, form)
  const events = async (page: string) => (await doneAt(ui, page))?.recorded?.events
  const shown = await events(first)
  expect(shown).toMatchObject({
    ok: true,
    value: expect.arrayContaining([expect.objectContaining({ kind: 'device' })]),
  })
  expect(await events(again)).toEqual(shown)
})
test('an action that recorded nothing is not said to have recorded something', async () => {
  const ui = createConsole(world)
  // it is enabled already: the API accepts that, and nothing happens
  const done = await doneAt(ui, await switched(ui, 'enable'))
  expect(done).toMatchObject({ tone: 'busy', recorded: { events: { ok: true, value: [] }, follow: null } })
  expect(done!.text).toContain('no event of it can be read so far')
})
test('while its host has not answered, the page says so and links to where the answer will appear', async () => {
  const ui = createConsole(world)
  const { page, order } = await forced(ui)
  const done = await doneAt(ui, page)
  expect(done).toMatchObject({ tone: 'busy', text: expect.stringMatching(/; host compute-1 has not answered yet\.$/) })
  expect(done!.recorded!.follow).toMatch(new RegExp(`^events\\?after=[^&]+&subject=${order.deployableUuid}$`))
  await world.answer(order)
  expect(await doneAt(ui, page)).toMatchObject({
    tone: 'good',
    text: expect.stringMatching(/, and host compute-1 has answered\.$/),
    recorded: { follow: null },
  })
  expect(await pageOf(ui, page)).toContain('OrderDone')
})
test('what the host answers within a short time is waited for', async () => {
  const ui = createConsole(world)
  const { page, order } = await forced(ui)
  const answer = pageOf(ui, page)
  await world.answer(order)
  expect(wordsOf(await answer)).toContain('and host compute-1 has answered.')
})
test('no longer than a few seconds', async () => {
  const { page } = await forced(createConsole(world))
  const clock = handClock()
  const answer = pageOf(consoleOf(apiOf(world), null, { clock }), page)
  let html: string | null = null
  void answer.then((text) => (html = text))
  await clock.pass(2900)
  expect(html).toBe(null)
  await clock.pass(400)
  expect(wordsOf(await answer)).toContain('host compute-1 has not answered yet.')
})
test('a host that could not do it is quoted', async () => {
  const ui = createConsole(world)
  const { page, order } = await forced(ui)
  await world.answer(order, { status: 'failed', reason: 'the card is held by another program', final: true })
  expect(await doneAt(ui, page)).toMatchObject({
    tone: 'bad',
    text: expect.stringContaining('host compute-1 answered: the card is held by another program'),
  })
})
test('who may not read events is told what is known, and why not more', async () => {
  const api = apiOf(world)
  const forbidden = { errors: [{ status: 403, title: 'x', code: 'x', detail: 'cyborg:event:get_all is not allowed' }] }
  const closed = consoleOf((request) =>
    new URL(request.url).pathname === '/v2/events' ? Response.json(forbidden, { status: 403 }) : api(request),
  )
  const page = await switched(closed, 'disable')
  expect(page).not.toContain('since=')
  expect(wordsOf(await pageOf(closed, page))).toMatch(
    /Disable: recorded under req-[0-9a-f-]{36}\. Events of this action/,
  )
  const done = await pageOf(closed, `${page}&since=0`)
  expect(wordsOf(done)).toContain('You may not see this')
  expect(done).toContain('cyborg:event:get_all')
})
test('an address that names no request, or a place that is none, shows no events', async () => {
  const ui = createConsole(world)
  const card = `devices/${await cardOf()}`
  expect(await doneAt(ui, `${card}?done=disable&request=anything`)).toBe(null)
  const done = await doneAt(
    ui,
    `${card}?done=disable&request=req-${'0'.repeat(8)}-0000-4000-8000-000000000000&since=%2F`,
  )
  expect(done?.recorded).toMatchObject({ events: null })
})
