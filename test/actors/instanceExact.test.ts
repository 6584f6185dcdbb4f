/** The bind conversation of an instance, to the letter. */
import { describe, expect, it } from 'vitest'
import { dueOfInstance, instance, instanceKey } from '../../src/actors/instance/decider.ts'
import { type Fact, accepted, left, novaTold, settled } from '../audit/cases/scene.ts'
import { exactly } from './exact.ts'

type Decisions = readonly [string, readonly Fact[], Fact, unknown]

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
    undelivered: {},
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

  const due = (at: number, kind = 'instance') => [
    { view: 'due', key: 'instance/i1', row: { entity: 'instance/i1', kind, at } },
  ]
  it.each<[string, readonly Fact[], unknown]>([
    ['at its deadline', [both], due(30_000)],
    ['at once when all are prepared', [both, prepared('a1'), prepared('a2')], due(0)],
    ['when Nova is to be told', [both, end], due(500, 'nova')],
    ['at its deadline, though Nova is to be told before', [both, end, left('a1', 'a2'), both], due(30_000)],
    ['at its deadline, when Nova is to be told later', [both, { ...end, tell: 40_000 }, both], due(30_000)],
    ['no more when Nova was told', [both, end, told('a1', 'a2')], [{ view: 'due', key: 'instance/i1', row: null }]],
    ['no more when all have left', [both, left('a1', 'a2')], [{ view: 'due', key: 'instance/i1', row: null }]],
    ['as before when nothing changed', [both, left('a1')], []],
  ])('is due %s', (_, facts, changes) => expect(rows(...facts)).toEqual(changes))
  it('is due never at first, and kept under its key', () => {
    expect(dueOfInstance(after())).toBe(null)
    expect([instance.kind, instanceKey('i1')]).toEqual(['instance', 'instance/i1'])
  })
})
