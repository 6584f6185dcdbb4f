/** How a list is turned page by page: what the API is asked for, which rows are shown, and which pages are beside. */
import { expect, test } from 'vitest'
import { pageOf, uuid } from './drawing.ts'
import { MAY, arq, device, handle, host, profile, times } from './samples.ts'

const rows = (count: number) => times(count, (at) => arq(at, 'Bound'))
/** The list of requests over an API that has that many rows to answer with. */
const turned = async (query: string, count: number) => {
  const { asked, html } = await pageOf({ '/permissions': MAY, '/accelerator_requests': { arqs: rows(count) } }, query)
  return {
    asked: asked.find((path) => path.startsWith('/accelerator_requests?')),
    shown: [...html.matchAll(/<tr[^>]*><td[^]*?href="arqs\/([^"]*)"/g)].map(([, id]) => id),
    turns: [...html.matchAll(/<a class="turn" href="([^"]*)" rel="(prev|next)"/g)].map(
      ([, href, way]) => `${way} ${href!.replaceAll('&amp;', '&')}`,
    ),
  }
}
const FIRST = '/accelerator_requests?state=Bound&limit=51&sort_key=created_at&sort_dir='
const at = (side: 'after' | 'before', row: number): string => `arqs?state=Bound&${side}=${uuid(row)}`
const shownOf = (count: number) => times(count, uuid)

test('the first page has a next one only if there are more rows than it shows', async () => {
  expect(await turned('arqs?state=Bound', 50)).toEqual({ asked: `${FIRST}desc`, shown: shownOf(50), turns: [] })
  expect(await turned('arqs?state=Bound', 51)).toMatchObject({
    shown: shownOf(50),
    turns: [`next ${at('after', 49)}`],
  })
})
test('a page after another one leads back to it', async () => {
  expect(await turned('arqs?state=Bound&after=x', 50)).toMatchObject({
    asked: `${FIRST}desc&marker=x`,
    turns: [`prev ${at('before', 0)}`],
  })
})
test('a page before another one is read from there backwards, and shown forwards', async () => {
  expect(await turned('arqs?state=Bound&before=x&after=y', 50)).toEqual({
    asked: `${FIRST}asc&marker=x`,
    shown: shownOf(50).toReversed(),
    turns: [`next ${at('after', 0)}`],
  })
  expect((await turned('arqs?state=Bound&before=x', 51)).turns).toEqual([
    `prev ${at('before', 49)}`,
    `next ${at('after', 0)}`,
  ])
})
test('an empty page has no pages beside it', async () => {
  expect(await turned('arqs?state=Bound&after=x', 0)).toMatchObject({ shown: [], turns: [] })
})
const [first, last] = [uuid(0), uuid(49)]
test.each<[string, string, object, string, string]>([
  ['hosts?liveness=up', '/hosts', { hosts: times(51, (n) => host({ name: `n ${n}` })) }, 'n+0', 'n+49'],
  ['devices?state=enabled', '/devices', { devices: times(51, device) }, first, last],
  ['handles?state=free', '/handles', { handles: times(51, (n) => handle(n, 'free')) }, first, last],
  [
    'profiles?',
    '/device_profiles',
    { device_profiles: times(51, (n) => profile({ uuid: uuid(n), name: `p ${n}` })) },
    first,
    last,
  ],
])('%s leads on after the last row that it shows, and back before the first', async (place, path, all, from, to) => {
  const { html, said } = await pageOf({ '/permissions': MAY, [path]: all }, `${place}&after=x`)
  const turns = [...html.matchAll(/<a class="turn" href="([^"]*)" rel="(prev|next)"/g)]
  const join = place.endsWith('?') ? '' : '&'
  expect(turns.map(([, href, way]) => [way, href!.replace('&amp;', '&')])).toEqual([
    ['prev', `${place}${join}before=${from}`],
    ['next', `${place}${join}after=${to}`],
  ])
  expect(said).toContain('|50 on this page|')
})
