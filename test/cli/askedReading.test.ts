/**
 * The commands that only show something: what each asks of the API, and what it prints of the answers, word for word.
 * Where a change is meant: `npx vitest run test/cli/askedReading.test.ts -u`.
 */
import { expect, test } from 'vitest'
import { type Answer, type Answers, transcriptOf } from './scriptedApi.ts'

const ok = (...documents: readonly unknown[]): readonly Answer[] => documents.map((one) => [200, one] as const)
const only = (what: string, ...documents: readonly unknown[]): Answers => ({ [what]: ok(...documents) })

const arq = (uuid: string) => ({
  uuid,
  state: `state of ${uuid}`,
  device_profile_name: 'p1',
  project_id: 'j1',
  hostname: 'h1',
  instance_uuid: 'i1',
  device_rp_uuid: 'r1',
  attach_handle_uuid: 'u1',
  created_at: 'T1',
})
const device = (uuid: string) => ({
  uuid,
  type: 'FPGA',
  vendor: 'v1',
  model: `model of ${uuid}`,
  hostname: 'h1',
  status: 'enabled',
  failing: 'too hot',
  state: 'failing',
  state_reason: 'too hot',
  state_since: 'T2',
  arqs: 1,
  created_at: 'T1',
})
const HEALTH = {
  state: 'bad',
  reason: 'too hot',
  held: [
    { arq_uuid: 'a1', instance_uuid: 'i1', state: 'held' },
    { arq_uuid: null, instance_uuid: null, state: 'releasing' },
  ],
}
const LISTED = ['-f csv', '--json', '--sort-column uuid:desc --limit 1', '--limit 1']

test('requests, instances and devices', async () => {
  const asOf = 'as_of=2026-01-31T12%3A00%3A00Z'
  await expect(
    await transcriptOf({
      'requests, as they are asked for': {
        line: 'arq list --instance i1 --state Bound --project j1 --as-of 2026-01-31T12:00:00Z --limit 2',
        answers: only(`GET /accelerator_requests?instance=i1&state=Bound&project_id=j1&${asOf}&limit=2`, {
          arqs: [arq('a1'), arq('a2'), arq('a3')],
        }),
      },
      'all requests': {
        line: 'arqs list',
        answers: {
          ...only('GET /accelerator_requests', { arqs: [arq('a1'), arq('a2')] }),
          ...only('GET /accelerator_requests?limit=1', { arqs: [arq('a1')] }),
        },
        also: LISTED,
      },
      'a request of the past': {
        line: 'arq show a/1 --as-of 2026-01-31T12:00:00Z',
        answers: only(`GET /accelerator_requests/a%2F1?${asOf}`, arq('a1')),
        also: ['-f csv', '--json'],
      },
      'its history as rows': {
        line: 'arq show a1 --timeline --as-of 2026-01-31T12:00:00Z',
        answers: only(`GET /accelerator_requests/a1/timeline?${asOf}`, {
          steps: [{ at: 'T1', step: 'created', took_ms: 5, cause: 'nova', detail: { host: 'h1', arqs: ['a'] } }],
        }),
        also: ['-f csv', '--json'],
      },
      'the requests of an instance': {
        line: 'instance show i/1 --as-of 2026-01-31T12:00:00Z',
        answers: only(`GET /accelerator_requests?instance=i%2F1&${asOf}`, { arqs: [arq('a1'), arq('a2')] }),
        also: ['-f csv', '--json'],
      },
      'an instance that has none': {
        line: 'instance show i1',
        answers: only('GET /accelerator_requests?instance=i1', { arqs: [] }),
        also: ['-f json'],
      },
      'devices, as they are asked for': {
        line: 'device list --type FPGA --vendor v1 --host h1 --status enabled --failing --as-of 2026-01-31T12:00:00Z',
        answers: only(`GET /devices?type=FPGA&vendor=v1&hostname=h1&status=enabled&state=failing&${asOf}`, {
          devices: [device('d1')],
        }),
      },
      'all devices': {
        line: 'device list',
        answers: {
          ...only('GET /devices', { devices: [device('d1'), device('d2')] }),
          ...only('GET /devices?limit=1', { devices: [device('d1')] }),
        },
        also: LISTED,
      },
      'a device that is bad and in use': {
        line: 'device show d/1',
        answers: only('GET /devices/d%2F1', { ...device('d1'), health: HEALTH }),
        also: ['-f csv', '--json'],
      },
      'a device that nobody uses': {
        line: 'device show d1 --as-of 2026-01-31T12:00:00Z',
        answers: only(`GET /devices/d1?${asOf}`, { ...device('d1'), health: { ...HEALTH, held: [] } }),
      },
      'hosts, as they are asked for': {
        line: 'host list --liveness down --as-of 2026-01-31T12:00:00Z --limit 3',
        answers: only(`GET /hosts?liveness=down&${asOf}&limit=3`, { hosts: [] }),
      },
      'handles, as they are asked for': {
        line: 'handle list --state free --host h1 --limit 1',
        answers: only('GET /handles?state=free&hostname=h1&limit=1', {
          handles: [{ uuid: 'u1', state: 'free', hostname: 'h1', deployable_uuid: 'd1', arq_uuid: 'a1' }],
        }),
        also: ['-f csv', '--json'],
      },
    }),
  ).toMatchFileSnapshot('golden/askedLists.txt')
})

