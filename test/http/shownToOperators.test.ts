/** What the API shows to operators, whole, with another value in each field, and what absent values become. */
import { describe, expect, test } from 'vitest'
import type { HandleDetail } from '../../src/actors/control.ts'
import type { DeadLetterDetail } from '../../src/actors/answers/deadLetters.ts'
import type { Impact } from '../../src/actors/answers/impact.ts'
import type { Delivery, Overview } from '../../src/actors/answers/tallied.ts'
import { at, shown, tell, uuid } from './toldControl.ts'

const [A, B, C, D] = [uuid(1), uuid(2), uuid(3), uuid(4)] as const
const REASON = { body: { reason: ' of a test ' } }
const NOTE = { by: 'op-7', reason: 'of a test' }

const HANDLE: HandleDetail = {
  uuid: A,
  deployable_uuid: B,
  hostname: 'h1',
  state: 'quarantined',
  arq_uuid: C,
  device: { uuid: D, state: 'missing', reason: 'why', since: at(6) },
  type: 'PCI',
  info: { bus: '0c' },
  last_arq: D,
  order: 9,
  quarantine: { by: 'op', reason: 'dirty', at: at(1) },
  cleaning: {
    due: 'by_operator',
    policy: 'by_host',
    underWay: true,
    last: {
      command: '/bin/wipe',
      startedAt: at(2),
      finishedAt: at(5),
      exitCode: 7,
      outputSha256: 'ab',
      outputBytes: 12,
      output: 'done',
    },
  },
} as unknown as HandleDetail
describe('an attach handle', () => {
  const plain = { uuid: A, deployable_uuid: B, hostname: 'h1', state: 'quarantined', arq_uuid: C }
  const detail = {
    ...plain,
    device: { uuid: D, state: 'missing', state_reason: 'why', state_since: shown(6) },
    attach_handle_type: 'PCI',
    attach_handle_info: { bus: '0c' },
    last_arq_uuid: D,
    order: 9,
    quarantine: { by: 'op', reason: 'dirty', at: shown(1) },
    cleaning: {
      due: 'by_operator',
      policy: 'by_host',
      under_way: true,
      last: {
        command: '/bin/wipe',
        started_at: shown(2),
        finished_at: shown(5),
        duration_ms: 3000,
        exit_code: 7,
        output_sha256: 'ab',
        output_bytes: 12,
        output: 'done',
      },
    },
  }
  test('is listed in short, and shown with its cleaning', async () => {
    const listed = await tell('GET /v2/handles', { 'handles.list': { items: [HANDLE], next: null } })
    expect(listed.got.json).toEqual({ handles: [plain] })
    expect((await tell(`GET /v2/handles/${A}`, { 'handles.get': HANDLE })).got.json).toEqual(detail)
    const well = { uuid: D, state: 'enabled', reason: null, since: null }
    const never = { ...HANDLE, device: well, quarantine: null, cleaning: { ...HANDLE.cleaning, last: null } }
    expect((await tell(`GET /v2/handles/${A}`, { 'handles.get': never })).got.json).toEqual({
      ...detail,
      device: { uuid: D, state: 'enabled', state_reason: null, state_since: null },
      quarantine: null,
      cleaning: { ...detail.cleaning, last: null },
    })
  })
  test.each(['quarantine', 'release', 'clean'])('that an operator has told to %s is shown', async (verb) => {
    const { got, asked } = await tell(`POST /v2/handles/${A}/${verb}`, { [`handles.${verb}`]: HANDLE }, REASON)
    expect([got.status, got.json]).toEqual([200, detail])
    expect(asked).toEqual([[`handles.${verb}`, 'the caller', A, NOTE]])
  })
})

const LETTER: DeadLetterDetail = {
  uuid: A,
  id: 't/3/8',
  state: 'replayed',
  at: at(1),
  topic: 't',
  key: 'k',
  place: { partition: 3, offset: 8 },
  reason: 'r',
  bytes: 5,
  cut: true,
  refusal: 'too long',
  handled: { at: at(2), by: 'op', reason: 'mended', request: 'req-1' },
  value: 'v',
  headers: { h: '1' },
}
describe('a dead letter', () => {
  const listed = {
    uuid: A,
    id: 't/3/8',
    state: 'replayed',
    stored_at: shown(1),
    topic: 't',
    partition: 3,
    offset: 8,
    key: 'k',
    reason: 'r',
    size_bytes: 5,
    cut: true,
    replay_refusal: 'too long',
    handled: { at: shown(2), by: 'op', reason: 'mended', request_id: 'req-1' },
  }
  test('of a message that was never on its topic has no place there', async () => {
    const items = [LETTER, { ...LETTER, place: null, handled: null }]
    const { got } = await tell('GET /v2/dead_letters', { 'deadLetters.list': { items, next: null } })
    expect(got.json).toEqual({
      dead_letters: [listed, { ...listed, partition: null, offset: null, handled: null }],
    })
  })
  test.each(['replay', 'drop'])('that an operator tells to %s is shown with its message', async (verb) => {
    const { got, asked } = await tell(`POST /v2/dead_letters/${A}/${verb}`, { [`deadLetters.${verb}`]: LETTER }, REASON)
    expect([got.status, got.json]).toEqual([200, { ...listed, headers: { h: '1' }, value: 'v' }])
    expect(asked).toEqual([[`deadLetters.${verb}`, 'the caller', A, NOTE]])
  })
})

