/** Forms of the console that are sent again, sent after an edit, or hold more than there may be. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SAME, type UiWorld, apiOf, consoleOf, createConsole, openUiWorld } from './world.ts'

let world: UiWorld
beforeAll(async () => {
  world = await openUiWorld()
})
afterAll(() => world.close())

type Fields = Readonly<Record<string, string>>
const send = async (ui: ReturnType<typeof consoleOf>, place: string, fields: Fields) => {
  const answer = await ui.request(`/ui/${place}`, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: SAME,
  })
  return { status: answer.status, html: await answer.text() }
}
/** The hidden fields of a form, by which it is known again. */
const hiddenIn = (html: string): Fields =>
  Object.fromEntries(
    [...html.matchAll(/name="(command|sent)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  )

const CREATE = 'profiles/new/do/create'
const GROUPS = '[{"resources:FPGA": "1"}]'
/** The API carries out each change; its answers to them are lost while `lost`. `keys`: those of the changes. */
const losing = () => {
  const api = apiOf(world)
  const state = { lost: true, keys: [] as (string | null)[] }
  const fetch = async (request: Request): Promise<Response> => {
    const answer = await api(request)
    if (request.method === 'GET') return answer
    state.keys.push(request.headers.get('idempotency-key'))
    return state.lost ? new Response('{}', { status: 503 }) : answer
  }
  return { state, ui: consoleOf(fetch) }
}
const formOf = async (ui: ReturnType<typeof consoleOf>) => hiddenIn(await (await ui.request(`/ui/${CREATE}`)).text())
const profiles = async (): Promise<readonly string[]> =>
  (await world.must(200, 'GET /v2/device_profiles')).json.device_profiles.map(({ name }: { name: string }) => name)

test('a form that is sent again as it was is the same command, and one that was edited is another', async () => {
  const { ui, state } = losing()
  const first = await formOf(ui)
  const values = { name: 'one', groups: GROUPS.replace(' ', '\r\n') }
  const late = await send(ui, CREATE, { ...first, ...values })
  expect(late.status).toBe(409)
  const again = await send(ui, CREATE, { ...hiddenIn(late.html), ...values })
  expect(state.keys).toEqual([state.keys[0], state.keys[0]])
  state.lost = false
  const edited = { ...hiddenIn(again.html), ...values, name: 'another' }
  expect(await send(ui, CREATE, edited)).toMatchObject({ status: 303, html: '' })
  expect(await profiles()).toEqual(['one', 'another'])
  // a double click on the edited form
  expect((await send(ui, CREATE, edited)).status).toBe(303)
  expect(state.keys[2]).not.toBe(state.keys[0])
  expect(state.keys[3]).toBe(state.keys[2])
})
test('the first form, which the browser shows again by its button for going back, is another command after an edit', async () => {
  const { ui, state } = losing()
  const first = await formOf(ui)
  await send(ui, CREATE, { ...first, name: 'three', groups: GROUPS })
  state.lost = false
  expect((await send(ui, CREATE, { ...first, name: 'four', groups: GROUPS })).status).toBe(303)
  expect(await profiles()).toEqual(expect.arrayContaining(['three', 'four']))
  expect(new Set(state.keys).size).toBe(2)
})
test('values that are typed a third time, after others, are not those of the first time', async () => {
  const { ui, state } = losing()
  let form = await formOf(ui)
  for (const name of ['a', 'b', 'a']) form = hiddenIn((await send(ui, CREATE, { ...form, name, groups: GROUPS })).html)
  expect(new Set(state.keys).size).toBe(3)
})

const MAX = 30_000
/** JSON of that many characters, of which each line has only one. */
const groupsOf = (length: number) => GROUPS.replace('}', `${'\r\n'.repeat(length - GROUPS.length)}}`)
test('groups may be as long as the form says, however long they are when they are sent', async () => {
  const ui = createConsole(world)
  expect((await send(ui, CREATE, { name: 'long', groups: groupsOf(MAX) })).status).toBe(303)
})
test('what is longer is refused with the rule, and shown as it was typed', async () => {
  const ui = createConsole(world)
  const { status, html } = await send(ui, CREATE, { name: 'longer', groups: groupsOf(MAX + 1) })
  expect(status).toBe(409)
  expect(html).toContain('Nothing was done. Groups: at most 30000 characters; these are 30001.')
  expect(/<textarea[^>]*>([^<]*)</.exec(html)![1]!.replaceAll('&quot;', '"')).toHaveLength(MAX + 1)
  const named = await send(ui, CREATE, { name: 'n'.repeat(256), groups: GROUPS })
  expect([named.status, named.html]).toEqual([409, expect.stringContaining('Name: at most 255 characters')])
})
test('other forms stay small', async () => {
  expect((await send(createConsole(world, { tokens: true }), 'sign-in', { user: 'u'.repeat(40_000) })).status).toBe(413)
})
