/** What the API shows of drift, of its repair, of what is ignored of it, and of orphans: whole. */
import { describe, expect, test } from 'vitest'
import type { HostDrift } from '../../src/actors/answers/drift.ts'
import { at, shown, tell, uuid } from './toldControl.ts'

const [A, B, C, D, E, F] = [1, 2, 3, 4, 5, 6].map(uuid) as [string, string, string, string, string, string]

const driftOf = (host: string, more: Partial<HostDrift> = {}): HostDrift =>
  ({
    host,
    root: A,
    checkedAt: at(1),
    trouble: { state: 'unreachable', reason: 'gone', since: 5 },
    entries: [
      {
        uuid: B,
        kind: 'provider',
        provider: C,
        name: 'n',
        deployable: D,
        repairs: ['created'],
        state: 'pending',
        reason: 'why',
        reserving: ['retired'],
        consumer: E,
        arqs: [F],
        ignored: { by: 'op', reason: 'known', at: at(2), until: at(3) },
      },
    ],
    ...more,
  }) as unknown as HostDrift
const driftShown = (host: string) => ({
  host,
  compute_node_uuid: A,
  checked_at: shown(1),
  trouble: { state: 'unreachable', reason: 'gone' },
  entries: [
    {
      uuid: B,
      kind: 'provider',
      provider_uuid: C,
      name: 'n',
      deployable_uuid: D,
      repairs: ['created'],
      state: 'pending',
      reason: 'why',
      reserving: ['retired'],
      consumer_uuid: E,
      arqs: [F],
      ignored: { by: 'op', reason: 'known', at: shown(2), until: shown(3) },
    },
  ],
})
describe('drift', () => {
  test('is shown host by host, and links to the host with which the next page begins', async () => {
    const items = [driftOf('h1'), driftOf('h2', { root: null, checkedAt: null, trouble: null, entries: [] })]
    const { got } = await tell('GET /v2/drift?limit=2', { 'drift.list': { items, next: { value: 1, key: 'h2' } } })
    const little = { host: 'h2', compute_node_uuid: null, checked_at: null, trouble: null, entries: [] }
    const next = { rel: 'next', href: 'http://api/accelerator/v2/drift?limit=2&marker=h2' }
    expect(got.json).toEqual({ drift: [driftShown('h1'), little], drift_links: [next] })
  })
  const [entry] = driftOf('h').entries
  const open = { ...entry!, ignored: null }
  const [ignored, differing] = [
    driftOf('ignored', { trouble: null }),
    driftOf('differing', { trouble: null, entries: [entry!, open] }),
  ]
  const troubled = driftOf('troubled', { entries: [] })
  const none = driftOf('none', { trouble: null, entries: [] })
  const heal = async (before: readonly HostDrift[], after: unknown, passed: unknown, query = 'dry_run=false') => {
    const lists = [{ ok: true, value: { items: before, next: null } }, after]
    return tell(`POST /v2/drift/heal?${query}`, {
      'drift.list': async () => lists.shift(),
      'drift.heal': async () => passed,
    })
  }
  const done = (items: readonly unknown[]) => ({ ok: true, value: { items, next: null } })
  const passOf = (ended: boolean, ...hosts: readonly string[]) => done(hosts.map((host) => ({ host, ended })))
  test('that was repaired is told by what still differs', async () => {
    const before = [differing, troubled, ignored, none]
    const hosts = ['ignored', 'differing', 'troubled', 'none', 'gone']
    const { got } = await heal(before, done([ignored, differing, troubled, none]), passOf(true, ...hosts))
    const entryShown = { ...driftShown('x').entries[0], ignored: null }
    const differingShown = {
      ...driftShown('differing'),
      trouble: null,
      entries: [driftShown('x').entries[0], entryShown],
    }
    const troubledShown = { ...driftShown('troubled'), entries: [] }
    const ignoredShown = { ...driftShown('ignored'), trouble: null }
    expect(got.json).toEqual({
      dry_run: false,
      drift: [differingShown, troubledShown, ignoredShown, { ...driftShown('none'), trouble: null, entries: [] }],
      next: null,
      healed: [
        { host: 'ignored', outcome: 'in_step', left: ignoredShown },
        { host: 'differing', outcome: 'left', left: differingShown },
        { host: 'troubled', outcome: 'left', left: troubledShown },
        { host: 'none', outcome: 'in_step', left: null },
        { host: 'gone', outcome: 'in_step', left: null },
      ],
    })
  })
  test('of which nothing is to be repaired is not read again, unless another control is at work', async () => {
    const calls = async (before: readonly HostDrift[], passed: unknown) => {
      const { got, asked } = await heal(before, done([]), passed)
      return [asked.map(([call]) => call), got.json.healed.map((one: { outcome: string }) => one.outcome)]
    }
    expect(await calls([ignored, none], passOf(true, 'ignored', 'none'))).toEqual([
      ['drift.list', 'drift.heal'],
      ['in_step', 'in_step'],
    ])
    expect(
      await calls(
        [none],
        done([
          { host: 'none', ended: true },
          { host: 'x', ended: false },
        ]),
      ),
    ).toEqual([
      ['drift.list', 'drift.heal', 'drift.list'],
      ['in_step', 'busy'],
    ])
    expect(await calls([none, differing], passOf(true, 'none'))).toEqual([
      ['drift.list', 'drift.heal', 'drift.list'],
      ['in_step'],
    ])
  })
  test('is only shown unless it is said otherwise, a hundred hosts at a time', async () => {
    const page = { items: [differing, none], next: { value: 1, key: 'none' } }
    const asked = async (query: string) => tell(`POST /v2/drift/heal${query}`, { 'drift.list': page })
    for (const query of ['', '?dry_run=true', '?dry_run=']) {
      const { got, asked: calls } = await asked(query)
      expect(got.json).toMatchObject({ dry_run: true, next: 'none', healed: [] })
      expect(calls).toEqual([['drift.list', null, { limit: 100 }, false, true]])
    }
    expect((await asked('?limit=100&host=h1')).asked).toEqual([['drift.list', 'h1', { limit: 100 }, false, true]])
    expect((await asked('?limit=99&marker=a')).asked).toEqual([
      ['drift.list', null, { limit: 99, marker: 'a' }, false, true],
    ])
    expect((await asked('?limit=101')).asked).toEqual([['drift.list', null, { limit: 100 }, false, true]])
    const empty = await tell('POST /v2/drift/heal', { 'drift.list': { items: [], next: { value: 1, key: 'x' } } })
    expect(empty.got.json.next).toBe(null)
  })
  test('whose comparison or repair is refused is refused, before and after', async () => {
    const no = { ok: false, fault: { kind: 'conflict', reason: 'no Placement' } }
    const refusal = async (...given: Parameters<typeof heal>) => {
      const { got, asked } = await heal(...given)
      return [got.status, got.fault, asked.length]
    }
    expect(await refusal([differing], done([]), no)).toEqual([409, 'no Placement', 2])
    expect(await refusal([differing], no, passOf(true, 'differing'))).toEqual([409, 'no Placement', 3])
    expect((await tell('POST /v2/drift/heal', { 'drift.list': async () => no })).got.fault).toBe('no Placement')
  })
})

