/** The frame of every page: where one is, who looks, which keys there are, and what was just done. */
import { renderToString } from 'preact-render-to-string'
import { describe, expect, test } from 'vitest'
import { documentOf, rootFrom } from '../../src/ui/document.ts'
import { errorOf, loaded, lossOf, pageError } from '../../src/ui/loaded.ts'
import { NAV_ENTRIES, layout } from '../../src/ui/view/layout.ts'
import type { Done, Screen, Who } from '../../src/ui/view/screen.ts'
import { p } from '../../src/ui/view/tags.ts'
import { VIEWS } from '../../src/ui/view/views.ts'
import { NOW, ago, lines } from './drawing.ts'

const screen = (view: string, more: Partial<Screen> = {}): Screen =>
  ({ view, title: 'T', here: 'a/b', now: NOW, who: null, done: null, search: '', body: {}, ...more }) as Screen
const framed = (given: Screen): string => renderToString(layout(given, p(null, 'INSIDE')))

test('the page where one is is marked among the pages', () => {
  const marked = Object.keys(VIEWS).map((view) => {
    const all = [...framed(screen(view)).matchAll(/<a href="([^"]*)" aria-current="page" data-go="(.)">([^<]*)</g)]
    return [view, ...all.map(([, href, key, word]) => `${key} ${href} ${word}`)]
  })
  expect(marked).toEqual([
    ['home', 'o ./ Overview'],
    ['arqs', 'r arqs Requests'],
    ['arq', 'r arqs Requests'],
    ['opened', 'r arqs Requests'],
    ['instance', 'r arqs Requests'],
    ['hosts', 'h hosts Hosts'],
    ['host', 'h hosts Hosts'],
    ['devices', 'd devices Devices'],
    ['device', 'd devices Devices'],
    ['handles', 'd devices Devices'],
    ['handle', 'd devices Devices'],
    ['profiles', 'p profiles Profiles'],
    ['profile', 'p profiles Profiles'],
    ['versions', 'p profiles Profiles'],
    ['drift', 'f drift Drift'],
    ['deliveries', 'n deliveries Deliveries'],
    ['letters', 'n deliveries Deliveries'],
    ['letter', 'n deliveries Deliveries'],
    ['explain', 'x explain Explain'],
    ['capacity', 'c capacity Capacity'],
    ['usage', 'u usage Usage'],
    ['events', 'e events Events'],
    ['programs', 'm programs Programming'],
    ['system', 's system System'],
    ['act'],
    ['sign_in'],
    ['trouble'],
  ])
  expect(new Set(NAV_ENTRIES.map(({ key }) => key)).size).toBe(NAV_ENTRIES.length)
})
test('a page with a timeline has keys of its own in place of those with the same name', () => {
  const keys = (view: string) =>
    [...framed(screen(view)).matchAll(/<li><kbd>([^<]*)<\/kbd><span>([^<]*)/g)].map(
      ([, key, does]) => `${key}: ${does}`,
    )
  const [search, rows, , , go, these, leave] = keys('home')
  expect(keys('home')).toEqual([search, rows, 'Enter: open it', '[ ]: previous and next page', go, these, leave])
  for (const view of ['arq', 'opened'])
    expect(keys(view)).toEqual([
      search,
      rows,
      go,
      these,
      leave,
      '↑ ↓: previous and next step',
      '← →: previous and next party that works or is waited for',
      'Enter: the recorded event of the step',
      't: bars, table, or both',
      'r: the recorded events of all steps',
      '[ ]: previous and next request of the instance',
    ])
})
test('who looks is named by at most 24 characters, and can sign out where somebody has signed in', () => {
  const whoIn = (who: Who | null) => /<(form|span) class="who.*?<\/\1>/.exec(framed(screen('home', { who })))?.[0]
  const who = { user: 'u'.repeat(25), project: 'p1', signedIn: true }
  expect(whoIn(who)).toBe(
    `<form class="who" method="post" action="sign-out"><span class="dim" title="user ${who.user}, project p1">` +
      `${'u'.repeat(24)}</span><button class="quiet" type="submit">Sign out</button></form>`,
  )
  const nobody = whoIn({ ...who, signedIn: false })
  expect(nobody).toBe(
    '<span class="who dim" title="The API authenticates nobody and listens on this machine only.">no sign-in</span>',
  )
  expect(whoIn(null)).toBeUndefined()
})

