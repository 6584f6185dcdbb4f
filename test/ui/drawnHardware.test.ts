/**
 * The pages of a host and of a device in the states that are rare, to the letter, and what they leave out: each limit
 * on both sides. `-u` where a change is meant.
 */
import { expect, it } from 'vitest'
import { NOW, TIMES, ago, pagesOf, uuid } from './drawing.ts'

type Documents = Readonly<Record<string, unknown>>
type Facts = Readonly<Record<string, unknown>>
const MAY = { user_id: 'u1', user_name: 'kim', project_id: 'p1', project_name: null, permissions: {} }
const drawn = async (name: string, ...worlds: readonly (readonly [Documents, readonly string[]])[]) => {
  let text = ''
  for (const [documents, places] of worlds) text += await pagesOf({ '/permissions': MAY, ...documents }, places, NOW)
  await expect(text).toMatchFileSnapshot(`golden/drawn-${name}.txt`)
}
const times = <Item>(count: number, make: (at: number) => Item): readonly Item[] =>
  Array.from({ length: count }, (_, at) => make(at))

const ANSWER = { at: ago(2000), took_ms: 1234, report_number: 4321, devices: 2, failed_drivers: [] }
const PROBE = { asked_at: ago(4000), by: 'kim', answer: null }
const HOST = {
  name: 'host 1',
  liveness: 'up',
  aliases: ['one'],
  drivers: {},
  boot_id: null,
  last_seen_at: ago(3000),
  retired: null,
  public_key: null,
  offered_key: null,
  ...TIMES,
  handles: { free: 3 },
  arqs: [],
}
const device = (n: number, more: Facts = {}) => ({
  uuid: uuid(n),
  type: 'GPU',
  vendor: '10de',
  model: `T${n}`,
  std_board_info: null,
  vendor_board_info: null,
  hostname: 'host 1',
  ...{ state: 'enabled', state_reason: null, state_since: null, arqs: 0 },
  ...TIMES,
  ...more,
})
const host = (more: Facts, devices: readonly object[] | null = []): Documents => ({
  '/hosts/host%201': { ...HOST, ...more },
  ...(devices !== null && { '/devices': { devices } }),
})
it('a host: the last question for a report, its orders and its key', async () => {
  const page = ['hosts/host%201']
  const orders = { waiting: 1, waiting_since: ago(9000) }
  await drawn(
    'hosts',
    [host({ probe: PROBE, last_seen_at: null, liveness: 'pending', offered_key: 'B' }), page],
    [host({ probe: PROBE, orders, liveness: 'removed' }, null), page],
    [host({ probe: { ...PROBE, answer: ANSWER }, retired: { by: 'kim', reason: 'old', at: ago(70_000) } }), page],
    [host({ probe: { ...PROBE, answer: { ...ANSWER, devices: 1, failed_drivers: ['d1', 'd2'] } } }), page],
    [{ '/devices': { devices: [] } }, page],
  )
})

