/** The frame of every page: where one is, who looks, which keys there are, what was just done, and its document. */
import { describe, expect, test } from 'vitest'
import { type Documents, expectSaid, pageOf, uiOver, uuid } from './drawing.ts'
import { MAY, host, may, overview, timeline } from './samples.ts'
import { signIn } from './world.ts'

const HERE = /<a href="([^"]*)" aria-current="page" data-go="(.)">([^<]*)</g
test.each([
  ['', 'o ./ Overview'],
  ['arqs', 'r arqs Requests'],
  ['arqs/x', 'r arqs Requests'],
  ['instances/x', 'r arqs Requests'],
  ['hosts/x', 'h hosts Hosts'],
  ['devices', 'd devices Devices'],
  ['handles/x', 'd devices Devices'],
  ['profiles/x/versions', 'p profiles Profiles'],
  ['drift', 'f drift Drift'],
  ['letters', 'n deliveries Deliveries'],
  ['explain', 'x explain Explain'],
  ['capacity', 'c capacity Capacity'],
  ['usage', 'u usage Usage'],
  ['events', 'e events Events'],
  ['programs', 'm programs Programming'],
  ['system', 's system System'],
])('%s is marked among the pages, with the key that leads there', async (place, marked) => {
  const { whole } = await pageOf({ '/permissions': MAY }, place)
  expect([...whole.matchAll(HERE)].map(([, href, key, word]) => `${key} ${href} ${word}`)).toEqual([marked])
})

const keysOf = async (place: string): Promise<string> => {
  const documents = { '/permissions': MAY, [`/accelerator_requests/${uuid(1)}/timeline`]: timeline(1, []) }
  const { whole } = await pageOf(documents, place)
  return /<div class="help"[^]*?<\/ul>/
    .exec(whole)![0]
    .replaceAll(/<[^>]*>/g, '|')
    .replaceAll(/\|+/g, '|')
}
test('the keys of a page are listed on it, and the timeline has keys of its own', async () => {
  const [list, one] = [await keysOf('hosts'), await keysOf(`arqs/${uuid(1)}`)]
  expect(list).toContain('previous and next page')
  expect(list).not.toContain('next step')
  for (const said of ['↑', 'previous and next step', 'bars, table, or both', 'the recorded events of all steps'])
    expect(one).toContain(said)
})

test('who looks is named by at most 24 characters, and can sign out where somebody has signed in', async () => {
  const user = 'u'.repeat(25)
  const permissions = { '/permissions': { ...MAY, user_name: user } }
  const whoIn = (html: string) => /<(form|span) class="who.*?<\/\1>/.exec(html)?.[0]
  expect(whoIn((await pageOf(permissions, 'hosts')).whole)).toContain('>no sign-in</span>')
  const ui = uiOver(() => Response.json(permissions['/permissions']), { signIn })
  const signed = await ui.request('/ui/timeline', { headers: { cookie: 'accelerando-token=t1' } })
  expect(whoIn(await signed.text())).toBe(
    `<form class="who" method="post" action="sign-out"><span class="dim" title="user ${user}, project p1">` +
      `${'u'.repeat(24)}</span><button class="quiet" type="submit">Sign out</button></form>`,
  )
})

describe('what was done', () => {
  const REQUEST = `req-${uuid(1)}`
  const bound = {
    subject: 'a1',
    time: '2026-03-01T12:00:00.000Z',
    data: { entity: 'arq/a1', event: { type: 'Bound' } },
  }
  const events = (...all: readonly object[]): Documents => ({
    '/events': { events: all, next: '7-2', more: false },
  })
  const EVENT = { id: '7-1', event: { type: 'accelerando.fact.Bound', ...bound } }
  const why = { errors: [{ detail: 'cyborg:event:get_all forbids it', code: 'x' }] }
  test.each<[string, string, Documents, readonly string[]]>([
    [
      'with what it recorded',
      '&since=7-0',
      events(EVENT),
      ['|UTC|Event|Kind|About|Facts|', '|12:00:00.000|Bound|arq|a1|{}|', '|Events of this action|'],
    ],
    ['where it is not known what it recorded', '', events(EVENT), ['!|UTC|Event|', '|Events of this action|']],
    [
      'where its events may not be read',
      '&since=7-0',
      { '/events': Response.json(why, { status: 403 }) },
      ['|You may not see this|', '|The policy rule is |cyborg:event:get_all|', '|Events of this action|'],
    ],
  ])('is shown above the page %s', async (_, since, documents, texts) => {
    const all = { '/permissions': MAY, '/hosts/x': host(), '/devices': { devices: [] }, ...documents }
    const { said, whole } = await pageOf(all, `hosts/x?done=restore&request=${REQUEST}${since}&q=a+%22b%22`)
    expectSaid(said, [`Restore: recorded under ${REQUEST}`, ...texts, '|Host|'])
    expect(whole).toContain('value="a &quot;b&quot;"')
  })
})

test('the document names its files below the root, wherever the page is, and holds the screen as data', async () => {
  const name = '</script><b>&"'
  const { whole } = await pageOf({ ...may({}), ...overview() }, `hosts/${encodeURIComponent(name)}`)
  const [head = '', rest = ''] = whole.split('</head>')
  expect(head.split('\n')).toEqual([
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    '<base href="../">',
    expect.stringMatching(/^<title>.*&lt;\/script&gt;&lt;b&gt;&amp;&quot;.* · accelerando<\/title>$/),
    '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="dark light">',
    '<link rel="stylesheet" href="assets/hash/style.css"><link rel="icon" href="assets/hash/icon.svg" type="image/svg+xml">',
    '<link rel="modulepreload" href="assets/hash/host.js">',
    '<script type="module" src="assets/hash/browser/main.js"></script>',
    '',
  ])
  expect(rest).not.toContain('</script><b>')
  const data = /<script type="application\/json" id="screen">(.*)<\/script>\n<\/body><\/html>$/.exec(rest)![1]!
  expect(JSON.parse(data)).toMatchObject({ view: 'host', here: `hosts/${encodeURIComponent(name)}` })
  for (const [place, base] of [
    ['hosts', './'],
    ['profiles/p/do/delete', '../../../'],
  ])
    expect((await pageOf({ '/permissions': MAY }, place!)).whole).toContain(`<base href="${base}">`)
})