const program = (uuid: string, more: object = {}) => ({
  deployable_uuid: uuid,
  state: 'loaded',
  hostname: 'h1',
  name: 'card',
  image_uuid: 'm1',
  former_image_uuid: 'm0',
  reason: 'as asked',
  image: { uuid: 'm1', name: 'blue', digest: 'sha256:1' },
  image_problem: null,
  refusal: 'it is in use',
  arqs: ['a1', 'a2'],
  images: [
    { uuid: 'm1', name: 'blue' },
    { uuid: 'm2', name: null },
  ],
  images_problem: null,
  ...more,
})
const LINE = { resource_class: 'FPGA', traits: ['A', 'B'], total: 9, held: 1, free: 2, withheld: 3, broken: 4 }
const CAPACITY = {
  capacity: [
    {
      ...LINE,
      hosts: [
        { host: 'h1', total: 5, held: 1, free: 0, withheld: 2, broken: 3 },
        { host: 'h2', total: 4, held: 0, free: 2, withheld: 1, broken: 1 },
      ],
    },
    { ...LINE, resource_class: 'PGPU', traits: [], hosts: [] },
  ],
}
const delivery = (instance: string, more: object = {}) => ({
  instance_uuid: instance,
  state: 'retrying',
  hostname: 'h1',
  attempts: 3,
  next_at: 'T5',
  until: 'T6',
  request_id: 'req-1',
  statuses: { a1: 'completed', a2: 'failed' },
  answers: { a1: 'it answered 500', a2: 'it answered 500', a3: 'nothing' },
  ...more,
})
const LETTER = {
  uuid: '5eed0000-0000-4000-8000-000000000001',
  id: 'host.reports.v1/3/1700',
  state: 'dropped',
  stored_at: 'T1',
  topic: 'host.reports.v1',
  key: 'h1',
  reason: 'it is no JSON',
  size_bytes: 12,
  replay_refusal: 'its topic is gone',
  handled: { at: 'T2', by: 'kim', reason: 'it is mended' },
  value: '{"a":\n1}',
}
test('images, capacity, what Nova is told, and dead letters', async () => {
  const deliveries = (marker: string) => `GET /deliveries?state=undelivered&limit=500${marker}`
  const letter = (more = '') => `/dead_letters/${LETTER.uuid}${more}`
  const resent = 'POST /deliveries/i%2F1/resend'
  await expect(
    await transcriptOf({
      'images of cards': {
        line: 'bitstream list',
        answers: {
          ...only('GET /programs', { programs: [program('d1'), program('d2')] }),
          ...only('GET /programs?limit=1', { programs: [program('d1')] }),
        },
        also: ['-f csv', '--json', '--limit 1'],
      },
      'a card, and what could be loaded': {
        line: 'bitstream show d/1',
        answers: only('GET /programs/d%2F1', program('d1')),
        also: ['-f csv', '--json'],
      },
      'a card without an image that fits': {
        line: 'bitstream show d1',
        answers: only('GET /programs/d1', program('d1', { image: null, refusal: null, arqs: [], images: [] })),
      },
      'an image store that is away': {
        line: 'bitstream show d1',
        answers: only(
          'GET /programs/d1',
          program('d1', { image_problem: 'it is away', images_problem: 'all is away' }),
        ),
      },
      'the image before is loaded again': {
        line: 'bitstream revert d/1',
        answers: {
          ...only('GET /programs/d%2F1', program('d1')),
          ...only('PATCH /deployables/d%2F1/program', { uuid: 'd1', name: 'card', bitstream_id: 'm0' }),
        },
        also: ['-f csv', '--json'],
      },
      'no image was there before': {
        line: 'bitstream revert d1',
        answers: only('GET /programs/d1', program('d1', { former_image_uuid: null })),
      },
      'how many there are': {
        line: 'capacity show',
        answers: only('GET /capacity', CAPACITY),
        also: ['-f csv', '--json', '--hosts', '--hosts -f json'],
      },
      'of a class, with a trait': {
        line: 'capacity show --class FPGA --trait A',
        answers: only('GET /capacity?resource_class=FPGA&trait=A', { capacity: [] }),
      },
      'what Nova was not told, page by page': {
        line: 'delivery list --state undelivered',
        answers: {
          ...only(deliveries(''), { deliveries: [delivery('i1'), delivery('i2')], deliveries_links: [{}] }),
          ...only(deliveries('&marker=i2'), {
            deliveries: [delivery('i3', { hostname: null })],
            deliveries_links: [{}],
          }),
          ...only(deliveries('&marker=i3'), { deliveries: [], deliveries_links: [{}] }),
        },
        also: ['-f csv', '-f json -c instance_uuid'],
      },
      'all of it on one page': {
        line: 'delivery list --json',
        answers: only('GET /deliveries?state=waiting&limit=500', { deliveries: [delivery('i1')] }),
      },
      'Nova is told again': {
        line: ['delivery', 'resend', 'i/1', '--reason', 'it is back'],
        answers: only(resent, delivery('i1')),
        also: ['-f csv', '--json'],
      },
      'a dead letter, by its UUID': {
        line: `dead-letter show ${LETTER.uuid.toUpperCase()}`,
        answers: only(`GET ${letter()}`, LETTER),
        also: ['-f csv', '--json'],
      },
      'a dead letter of which nobody said who dropped it, and why': {
        line: `dead-letter show ${LETTER.uuid}`,
        answers: only(`GET ${letter()}`, { ...LETTER, handled: { at: 'T2', by: null, reason: null } }),
      },
      'by the id of its message': { line: 'dead-letter show host.reports.v1/3/1700' },
      'it is sent again': {
        line: ['dead-letter', 'replay', LETTER.uuid, '--reason', 'it is mended'],
        answers: only(`POST ${letter('/replay')}`, { ...LETTER, handled: null, replay_refusal: null }),
      },
      'it is dropped': {
        line: ['dead-letter', 'drop', LETTER.uuid, '--reason', 'nobody needs it'],
        answers: only(`POST ${letter('/drop')}`, LETTER),
        also: ['--json'],
      },
    }),
  ).toMatchFileSnapshot('golden/askedOthers.txt')
})
