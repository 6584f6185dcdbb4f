/** The timeline of a request in the format of trace viewers. */
import { expect, test } from 'vitest'
import { traceEventsOf } from '../../src/ui/traceEvents.ts'

const START = Date.parse('2026-11-24T00:00:00.000Z')
const step = (
  name: string,
  ms: number,
  detail: Readonly<Record<string, unknown>> = {},
  cause: string | null = null,
) => ({
  at: new Date(START + ms).toISOString(),
  step: name,
  took_ms: null,
  cause,
  request_id: null,
  detail,
  event: null,
})
const timeline = (...steps: readonly ReturnType<typeof step>[]) => ({
  arq: 'q1',
  project_id: 'p1',
  deleted: false,
  total_ms: 0,
  steps: [...steps],
})
const BOUND = timeline(
  step('created', 0, { profile: 'f' }, 'kim'),
  step('bind accepted', 1000, { order: 4, host: 'h1' }),
  step('prepared on the host', 1250),
  step('bound', 1250, { host_work_ms: 240 }),
  step('nova to be told', 1250),
  step('nova told: delivered', 1300),
)

test('each party has a track with its spans, in microseconds, and each step is a mark', () => {
  const { traceEvents } = traceEventsOf(BOUND, START + 5000)
  const tracks = new Map(
    traceEvents.flatMap(({ ph, name, tid, args }) =>
      ph === 'M' && name === 'thread_name' ? [[tid, String(args['name'])]] : [],
    ),
  )
  const spans = traceEvents.flatMap((each) =>
    each.ph === 'X' ? [[tracks.get(each.tid), each.name, each.cat, each.ts / 1000 - START, each.dur / 1000]] : [],
  )
  expect(spans).toEqual([
    ['Nova', 'waits to be bound', 'rest', 0, 1000],
    ['h1', 'prepares the device', 'work', 1000, 250],
    ['Nova', 'tells Nova', 'wait', 1250, 50],
    ['the instance', 'in use', 'rest', 1300, 3700],
  ])
  const marks = traceEvents.flatMap((each) => (each.ph === 'i' ? [[each.name, each.ts / 1000 - START, each.args]] : []))
  expect(marks.slice(0, 2)).toEqual([
    ['created', 0, { cause: 'kim', request_id: null, profile: 'f' }],
    ['bind accepted', 1000, { cause: null, request_id: null, order: 4, host: 'h1' }],
  ])
  expect(marks).toHaveLength(BOUND.steps.length)
  expect([...tracks.values()]).toEqual(['steps', 'Nova', 'h1', 'the instance'])
})
test('the deadline of what is waited for is a mark over all tracks', () => {
  const deadline = new Date(START + 60_000).toISOString()
  const waiting = timeline(step('created', 0), step('bind accepted', 1000, { order: 4, host: 'h1', deadline }))
  const { traceEvents } = traceEventsOf(waiting, START + 2000)
  expect(traceEvents.at(-1)).toMatchObject({
    ph: 'i',
    s: 'p',
    name: 'deadline of the bind',
    ts: (START + 60_000) * 1000,
  })
  expect(traceEvents.at(-2)).toMatchObject({ ph: 'X', dur: 1_000_000, args: { open: true } })
})
test('a timeline without steps is a file without spans', () => {
  const { traceEvents } = traceEventsOf(timeline(), START)
  expect(traceEvents.map(({ ph }) => ph)).toEqual(['M', 'M'])
})
