/** The pages of dead letters: what they show, what can be done, and what is shown of it afterwards. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deadLetterRecord } from '../../src/wire/message.ts'
import { SAME, type UiWorld, bury, consoleOf, createConsole, openUiWorld } from './world.ts'

let world: UiWorld
beforeAll(async () => {
  world = await openUiWorld(undefined, { hosts: ['compute-1'] })
})
afterAll(() => world.close())

const ask = async (place: string, { tokens = '' } = {}) => {
  const ui = createConsole(world, { tokens: tokens !== '' })
  const answer = await ui.request(`/ui/${place}`, { headers: { ...SAME, cookie: `accelerando-token=${tokens}` } })
  return { status: answer.status, headers: answer.headers, html: await answer.text() }
}
const act = (place: string, fields: Readonly<Record<string, string>>) =>
  createConsole(world).request(`/ui/${place}`, { method: 'POST', body: new URLSearchParams(fields), headers: SAME })
let offset = 0
const buried = (value?: string) => bury(world, ++offset, value)

test('the list shows the reason, where the message came from, its size, and leads to its page', async () => {
  const uuid = await buried()
  const { html } = await ask('letters')
  expect(html).toContain(`href="letters/${uuid}"`)
  expect(html).toContain('message: must be JSON')
  expect(html).toContain(`host.reports.v1, partition 3, offset ${offset}`)
  expect(html).toContain('7 bytes')
  expect((await ask('deliveries')).html).toContain('href="letters"')
})
test('the page shows the message as text with what is invisible written out, as hexadecimal, and as a file', async () => {
  const uuid = await buried('a\u202eb<i>\nä')
  const text = (await ask(`letters/${uuid}`)).html
  expect(text).toContain('a\\u{202E}b&lt;i>\nä')
  expect(/<pre.*<\/pre>/s.exec(text)![0]).not.toContain('\u202e')
  const hex = (await ask(`letters/${uuid}?form=hex`)).html
  expect(hex).toMatch(/00000000 {2}61 e2 80 ae 62 3c 69 3e 0a c3 a4 +a\.\.\.b&lt;i>\.\.\./)
  const file = await ask(`letters/${uuid}/bytes`)
  expect([file.status, file.html]).toEqual([200, 'a\u202eb<i>\nä'])
  expect(file.headers.get('content-disposition')).toBe(`attachment; filename="dead-letter-${uuid}"`)
  expect(file.headers.get('content-type')).toBe('application/octet-stream')
})
test('sent again with a reason: its page says by whom, and it is no longer in the list of open ones', async () => {
  const uuid = await buried()
  const question = (await ask(`letters/${uuid}/do/replay`)).html
  expect(question).toContain(`accelerando dead-letter replay ${uuid} --reason TEXT`)
  expect((await act(`letters/${uuid}/do/replay`, { reason: 'host mended' })).status).toBe(303)
  const page = (await ask(`letters/${uuid}`)).html
  expect(page).toMatch(/Sent again by [^<]+: host mended/)
  expect(page).toMatch(/<code>req-[0-9a-f-]{36}<\/code>/)
  expect((await ask('letters')).html).not.toContain(uuid)
  expect((await ask('letters?state=replayed')).html).toContain(uuid)
})
test('dropping needs the beginning of its UUID and a reason, and says what it does not do', async () => {
  const uuid = await buried()
  const place = `letters/${uuid}/do/drop`
  expect((await ask(place)).html).toContain('Nothing is removed')
  expect((await act(place, { reason: 'of a test', confirm: 'no' })).status).toBe(409)
  expect((await act(place, { reason: '', confirm: uuid.slice(0, 8) })).status).toBe(409)
  expect((await ask('letters')).html).toContain(uuid)
  expect((await act(place, { reason: 'of a test', confirm: uuid.slice(0, 8) })).status).toBe(303)
  expect((await ask('letters?state=dropped')).html).toContain(uuid)
  expect((await ask(place)).html).toContain('it was sent again or dropped already')
})
test('one that was not kept whole is marked, and cannot be sent again, with the reason', async () => {
  const uuid = await buried('x'.repeat(70_000))
  const { html } = await ask(`letters/${uuid}`)
  expect(html).toContain('It cannot be sent again: it was too long to be kept whole')
  expect(html).toContain('Only the beginning was kept')
  expect((await ask(`letters/${uuid}/do/replay`)).html).toContain('its message was not kept whole')
})
test('a fact cannot be sent again, and the page that asks says why', async () => {
  const id = 'arq.state.v1/0/1'
  const of = { topic: 'arq.state.v1', key: 'x', value: '{}', headers: {} }
  await world.bus.publish([deadLetterRecord(of, 'too long', { id, time: world.clock.now() })])
  const { dead_letters: letters } = (await world.must(200, 'GET /v2/dead_letters')).json
  const { uuid } = letters.find((letter: { topic: string }) => letter.topic === of.topic)
  const { html } = await ask(`letters/${uuid}/do/replay`)
  expect(html).toContain('neither a report nor an order of a host: facts and states are in the journal')
})
test('those who may not see them are told the rule, and nothing of the letters', async () => {
  const uuid = await buried()
  for (const place of ['letters', `letters/${uuid}`, `letters/${uuid}/bytes`]) {
    const { status, html } = await ask(place, { tokens: 'token-of-member' })
    expect([place, status]).toEqual([place, 403])
    expect(html).toContain('cyborg:dead_letter:get_')
    expect(html).not.toContain('must be JSON')
  }
})
test('an empty list says what that means, and a filter that nothing matches can be cleared', async () => {
  const empty = await openUiWorld(undefined, { hosts: [] })
  const page = async (place: string) => (await createConsole(empty).request(`/ui/${place}`)).text()
  expect(await page('letters')).toContain('There is no open dead letter')
  expect(await page('letters?topic=host.orders.v1')).toContain('Nothing matches this filter')
  await empty.close()
})
test('a topic that cannot be read is told with the reason', async () => {
  const detail = 'the dead letters cannot be read: Not authorized to access group'
  const fetch = async (request: Request) =>
    request.url.includes('dead_letters')
      ? new Response(JSON.stringify({ errors: [{ detail, code: 'accelerator.unavailable' }] }), { status: 503 })
      : new Response('{}', { status: 404 })
  const answer = await consoleOf(fetch).request('/ui/letters')
  expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining(detail)])
})
