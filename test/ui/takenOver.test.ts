/** Which screen a page shows once the browser has taken it over, and which events the page of events keeps. */
import { describe, expect, test } from 'vitest'
import { ROWS_MAX, shownEvents } from '../../src/ui/browser/shownEvents.ts'
import { isRenewed, takenOver } from '../../src/ui/browser/takenOver.ts'
import { loaded, pageError } from '../../src/ui/loaded.ts'
import type { Screen } from '../../src/ui/view/screen.ts'
import { VIEWS } from '../../src/ui/view/views.ts'
import { NOW, ago } from './drawing.ts'

const screen = (view: string, body: object = {}, more: object = {}): Screen =>
  ({ view, title: view, here: view, now: NOW, who: null, done: null, search: '', body, ...more }) as Screen

test('every page is renewed but forms, answers to one question, and the past', () => {
  const still = Object.keys(VIEWS).filter((view) => !isRenewed(screen(view, { asOf: null })))
  expect(still).toEqual(['opened', 'explain', 'usage', 'act', 'sign_in', 'trouble'])
  expect(isRenewed(screen('arq', { asOf: ago(1) }))).toBe(false)
  expect(isRenewed(screen('arq', { asOf: ago(0) }))).toBe(true)
  expect(isRenewed(screen('arqs', { asOf: ago(1) }))).toBe(true)
})

describe('a page', () => {
  const same = (given: Screen): Screen => given
  const rows = screen('hosts', { list: loaded([1]) })
  const lost = screen('hosts', { list: pageError('away', 'no answer') })
  const refused = screen('hosts', { list: pageError('forbidden', 'no') })

  test('shows what came last, as the view makes it', () => {
    const page = takenOver(rows)
    const next = screen('hosts', { list: loaded([2]) })
    const merged = screen('hosts', { list: loaded([1, 2]) })
    expect(page.shown()).toBe(rows)
    expect(page.take(next, (given) => (given === next ? merged : given))).toEqual({ loss: null, draws: true })
    expect(page.shown()).toBe(merged)
    expect(page.take(refused, same)).toEqual({ loss: null, draws: true })
    expect(page.shown()).toBe(refused)
  })
  test('keeps its rows while there are no others, and says what is lost', () => {
    const page = takenOver(rows)
    const loss = { kind: 'away', text: 'no answer', rule: null, requestId: null }
    expect(page.take(lost, same)).toEqual({ loss, draws: false })
    expect(page.shown()).toBe(rows)
  })
  test('without rows shows the newest reason, not merged with anything, until there are rows', () => {
    const page = takenOver(lost)
    const later = screen('hosts', { list: pageError('failed', 'a bug') })
    expect(page.take(later, () => rows)).toMatchObject({ loss: { text: 'a bug' }, draws: true })
    expect(page.shown()).toBe(later)
    expect(page.take(rows, same)).toEqual({ loss: null, draws: true })
    expect(page.shown()).toBe(rows)
  })
  test('keeps what was done and searched, until something else was done', () => {
    const done = { tone: 'busy', text: 'Retire', recorded: { events: null, cut: false, all: 'events', follow: null } }
    const page = takenOver(screen('hosts', {}, { done, search: 'h1' }))
    expect(page.isOver()).toBe(false)
    expect(page.drawn(screen('hosts', {}, { search: 'other' }))).toEqual(screen('hosts', {}, { done, search: 'h1' }))
    expect(page.isOver()).toBe(false)
    const ended = { ...done, tone: 'good', text: 'Retire, and it has answered' }
    expect(page.drawn(screen('hosts', {}, { done: ended })).done).toEqual(ended)
    expect(page.isOver()).toBe(true)
    expect(page.drawn(screen('hosts')).done).toEqual(ended)
    expect(takenOver(screen('hosts', {}, { done: { tone: 'busy', text: 'asked' } })).isOver()).toBe(true)
    expect(takenOver(rows).isOver()).toBe(true)
  })
})

describe('the page of events', () => {
  const events = (ids: readonly number[], next: string, more = false) =>
    screen('events', { events: loaded({ lines: ids.map((id) => ({ id })), next, more }), after: 'a', paused: false })
  const first = events([1], '7-1') as Screen<'events'>
  const linesIn = (given: Screen) => body(given).body.events.value.lines.map(({ id }) => id)
  const body = (given: Screen) =>
    given as unknown as { body: { paused: boolean; events: { value: { lines: { id: number }[]; next: string } } } }
  const HERE = 'http://h/ui/events?kind=arq&after=0#x'

  test('asks for what comes after the last one, and keeps those that were shown', () => {
    const list = shownEvents(first)
    expect([list.address(HERE), list.isBehind()]).toEqual(['http://h/ui/events?kind=arq&after=7-1#x', false])
    const merged = list.merged(events([2, 3], '7-3', true))
    expect(linesIn(merged)).toEqual([1, 2, 3])
    expect(body(merged).body.events.value.next).toBe('7-3')
    expect([list.address(HERE), list.isBehind()]).toEqual(['http://h/ui/events?kind=arq&after=7-3#x', true])
    expect(linesIn(list.merged(events([4], '7-4')))).toEqual([1, 2, 3, 4])
  })
  test('keeps the newest ones when there are too many', () => {
    const ids = Array.from({ length: ROWS_MAX }, (_, at) => at)
    const list = shownEvents(events(ids, '7-1') as Screen<'events'>)
    expect(linesIn(list.merged(events([], '7-1')))).toEqual(ids)
    expect(linesIn(list.merged(events([9001, 9002], '7-2')))).toEqual([...ids.slice(2), 9001, 9002])
    expect(ROWS_MAX).toBe(500)
  })
  test('that cannot be read says why, and goes on after the last one that was read', () => {
    const lost = screen('events', { events: pageError('away', 'no'), after: 'b', paused: false })
    const empty = shownEvents({ ...lost, body: { ...lost.body, after: 'b' } } as Screen<'events'>)
    expect([empty.address(HERE), empty.isBehind()]).toEqual(['http://h/ui/events?kind=arq&after=b#x', false])
    expect(linesIn(empty.merged(events([5], '7-5')))).toEqual([5])
    const list = shownEvents(first)
    expect(list.merged(lost)).toEqual(lost)
    expect(list.address(HERE)).toBe('http://h/ui/events?kind=arq&after=7-1#x')
    expect(linesIn(list.merged(events([2], '7-2')))).toEqual([1, 2])
    const other = screen('trouble')
    expect(list.merged(other)).toBe(other)
  })
  test('is paused and resumed by its button, whatever comes meanwhile', () => {
    const list = shownEvents(first)
    expect(list.isPaused()).toBe(false)
    expect([body(list.turned()).body.paused, list.isPaused()]).toEqual([true, true])
    expect(body(list.merged(events([2], '7-2'))).body.paused).toBe(true)
    const lost = screen('events', { events: pageError('away', 'no'), after: 'b', paused: false })
    expect(body(list.merged(lost)).body.paused).toBe(true)
    const resumed = list.turned()
    expect([body(resumed).body.paused, list.isPaused(), linesIn(resumed)]).toEqual([false, false, [1, 2]])
  })
})
