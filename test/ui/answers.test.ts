/** Usage and events over the real API: the same lines on the page and in the file, and events after any id. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type UiWorld, consoleOf, createConsole, lived, openUiWorld } from './world.ts'

let world: UiWorld
beforeAll(async () => {
  world = await openUiWorld()
  await lived(world)
})
afterAll(() => world.close())

const pageOf = async (place: string) => (await createConsole(world).request(`/ui/${place}`)).text()
const screenOf = async (place: string) => {
  const answer = await createConsole(world).request(`/ui/${place}`, { headers: { accept: 'application/json' } })
  return (await answer.json()) as { readonly body: Readonly<Record<string, unknown>> }
}
test('usage: the same lines on the page and in the file', async () => {
  const { usage } = (await screenOf('usage')).body as { usage: { value: { usage: readonly object[] } } }
  const answer = await createConsole(world).request('/ui/usage.csv')
  const [head, ...lines] = (await answer.text()).trimEnd().split('\r\n')
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(head).toBe('project_id,resource_class,from,until,device_seconds,bindings')
  expect(lines).toHaveLength(usage.value.usage.length)
  expect(lines[0]).toMatch(/,FPGA,/)
  expect(await pageOf('usage?period=day')).toContain('href="usage.csv?period=day"')
  expect((await createConsole(world).request('/ui/usage.csv?from=never')).status).toBe(409)
})

describe('events', () => {
  type Events = {
    readonly value: { readonly lines: readonly { id: string; type: string; kind: string }[]; next: string }
  }
  const eventsOf = async (place: string) => ((await screenOf(place)).body as { events: Events }).events.value
  test('begin now, and go on after any id', async () => {
    const now = await eventsOf('events')
    expect(now.lines).toEqual([])
    const all = await eventsOf('events?after=0&kind=arq')
    expect(new Set(all.lines.map(({ kind }) => kind))).toEqual(new Set(['arq']))
    const [first, ...rest] = all.lines
    expect((await eventsOf(`events?after=${first!.id}&kind=arq`)).lines).toEqual(rest)
    await world.must(201, 'POST /v2/accelerator_requests', { body: { device_profile_name: 'fpga-small' } })
    expect((await eventsOf(`events?after=${now.next}`)).lines.map(({ type }) => type)).toContain('ArqCreated')
  })
  test('name the equal command, with the id from which it goes on', async () => {
    const { next } = await eventsOf('events?after=0&kind=arq')
    expect(await pageOf('events?after=0&kind=arq')).toContain(`accelerando event --follow --after ${next} --kind arq`)
  })
  test('an id that nobody told is refused', async () => {
    expect(await pageOf('events?after=nonsense')).toContain('The service refused')
  })
})

describe('the page of events, when the stream does not begin', () => {
  const answering = async (answer: Response): Promise<string> =>
    (
      await consoleOf((request) => (request.url.endsWith('/events') ? answer : world.api.fetch(request))).request(
        '/ui/events',
      )
    ).text()
  const refusal = (status: number, detail: string): Response =>
    Response.json({ errors: [{ detail, code: 'x' }] }, { status, headers: { 'x-openstack-request-id': 'req-77' } })
  test.each([
    [
      403,
      'Policy does not allow cyborg:event:get_all to be performed.',
      ['You may not see this', 'cyborg:event:get_all</code>'],
    ],
    [503, 'the journal cannot be read', ['No answer at present', 'the journal cannot be read', 'req-77']],
    [500, 'a bug', ['This could not be read', 'a bug', 'req-77']],
    [429, 'too many streams', ['The service refused', 'too many streams']],
  ] as const)('says why in the words of the API: %d', async (status, detail, said) => {
    const html = await answering(refusal(status, detail))
    for (const text of said) expect(html).toContain(text)
  })
  test('says that an answer is no stream', async () => {
    expect(await answering(new Response('<html>', { status: 200 }))).toContain('This could not be read')
  })
})