const OVERVIEW: Overview = {
  countedAt: at(1),
  arqs: { Bound: 2 },
  handles: { free: 3 },
  hosts: { up: 4 },
  devices: { enabled: 5 },
  deviceStates: { missing: 28 },
  vanished: { devices: 28, arqs: 29, instances: 30, since: at(31), cards: [{ uuid: A, host: 'h1', place: null }] },
  failing: {
    devices: 32,
    arqs: 33,
    instances: 34,
    since: null,
    cards: [{ uuid: B, host: 'h2', place: '0000:01:00.0' }],
  },
  orders: { waiting: 6, oldestAt: at(7) },
  deliveries: { waiting: 8, oldestAt: at(9), undelivered: 10 },
  failingDevices: 11,
  placement: { in_sync: 12 },
  progress: {
    binds: { late: 13, nextAt: at(14) },
    overdueSince: at(15),
    journal: { newestAt: at(16), untoldSince: at(17), isStopped: true },
    found: {
      viewsDiffer: { count: 18, lastAt: at(19) },
      orphans: { count: 20, lastAt: at(21) },
      slotDifferences: { count: 22, lastAt: at(23) },
      refusedReports: { count: 24, lastAt: at(25) },
      deadLetters: { count: 26, lastAt: null },
    },
    viewsChecked: 27,
  },
}
test('the overview is every count with its moment', async () => {
  const parts = { about: () => ({ store: 'memory' }) }
  const { got } = await tell('GET /v2/overview', { overview: OVERVIEW }, {}, parts)
  expect(got.json).toEqual({
    counted_at: shown(1),
    arqs: { Bound: 2 },
    handles: { free: 3 },
    hosts: { up: 4 },
    devices: { enabled: 5 },
    device_states: { missing: 28 },
    vanished: {
      ...{ devices: 28, arqs: 29, instances: 30, since: shown(31) },
      cards: [{ device_uuid: A, hostname: 'h1', pci_address: null }],
    },
    failing: {
      ...{ devices: 32, arqs: 33, instances: 34, since: null },
      cards: [{ device_uuid: B, hostname: 'h2', pci_address: '0000:01:00.0' }],
    },
    orders: { waiting: 6, oldest_at: shown(7) },
    deliveries: { waiting: 8, oldest_at: shown(9), undelivered: 10 },
    failing_devices: 11,
    placement: { in_sync: 12 },
    binds: { late: 13, next_deadline_at: shown(14) },
    overdue_since: shown(15),
    journal: { newest_at: shown(16), untold_since: shown(17), writing_stopped: true },
    found: {
      views_differing: { count: 18, last_at: shown(19) },
      orphan_handles: { count: 20, last_at: shown(21) },
      slot_differences: { count: 22, last_at: shown(23) },
      reports_refused: { count: 24, last_at: shown(25) },
      dead_letters: { count: 26, last_at: null },
    },
    views_checked: 27,
    program: { store: 'memory' },
  })
})

const DELIVERY: Delivery = {
  state: 'undelivered',
  instance: A,
  hostname: 'h1',
  requestId: 'req-1',
  statuses: { [B]: 'failed' },
  attempts: 3,
  nextAt: null,
  until: at(1),
  answers: { [B]: '404' },
}
test('deliveries are shown as they wait or ended, and one that is sent again', async () => {
  const ended = {
    state: 'undelivered',
    instance_uuid: A,
    hostname: 'h1',
    request_id: 'req-1',
    statuses: { [B]: 'failed' },
    attempts: 3,
    next_at: null,
    until: shown(1),
    answers: { [B]: '404' },
  }
  const items = [DELIVERY, { ...DELIVERY, state: 'waiting', nextAt: at(2), until: null }]
  const { got } = await tell('GET /v2/deliveries', { deliveries: { items, next: null } })
  expect(got.json).toEqual({ deliveries: [ended, { ...ended, state: 'waiting', next_at: shown(2), until: null }] })
  const resent = await tell(`POST /v2/deliveries/${A}/resend`, { resendDelivery: DELIVERY }, REASON)
  expect([resent.got.status, resent.got.json]).toEqual([202, ended])
  expect(resent.asked).toEqual([['resendDelivery', 'the caller', A, NOTE]])
})

const IMPACT: Impact = {
  refusal: 'in use',
  effect: 'unbound',
  devices: [A],
  instances: [B],
  projects: ['p1'],
  arqs: [{ arq: C, state: 'Bound', instance: B, project: 'p1', host: 'h1', deployable: D }],
  arqsLeftOut: 4,
}
test.each([
  ['POST /v2/devices/ID/disable', 'devices.impact', [A], undefined],
  ['POST /v2/hosts/h1/retire', 'hosts.impact', ['the caller', 'h1', 'retire'], REASON],
  ['DELETE /v2/hosts/h1?reason=x', 'hosts.impact', ['the caller', 'h1', 'remove'], undefined],
  ['DELETE /v2/hosts/h1?reason=x&force=true', 'hosts.impact', ['the caller', 'h1', 'remove by force'], undefined],
  ['DELETE /v2/device_profiles/fpga', 'profiles.impact', [['fpga']], undefined],
  ['DELETE /v2/device_profiles?value=fpga,ID,fpga', 'profiles.impact', [['fpga', A]], undefined],
])('%s only tells whom it would concern', async (line, call, given, sent) => {
  const path = `${line.replace('ID', A)}${line.includes('?') ? '&' : '?'}dry_run=true`
  const { got, asked } = await tell(path, { [call]: IMPACT }, sent ?? {})
  expect(asked).toEqual([[call, ...given]])
  expect([got.status, got.json]).toEqual([
    200,
    {
      dry_run: true,
      refusal: 'in use',
      effect: 'unbound',
      devices: [A],
      instances: [B],
      projects: ['p1'],
      arqs: [{ uuid: C, state: 'Bound', instance_uuid: B, project_id: 'p1', hostname: 'h1', deployable_uuid: D }],
      arqs_left_out: 4,
    },
  ])
})
