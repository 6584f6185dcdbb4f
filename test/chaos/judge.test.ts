/** The checks of the chaos test find each planted error in their input; the plan depends only on the seed. */
import { describe, expect, test } from 'vitest'
import { check } from '../../src/audit/check.ts'
import type { Evidence, TopicMessage } from '../../src/audit/evidence.ts'
import { type Answer, type Api, Lost } from '../kill/api.ts'
import { KINDS, planLine, planOf } from './plan.ts'
import { type Line, askingOf, recorded } from './recorded.ts'
import { statesDiffer } from './states.ts'
import { CHAOS_RULES, type Hung, type Run, type Struck, judgeRun, outagesOf, servedIn } from './struck.ts'

const struckOf = (kind: Struck['kind'], more: Partial<Struck> = {}): Struck => ({
  kind,
  target: 'control-1',
  from: 1000,
  to: 2000,
  inFlight: 3,
  done: true,
  ...more,
})
const sound = (more: Partial<Run> = {}): Run => ({
  struck: KINDS.map((kind) => struckOf(kind)),
  kinds: KINDS,
  hung: [],
  accepted: 500,
  wanted: 500,
  ...more,
})
const hung: Hung = { control: 'control-2', what: 'GET /v2/accelerator_requests', from: 5000, to: 20_000 }
const without = (kind: Struck['kind']) => KINDS.filter((one) => one !== kind).map((one) => struckOf(one))

test('a sound run is clean', () => expect(judgeRun(sound())).toEqual([]))

const PLANTED: readonly (readonly [keyof typeof CHAOS_RULES, string, Run])[] = [
  ['every kind of fault happens', 'a kind that was left out', sound({ struck: without('pause broker') })],
  [
    'every kind of fault happens',
    'one that did not come about',
    sound({ struck: [...without('fill disk'), struckOf('fill disk', { done: false })] }),
  ],
  [
    'faults happen while binds are in flight',
    'one that met nothing',
    sound({ struck: [...without('kill host'), struckOf('kill host', { inFlight: 0 })] }),
  ],
  ['there are enough binds', 'a run without load', sound({ accepted: 499 })],
  ['a control that runs answers', 'a request nobody answered', sound({ hung: [hung] })],
]
test.each(PLANTED)('"%s" finds %s', (rule, _, run) => {
  expect(judgeRun(run).map((found) => found.split(':')[0])).toEqual([rule])
})
test('every rule has been seen to bite', () => {
  expect(new Set(PLANTED.map(([rule]) => rule))).toEqual(new Set(Object.keys(CHAOS_RULES)))
})
test('a control that stood still need not have answered', () => {
  const still = struckOf('pause control', { target: 'control-2', from: 4000, to: 6000 })
  expect(judgeRun(sound({ struck: [...sound().struck, still], hung: [hung] }))).toEqual([])
})
test('only faults of the database stop the clock', () => {
  const struck = [
    struckOf('pause database', { target: 'database', from: 10_000, to: 20_000 }),
    struckOf('kill database', { target: 'database', from: 18_000, to: 30_000 }),
    struckOf('pause broker', { target: 'broker', from: 50_000, to: 60_000 }),
  ]
  expect(servedIn(outagesOf(struck), 0)).toEqual([
    { from: 0, to: 10_000 },
    { from: 35_000, to: Infinity },
  ])
})

describe('the plan', () => {
  test('is the same for the same seed, and another for another', () => {
    expect(planOf(7, 3)).toEqual(planOf(7, 3))
    expect(planOf(7, 3).map(planLine)).not.toEqual(planOf(8, 3).map(planLine))
  })
  test.each([1, 2, 3, 4, 5])('holds every kind, and nobody suffers twice at a time (seed %i)', (seed) => {
    const steps = planOf(seed, 3)
    expect(new Set(steps.flatMap(({ faults }) => faults.map(({ kind }) => kind)))).toEqual(new Set(KINDS))
    for (const { faults } of steps) expect(new Set(faults.map(({ target }) => target)).size).toBe(faults.length)
    expect(steps.some(({ faults }) => faults.length === 2)).toBe(true)
    const withLoss = steps.filter(({ faults }) => faults.some(({ kind }) => kind === 'lose last rows of database'))
    expect(new Set(withLoss.map(({ faults }) => faults.length))).toEqual(new Set([1]))
  })
  test('a long one loses rows three times at most', () => {
    const kinds = planOf(3, 40).flatMap(({ faults }) => faults.map(({ kind }) => kind))
    expect(kinds.filter((kind) => kind === 'fail over database').length).toBeGreaterThan(3)
    expect(kinds.filter((kind) => kind === 'lose last rows of database')).toHaveLength(3)
  })
  test('a short one has room for all of them', () => {
    const seconds =
      planOf(1, 1).reduce((sum, { restMs, faults }) => sum + restMs + Math.max(...faults.map((one) => one.forMs)), 0) /
      1000
    expect(seconds).toBeLessThan(200)
  })
})

const row = { uuid: 'a', state: 'Bound' }
const message = (body: unknown, more: Partial<TopicMessage> = {}): TopicMessage => ({
  topic: 'arq.state.v1',
  partition: 0,
  offset: 0,
  key: 'a',
  id: 'i',
  type: 't',
  position: '1.1',
  time: 0,
  body,
  ...more,
})
const shown = (rows: readonly object[], messages: readonly TopicMessage[]) =>
  statesDiffer({
    views: { arqs: rows } as unknown as NonNullable<Evidence['views']>,
    topics: { messages, cut: new Set(), publishedTo: null, settled: true, open: null },
  })