const handle = (n: number, state: string) => ({
  uuid: uuid(n),
  deployable_uuid: uuid(600),
  hostname: 'host 1',
  state,
  arq_uuid: state === 'held' ? uuid(1) : null,
})
const part = (n: number, more: Facts = {}) => ({
  uuid: uuid(600 + n),
  name: `part ${n}`,
  num_accelerators: n,
  attributes_list: '[{"rc": "FPGA"}, {"trait0": "CUSTOM_A", "trait1": "CUSTOM_B"}]',
  rp_uuid: uuid(701),
  driver_name: 'driver',
  bitstream_id: null,
  ...TIMES,
  updated_at: ago(60_000),
  ...more,
})
const HEALTH = { state: 'unknown', reason: null, since: null, measured_at: null, numbers: {}, held: [] }
const deviceWith = (more: Facts, parts: readonly object[] | null, handles: readonly object[] | null): Documents => ({
  '/devices/x': device(400, { status: 'enabled', health: HEALTH, ...more }),
  ...(parts !== null && { '/deployables': { deployables: parts } }),
  ...(handles !== null && { '/handles': { handles } }),
})
it('a device: its board, its health, its parts with their handles', async () => {
  const health = { ...HEALTH, state: 'warning', reason: 'hot', numbers: { power_watts: 7.5 } }
  const all = ['held', 'free', 'free', 'releasing', 'new'].map((state, at) => handle(500 + at, state))
  await drawn(
    'devices',
    [deviceWith({ std_board_info: '{"product_id": 7, "numa_node": "1"}', health }, [part(1)], all), ['devices/x']],
    [
      deviceWith(
        {
          std_board_info: 'no JSON',
          vendor_board_info: '{"a": "b"}',
          health: { ...health, state: 'ok', reason: null },
        },
        [part(0, { attributes_list: 'no JSON', driver_name: null }), part(2, { attributes_list: '[]' })],
        null,
      ),
      ['devices/x'],
    ],
    [
      deviceWith(
        {
          ...{
            state: 'missing',
            state_reason: 'its host does not report it any more',
            state_since: ago(60_000),
            arqs: 2,
          },
          health: {
            ...{ ...health, state: 'bad', measured_at: ago(1000) },
            held: [
              { attach_handle_uuid: uuid(500), state: 'held', arq_uuid: uuid(1), instance_uuid: uuid(2) },
              { attach_handle_uuid: uuid(501), state: 'releasing', arq_uuid: null, instance_uuid: null },
            ],
          },
        },
        null,
        null,
      ),
      ['devices/x'],
    ],
    [{}, ['devices/x', 'handles/x']],
  )
})

/** What the page says is left out, with its link. */
const leftOut = async (documents: Documents, place: string): Promise<readonly string[]> => {
  const page = await pagesOf({ '/permissions': MAY, ...documents }, [place], NOW)
  const notes = page.matchAll(/<p class="rest dim">([^<]*)(?:<a href="([^"]*)">Show the others<\/a>)?/g)
  return [...notes].map(([, said = '', to = '']) => `${said}${to}`.replace(`devices/${uuid(400)}`, 'DEVICE'))
}
const free = (count: number) => times(count, (at) => handle(at, 'free'))
const HANDLES = `handles?deployable_uuid=${uuid(601)}`
const HELD = 'handles?state=held&amp;hostname=host+1'
it.each<[string, Documents, string, readonly string[]]>([
  ['of 50 requests', host({ arqs: times(50, uuid) }), 'hosts/host%201', []],
  ['of 51', host({ arqs: times(51, uuid) }), 'hosts/host%201', [`50 of 51 requests are shown. ${HELD}`]],
  ['of 50 devices', host({}, times(50, device)), 'hosts/host%201', []],
  ['of 51', host({}, times(51, device)), 'hosts/host%201', ['50 of 51 devices are shown. devices?hostname=host+1']],
  ['of 256 handles', deviceWith({}, [part(1)], free(256)), 'devices/x', []],
  ['of 257', deviceWith({}, [part(1)], free(257)), 'devices/x', [`256 of 257 attach handles are shown. ${HANDLES}`]],
  ['of 32 parts', deviceWith({}, times(32, part), []), 'devices/x', []],
  ['of 33', deviceWith({}, times(33, part), []), 'devices/x', ['32 of 33 deployables are shown. DEVICE?from=32']],
  [
    'before the last',
    deviceWith({}, times(32, part), []),
    'devices/x?from=31',
    ['1 of 32 deployables are shown. DEVICE'],
  ],
  [
    'before the second',
    deviceWith({}, times(33, part), []),
    'devices/x?from=1',
    ['32 of 33 deployables are shown. DEVICE'],
  ],
  ['before x1', deviceWith({}, times(32, part), []), 'devices/x?from=x1', []],
  ['before 1x', deviceWith({}, times(32, part), []), 'devices/x?from=1x', []],
  ['before a number of seven figures', deviceWith({}, times(32, part), []), 'devices/x?from=1234567', []],
])('what is left out is counted, with the place where it is: %s', async (_, documents, place, notes) => {
  expect(await leftOut(documents, place)).toEqual(notes)
})
