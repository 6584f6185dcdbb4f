/** What cannot be done now is shown disabled, with the reason in words, on each page that offers it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Lived, type UiWorld, apiOf, consoleOf, createConsole, lived, openUiWorld, wordsOf } from './world.ts'

let world: UiWorld
let seen: Lived
beforeAll(async () => {
  world = await openUiWorld()
  seen = await lived(world)
})
afterAll(() => world.close())

type Ui = ReturnType<typeof consoleOf>
const pageOf = async (ui: Ui, place: string, headers: Readonly<Record<string, string>> = {}): Promise<string> =>
  (await ui.request(`/ui/${place}`, { headers })).text()
const disabledIn = (html: string): readonly string[] =>
  [...html.matchAll(/<a class="button off"[^>]*aria-disabled="true"[^>]*>([^<]*)</g)].map(([, label]) => label!)

/** The real API, with some of its documents as they are given. */
const telling = (documents: Readonly<Record<string, (document: object) => object>>): Ui => {
  const api = apiOf(world)
  return consoleOf(async (request) => {
    const answer = await api(request)
    const change = documents[new URL(request.url).pathname.replace('/v2', '')]
    return change === undefined ? answer : Response.json(change((await answer.json()) as object))
  })
}

test.each<[string, () => string, readonly string[], readonly string[]]>([
  ['a device', () => `devices/${seen.card}`, ['Enable'], ['Enable: it is enabled already.']],
  [
    'a host',
    () => 'hosts/compute-1',
    ['Restore', 'Accept its key'],
    ['Restore: it is neither retired nor removed.', 'Accept its key: no key of it waits.'],
  ],
  [
    'an attach handle',
    () => `handles/${seen.handle}`,
    ['Withhold', 'Clean'],
    [
      'Withhold: only a handle that nobody has can be withheld.',
      'Clean: neither a command nor a playbook that cleans it is chosen on its host.',
    ],
  ],
  ['a profile', () => 'profiles/fpga-small', ['Enable'], ['Enable: each version of it is enabled.']],
  ['a request', () => `arqs/${seen.bound.uuid}`, ['Delete'], ['Delete: an instance has it: Nova deletes it']],
  [
    'an instance',
    () => `instances/${seen.bound.instance}`,
    ['Tell Nova once more'],
    ['Tell Nova once more: no Nova is configured that could be told.'],
  ],
])('the page of %s', async (_, place, labels, reasons) => {
  const html = await pageOf(createConsole(world), place())
  expect(disabledIn(html)).toEqual(labels)
  for (const reason of reasons) expect(wordsOf(html)).toContain(reason)
})

test('the policy rule that is missing is the reason for whoever may not', async () => {
  const ui = createConsole(world, { tokens: true })
  const html = await pageOf(ui, 'profiles/fpga-small', { cookie: 'accelerando-token=token-of-member' })
  expect(disabledIn(html)).toEqual(['New version', 'Disable', 'Enable', 'Delete'])
  expect(wordsOf(html)).toContain('Delete: your roles do not allow cyborg:device_profile:delete.')
})

test('a key that waits can be accepted in whatever state its host is', async () => {
  const waiting = (host: object) => ({ ...host, public_key: null, offered_key: 'B'.repeat(43) })
  for (const host of ['compute-1', 'compute-2']) {
    const ui = telling({ [`/hosts/${host}`]: waiting })
    expect(disabledIn(await pageOf(ui, `hosts/${host}`)), host).not.toContain('Accept its key')
    expect(await pageOf(ui, `hosts/${host}/do/approve`)).toContain('<form method="post"')
  }
  const known = telling({ '/hosts/compute-1': (host) => ({ ...host, public_key: 'A'.repeat(43), offered_key: null }) })
  expect(disabledIn(await pageOf(known, 'hosts/compute-1'))).toContain('Accept its key')
})

const undelivered = () => ({
  deliveries: [
    {
      state: 'undelivered',
      instance_uuid: seen.bound.instance,
      hostname: 'compute-1',
      request_id: 'req-1',
      statuses: { [seen.bound.uuid]: 'completed' },
      attempts: 3,
      next_at: null,
      until: null,
      answers: {},
    },
  ],
})
test('what Nova has not taken can be told once more from its list, or the list says why not', async () => {
  const place = 'deliveries?state=undelivered'
  const repair = `href="instances/${seen.bound.instance}/do/resend"`
  const without = await pageOf(telling({ '/deliveries': undelivered }), place)
  expect(without).not.toContain(repair)
  expect(wordsOf(without)).toContain('Tell Nova once more: no Nova is configured that could be told')
  const nova = (overview: object) => ({ ...overview, program: { nova: 'in use' } })
  expect(await pageOf(telling({ '/deliveries': undelivered, '/overview': nova }), place)).toContain(repair)
  const forbids = (document: object) => ({ ...document, permissions: { 'cyborg:delivery:resend': false } })
  const forbidden = telling({ '/deliveries': undelivered, '/overview': nova, '/permissions': forbids })
  expect(wordsOf(await pageOf(forbidden, place))).toContain('your roles do not allow cyborg:delivery:resend')
})