describe('what was done', () => {
  const line = { id: '7-1', kind: 'arq', type: 'Bound', subject: 'a1', at: ago(0), facts: '{}' }
  const recorded = { events: loaded([line]), cut: false, all: 'events?request=r', follow: null }
  const done = (more: Partial<Done> = {}): Done => ({ tone: 'good', text: 'Retire: recorded', ...more })
  test.each<[string, Done]>([
    ['nothing more', done()],
    ['what it recorded', done({ recorded })],
    [
      'the first of it, and whose answer is missing',
      done({ tone: 'busy', recorded: { ...recorded, cut: true, follow: 'events?x' } }),
    ],
    ['that nothing is recorded so far', done({ recorded: { ...recorded, events: loaded([]) } })],
    ['that it is not known where it is', done({ recorded: { ...recorded, events: null } })],
    ['why it cannot be read', done({ recorded: { ...recorded, events: pageError('forbidden', 'no', 'r1', 'a:b:c') } })],
  ])('is shown above the page: %s', async (name, given) => {
    const html = framed(screen('hosts', { done: given, search: 'a "b"' }))
    const file = `golden/done/${name.replaceAll(/\W+/g, '-')}.txt`
    await expect(lines(/<main.*<\/main>/s.exec(html)![0])).toMatchFileSnapshot(file)
    expect(html).toContain('value="a &quot;b&quot;"')
    expect(html).toContain('href="a/b#content"')
  })
})

test('the document names its files below the root, wherever the page is, and holds the screen as data', async () => {
  const body = { error: { kind: 'missing', text: '</script><b>&', rule: null, requestId: null } }
  const given = screen('trouble', { title: `<A> & "B"`, here: 'arqs/x/do/y', body } as Partial<Screen>)
  const html = await documentOf(given, { hash: 'h1', scripts: (view) => [`${view}.js`, 'preact.js'] })
  const [head = '', rest = ''] = html.split('</head>')
  expect(head.split('\n')).toEqual([
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    '<base href="../../../">',
    '<title>&lt;A&gt; &amp; &quot;B&quot; · accelerando</title>',
    '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="dark light">',
    '<link rel="stylesheet" href="assets/h1/style.css"><link rel="icon" href="assets/h1/icon.svg" type="image/svg+xml">',
    '<link rel="modulepreload" href="assets/h1/trouble.js">',
    '<link rel="modulepreload" href="assets/h1/preact.js">',
    '<script type="module" src="assets/h1/browser/main.js"></script>',
    '',
  ])
  expect(rest).not.toContain('</script><b>')
  const data = /<script type="application\/json" id="screen">(.*)<\/script>\n<\/body><\/html>$/.exec(rest)![1]!
  expect(JSON.parse(data)).toEqual(given)
  expect(['', 'hosts', 'hosts/x', 'a/b/do/c'].map(rootFrom)).toEqual(['./', './', '../', '../../../'])
})

test('a page has failed when its first part has, and is lost when the service could not be asked for it', () => {
  const error = (kind: 'away' | 'failed' | 'forbidden') => pageError(kind, 'x')
  const { error: away } = error('away')
  expect(errorOf({ title: 'ok', filter: { a: 1 }, nothing: null, list: error('away'), more: loaded(1) })).toEqual(away)
  expect(errorOf({ list: loaded(1), more: error('away') })).toBeNull()
  expect(errorOf({ title: 'ok', ok: true })).toBeNull()
  const lost = (['away', 'failed', 'forbidden'] as const).map((kind) => lossOf({ list: error(kind) })?.kind)
  expect(lost).toEqual(['away', 'failed', undefined])
  expect(lossOf({ list: loaded(1) })).toBeNull()
})