describe('state topics and views', () => {
  test('agree when the last message is the row', () => {
    expect(shown([row], [message({ state: { ...row, state: 'Initial' } }), message({ state: row })])).toEqual([])
    expect(shown([], [message({ state: row }), message(null)])).toEqual([])
  })
  test.each([
    [
      'an older state that came last',
      [row],
      [message({ state: row }), message({ state: { ...row, state: 'Initial' } })],
    ],
    ['one that is told of and gone', [], [message({ state: row })]],
    ['one that is there and was never told of', [row], []],
    ['one that was told to be gone and is there', [row], [message(null)]],
  ] as const)('show %s', (_, rows, messages) => expect(shown(rows, messages)).toHaveLength(1))
})

describe('state topics and views of a database that has lost rows', () => {
  const rowOf = (version: number) => ({ key: 'arq/a', version, commandId: 'c', events: [], at: 0, cause: {} }) as const
  const differ = (journal: readonly ReturnType<typeof rowOf>[], lostVersion: number) =>
    statesDiffer({
      views: { arqs: [row] } as unknown as NonNullable<Evidence['views']>,
      topics: {
        messages: [message({ state: { ...row, state: 'Lost' } })],
        cut: new Set(),
        publishedTo: null,
        settled: true,
        open: null,
      },
      journal,
      lost: [{ rows: [rowOf(lostVersion)], fromMs: 0, toMs: 1 }],
    })
  test('may differ until the entity has another row, and not longer', () => {
    expect(differ([rowOf(1)], 2)).toEqual([])
    expect(differ([rowOf(1), rowOf(2)], 2)).toHaveLength(1)
  })
})

const ARQ = '/accelerator_requests'
const over = (answer: Answer | Error) => {
  const [lines, waited]: [Line[], Hung[]] = [[], []]
  const call = async () => {
    if (answer instanceof Error) throw answer
    return answer
  }
  const api = recorded({ call } as unknown as Api, lines, waited)
  return { api, lines, waited }
}

describe("the client's record", () => {
  test('says what was asked', () => {
    const add = [{ op: 'add', path: '/instance_uuid', value: 'i' }]
    const asked = [
      askingOf('POST', ARQ, {}),
      askingOf('PATCH', ARQ, { a: add, b: add }),
      askingOf('PATCH', ARQ, { a: [{ op: 'remove', path: '/instance_uuid' }] }),
      askingOf('DELETE', `${ARQ}?instance=i`, undefined),
      askingOf('DELETE', `${ARQ}?arqs=a,b`, undefined),
      askingOf('GET', `${ARQ}?instance=i`, undefined),
      askingOf('GET', `${ARQ}/a`, undefined),
      askingOf('GET', `${ARQ}/a/timeline`, undefined),
      askingOf('GET', '/deployables', undefined),
    ]
    expect(asked).toEqual([
      { act: 'create' },
      { act: 'bind', arqs: ['a', 'b'], instance: 'i' },
      { act: 'unbind', arqs: ['a'] },
      { act: 'removeByInstance', instance: 'i' },
      { act: 'remove', arqs: ['a', 'b'] },
      { act: 'list', instance: 'i' },
      { act: 'get' },
      null,
      null,
    ])
  })
  test('notes an answer with what it showed, and none without', async () => {
    const good = over({ status: 200, body: { uuid: 'a', state: 'Bound', project_id: 'p', attach_handle_uuid: 'h' } })
    await good.api.call('GET', `${ARQ}/a`)
    expect(good.lines).toMatchObject([
      { act: 'get', status: 200, shown: [{ uuid: 'a', state: 'Bound', projectId: 'p', handle: 'h' }] },
    ])
    const bad = over(new Lost('GET http://127.0.0.1:1/v2/x: Error: refused'))
    await expect(bad.api.call('GET', `${ARQ}/a`)).rejects.toThrow(Lost)
    expect(bad.lines).toMatchObject([{ act: 'get', status: null }])
    expect(bad.waited).toEqual([])
  })
  test('knows a control that let it wait', async () => {
    const late = over(new Lost('GET http://127.0.0.1:1/v2/x: TimeoutError: aborted'))
    await expect(late.api.call('GET', `${ARQ}/a`)).rejects.toThrow(Lost)
    expect(late.waited).toMatchObject([{ control: 'http://127.0.0.1:1' }])
  })
  test('shows a handle with two owners', () => {
    const bind = (arq: string, fromMs: number): Line[] => [
      { act: 'bind', fromMs, toMs: fromMs + 10, status: 202, caller: CALLER, arqs: [arq], instance: `i-${arq}` },
      {
        act: 'get',
        fromMs: fromMs + 20,
        toMs: fromMs + 30,
        status: 200,
        caller: CALLER,
        shown: [{ uuid: arq, state: 'Bound', projectId: null, handle: 'h' }],
      },
    ]
    const judged = (lines: readonly Line[]) =>
      check({ journal: [], now: 0, clients: lines.map((line) => ({ ...line, from: 0, to: 0 })) }).filter(
        ({ invariant }) => invariant === 'S1 clients',
      )
    const removed: Line = { act: 'remove', fromMs: 100, toMs: 110, status: 204, caller: CALLER, arqs: ['a'] }
    expect(judged([...bind('a', 0), removed, ...bind('b', 200)])).toEqual([])
    expect(judged([...bind('a', 0), ...bind('b', 200)])).toHaveLength(1)
  })
})
const CALLER = { projectId: '', isAdmin: true, isService: true }
