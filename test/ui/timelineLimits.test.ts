/** The limits of a timeline from a file, each on both sides, and its export for trace viewers, whole. */
import { renderToString } from 'preact-render-to-string'
import { describe, expect, test } from 'vitest'
import { loaded, pageError } from '../../src/ui/loaded.ts'
import { FILE_MAX, TOO_LARGE, openedFile } from '../../src/ui/timelineFile.ts'
import { sizeOf, sizeOfStep } from '../../src/ui/timelineSteps.ts'
import { traceEventsOf } from '../../src/ui/traceEvents.ts'
import { waysOf } from '../../src/ui/view/ways.ts'
import type { Bodies, Screen } from '../../src/ui/view/screen.ts'
import { drawnBy } from '../../src/ui/view/views.ts'
import { NOW, ago, lines, uuid } from './drawing.ts'

type Facts = Readonly<Record<string, unknown>>
const step = (more: Facts = {}) => ({
  at: ago(5000),
  step: 'created',
  took_ms: null,
  cause: null,
  request_id: null,
  detail: {},
  event: null,
  ...more,
})
const timeline = (steps: readonly object[], more: Facts = {}) => ({
  arq: uuid(1),
  project_id: 'p1',
  deleted: false,
  total_ms: 0,
  steps,
  ...more,
})
const opened = async (json: unknown, name = 'a.json') => {
  const text = typeof json === 'string' ? json : JSON.stringify(json)
  const read = await openedFile(new File([text], name))
  return read.ok ? read.value : read.error.text
}
const times = <Item>(count: number, make: (at: number) => Item) => Array.from({ length: count }, (_, at) => make(at))

test('a file that is one is read as it stands there, under the beginning of its name', async () => {
  const given = timeline([step(), step({ cause: 'kim', request_id: 'r1', detail: { a: 1 }, event: { b: 2 } })])
  expect(await opened(given, `${'n'.repeat(99)}.json`)).toEqual({ name: `${'n'.repeat(99)}.`, timeline: given })
  expect(await opened(timeline([step()], { project_id: null }))).toMatchObject({ timeline: { project_id: null } })
})
test.each<[string, unknown, string]>([
  ['no JSON', '{', 'It is not JSON: '],
  ['a number', '7', 'the file: '],
  ['nothing', 'null', 'the file: '],
  ['without a UUID', timeline([step()], { arq: 'a1' }), 'arq: it must be a UUID. It is not a timeline'],
  ['without a step', timeline([]), 'steps: there must be at least one. It is not a timeline'],
  ['5001 steps', timeline(times(5001, () => step())), 'steps: at most 5000 are shown; these are 5001. It is not'],
  ['for trace viewers', { traceEvents: [] }, 'It is the form for trace viewers, such as Perfetto. Open the other'],
])('a file with %s says what is wrong', async (_, json, said) => {
  const text = await opened(json)
  expect(text).toContain('The file a.json cannot be opened. ')
  expect(text).toContain(said)
})
test('a file with 5000 steps is read', async () => {
  expect(await opened(timeline(times(5000, () => step())))).toMatchObject({ timeline: { steps: { length: 5000 } } })
})
test('a file without content has a name, and no file has none', async () => {
  const choose = 'file: choose the file that is to be opened.'
  expect(await opened('', '')).toBe(choose)
  expect(await opened('', 'empty.json')).toMatch(/^The file empty\.json cannot be opened\. It is not JSON: /)
  expect(await opened('{', '')).toMatch(/^The file {2}cannot be opened\. It is not JSON: /)
  for (const none of [undefined, 'text']) expect(await openedFile(none)).toMatchObject({ error: { text: choose } })
  expect(FILE_MAX).toBe(4_194_304)
  expect(TOO_LARGE.error).toMatchObject({
    kind: 'refused',
    text: 'file: it is larger than 4 MiB. No timeline that the console exports is.',
  })
})

const nested = (depth: number): unknown => (depth === 0 ? 'x' : [nested(depth - 1)])
test('the size of a value counts its lines with their indentation', () => {
  // each line: two blanks a level and four signs, and the text itself; an object or a list has a line for its end
  expect(sizeOf('abc')).toBe(4 + 3)
  expect(sizeOf(null)).toBe(4 + 4)
  expect(sizeOf([])).toBe(8)
  expect(sizeOf(['abc', 7])).toBe(8 + (6 + 3) + (6 + 1))
  expect(sizeOf({ ab: { c: 'd' } })).toBe(8 + (6 + 2) + 12 + (8 + 1) + (8 + 1))
  expect(sizeOf(nested(32))).toBeTypeOf('number')
  expect(sizeOf(nested(33))).toBe('it must not be nested deeper than 32 levels')
  expect(sizeOf({ a: '\uDC00' })).toBe('it holds half of a surrogate pair')
  expect(sizeOf('\u{1F600}')).toBe(6)
})
describe('a step', () => {
  const MOMENT = 'it must be a moment such as 2026-03-01T08:15:30.123Z'
  test.each(['2026-03-01', '2026-03-01 08:15:30Z', 'x2026-03-01T08:15:30Z', '2026-13-01T08:15:30Z', 'noon', ''])(
    'is at a moment, and not at %j',
    (at) => expect(sizeOfStep(step({ at }), 3)).toBe(`steps.3.at: ${MOMENT}`),
  )
  test.each(['deadline', 'until', 'next_at'])('has a moment as %s, if it has one', (name) => {
    for (const value of ['noon', null, 7])
      expect(sizeOfStep(step({ detail: { [name]: value } }), 0)).toBe(`steps.0.detail.${name}: ${MOMENT}`)
    expect(sizeOfStep(step({ detail: { [name]: ago(0), other: 'noon' } }), 0)).toBeTypeOf('number')
  })
  test('has 50 details at most', () => {
    const detail = (count: number) => Object.fromEntries(times(count, (at) => [`d${at}`, at]))
    expect(sizeOfStep(step({ detail: detail(50) }), 0)).toBeTypeOf('number')
    expect(sizeOfStep(step({ detail: detail(51) }), 2)).toBe('steps.2.detail: at most 50 are shown; these are 51')
  })
  test('is as large as its fields together, and names the one that cannot be shown', () => {
    const fields = Object.values(step({ detail: { a: 1 } })) as readonly unknown[]
    const size = fields.reduce<number>((sum, value) => sum + Number(sizeOf(value)), 0)
    expect(sizeOfStep(step({ detail: { a: 1 } }), 0)).toBe(size)
    expect(sizeOfStep(step({ event: nested(33) }), 1)).toBe(
      'steps.1.event: it must not be nested deeper than 32 levels',
    )
  })
})

