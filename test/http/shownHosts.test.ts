/** What the API shows of a host, whole, with another value in each field, and what absent values become. */
import { describe, expect, test } from 'vitest'
import type { HostDetail } from '../../src/actors/control.ts'
import { as, version } from './steps.ts'
import { at, bodyOf, shown, tell, uuid } from './toldControl.ts'

const [B, C, D] = [uuid(2), uuid(3), uuid(4)] as const

const HOST: HostDetail = {
  name: 'h1',
  liveness: 'up',
  aliases: ['h1.example'],
  drivers: { d1: { status: 'failed', error: 'link down' } },
  boot_id: B,
  last_seen_at: at(3),
  retired: { by: 'op', reason: 'old', at: at(4) },
  public_key: 'k1',
  offered_key: 'k2',
  created_at: at(1),
  updated_at: at(2),
  handles: { free: 1, held: 2, releasing: 3, quarantined: 4, missing: 5 },
  arqs: [C],
  playbooks: [
    {
      driver: 'd1',
      playbook: 'setup',
      status: 'failed',
      startedAt: at(5),
      finishedAt: at(6),
      reason: 'r',
      output: 'o',
    },
    {
      driver: 'd2',
      playbook: 'teardown',
      status: 'running',
      startedAt: at(7),
      finishedAt: null,
      reason: null,
      output: '',
    },
  ],
  probe: { by: 'op', at: at(8), answer: { at: at(10), number: 5, devices: 2, failed: ['d1'] } },
  lastReport: { number: 6, at: at(11) },
  orders: { waiting: 7, since: at(12) },
  measured: [{ device: D, at: at(13), health: 'bad', reasons: ['hot'], numbers: { power_watts: 8 } }],
} as unknown as HostDetail
describe('a host', () => {
  const plain = {
    name: 'h1',
    liveness: 'up',
    aliases: ['h1.example'],
    drivers: { d1: { status: 'failed', error: 'link down' } },
    boot_id: B,
    last_seen_at: shown(3),
    retired: { by: 'op', reason: 'old', at: shown(4) },
    public_key: 'k1',
    offered_key: 'k2',
    created_at: shown(1),
    updated_at: shown(2),
  }
  const runs = [
    {
      driver: 'd1',
      playbook: 'setup',
      status: 'failed',
      started_at: shown(5),
      finished_at: shown(6),
      reason: 'r',
      output: 'o',
    },
    {
      driver: 'd2',
      playbook: 'teardown',
      status: 'running',
      started_at: shown(7),
      finished_at: null,
      reason: null,
      output: '',
    },
  ]
  const detail = {
    ...plain,
    handles: { free: 1, held: 2, releasing: 3, quarantined: 4, missing: 5 },
    arqs: [C],
    playbooks: runs,
    probe: {
      asked_at: shown(8),
      by: 'op',
      answer: { at: shown(10), took_ms: 2000, report_number: 5, devices: 2, failed_drivers: ['d1'] },
    },
    last_report: { number: 6, at: shown(11) },
    orders: { waiting: 7, waiting_since: shown(12) },
    measured: [{ device_uuid: D, measured_at: shown(13), state: 'bad', reasons: ['hot'], numbers: { power_watts: 8 } }],
  }
  const of = (more: object = {}) => bodyOf('hosts/h1', { 'hosts.get': { ...HOST, ...more } })
  test('is listed as it is, and shown with all that is known of it', async () => {
    expect(await bodyOf('hosts', { 'hosts.list': { items: [HOST], next: null } })).toEqual({ hosts: [plain] })
    expect(await of()).toEqual(detail)
  })
  test('of which little is known', async () => {
    const little = { last_seen_at: null, retired: null, probe: null, lastReport: null }
    expect(await of({ ...little, orders: { waiting: 0, since: null } })).toEqual({
      ...detail,
      last_seen_at: null,
      retired: null,
      probe: null,
      last_report: null,
      orders: { waiting: 0, waiting_since: null },
    })
  })
  test('that has not answered a question yet, or answered by a clock that is behind', async () => {
    const { by, at: asked } = HOST.probe!
    expect(await of({ probe: { by, at: asked, answer: null } })).toMatchObject({ probe: { by: 'op', answer: null } })
    const early = { ...HOST.probe, answer: { ...HOST.probe!.answer, at: at(7) } }
    expect(await of({ probe: early })).toMatchObject({ probe: { answer: { at: shown(7), took_ms: 0 } } })
  })
  test('shows what drivers and playbooks say to administrators only', async () => {
    const headers = { ...as('manager'), ...version('latest') }
    const options = { policy: { enforceNewDefaults: true, rules: {} } } as never
    const { got } = await tell('GET /v2/hosts/h1', { 'hosts.get': HOST }, { headers }, { options })
    expect(got.json).toEqual({
      ...detail,
      drivers: { d1: { status: 'failed', error: null } },
      playbooks: runs.map((run) => ({ ...run, reason: null, output: null })),
    })
  })
  test.each([
    [HOST, 200],
    [{ ...HOST, probe: { ...HOST.probe, answer: null } }, 202],
    [{ ...HOST, probe: null }, 202],
  ])('that is asked for a report is shown with its answer: case %#', async (host, status) => {
    const { got, asked } = await tell('POST /v2/hosts/h1/probe', { 'hosts.probe': host })
    expect([got.status, got.json.name, asked]).toEqual([status, 'h1', [['hosts.probe', 'the caller', 'h1']]])
  })
})
