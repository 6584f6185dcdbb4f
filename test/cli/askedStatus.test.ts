/**
 * The commands that show what happens and how a service does: what each asks of the API, and what it prints of the
 * answers, word for word. Where a change is meant: `npx vitest run test/cli/askedStatus.test.ts -u`.
 */
import { expect, test } from 'vitest'
import { type Answer, type Answers, transcriptOf } from './scriptedApi.ts'

const ok = (...documents: readonly unknown[]): readonly Answer[] => documents.map((one) => [200, one] as const)
const only = (what: string, ...documents: readonly unknown[]): Answers => ({ [what]: ok(...documents) })

const NEVER = { count: 0, last_at: null }
const WELL = {
  counted_at: '2026-01-01T00:10:00.000Z',
  arqs: { Bound: 2, Initial: 3 },
  handles: { free: 4 },
  hosts: { up: 5 },
  devices: { enabled: 6 },
  orders: { waiting: 0, oldest_at: null },
  deliveries: { waiting: 0, oldest_at: null, undelivered: 0 },
  failing_devices: 0,
  device_states: { enabled: 2 },
  vanished: { devices: 0, arqs: 0, instances: 0, since: null, cards: [] },
  failing: { devices: 0, arqs: 0, instances: 0, since: null, cards: [] },
  placement: {},
  binds: { late: 0, next_deadline_at: null },
  overdue_since: null,
  journal: { newest_at: null, untold_since: null, writing_stopped: false },
  found: {
    views_differing: NEVER,
    orphan_handles: NEVER,
    slot_differences: NEVER,
    reports_refused: NEVER,
    dead_letters: NEVER,
  },
  views_checked: 7,
  program: { version: '1.2', store: 'memory', kafka: 'in use' },
}
const SICK = {
  ...WELL,
  arqs: { BindFailed: 1 },
  hosts: { down: 1, up: 2 },
  device_states: { missing: 1, host_silent: 2, enabled: 3 },
  vanished: {
    ...{ devices: 1, arqs: 9, instances: 8, since: '2026-01-01T00:09:00.000Z' },
    cards: [{ device_uuid: 'd7', hostname: 'h9', pci_address: '0000:02:00.0' }],
  },
  orders: { waiting: 3, oldest_at: '2026-01-01T00:00:00.000Z' },
  deliveries: { waiting: 4, oldest_at: '2026-01-01T00:00:00.000Z', undelivered: 0 },
}
const overview = (document: object) => only('GET /overview', document)
test('how a service does', async () => {
  await expect(
    await transcriptOf({
      'all is well': { line: 'status', answers: overview(WELL), also: ['-f csv', '--json'] },
      'something waits': {
        line: 'status',
        answers: overview({ ...WELL, binds: { late: 2, next_deadline_at: null } }),
        also: ['-f csv'],
      },
      'something is wrong': { line: 'status', answers: overview(SICK), also: ['-f csv', '-f json -c look'] },
      'it does not answer': { line: 'status', answers: { 'GET /overview': [[503, {}]] } },
      'what lasts cannot be followed in rows': { line: 'status --follow --format value' },
      'what lasts has no order': { line: 'status --follow --sort-column says' },
    }),
  ).toMatchFileSnapshot('golden/askedStatus.txt')
})

const event = (id: string, more: object = {}) => ({
  id,
  event: {
    time: `time of ${id}`,
    data: {
      entity: `arq/${id}`,
      version: 1,
      event: { type: 'BindStarted', host: 'h1', handle: 'u1' },
      cause: { by: 'kim', requestId: `req-${id}` },
    },
    ...more,
  },
})
const page = (next: string, more: boolean, ...events: readonly object[]) => ({ events, next, more })
test('events', async () => {
  const filters = 'kind=arq&type=Bound&subject=s1&host=h1&instance=i1&project=j1&request=r1'
  const all = {
    ...only('GET /events?limit=500', page('1-2-bb', true, event('1-1-aa'), event('1-2-bb'))),
    ...only(
      'GET /events?limit=500&after=1-2-bb',
      page('1-3-cc', false, event('1-3-cc', { data: {} }), event('1-4-dd')),
    ),
    ...only('GET /events?limit=3', page('1-2-bb', true, event('1-1-aa'), event('1-2-bb'))),
    ...only('GET /events?limit=1&after=1-2-bb', page('1-4-dd', true, event('1-3-cc'))),
    ...only('GET /events?limit=1', page('1-1-aa', true, event('1-1-aa'), event('1-2-bb'))),
  }
  await expect(
    await transcriptOf({
      'all of them': {
        line: 'event -f csv',
        answers: all,
        also: ['-f json -c id', '-f json --sort-column id:desc --limit 2 -c id', '--json', '--limit 3', '--limit 1'],
      },
      'those that are asked for': {
        line: 'events --kind arq --type Bound --subject s1 --host h1 --instance i1 --project j1 --request r1 -f value',
        answers: only(`GET /events?limit=500&${filters}`, page('1-1-aa', false, event('1-1-aa'))),
      },
      'those after one of them': {
        line: 'event --after 1-2-abcdef012345 -f value -c id',
        answers: only('GET /events?limit=500&after=1-2-abcdef012345', page('1-3-cc', false, event('1-3-cc'))),
      },
      'none, with an id that is none': { line: 'event --after x1-2-abcdef012345' },
      'none, with an id and more': { line: 'event --after 1-2-abcdef012345x' },
      'none, with a limit that is none': { line: 'event --limit x' },
    }),
  ).toMatchFileSnapshot('golden/askedEvents.txt')
})

const USAGE = { from: 'T1', until: 'T5', period: 'total', usage: [] }
test('how long accelerators were bound, and up to when what still is counts', async () => {
  await expect(
    await transcriptOf({
      'until the moment of the answer': {
        line: 'usage',
        answers: only('GET /usage?period=total', { ...USAGE, as_of: 'T4' }),
      },
      'until the end of the time': {
        line: 'usage',
        answers: only('GET /usage?period=total', { ...USAGE, as_of: 'T6' }),
      },
    }),
  ).toMatchFileSnapshot('golden/askedUsage.txt')
})
