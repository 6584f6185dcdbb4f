/** A host and the bind conversation of an instance, to the letter. */
import { describe, expect, it } from 'vitest'
import { host, hostKey, isNews } from '../../src/actors/host/decider.ts'
import { dueAt, instance, instanceKey } from '../../src/actors/instance/decider.ts'
import { type Fact, accepted, left, novaTold, settled } from '../audit/cases/scene.ts'
import { exactly } from './exact.ts'

type Decisions = readonly [string, readonly Fact[], Fact, unknown]

describe('a host', () => {
  const { after, decide, rows } = exactly(host)
  const shot = (bootId: string, number: number) => ({ bootId, number, digest: 'd', aliases: ['x'], drivers: { f: 1 } })
  const held = (uuid: string) => ({ uuid, id: 1, driver: 'f', digest: 'x', missing: 0, deployables: {} })
  const picture = (bootId = 'b1', number = 1, devices: object = {}): Fact => ({
    type: 'PictureRecorded',
    name: 'h1',
    picture: shot(bootId, number),
    devices,
  })
  const liveness = (to: string, more: object = {}): Fact => ({ type: 'LivenessSet', liveness: to, by: 'op', ...more })
  const NEW = {
    exists: false,
    name: '',
    bootId: '',
    number: 0,
    digest: '',
    aliases: [],
    drivers: {},
    liveness: 'up',
    formerBoots: [],
    devices: {},
    departed: [],
    createdAt: 0,
    updatedAt: null,
  }
  const KNOWN = { ...NEW, ...shot('b1', 1), exists: true, name: 'h1', createdAt: 1000 }
  const two = picture('b1', 1, { c1: held('u1'), c2: held('u2') })
  const retired = liveness('up', { care: 'retired', reason: 'r' })
  const RETIRED = { ...KNOWN, retired: { by: 'op', reason: 'r', at: 2000 }, updatedAt: 2000 }
  const away = { canonical: 'c1', device: held('u1') }
  it.each<[string, readonly Fact[], object]>([
    ['nothing at first', [], NEW],
    ['its first picture', [picture()], KNOWN],
    ['its latest picture', [picture(), picture('b1', 2)], { ...KNOWN, number: 2, updatedAt: 2000 }],
    [
      'its former boots',
      [picture(), picture('b2', 1), picture('b2', 2)],
      { ...KNOWN, ...shot('b2', 2), formerBoots: ['b1'], updatedAt: 3000 },
    ],
    ['its devices', [two], { ...KNOWN, devices: { c1: held('u1'), c2: held('u2') } }],
    [
      'devices that left, and for how long it had the others',
      [two, picture('b1', 2, { c1: null, c9: null })],
      { ...KNOWN, number: 2, devices: { c2: held('u2') }, departed: [away], updatedAt: 2000 },
    ],
    [
      'no device as away that is back, by whatever path',
      [two, picture('b1', 2, { c1: null }), picture('b1', 3, { c3: held('u1') })],
      { ...KNOWN, number: 3, devices: { c2: held('u2'), c3: held('u1') }, updatedAt: 3000 },
    ],
    [
      'no device as away that only changed',
      [two, picture('b1', 2, { c1: { ...held('u1'), digest: 'y' } })],
      { ...KNOWN, number: 2, devices: { c1: { ...held('u1'), digest: 'y' }, c2: held('u2') }, updatedAt: 2000 },
    ],
    ['that it is silent', [picture(), liveness('stale')], { ...KNOWN, liveness: 'stale', updatedAt: 2000 }],
    [
      'that it is heard of again',
      [picture(), liveness('stale'), picture('b1', 2)],
      { ...KNOWN, number: 2, updatedAt: 3000 },
    ],
    [
      'that it is removed, whatever it shows',
      [picture(), liveness('removed'), picture('b1', 2)],
      { ...KNOWN, number: 2, liveness: 'removed', updatedAt: 3000 },
    ],
    ['who retired it', [picture(), retired], RETIRED],
    [
      'who retired it while its liveness changes',
      [picture(), retired, liveness('stale')],
      { ...RETIRED, liveness: 'stale', updatedAt: 3000 },
    ],
    [
      'who retired it without a reason',
      [picture(), liveness('up', { care: 'removed' })],
      { ...RETIRED, retired: { by: 'op', reason: '', at: 2000 } },
    ],
    [
      'nobody when it is restored',
      [picture(), retired, liveness('down', { care: 'restored' })],
      { ...KNOWN, liveness: 'down', updatedAt: 3000 },
    ],
    [
      'devices that an operator took out',
      [two, liveness('up', { care: 'retired', reason: 'r', devices: { c1: null } })],
      { ...RETIRED, devices: { c2: held('u2') }, departed: [away] },
    ],
    ['nothing of an event of a later release', [picture(), { type: 'Polished' }], KNOWN],
  ])('remembers %s', (_, facts, state) => expect(after(...facts)).toStrictEqual(state))
  it('remembers its last sixteen boots', () => {
    const boots = Array.from({ length: 18 }, (_, n) => picture(`b${n}`))
    expect(after(...boots).formerBoots).toEqual(boots.slice(1, 17).map((_, n) => `b${n + 1}`))
  })
  it('is news of an unknown host, in a new boot or with a higher number', () => {
    const known = after(picture('b1', 5), picture('b2', 5))
    const news = (bootId: string, number: number) => isNews(known, { bootId, number })
    expect([news('b2', 6), news('b2', 5), news('b3', 1), news('b1', 9)]).toEqual([true, false, true, false])
    expect(isNews(after(), { bootId: '', number: 0 })).toBe(true)
  })

  const gone = { c1: null }
  const word = { by: 'op', reason: 'r' }
  const unknown = { kind: 'not_found', resource: 'host', id: '' }
  const recording: Fact = { ...picture('b1', 2), type: 'RecordPicture' }
  const removed = liveness('removed', { care: 'removed', reason: 'r' })
  it.each<Decisions>([
    ['is recorded', [], { ...picture(), type: 'RecordPicture' }, [picture()]],
    ['shows something new', [picture()], recording, [picture('b1', 2)]],
    ['shows something old', [picture('b1', 3)], recording, []],
    ['that nobody knows is not retired', [], { type: 'Retire', devices: {}, ...word }, unknown],
    ['is silent', [picture()], { type: 'SetLiveness', liveness: 'stale', by: 'op' }, [liveness('stale')]],
    ['is silent once', [picture(), liveness('stale')], { type: 'SetLiveness', liveness: 'stale', by: 'op' }, []],
    ['that was removed stays removed', [picture(), removed], { type: 'SetLiveness', liveness: 'up', by: 'op' }, []],
    ['is retired', [picture()], { type: 'Retire', devices: gone, ...word }, [{ ...retired, devices: gone }]],
    [
      'is retired with its liveness',
      [picture(), liveness('stale')],
      { type: 'Retire', devices: {}, ...word },
      [liveness('stale', { care: 'retired', devices: {}, reason: 'r' })],
    ],
    ['is retired once', [picture(), retired], { type: 'Retire', devices: {}, ...word }, []],
    [
      'that is retired is retired of more',
      [picture(), retired],
      { type: 'Retire', devices: gone, ...word },
      [liveness('up', { devices: gone })],
    ],
    ['is removed', [picture()], { type: 'Remove', devices: {}, ...word }, [{ ...removed, devices: {} }]],
    ['is removed once', [picture(), removed], { type: 'Remove', devices: {}, ...word }, []],
    [
      'that is removed is removed of more',
      [picture(), removed],
      { type: 'Remove', devices: gone, ...word },
      [{ ...removed, devices: gone }],
    ],
    [
      'that is retired loses devices',
      [picture(), retired],
      { type: 'Shed', devices: gone, by: 'op' },
      [liveness('up', { devices: gone })],
    ],
    ['that is retired loses nothing', [picture(), retired], { type: 'Shed', devices: {}, by: 'op' }, []],
    ['that serves loses nothing', [picture()], { type: 'Shed', devices: gone, by: 'op' }, []],
    [
      'is restored',
      [picture(), retired],
      { type: 'Restore', ...word },
      [liveness('up', { care: 'restored', reason: 'r' })],
    ],
    [
      'that was removed is restored and counts as silent',
      [picture(), removed],
      { type: 'Restore', ...word },
      [liveness('down', { care: 'restored', reason: 'r' })],
    ],
    ['that serves is not restored', [picture()], { type: 'Restore', ...word }, []],
  ])('%s', (_, facts, command, decision) => expect(decide(facts, command)).toStrictEqual(decision))

  const row = (more: object = {}) => [
    {
      view: 'hosts',
      key: 'h1',
      row: {
        name: 'h1',
        liveness: 'up',
        boot_id: 'b1',
        drivers: { f: 1 },
        aliases: ['x'],
        created_at: 1000,
        updated_at: null,
        ...more,
      },
    },
  ]
  it('is shown with its liveness, its boot and its drivers', () => {
    expect(rows(picture())).toEqual(row())
    expect(rows(picture(), liveness('stale'))).toEqual(row({ liveness: 'stale', updated_at: 2000 }))
    expect(rows(picture(''))).toEqual(row({ boot_id: null }))
    expect(rows(liveness('stale'))).toEqual([])
    expect(rows(picture(), { type: 'Polished' })).toEqual([])
    expect([host.kind, hostKey('h1')]).toEqual(['host', 'host/h1'])
  })
})