test('differences that are ignored link to the next of them', async () => {
  const row = {
    uuid: A,
    hostname: 'h1',
    kind: 'provider',
    provider_uuid: B,
    name: 'n',
    consumer_uuid: C,
    state: 'pending',
    difference_reason: 'd',
    ignored_by: 'op',
    reason: 'r',
    created_at: at(1),
    until_at: at(2),
    ended: { by: 'op2', reason: 'e', at: at(3) },
  }
  const page = { items: [row], next: { value: 1, key: A } }
  const { got, asked } = await tell('GET /v2/drift/ignored?host=h1&limit=1', { 'drift.ignored': page })
  expect(asked).toEqual([['drift.ignored', 'h1', { limit: 1 }]])
  expect(got.json).toEqual({
    ignored: [
      {
        uuid: A,
        host: 'h1',
        kind: 'provider',
        provider_uuid: B,
        name: 'n',
        consumer_uuid: C,
        state: 'pending',
        difference_reason: 'd',
        by: 'op',
        reason: 'r',
        at: shown(1),
        until: shown(2),
        ended: { by: 'op2', reason: 'e', at: shown(3) },
      },
    ],
    ignored_links: [{ rel: 'next', href: `http://api/accelerator/v2/drift/ignored?host=h1&limit=1&marker=${A}` }],
  })
})

const ORPHAN = { instance: A, arqs: [B], host: 'h1', project: 'p1', changedAt: at(1) }
const orphanShown = { instance_uuid: A, arqs: [B], hostname: 'h1', project_id: 'p1', changed_at: shown(1) }
test('orphans are shown with those of which Nova says nothing, and with what was kept', async () => {
  const looked = { orphans: [ORPHAN], unclear: [{ instance: C, reason: 'u' }], asked: 7, next: D }
  const listed = await tell(`GET /v2/orphans?marker=${E}`, { 'orphans.list': looked })
  expect(listed.asked).toEqual([['orphans.list', E]])
  expect(listed.got.json).toEqual({
    orphans: [orphanShown],
    unclear: [{ instance_uuid: C, reason: 'u' }],
    asked: 7,
    next: D,
  })
  expect((await tell('GET /v2/orphans', { 'orphans.list': looked })).asked).toEqual([['orphans.list', null]])
  const sent = { body: { instance_uuids: [A.replaceAll('-', ''), C] } }
  const answers = { 'orphans.collect': { orphans: [ORPHAN], kept: [{ instance: C, reason: 'k' }] } }
  const collected = await tell('POST /v2/orphans/collect', answers, sent)
  expect(collected.asked).toEqual([['orphans.collect', 'the caller', [A, C]]])
  expect(collected.got.json).toEqual({ orphans: [orphanShown], kept: [{ instance_uuid: C, reason: 'k' }] })
})
test('a question about orphans that is refused is answered as any other refusal', async () => {
  const no = async () => ({ ok: false, fault: { kind: 'conflict', reason: 'no Nova' } })
  const listed = await tell('GET /v2/orphans', { 'orphans.list': no })
  const sent = { body: { instance_uuids: [A] } }
  const collected = await tell('POST /v2/orphans/collect', { 'orphans.collect': no }, sent)
  for (const { got } of [listed, collected]) expect([got.status, got.fault]).toEqual([409, 'no Nova'])
})