test('an export for trace viewers, whole', async () => {
  const at = (ms: number, name: string, detail: Facts = {}) => step({ at: ago(ms), step: name, detail })
  const exported = (steps: readonly object[], more: Facts = {}) =>
    traceEventsOf(timeline(steps, more) as Parameters<typeof traceEventsOf>[0], NOW)
  const accepted = at(8000, 'bind accepted', { order: 4, host: 'h1', deadline: ago(-60_000) })
  const told = at(5000, 'nova to be told', { until: ago(-90_000) })
  const files = [
    exported([at(9000, 'created'), { ...accepted, cause: 'kim', request_id: 'r1' }]),
    exported([at(9000, 'created'), accepted, at(5000, 'bound', { host_work_ms: 1000 }), told]),
    exported([at(9000, 'created'), at(5000, 'unbound'), at(4000, 'deleted')], { deleted: true, project_id: null }),
  ]
  await expect(JSON.stringify(files, null, 1)).toMatchFileSnapshot('golden/trace-events.txt')
})

test('the page of a file: what it says, as it stands there, up to its last step', async () => {
  const draw = await drawnBy('opened')
  const shown = (file: Bodies['opened']['file'], query: Record<string, string> = {}) => {
    const body = { file, ways: waysOf(query) }
    return lines(renderToString(draw({ view: 'opened', here: 'timeline', now: NOW, body } as unknown as Screen)))
  }
  const file = (steps: readonly (readonly [number, string, Facts?])[], more: Facts = {}) =>
    loaded({
      name: 'kept "1".json',
      timeline: timeline(
        steps.map(([ms, name, detail = {}]) => step({ at: ago(ms), step: name, detail })),
        { arq: 'a/1', ...more },
      ) as Parameters<typeof traceEventsOf>[0],
    })
  const failed = [
    [12_000, 'bind accepted', { order: 1, host: 'h1' }],
    [8000, 'bind failed', { reason: 'link down' }],
    [7000, 'nova told: delivered'],
  ] as const
  const again = [...failed, [6000, 'bind accepted'], [5000, 'bound'], [4000, 'nova told: delivered']] as const
  const pages = [
    shown(null),
    shown(pageError('refused', 'It is not JSON')),
    shown(file([[9000, 'created']], { project_id: null })),
    shown(file(failed)),
    shown(file(again), { t: 'bars', open: '1' }),
    shown(file([...failed, [3000, 'deleted']], { deleted: true }), { t: 'table', r: '1' }),
    shown(file([])),
  ]
  // the failed bind, in which h1 took longer, is not part of the one that has succeeded
  expect(pages[4]).toContain('Bound in 1.00 s; the host took longest, 1.00 s.')
  await expect(pages.join('\n\n')).toMatchFileSnapshot('golden/opened.txt')
})

describe('how an address says a timeline is shown', () => {
  const usual = { shown: 'both', raw: false, open: [], from: null }
  test.each<[Record<string, string>, object]>([
    [{}, {}],
    [{ t: 'bars' }, { shown: 'bars' }],
    [{ t: 'table' }, { shown: 'table' }],
    [{ t: 'both' }, {}],
    [{ t: 'Table' }, {}],
    [{ r: '1' }, { raw: true }],
    [{ r: '0' }, {}],
    [{ from: '7' }, { from: 7 }],
    [{ from: '999999' }, { from: 999_999 }],
    [{ from: '1000000' }, {}],
    [{ from: '07' }, {}],
    [{ from: '7x' }, {}],
    [{ from: 'x7' }, {}],
    [{ open: '3.1.3.x.0.2' }, { open: [3, 1, 2] }],
  ])('%j', (query, ways) => expect(waysOf(query)).toEqual({ ...usual, ...ways }))
  test('with a hundred open gaps at most', () => {
    const open = times(101, (at) => at + 1)
    expect(waysOf({ open: open.join('.') }).open).toEqual(open.slice(0, 100))
  })
})