describe('a bind conversation', () => {
  const { after, decide, rows } = exactly(instance)
  const NEW = {
    uuid: '',
    arqs: {},
    hostname: '',
    open: null,
    requestId: '',
    telling: null,
    conversations: 0,
    tellUntil: null,
  }
  const part = (arq: string, prepared = false) => ({ arq, deployable: 'd1', prepared })
  const prepared = (arq: string): Fact => ({ type: 'PartPrepared', arq })
  const OPEN = {
    ...NEW,
    uuid: 'i1',
    arqs: { a1: part('a1'), a2: part('a2') },
    hostname: 'node',
    open: { deadline: 30_000, since: 1000 },
    requestId: 'req-1',
    tellUntil: 60_000,
  }
  const both = accepted(['a1', 'a2'])
  const end = settled('completed', ['a1', 'a2'], { tell: 500 })
  const TELLING = {
    statuses: { a1: 'completed', a2: 'completed' },
    of: { a1: 1, a2: 1 },
    nextAt: 500,
    until: 60_000,
    attempts: 0,
  }
  const ENDED = { ...OPEN, open: null, conversations: 1, telling: TELLING }
  const told = (...arqs: readonly string[]): Fact => ({ ...novaTold(...arqs), nextAt: 700 })
  const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  it.each<[string, readonly Fact[], object]>([
    ['nothing at first', [], NEW],
    ['who takes part, and until when', [both], OPEN],
    ['the trace of its bind', [{ ...both, trace: TRACE }], { ...OPEN, trace: TRACE }],
    [
      'no trace of an earlier bind',
      [{ ...both, trace: TRACE }, both],
      { ...OPEN, open: { deadline: 30_000, since: 2000 } },
    ],
    ['which part is prepared', [both, prepared('a2')], { ...OPEN, arqs: { a1: part('a1'), a2: part('a2', true) } }],
    ['what Nova has to hear', [both, end], ENDED],
    ['nothing for Nova when there is nothing to tell', [both, { ...end, tell: null }], { ...ENDED, telling: null }],
    [
      'nothing for Nova when there is no Nova',
      [{ ...both, tellUntil: null }, end],
      { ...ENDED, telling: null, tellUntil: null },
    ],
    ['who is left', [both, left('a1')], { ...OPEN, arqs: { a2: part('a2') } }],
    ['nobody when all have left', [both, left('a1', 'a2')], { ...OPEN, arqs: {}, open: null }],
    [
      'what Nova has still to hear',
      [both, end, told('a1')],
      { ...ENDED, telling: { ...TELLING, statuses: { a2: 'completed' }, of: { a2: 1 }, nextAt: 700, attempts: 1 } },
    ],
    ['nothing for Nova that heard everything', [both, end, told('a1', 'a2')], { ...ENDED, telling: null }],
    ['nothing of what Nova need not hear', [both, told('a1')], OPEN],
    [
      'what Nova has to hear of two conversations',
      [both, end, left('a1', 'a2'), accepted(['a3']), settled('failed', ['a3'], { tell: 900 })],
      {
        ...ENDED,
        arqs: { a3: part('a3') },
        conversations: 2,
        telling: {
          ...TELLING,
          statuses: { a1: 'completed', a2: 'completed', a3: 'failed' },
          of: { a1: 1, a2: 1, a3: 2 },
          nextAt: 900,
        },
      },
    ],
    ['nothing of an event of a later release', [both, { type: 'Polished' }], OPEN],
  ])('remembers %s', (_, facts, state) => expect(after(...facts)).toStrictEqual(state))

  const bind = (parts: readonly object[], more: object = {}): Fact => ({
    type: 'Bind',
    instance: 'i1',
    at: 10,
    parts,
    hostname: 'node',
    deadline: 30_000,
    tellUntil: 60_000,
    requestId: 'req-1',
    ...more,
  })
  const ending = (
    outcome: 'completed' | 'failed',
    at: number,
    reason: string | null,
    arqs = ['a1', 'a2'],
    more: object = {},
  ) => settled(outcome, arqs, { reason, tell: at, since: 1000, ...more })
  const says = (endings: object, upTo: number): Fact => ({ type: 'ReportTold', endings, upTo, nextAt: 700, note: 'n' })
  const heard = (endings: object, nextAt: number) => ({ type: 'NovaTold', endings, nextAt, note: 'n' })
  const late = 'the host did not answer in time'
  const again = [both, end, left('a1', 'a2'), accepted(['a2']), settled('failed', ['a2'], { tell: 900 })]
  const prepare = (arq: string): Fact => ({ type: 'ReportPrepared', arq, at: 20 })
  const without = (...arqs: readonly string[]): Fact => ({ type: 'Leave', arqs })
  it.each<Decisions>([
    [
      'is accepted',
      [],
      bind([part('a1'), part('a2', true)]),
      [accepted(['a1'], { parts: [part('a1'), part('a2', true)] })],
    ],
    ['is accepted with its trace', [], bind([part('a1')], { trace: TRACE }), [accepted(['a1'], { trace: TRACE })]],
    [
      'ends as it is accepted when all is prepared',
      [],
      bind([part('a1', true)]),
      [accepted(['a1'], { parts: [part('a1', true)] }), ending('completed', 10, null, ['a1'], { since: 10 })],
    ],
    [
      'ends without Nova when there is none',
      [],
      bind([part('a1', true)], { tellUntil: null }),
      [
        accepted(['a1'], { parts: [part('a1', true)], tellUntil: null }),
        ending('completed', 10, null, ['a1'], { since: 10, tell: null }),
      ],
    ],
    [
      'is refused while one ARQ is there',
      [accepted()],
      bind([part('a3')]),
      { kind: 'invalid', field: 'instance_uuid', rule: 'the instance already has accelerator requests' },
    ],
    [
      'is refused while ARQs are there',
      [both, end],
      bind([part('a3')]),
      { kind: 'invalid', field: 'instance_uuid', rule: 'the instance already has accelerator requests' },
    ],
    ['goes on when one is prepared', [both], prepare('a1'), [prepared('a1')]],
    [
      'ends when the last is prepared',
      [both, prepared('a1')],
      prepare('a2'),
      [prepared('a2'), ending('completed', 20, null)],
    ],
    ['hears of a part once', [both, prepared('a1')], prepare('a1'), []],
    ['hears of its own parts only', [both], prepare('a9'), []],
    ['that is over hears of no part', [both, end], prepare('a1'), []],
    ['fails', [both], { type: 'Fail', reason: 'r', at: 20 }, [ending('failed', 20, 'r')]],
    ['fails once', [both, end], { type: 'Fail', reason: 'r', at: 20 }, []],
    ['is open until its deadline', [both], { type: 'Conclude', at: 29_999 }, []],
    ['fails at its deadline', [both], { type: 'Conclude', at: 30_000 }, [ending('failed', 30_000, late)]],
    [
      'ends when those that were not prepared have left',
      [both, prepared('a1'), left('a2')],
      { type: 'Conclude', at: 0 },
      [ending('completed', 0, null, ['a1'])],
    ],
    ['that is over is not concluded', [both, end], { type: 'Conclude', at: 90_000 }, []],
    [
      'of an older release ends without when it began',
      [both, { ...both, deadline: 5 }],
      { type: 'Fail', reason: 'r', at: 20 },
      [ending('failed', 20, 'r', ['a1', 'a2'], { since: 2000 })],
    ],
    ['loses those who are there', [both], without('a1', 'a9'), [left('a1')]],
    ['loses nobody who is not there', [both], without('a9'), []],
    ['was told to Nova', [both, end], says({ a1: 'delivered' }, 1), [heard({ a1: 'delivered' }, 700)]],
    [
      'was told to Nova before the next one ended',
      again,
      says({ a1: 'delivered', a2: 'delivered' }, 1),
      [heard({ a1: 'delivered' }, 900)],
    ],
    [
      'was told to Nova after the next one ended',
      again,
      says({ a1: 'delivered', a2: 'delivered' }, 2),
      [heard({ a1: 'delivered', a2: 'delivered' }, 700)],
    ],
    ['need not be told to Nova', [both], says({ a1: 'delivered' }, 1), []],
  ])('%s', (_, facts, command, decision) => expect(decide(facts, command)).toEqual(decision))

  const due = (at: number) => [
    { view: 'due', key: 'instance/i1', row: { entity: 'instance/i1', kind: 'instance', at } },
  ]
  it.each<[string, readonly Fact[], unknown]>([
    ['at its deadline', [both], due(30_000)],
    ['at once when all are prepared', [both, prepared('a1'), prepared('a2')], due(0)],
    ['when Nova is to be told', [both, end], due(500)],
    ['when Nova is to be told, or at its deadline', [both, end, left('a1', 'a2'), both], []],
    ['at its deadline, or when Nova is to be told', [both, { ...end, tell: 40_000 }, both], due(30_000)],
    ['no more when Nova was told', [both, end, told('a1', 'a2')], [{ view: 'due', key: 'instance/i1', row: null }]],
    ['no more when all have left', [both, left('a1', 'a2')], [{ view: 'due', key: 'instance/i1', row: null }]],
    ['as before when nothing changed', [both, left('a1')], []],
  ])('is due %s', (_, facts, changes) => expect(rows(...facts)).toEqual(changes))
  it('is due never at first, and kept under its key', () => {
    expect(dueAt(after())).toBe(null)
    expect([instance.kind, instanceKey('i1')]).toEqual(['instance', 'instance/i1'])
  })
})
