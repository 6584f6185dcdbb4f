/** How a list is turned page by page: what the API is asked for, which rows are shown, and which pages are beside. */
import { describe, expect, test } from 'vitest'
import { loaded, pageError } from '../../src/ui/loaded.ts'
import { PAGE_ROWS, filterOf, pageOf, turnsAt } from '../../src/ui/pages/loader.ts'
import { TIMES, pageOf as pageOver, uuid } from './drawing.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at + 1)
const page = async (query: Record<string, string>, count: number, newestFirst = true) => {
  const asked: string[] = []
  const { list, turn } = await pageOf<number>(
    'rows',
    { state: 'a b' },
    {
      query,
      order: { key: 'made_at', newestFirst },
      markerOf: String,
      read: async (path) => (asked.push(path), loaded(numbers(count))),
    },
  )
  return { asked, rows: list.ok ? list.value : [], turn: turnsAt('rows', turn) }
}
const ASKED = `/rows?state=a+b&limit=51&sort_key=made_at`
const at = (side: 'after' | 'before', row: number): string => `rows?state=a+b&${side}=${row}`

test('the first page has a next one only if there are more rows than it shows', async () => {
  expect(PAGE_ROWS).toBe(50)
  expect(await page({}, 50)).toEqual({
    asked: [`${ASKED}&sort_dir=desc`],
    rows: numbers(50),
    turn: { later: null, earlier: null },
  })
  const more = await page({ other: 'x' }, 51)
  expect([more.rows, more.turn]).toEqual([numbers(50), { later: null, earlier: at('after', 50) }])
})
test('a page after another one leads back to it', async () => {
  const last = await page({ after: '100' }, 50)
  expect([last.asked, last.turn]).toEqual([
    [`${ASKED}&sort_dir=desc&marker=100`],
    { later: at('before', 1), earlier: null },
  ])
  expect((await page({ after: '100' }, 51)).turn).toEqual({ later: at('before', 1), earlier: at('after', 50) })
})
test('a page before another one is read from there backwards, and shown forwards', async () => {
  const first = await page({ before: '100', after: '7' }, 50)
  expect(first).toEqual({
    asked: [`${ASKED}&sort_dir=asc&marker=100`],
    rows: numbers(50).toReversed(),
    turn: { later: null, earlier: at('after', 1) },
  })
  expect((await page({ before: '100' }, 51)).turn).toEqual({ later: at('before', 50), earlier: at('after', 1) })
})
test('a list whose oldest comes first is read in the other direction', async () => {
  expect((await page({}, 1, false)).asked).toEqual([`${ASKED}&sort_dir=asc`])
  expect((await page({ before: '3' }, 1, false)).asked).toEqual([`${ASKED}&sort_dir=desc&marker=3`])
})
test('an empty page has no pages beside it, and one that cannot be read says why', async () => {
  expect(await page({ after: '3' }, 0)).toMatchObject({ rows: [], turn: { later: null, earlier: null } })
  const error = pageError('away', 'no')
  const failed = await pageOf<number>(
    'rows',
    {},
    {
      query: {},
      order: { key: 'name', newestFirst: false },
      markerOf: String,
      read: async () => error,
    },
  )
  expect(failed).toEqual({ list: error, turn: { earlier: null, later: null } })
})
test('only the named arguments of an address that say something are filters', () => {
  expect(filterOf({ b: '2', a: '1', c: '', d: '4' }, ['a', 'b', 'c', 'e'])).toEqual({ a: '1', b: '2' })
})

describe('each list', () => {
  const TURN = /<a class="turn" href="([^"]*)" rel="(prev|next)"/g
  const named = (at: number) => ({ uuid: uuid(at), name: `n ${at}`, ...TIMES })
  const arq = (at: number) => ({
    ...named(at),
    state: 'Bound',
    device_profile_name: 'p',
    device_profile_group_id: 0,
    hostname: null,
    device_rp_uuid: null,
    instance_uuid: null,
    project_id: null,
    attach_handle_type: '',
    attach_handle_uuid: null,
    attach_handle_info: {},
  })
  const host = (at: number) => ({
    ...named(at),
    liveness: 'up',
    aliases: [],
    drivers: {},
    boot_id: null,
    last_seen_at: null,
    retired: null,
    public_key: null,
    offered_key: null,
  })
  const device = (at: number) => ({
    ...named(at),
    type: 'GPU',
    vendor: '',
    model: '',
    std_board_info: null,
    vendor_board_info: null,
    hostname: 'h',
    ...{ state: 'enabled', state_reason: null, state_since: null, arqs: 0 },
  })
  const handle = (at: number) => ({ ...named(at), deployable_uuid: '', hostname: 'h', state: 'free', arq_uuid: null })
  const profile = (at: number) => ({
    ...{ ...named(at), description: null, groups: [] },
    ...{ version: 1, enabled: true, projects: null },
  })
  const MAY = { user_id: 'u', user_name: null, project_id: 'p', project_name: null, permissions: {} }
  const [first, last] = [uuid(1), uuid(50)]
  test.each<[string, string, object, string, string]>([
    ['arqs?state=Bound', '/accelerator_requests', { arqs: numbers(51).map(arq) }, first, last],
    ['hosts?liveness=up', '/hosts', { hosts: numbers(51).map(host) }, 'n+1', 'n+50'],
    ['devices?state=enabled', '/devices', { devices: numbers(51).map(device) }, first, last],
    ['handles?state=free', '/handles', { handles: numbers(51).map(handle) }, first, last],
    ['profiles?', '/device_profiles', { device_profiles: numbers(51).map(profile) }, first, last],
  ])('%s leads on after the last row that it shows, and back before the first', async (place, path, rows, from, to) => {
    const page = (await pageOver({ '/permissions': MAY, [path]: rows }, `${place}&after=x`)).html
    const turns = [...page.matchAll(TURN)].map(([, href, way]) => [way, href!.replace('&amp;', '&')])
    const join = place.endsWith('?') ? '' : '&'
    expect(turns).toEqual([
      ['prev', `${place}${join}before=${from}`],
      ['next', `${place}${join}after=${to}`],
    ])
    expect(page).toContain('>50 on this page<')
  })
})
