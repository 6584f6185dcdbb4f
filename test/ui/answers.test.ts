/** The pages that answer a question: explain, capacity, usage, events, programming. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Lived, type UiWorld, apiOf, consoleOf, createConsole, lived, openUiWorld } from './world.ts'

let world: UiWorld
let seen: Lived
beforeAll(async () => {
  world = await openUiWorld()
  seen = await lived(world)
})
afterAll(() => world.close())

const pageOf = async (place: string) => (await createConsole(world).request(`/ui/${place}`)).text()
const screenOf = async (place: string) => {
  const answer = await createConsole(world).request(`/ui/${place}`, { headers: { accept: 'application/json' } })
  return (await answer.json()) as { readonly body: Readonly<Record<string, unknown>> }
}
const draft = (groups: object) => `explain?draft=${encodeURIComponent(JSON.stringify(groups))}`

describe('explain', () => {
  test('a profile that fits: how many hosts, and the equal command', async () => {
    const html = await pageOf('explain?profile=fpga-small')
    expect(html).toMatch(/1 of 2\u00A0hosts fits/)
    expect(html).toContain('accelerando explain fpga-small')
  })
  test('a draft that fits nowhere: each obstacle, and what would have to change', async () => {
    const html = await pageOf(draft([{ 'resources:PGPU': '9' }]))
    expect(html).toMatch(/0 of 2\u00A0hosts fit/)
    expect(html).toMatch(/class="want">[a-z_]+<\/code>/)
    expect(html).toContain('accelerando explain --file FILE')
  })
  test('a draft that cannot be read says so, and keeps what was typed', async () => {
    const html = await pageOf(`explain?draft=${encodeURIComponent('[{oops')}`)
    expect(html).toContain('The draft is not JSON')
    expect(html).toContain('[{oops</textarea>')
    expect(await pageOf(draft([{ nonsense: 'x' }]))).toContain('The service refused')
  })
  test('a failed request and a profile lead there', async () => {
    const link = 'href="explain?profile=fpga-small"'
    expect(await pageOf(`arqs/${seen.failed.uuid}`)).toContain(link)
    expect(await pageOf(`arqs/${seen.bound.uuid}`)).not.toContain(link)
    expect(await pageOf('profiles/fpga-small')).toContain(link)
  })
})

test('capacity: free of total, by host, and a draft that asks for one of these', async () => {
  const html = await pageOf('capacity?resource_class=FPGA')
  expect(html).toMatch(/\d free of 8/)
  expect(html).toContain('href="hosts/compute-1"')
  expect(html).toMatch(/href="explain\?draft=[^"]*resources%3AFPGA/)
  expect(html).toContain('accelerando capacity show --hosts --class FPGA')
})

test('capacity: how the free ones are spread, and a question about each host', async () => {
  const api = apiOf(world)
  const amounts = (free: number) => ({ total: free, held: 0, free, withheld: 0, broken: 0 })
  const line = (free: number, ...hosts: readonly number[]) => ({
    resource_class: 'FPGA',
    traits: ['CUSTOM_A'],
    ...amounts(free),
    hosts: hosts.map((here, at) => ({ host: `h${at}`, ...amounts(here) })),
  })
  const shown = async (lines: readonly object[], placement = 'in use') => {
    const ui = consoleOf(async (request) => {
      const { pathname } = new URL(request.url)
      if (pathname === '/v2/capacity') return Response.json({ counted_at: '2026-01-01T00:00:00Z', capacity: lines })
      const answer = await api(request)
      if (pathname !== '/v2/overview') return answer
      return Response.json({ ...((await answer.json()) as object), program: { placement } })
    })
    return (await ui.request('/ui/capacity')).text()
  }
  const spread = await shown([line(8, 4, 2, 2, 0)])
  expect(spread).toMatch(
    /At most 4 with exactly these traits for one server: the free ones are on 3.hosts; fragmentation 50 %\./,
  )
  expect(spread).toMatch(/href="explain\?draft=[^"]*resources%3AFPGA[^"]*&amp;host=h2"/)
  expect(spread).not.toContain('The numbers are those of this service')
  expect(await shown([line(3, 3)])).toContain('fragmentation 0 %')
  expect(await shown([line(0, 0)])).toContain('None with exactly these traits is free.')
  expect(await shown([{ ...line(0, 0), traits: [] }])).toContain('None without traits is free.')
  expect(await shown([line(1, 1)], 'it does not answer')).toContain('Placement: it does not answer. The numbers')
  expect(await shown([], 'absent')).toContain('Placement is not configured')
})

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

test('programming: every card that may be programmed, and what is loaded', async () => {
  const html = await pageOf('programs')
  expect(html).toContain('href="hosts/compute-1"')
  expect(html).toContain('>empty<')
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
